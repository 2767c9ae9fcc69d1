"""Citation markers `[n]` in Markdown: found where they are markers, never in code, links or escapes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# Not a link `[1](u)`, a reference `[1][name]`, a definition `[1]: u`, nor an escape.
_MARKER = re.compile(r"(?<!\\)\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\](?!\(|:|\[(?!\d))")
_OPAQUE = re.compile(
    r"(?P<fence>^[ >]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ >]*\2[`~]*[ \t]*$|\Z))|(?P<span>(`+)(?!`)[^\n]*?(?<!`)\4(?!`))",
    re.DOTALL | re.MULTILINE,
)


def opaque_spans(markdown: str) -> list[tuple[int, int]]:
    """Where code is: nothing inside is a marker or a sentence end."""
    return [match.span() for match in _OPAQUE.finditer(markdown)]


def find(markdown: str) -> Iterator[tuple[int, int, list[int]]]:
    """Every marker as (start, end, numbers); `[1, 2]` names two."""
    hidden = opaque_spans(markdown)
    at = 0
    for match in _MARKER.finditer(markdown):
        while at < len(hidden) and hidden[at][1] <= match.start():
            at += 1
        if at < len(hidden) and hidden[at][0] <= match.start():
            continue
        yield match.start(), match.end(), [int(number) for number in re.findall(r"\d+", match.group(0))]


def rewrite(markdown: str, number: Callable[[int, int], int | None]) -> tuple[str, int]:
    """The text with each marker's numbers replaced by `number(position, old)`; what that maps to None is removed and counted."""
    pieces, at, removed = [], 0, 0
    for start, end, numbers in find(markdown):
        new = [number(start, old) for old in numbers]
        removed += sum(value is None for value in new)
        kept = list(dict.fromkeys(value for value in new if value is not None))
        left = markdown[at:start]
        pieces.append(left if kept else left.rstrip(" "))
        pieces.append("".join(f"[{value}]" for value in kept))
        at = end
    pieces.append(markdown[at:])
    return "".join(pieces), removed


def escape(text: str) -> str:
    """Prose in which nothing reads as a marker or a link: square brackets outside code are escaped."""
    hidden = opaque_spans(text)

    def shield(match: re.Match[str]) -> str:
        inside = any(start <= match.start() < end for start, end in hidden)
        return match.group(0) if inside else "\\" + match.group(0)

    return re.sub(r"(?<!\\)[\[\]]", shield, text)
