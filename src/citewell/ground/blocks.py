"""A Markdown text as its blocks, and the code spans within them: what sentences and citation markers cannot cross. Pure.

Only as much of CommonMark as documentation and answers use; every block is a span of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from citewell.index.reading import fences, lines

BlockKind = Literal["fence", "heading", "break", "rule", "row", "item", "paragraph"]

_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_HEADING = re.compile(r"[ \t>]*#{1,6}(?:[ \t]|$)")
_BREAK = re.compile(r"(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+")
_BREAK_MARKS = frozenset("-*_=")
_ITEM_MARKS = frozenset("-*+0123456789")
_SIGNATURE = re.compile(r"`[^`]+`")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]`: whole lines, without the last line end. A table's head is a row; its rule is the rule below it."""

    kind: BlockKind
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """The blocks of a text in order; blank lines belong to none."""
    found: list[Block] = []
    at = 0
    for first, last in fences(text):
        found.extend(_plain_blocks(text[at : max(first - 1, at)], at))
        found.append(Block("fence", first, last))
        at = last + 1
    found.extend(_plain_blocks(text[at:], at))
    return found


def _plain_blocks(text: str, offset: int) -> Iterator[Block]:
    """The blocks of a text without fences: a line goes on the block above it unless it begins one of its own."""
    kind: BlockKind | None = None
    start = end = 0
    for at, line in lines(text):
        begun = _begins(line)
        if kind is not None and (begun is not None or not line.strip(" \t>")):
            yield Block(kind, offset + start, offset + end)
            kind = None
        if begun in {"heading", "break", "rule", "row"}:
            yield Block(begun, offset + at, offset + at + len(line))
        elif kind is None and line.strip(" \t>"):
            kind, start = begun or "paragraph", at
        end = at + len(line)
    if kind is not None:
        yield Block(kind, offset + start, offset + end)


def _begins(line: str) -> BlockKind | None:
    """The block that a line begins, whatever stands above it; None for a line that goes on a paragraph, or begins one after a blank."""
    bare = line.strip(" \t>")
    first = bare[:1]
    if first == "|":
        return "rule" if "-" in bare and not bare.strip("|:- \t") else "row"
    if first == "#":
        return "heading" if _HEADING.match(line) else None
    if first in _BREAK_MARKS and _BREAK.fullmatch(bare):
        return "break"
    if first in _ITEM_MARKS and _ITEM.match(line):
        return "item"
    return "paragraph" if first == "`" and _SIGNATURE.fullmatch(bare) else None


def content_start(text: str, block: Block) -> int:
    """Where the words of a block begin, after the marks of quotations, lists and headings."""
    if block.kind in {"item", "heading"}:
        marker = (_ITEM if block.kind == "item" else _HEADING).match(text, block.start, block.end)
        return marker.end() if marker else block.start
    return block.start + len(text[block.start : block.end]) - len(text[block.start : block.end].lstrip(" \t>"))


def code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The code spans of the block `text[start:end]`: from a run of backticks to the next of the same length (CommonMark 6.1)."""
    runs = [match.span() for match in _TICKS.finditer(text, start, end)]
    of_length: defaultdict[int, list[int]] = defaultdict(list)
    for n, (left, right) in enumerate(runs):
        of_length[right - left].append(n)
    found, n = [], 0
    while n < len(runs):
        left, right = runs[n]
        if is_escaped(text, left):
            left += 1
        same = of_length[right - left] if right > left else []
        at = bisect_right(same, n)
        if at < len(same):
            found.append((left, runs[same[at]][1]))
            n = same[at]
        n += 1
    return found


def is_escaped(text: str, at: int) -> bool:
    """Whether a backslash takes its meaning from the character at this place; a backslash that is escaped itself does not."""
    first = at
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1
