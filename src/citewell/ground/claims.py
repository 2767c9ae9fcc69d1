"""An answer's Markdown as claims: each sentence, item, row or code block with the markers that follow it. Pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.ground import markers
from citewell.ground.units import Unit, with_heads
from citewell.index.reading import fences

Mark = tuple[int, int, list[int]]

_BLANK_LINE = re.compile(r"\n[ \t>]*\n")


@dataclass(frozen=True, slots=True)
class ClaimText:
    """`answer[start:end]`, markers included; `text` is the claim without them; `numbers` are what they name, as written."""

    text: str
    start: int
    end: int
    numbers: tuple[int, ...]
    kind: str


@dataclass(slots=True)
class _Open:
    """A claim to which markers may still come."""

    text: str
    start: int
    end: int
    numbers: list[int]
    kind: str


def split_claims(answer: str, *, headings: bool = False) -> list[ClaimText]:
    """The claims in order. A marker belongs to the claim before it: `It is so. [1]` and `It is so [1].` are the same.

    A marker that begins a paragraph, an item or a row belongs to that. Headings and heads of tables are claims when they cite,
    with `headings` every heading is. Every marker is in exactly one claim; where none is near, in one without text.
    """
    found: list[_Open] = []
    marks = deque(markers.find(answer))
    for unit, head in with_heads(answer):
        mine: list[Mark] = []
        while marks and marks[0][0] < unit.end:
            mine.append(marks.popleft())
        if mine or not head or (headings and unit.kind == "heading"):
            _add(found, answer, unit, mine)
    return [ClaimText(claim.text, claim.start, claim.end, tuple(claim.numbers), claim.kind) for claim in found]


def _add(found: list[_Open], answer: str, unit: Unit, mine: Sequence[Mark]) -> None:
    head = _head(answer, unit, mine)
    start, rest = unit.start, list(mine)
    if head and found and _goes_on(answer, found[-1].end, unit, head):
        found[-1].numbers += _numbers(head)
        start = found[-1].end = head[-1][1]
        start += len(answer[start : unit.end]) - len(answer[start : unit.end].lstrip())
        rest = rest[len(head) :]
    text = _without(answer, start, unit.end, rest).strip()
    text = text if unit.kind == "code" else _inline(text)
    if text.strip(" .") or rest:
        found.append(_Open(text, start, unit.end, _numbers(rest), unit.kind))


def _head(answer: str, unit: Unit, mine: Sequence[Mark]) -> list[Mark]:
    """The markers with which a unit begins."""
    at, head = unit.start, []
    for mark in mine:
        if answer[at : mark[0]].strip():
            break
        head.append(mark)
        at = mark[1]
    return head


def _goes_on(answer: str, before: int, unit: Unit, head: Sequence[Mark]) -> bool:
    """Whether the markers at the head of a unit close the claim that ended at `before`: nothing stands between, and no new paragraph begins
    unless it is of markers alone."""
    between = answer[before : unit.start]
    alone = not answer[head[-1][1] : unit.end].strip(" \t.")
    return not between.strip(" \t\n>") and (alone or not _BLANK_LINE.search(between))


def _numbers(marks: Sequence[Mark]) -> list[int]:
    return [number for mark in marks for number in mark[2]]


def _inline(text: str) -> str:
    """A claim's text that opens no fence, although the marker that stood before the ticks in its line is gone."""
    if not fences(text):
        return text
    line = " ".join(text.split())
    return f"\\{line}" if fences(line) else line


def _without(answer: str, start: int, end: int, inside: Sequence[Mark]) -> str:
    pieces, at = [], start
    for left, right, _ in inside:
        pieces.append(answer[at:left].rstrip())
        at = right
    return "".join([*pieces, answer[at:end]])
