"""Question sets: JSON Lines, one question a row, as docs/evaluation.md describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.errors import UsageError

_FORMS = '"expected": [["part of an address", …], …]; "graded": [{"url": "end of an address", "grade": 3}].'
MOST_GRADE = 100  # what a page gains doubles with each grade


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
        return [str(data["question"]) for _, data in _objects(file)]
    questions = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not questions:
        raise UsageError(f"{file} holds no questions.", hint="One question a line, or JSON Lines with a field question.")
    return questions


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.", hint="Name a file of questions.") from error


def _objects(file: Path) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for number, line in enumerate(_text(file).split("\n"), start=1):  # the other line ends of Unicode may stand in a JSON string
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except json.JSONDecodeError as error:
            what = f"{error.msg} at character {error.pos + 1}"
            raise UsageError(f"{file}, line {number}: {what}.", hint="Each line is one JSON object.") from error
        except (ValueError, RecursionError) as error:
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
            id=str(number if data.get("id") in (None, "") else data["id"]),
            type=str(data.get("kind") or data.get("type") or ""),
            question=data["question"],
            expected=[_group(group) for group in _items(data, "expected")],
            graded=dict(_grade(item) for item in _items(data, "graded")),
        )
    except ValueError as error:
        raise UsageError(f"{file}, line {number}: expected or graded is malformed: {error}.", hint=_FORMS) from error


def _items(data: Mapping[str, Any], field: str) -> list[Any]:
    value = data.get(field)
    if value is not None and not isinstance(value, list):
        raise ValueError(f"{field} is no list")
    return value or []


def _group(group: object) -> list[str]:
    if not isinstance(group, list) or not group or not all(isinstance(text, str) and text.strip() for text in group):
        raise ValueError("a group is a list of texts that are not empty, as those would be found anywhere")
    return [text.lower() for text in group]


def _grade(item: object) -> tuple[str, float]:
    url, grade = (item.get("url"), item.get("grade")) if isinstance(item, Mapping) else (None, None)
    if not isinstance(url, str) or not url.strip():
        raise ValueError("a grade is an object with url and grade")
    if isinstance(grade, bool) or not isinstance(grade, (int, float)) or not 0 <= grade <= MOST_GRADE:
        raise ValueError(f"the grade of {url} is no number from 0 to {MOST_GRADE}")
    return url, float(grade)
