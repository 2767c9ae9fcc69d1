"""A long document page by page: cut where a section begins if possible, never inside a fence, and nothing lost. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

PAGE_CHARS = 24_000

_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6} ")


def next_offset(text: str, offset: int, size: int = PAGE_CHARS) -> int | None:
    """Where the page that begins at `offset` ends; None when it reaches the end.

    The last heading within the size, else the last blank line, else the last line end; a fence is not cut while it fits on two pages.
    """
    if len(text) - offset <= size:
        return None
    best: dict[int, int] = {}
    for start, rank in _boundaries(text, offset):
        if (start > offset + size and best) or start > offset + 2 * size:
            break
        if start > offset:
            best[rank] = start
    return best[min(best)] if best else offset + size


def _boundaries(text: str, offset: int) -> Iterator[tuple[int, int]]:
    """Line starts outside fences after an offset that itself lies outside, with how good a place to cut each is: 0 is best."""
    at, mark, blank = offset, "", False
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        fence = _FENCE.match(line)
        if not mark and at > offset:
            yield at, 0 if _HEADING.match(line) else 1 if blank else 2
        if fence and not mark:
            mark = fence.group(1)
        elif fence and mark and line.strip(" >").startswith(mark) and not line.strip(" >").strip(mark[0]):
            mark = ""
        blank = not line.strip()
        at = end + 1


def normal_name(name: str) -> tuple[str, str]:
    """Source and path of `SOURCE/PATH`, written as people do: `./` in front is dropped, doubled slashes are one."""
    cleaned = re.sub(r"/{2,}", "/", name.strip())
    while cleaned.startswith(("./", "/")):
        cleaned = cleaned.split("/", 1)[1]
    source, _, path = cleaned.partition("/")
    return source, path.removeprefix("./")
