"""The beginning of a text that is too long to be shown whole. Pure; costs no more for a longer text."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.ground.blocks import Block, blocks
from citewell.index.reading import closed

_AHEAD = 200  # characters behind a cut that tell whether a paragraph ends there


def excerpt(text: str, size: int) -> tuple[str, int]:
    """The first `size` characters or less, and how many are not shown. What is shown has its fences closed, for which a line is added.

    It ends behind the last paragraph, list item, table row or fence that fits, if that is in its second half; else at the end of a line,
    of a word, or where it must. A heading, or the head of a table, does not stand at its end with nothing below it.
    """
    if len(text) <= size:
        return closed(text), 0
    end = _break(text, size)
    kept = blocks(text[:end])
    if len(kept) > 1 and kept[-1].start > size // 2 and _goes_on(text, kept[-1], end):
        kept.pop()
    while len(kept) > 1 and _is_head(kept):
        kept.pop()
    end = kept[-1].end if kept else end
    return closed(text[:end]), len(text) - end


def _break(text: str, size: int) -> int:
    """The end of a line or of a word in the second half of the first `size` characters."""
    line = text.rfind("\n", size // 2, size + 1)
    if line > 0:
        return line
    word = text.rfind(" ", size // 2, size + 1)
    return word if word > 0 else size


def _goes_on(text: str, last: Block, end: int) -> bool:
    """Whether the last block before `end` has more of its text behind it."""
    return blocks(text[last.start : end + _AHEAD])[0].end != last.end - last.start


def _is_head(kept: Sequence[Block]) -> bool:
    """Whether the last block is nothing without the next: a heading, the rule of a table, or the row above that."""
    last = kept[-1].kind
    return last in {"heading", "rule"} or (last == "row" and kept[-2].kind not in {"row", "rule"})
