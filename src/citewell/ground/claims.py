"""An answer's Markdown as claims: each sentence, item, row or code block with the markers that follow it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.ground import markers
from citewell.ground.units import units


@dataclass(frozen=True, slots=True)
class ClaimText:
    """`answer[start:end]`, markers included; `text` is the claim without them; `numbers` are what they name, as written."""

    text: str
    start: int
    end: int
    numbers: tuple[int, ...]
    kind: str


def split_claims(answer: str) -> list[ClaimText]:
    """The claims in order. A marker belongs to the claim before it: `It is so. [1]` and `It is so [1].` are the same."""
    found: list[ClaimText] = []
    marks = list(markers.find(answer))
    for unit in units(answer):
        inside = [mark for mark in marks if unit.start <= mark[0] < unit.end]
        start = unit.start
        if found and inside and unit.kind != "code":
            start = _hand_over(found, answer, unit.start, inside)
            inside = [mark for mark in inside if mark[0] >= start]
        text = _without(answer, start, unit.end, inside).strip()
        if text.strip(" ."):
            numbers = tuple(number for mark in inside for number in mark[2])
            found.append(ClaimText(text, start, unit.end, numbers, unit.kind))
    return found


def _hand_over(found: list[ClaimText], answer: str, start: int, inside: list[tuple[int, int, list[int]]]) -> int:
    """Markers at the head of a unit close the claim before it; where the unit itself then begins."""
    at, mine = start, []
    for left, right, numbers in inside:
        if answer[at:left].strip():
            break
        mine.extend(numbers)
        at = right
    if mine:
        before = found[-1]
        found[-1] = ClaimText(before.text, before.start, at, (*before.numbers, *mine), before.kind)
        at += len(answer[at:]) - len(answer[at:].lstrip())
    return at


def _without(answer: str, start: int, end: int, inside: list[tuple[int, int, list[int]]]) -> str:
    pieces, at = [], start
    for left, right, _ in inside:
        pieces.append(answer[at:left].rstrip(" "))
        at = right
    return "".join([*pieces, answer[at:end]])
