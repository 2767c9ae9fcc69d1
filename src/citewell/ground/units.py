"""A section's Markdown as the units that can be quoted: sentences, list items, table rows, code blocks, signatures. Pure.

Every unit is a span of the text, so that a quotation is exact by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

UnitKind = Literal["sentence", "item", "row", "code", "signature"]

_FENCE = re.compile(r"^(?P<indent>[ >]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_LEAD = re.compile(r"\s*(?:>\s*)*")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_SIGNATURE = re.compile(r"^`[^`]+`$")
_END = re.compile(r"[.!?]+[\"')\]”’»]*(?=\s|$)|[。！？]+|(?<=[^\s:]):(?=\s*$)")
_OPENER = re.compile(r"[\"'(\[“‘«*_`\\]*[A-Z0-9À-ÖØ-Þ`\"“]|[^\x00-\x7f]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.g|i\.e|etc|cf|vs|viz|resp|approx|incl|fig|figs|eq|eqs|sec|ch|no|nos|vol|pp|al|dr|mr|mrs|ms|prof|st|jr|sr|inc|ltd|co"
    r"|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|u\.s|a\.k\.a|[A-Z])\.$",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]` of its section."""

    kind: UnitKind
    start: int
    end: int


def units(text: str) -> list[Unit]:
    """The units of a section's text, in order. Headings, table rules and fences without content give none."""
    return list(_units(text))


def _units(text: str) -> Iterator[Unit]:
    lines = _lines(text)
    n = 0
    while n < len(lines):
        start, line = lines[n]
        fence = _FENCE.match(line)
        if fence:
            last = _fence_end(lines, n, fence.group("mark"))
            if last > n + 1:
                yield Unit("code", start, lines[last][0] + len(lines[last][1]))
            n = last + 1
        elif not line.strip() or _HEADING.match(line):
            n += 1
        elif line.lstrip().startswith("|"):
            if not _RULE.match(line) and not (n + 1 < len(lines) and _RULE.match(lines[n + 1][1]) and "-" in lines[n + 1][1]):
                yield Unit("row", start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
            n += 1
        else:
            last = _paragraph_end(lines, n)
            yield from _prose(text, start, lines[last][0] + len(lines[last][1]), bool(_ITEM.match(line)))
            n = last + 1


def _lines(text: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for line in text.split("\n"):
        found.append((at, line))
        at += len(line) + 1
    return found


def _fence_end(lines: list[tuple[int, str]], first: int, mark: str) -> int:
    """The line that closes a fence; the last line when none does."""
    for n in range(first + 1, len(lines)):
        closing = lines[n][1].strip(" >")
        if closing.startswith(mark) and not closing.strip(mark[0]):
            return n
    return len(lines) - 1


def _paragraph_end(lines: list[tuple[int, str]], first: int) -> int:
    n = first
    while n + 1 < len(lines):
        line = lines[n + 1][1]
        if not line.strip() or _FENCE.match(line) or _ITEM.match(line) or _HEADING.match(line) or line.lstrip().startswith("|"):
            break
        if _SIGNATURE.match(line.strip()):
            break
        n += 1
    return n


def _prose(text: str, start: int, end: int, item: bool) -> Iterator[Unit]:
    marker = (_ITEM if item else _LEAD).match(text, start, end)
    start = marker.end() if marker else start
    body = text[start:end]
    if _SIGNATURE.match(body.strip()) and "\n" not in body:
        yield Unit("signature", start, start + len(body.rstrip()))
        return
    for left, right in _sentences(body):
        yield Unit("item" if item else "sentence", start + left, start + right)


def _sentences(body: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a paragraph. A full stop in a code span, an abbreviation or a number ends none."""
    masked = _SPAN.sub(lambda span: "x" * len(span.group(0)), body)
    start = 0
    for stop in _END.finditer(masked):
        rest = masked[stop.end() :].lstrip()
        if (rest and not _OPENER.match(body[len(body) - len(rest) :])) or _ABBREVIATION.search(masked[start : stop.start() + 1]):
            continue
        yield from _trimmed(body, start, stop.end())
        start = stop.end()
    yield from _trimmed(body, start, len(body))


def _trimmed(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = body[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = end - (len(piece) - len(piece.rstrip()))
    if right > left:
        yield left, right
