"""A page's tree of places to the sections that are stored, searched and cited. Pure.

Every heading and every documented definition is a section of its own; one that is too long is split at blocks, then at lines. Each
part has balanced fences and each part of a table its header; no text is lost, and no key depends on what stands elsewhere in the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.ingest.extract.base import Block, Code, Page, Place, Table, Text, join, place_signature, render
from citewell.types import HEADING_SEPARATOR

MAX_CHARS = 2000
_FENCE_ROOM = 40  # what the fences and the language of a code block may add to a part


@dataclass(frozen=True, slots=True)
class Chunk:
    """One section before it is stored. Its key is (anchor, heading_path, nth, part): `nth` tells same-named places apart."""

    anchor: str
    heading_path: str
    nth: int
    part: int
    text: str
    ids: frozenset[str]
    definition: bool = False


def chunk(page: Page, max_chars: int = MAX_CHARS) -> list[Chunk]:
    """The sections of a page in page order. A place without text of its own is left out when places below it carry its heading on."""
    seen: Counter[tuple[str, str]] = Counter()
    return [piece for path, place in _walk(page.root, ()) for piece in _place_chunks(path or (page.title,), place, seen, max_chars)]


def _walk(place: Place, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Place]]:
    path = (*above, place.heading) if place.heading else above
    yield path, place
    for child in place.places:
        yield from _walk(child, path)


def _place_chunks(path: tuple[str, ...], place: Place, seen: Counter[tuple[str, str]], max_chars: int) -> Iterator[Chunk]:
    signature = place_signature(place)
    blocks: list[Block] = [*([Text(signature)] if signature else []), *place.blocks]
    parts = _pack(blocks, max_chars)
    if not parts and not place.places and place.heading:
        parts = [place.heading]
    heading_path = HEADING_SEPARATOR.join(path)
    nth = seen[place.anchor, heading_path]
    seen[place.anchor, heading_path] += bool(parts)
    for number, text in enumerate(parts):
        yield Chunk(place.anchor, heading_path, nth, number, text, frozenset(place.ids | {place.anchor} - {""}), bool(signature))


def _pack(blocks: list[Block], max_chars: int) -> list[str]:
    """The blocks as texts of at most `max_chars`, filled in order; only what cannot be split at a line end is longer than that."""
    parts: list[str] = []
    open_: list[Block] = []
    size = 0
    for block in (piece for whole in blocks for piece in _split(whole, max_chars)):
        length = len(render(block)) + 2
        if open_ and size + length > max_chars:
            parts.append(join(open_))
            open_, size = [], 0
        open_.append(block)
        size += length
    if open_:
        parts.append(join(open_))
    return [part for part in parts if part.strip()]


def _split(block: Block, max_chars: int) -> Iterator[Block]:
    if len(render(block)) <= max_chars:
        yield block
    elif isinstance(block, Code):
        room = max(max_chars - _FENCE_ROOM - len(block.language), 200)
        for lines in _groups(block.text.split("\n"), room, len(block.prefix) + 1):
            yield Code("\n".join(lines), block.language, block.prefix)
    elif isinstance(block, Table):
        room = max(max_chars - len("\n".join(block.head)), 200)
        for rows in _groups(block.rows, room, 1):
            yield Table(block.head, rows)
    else:
        for number, lines in enumerate(_groups(block.md.split("\n"), max_chars, 1)):
            yield Text("\n".join(lines), tight=block.tight or number > 0)


def _groups(lines: list[str], room: int, extra: int) -> Iterator[list[str]]:
    """Runs of lines that fit into `room`, each line counted with `extra`; a longer line is cut at a blank, else anywhere."""
    group: list[str] = []
    size = 0
    for line in (piece for whole in lines for piece in _cut(whole, room)):
        if group and size + len(line) + extra > room:
            yield group
            group, size = [], 0
        group.append(line)
        size += len(line) + extra
    if group:
        yield group


def _cut(line: str, room: int) -> Iterator[str]:
    while len(line) > room:
        blank = line.rfind(" ", room // 2, room)
        end = blank + 1 if blank > 0 else room
        yield line[:end]
        line = line[end:]
    yield line
