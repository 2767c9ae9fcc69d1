"""A long document page by page: full pages, cut where a section begins if possible, no fence cut that fits, nothing lost. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

PAGE_CHARS = 24_000

# In a quotation or a list a fence stands behind their marks; the info string of backticks holds none, else it is a code span.
_FENCE = re.compile(r"(?P<lead>(?:[ \t>]|[-*+] |\d{1,9}[.)] )*)(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"(?P<lead>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*")
_MOST_INDENTED = 3  # columns by which a closing line may lie deeper than the opening one
_HEADING = re.compile(r"#{1,6} ")


def lines(text: str) -> list[tuple[int, str]]:
    """Each line of a text with where it begins."""
    found, at = [], 0
    for line in text.split("\n"):
        found.append((at, line))
        at += len(line) + 1
    return found


def fences(text: str) -> list[tuple[int, int]]:
    """The fenced code of a text as spans from the start of the opening line to the end of the closing one, its line end left out.

    A fence that is never closed runs to the end of the text.
    """
    found: list[tuple[int, int]] = []
    fence: re.Match[str] | None = None
    opened = 0
    for start, line in lines(text):
        if fence is None:
            fence, opened = _FENCE.match(line), start
        elif _closes(line, fence):
            found.append((opened, start + len(line)))
            fence = None
    if fence is not None:
        found.append((opened, len(text)))
    return found


def closed(text: str) -> str:
    """The text, with a line added that closes its last fence where that is open."""
    spans = fences(f"{text}\n") if "```" in text or "~~~" in text else []
    if not spans or spans[-1][1] <= len(text):
        return text
    fence = _FENCE.match(text[spans[-1][0] :].partition("\n")[0])
    assert fence is not None
    return text.removesuffix("\n") + "\n" + re.sub(r"[^ \t>]", " ", fence["lead"]) + fence["mark"]


def _closes(line: str, fence: re.Match[str]) -> bool:
    """Whether a line ends the fence: of the same marks or more, quoted no deeper, and not indented as code in it."""
    closing = _CLOSING.fullmatch(line)
    if closing is None or not closing["mark"].startswith(fence["mark"]):
        return False
    deeper = len(closing["lead"].expandtabs(4)) - len(fence["lead"].expandtabs(4))
    return closing["lead"].count(">") <= fence["lead"].count(">") and deeper <= _MOST_INDENTED


def next_offset(text: str, offset: int, size: int = PAGE_CHARS) -> int | None:
    """Where the page that begins at `offset` ends; None when it reaches the end.

    A page is at least half full. In its second half it ends at the last heading, else behind the last blank line, else behind the last
    line, none of them in a fence. A fence is not cut while it fits on two pages, so that a page has at most two and a half times `size`
    characters; a longer fence is cut at a line, and a line without an end in that half at a blank, if it has one. Blank lines that would
    be all of the last page end the one before it.
    """
    limit = offset + size
    if len(text) <= limit:
        return None
    spans = fences(text)
    starts = [(start, rank) for start, rank in _line_starts(text, offset, limit) if start >= offset + size // 2]
    best = {rank: start for start, rank in starts if _fence_over(start, spans) is None}
    fence = _fence_over(limit, spans)
    if best:
        end = best[min(best)]
    elif fence and fence[1] + 1 - max(fence[0], offset) <= 2 * size:
        end = fence[1] + 1
    elif starts:
        end = starts[-1][0]
    else:
        end = text.rfind(" ", offset + size // 2, limit) + 1 or limit
    return None if len(text) - end <= size and not text[end:].strip() else end


def _fence_over(at: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The fence that a cut at this place would cut; None when it would cut none."""
    n = bisect_left(spans, (at, -1)) - 1
    return spans[n] if n >= 0 and spans[n][0] < at <= spans[n][1] else None


def _line_starts(text: str, offset: int, limit: int) -> list[tuple[int, int]]:
    """The starts of lines after `offset` and up to `limit`, with how good a place to cut each is: 0 is best."""
    found = []
    at = text.find("\n", offset, limit) + 1
    while at:
        end = text.find("\n", at)
        before = text.rfind("\n", 0, at - 1) + 1
        rank = 0 if _HEADING.match(text, at) else 1 if not text[before : at - 1].strip() else 2
        found.append((at, rank))
        at = end + 1 if 0 <= end < limit else 0
    return found


def normal_name(name: str) -> str:
    """`SOURCE/PATH` as it is stored, from how people write it: `./` is dropped wherever it stands, doubled slashes are one."""
    parts = [part for part in name.strip().split("/") if part not in {"", "."}]
    return "/".join(parts) + ("/" if len(parts) > 1 and name.strip().endswith("/") else "")
