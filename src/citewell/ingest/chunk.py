"""A page's tree of places to the sections that are stored, searched and cited. Pure.

Every heading and every documented definition is a section of its own; one that is too long is split at blocks, then at lines. Each
part has balanced fences and each part of a table its header; no text is lost, and no key depends on what stands elsewhere in the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from citewell.ingest.extract.base import Block, Page, Place, Text, place_signature
from citewell.ingest.split import pack
from citewell.types import HEADING_SEPARATOR

MAX_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Chunk:
    """One section before it is stored. Its key is (anchor, heading_path, nth, part): `nth` tells same-named places apart.

    `names` are the symbols that it documents.
    """

    anchor: str
    heading_path: str
    nth: int
    part: int
    text: str
    ids: frozenset[str]
    names: tuple[str, ...] = ()


def chunk(page: Page, max_chars: int = MAX_CHARS) -> list[Chunk]:
    """The sections of a page in page order. A place without text of its own is left out when places below it carry its heading on.

    Each id of the page is one section's: the first part's of the first place that has it, of the next section where that place is left
    out. No text is longer than `max_chars`, which is 400 or more.
    """
    seen: Counter[tuple[str, str]] = Counter()
    given: set[str] = set()
    waiting: frozenset[str] = frozenset()
    found: list[Chunk] = []
    for path, place in _walk(page.root, ()):
        ids = waiting | (place.ids | {place.anchor}) - {""} - given
        given |= ids
        parts = _place_chunks(path or (page.title,), place, seen, max_chars)
        found.extend(replace(part, ids=frozenset() if number else ids) for number, part in enumerate(parts))
        waiting = frozenset() if parts else ids
    if waiting and found:
        found[-1] = replace(found[-1], ids=found[-1].ids | waiting)
    return found


def _walk(place: Place, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Place]]:
    path = (*above, place.heading) if place.heading else above
    yield path, place
    for child in place.places:
        yield from _walk(child, path)


def _place_chunks(path: tuple[str, ...], place: Place, seen: Counter[tuple[str, str]], max_chars: int) -> list[Chunk]:
    signature = place_signature(place)
    blocks: list[Block] = [*([Text(signature)] if signature else []), *place.blocks]
    parts = pack(blocks, max_chars)
    if not parts and not place.places and place.heading:
        parts = [place.heading]
    heading_path = HEADING_SEPARATOR.join(path)
    nth = seen[place.anchor, heading_path]
    seen[place.anchor, heading_path] += bool(parts)
    return [Chunk(place.anchor, heading_path, nth, number, text, frozenset(), place.names) for number, text in enumerate(parts)]
