"""Citation markers `[n]` in Markdown: found where they are markers, never in code, links or escapes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set

from citewell.ground.blocks import Block, blocks, code_spans, is_escaped
from citewell.ground.inline import links, outside

MARKER = r"\[\d{1,9}(?:[ \t]{0,3}[,;][ \t]{0,3}\d{1,9}){0,50}\]"

_MARKER = re.compile(MARKER)
_DEFINITION = re.compile(
    r"^[ \t>]*\[([^\[\]\n]{1,200})\]:[ \t]*\S{1,2000}(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$", re.MULTILINE
)


def hidden_spans(markdown: str, block: Block, labels: Set[str] = frozenset()) -> list[tuple[int, int]]:
    """The code and the links of a block, in order: a bracket or a full stop in them is a part of them."""
    code = code_spans(markdown, block.start, block.end)
    return sorted([*code, *((link.start, link.end) for link in links(markdown, block.start, block.end, code, labels))])


def definitions(markdown: str) -> dict[int, str]:
    """Where the text defines labels of links, and which, lower case."""
    return {match.start(1) - 1: match.group(1).casefold() for match in _DEFINITION.finditer(markdown)}


def find(markdown: str) -> Iterator[tuple[int, int, list[int]]]:
    """Every marker as (start, end, numbers); `[1, 2]` names two."""
    defined = definitions(markdown)
    labels = set(defined.values())
    for block in blocks(markdown):
        if block.kind == "fence":
            continue
        hidden = hidden_spans(markdown, block, labels)
        for match in outside(_MARKER, markdown, block.start, block.end, hidden):
            if match.start() not in defined and not is_escaped(markdown, match.start()):
                yield match.start(), match.end(), [int(number) for number in re.findall(r"\d+", match.group(0))]


def rewrite(markdown: str, number: Callable[[int, int], int | None]) -> tuple[str, int]:
    """The text with each marker's numbers replaced by `number(position, old)`; what that maps to None is removed and counted.

    With a marker that goes, the blanks before it go too; all else stays as it is, byte for byte.
    """
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
