"""Question sets: JSON Lines, one question a row, as docs/evaluation.md describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.errors import UsageError


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question with what a right result holds.

    `expected`: groups of alternatives, all lower case; a group is found in a place when one of its alternatives occurs in
    `url#anchor title heading_path ` (lower case, a trailing blank meant). `graded`: ends of page addresses with their grade.
    """

    id: str
    type: str
    question: str
    expected: Sequence[Sequence[str]]
    graded: Mapping[str, float]


def read_rows(file: Path) -> list[QuestionRow]:
    """The rows of a file. Raises `UsageError` that names the line and what is wrong with it."""
    return [_row(number, data, file) for number, data in _objects(file)]


def read_questions(file: Path) -> list[str]:
    """The questions of a file: JSON Lines with `question`, or plain text, one a line."""
    text = _text(file)
    if text.lstrip().startswith("{"):
        return [row.question for row in read_rows(file)]
    questions = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not questions:
        raise UsageError(f"{file} holds no questions.", hint="One question a line, or JSON Lines with a field question.")
    return questions


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.", hint="Name a file of questions.") from error


def _objects(file: Path) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for number, line in enumerate(_text(file).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"{file}, line {number}: {error}.", hint="Each line is one JSON object.") from error
        if not isinstance(data, dict) or not isinstance(data.get("question"), str) or not data["question"].strip():
            raise UsageError(f"{file}, line {number}: no question.", hint='Each line has a field "question".')
        found.append((number, data))
    if not found:
        raise UsageError(f"{file} holds no questions.", hint='Each line is one JSON object with a field "question".')
    return found


def _row(number: int, data: Mapping[str, Any], file: Path) -> QuestionRow:
    try:
        return QuestionRow(
            id=str(data.get("id", number)),
            type=str(data.get("kind") or data.get("type") or ""),
            question=data["question"],
            expected=[[str(alternative).lower() for alternative in group] for group in data.get("expected", [])],
            graded={str(item["url"]): float(item["grade"]) for item in data.get("graded", [])},
        )
    except (TypeError, KeyError, ValueError) as error:
        raise UsageError(
            f"{file}, line {number}: expected or graded is malformed.",
            hint='"expected": [["part of an address", …], …]; "graded": [{"url", "grade"}].',
        ) from error
