"""A file's bytes to a page ready to store: decoded, extracted, chunked, its words weighted, its symbols placed. Pure but for reading."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from citewell.index import lexical
from citewell.index.lexical import section_weights
from citewell.index.store import NewPage, NewSection, NewSymbol
from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.crawl.address import LONGEST, as_folder, normal
from citewell.ingest.discover.base import Raw
from citewell.ingest.discover.inventory import Entry
from citewell.ingest.extract import RECIPE, extractor_for
from citewell.ingest.extract.base import NotContent, Page, page_markdown
from citewell.ingest.extract.decode import decode
from citewell.types import Kind

_API_WORDS = ("/api/", "/generated/", "/library/", "/reference/", "/c-api/")
_LONGEST_NAME = 300
_TUTORIAL_WORDS = ("tutorial", "/howto", "getting-started", "getting_started", "quickstart", "/examples/", "/recipes/")


@dataclass(frozen=True, slots=True)
class Origin:
    """What a page's source says of it. `kind` is empty where the page itself has to tell."""

    source: str
    base_url: str
    kind: str
    version: str


def made_by(entries: Sequence[Entry], origin: Origin) -> str:
    """A digest of everything that the stored page depends on but its bytes: the inventory's entries, the source's options, our recipes."""
    digest = hashlib.sha256(repr((RECIPE, lexical.RECIPE)).encode())
    digest.update(repr((origin.base_url, origin.kind, origin.version)).encode())
    for entry in entries:
        digest.update(repr((entry.name, entry.role, entry.anchor)).encode())
    return digest.hexdigest()


def content_hash(data: bytes, made: str) -> str:
    """Everything that the stored page depends on: its bytes and what `made_by` says."""
    return hashlib.sha256(made.encode() + data).hexdigest()


def prepare(raw: Raw, data: bytes, entries: Sequence[Entry], origin: Origin) -> NewPage:
    """The page to store. Raises `NotContent` when there is nothing to index; anything else that it raises is a fault of the document."""
    extractor = extractor_for(f"page{raw.suffix}" if raw.suffix else raw.path)
    if extractor is None:
        raise NotContent("no extractor for this format")
    page = extractor(decode(data, charset=raw.charset), raw.path)
    chunks = chunk(page)
    if not chunks:
        raise NotContent("no text")
    url = _address(raw, origin)
    if max(len(url), len(raw.path.encode())) > LONGEST:  # no page of the database's indexes would hold it
        raise NotContent("its address is too long")
    sections = [_section(number, piece) for number, piece in enumerate(chunks)]
    return NewPage(
        path=raw.path,
        url=url,
        title=page.title[:500],
        kind=origin.kind or _guess_kind(raw.path, page),
        version=origin.version or page.version,
        content_hash=content_hash(data, made_by(entries, origin)),
        text=page_markdown(page),
        sections=sections,
        symbols=_symbols(chunks, sections, entries),
        canonical=page.canonical,
    )


def page_url(path: str, origin: Origin) -> str:
    """Where a reader opens the page; `doc:SOURCE/PATH` where the source has no address. Never a path of this machine."""
    return origin.base_url + quote(path, safe="/~") if origin.base_url else f"doc:{quote(f'{origin.source}/{path}', safe='/~')}"


def _address(raw: Raw, origin: Origin) -> str:
    """Where a reader opens a document: at its own address, or at the same one of the place where its site is published."""
    if not raw.url or not origin.base_url:
        return raw.url or page_url(raw.path, origin)
    try:
        published = normal(origin.base_url + raw.path)
    except ValueError as error:
        raise NotContent("its address is too long") from error
    return as_folder(published) if raw.url.endswith("/") else published


def _section(number: int, piece: Chunk) -> NewSection:
    key = hashlib.sha256(repr((piece.anchor, piece.heading_path, piece.nth, piece.part)).encode()).digest()[:16]
    return NewSection(
        key=key,
        ordinal=number,
        anchor=piece.anchor,
        heading_path=piece.heading_path,
        part=piece.part,
        text=piece.text,
        text_hash=hashlib.sha256(piece.text.encode()).hexdigest()[:32],
        lexical=section_weights(piece.heading_path, piece.text),
    )


def _symbols(chunks: Sequence[Chunk], sections: Sequence[NewSection], entries: Sequence[Entry]) -> list[NewSymbol]:
    """The inventory's names with the section that holds their anchor; a page without an inventory gives the names of its definitions."""
    place: dict[str, NewSection] = {}
    for piece, section in zip(chunks, sections, strict=True):
        for name in piece.ids:
            if piece.part == 0 or name not in place:
                place.setdefault(name, section)
    if entries:
        return [NewSymbol(entry.name, entry.role, place.get(entry.anchor, sections[0]).key) for entry in entries if _is_name(entry.name)]
    return [
        NewSymbol(name, "definition", section.key)
        for piece, section in zip(chunks, sections, strict=True)
        if piece.part == 0 and piece.anchor
        for name in piece.names
    ]


def _is_name(name: str) -> bool:
    """Whether an inventory's entry can be a symbol; the file is as hostile as any."""
    return len(name) <= _LONGEST_NAME and name.isprintable()


def _guess_kind(path: str, page: Page) -> Kind:
    where = f"/{path.lower()}"
    if any(word in where for word in _TUTORIAL_WORDS):
        return "tutorial"
    defines = any(place.signature for place in page.root.places) or any(
        inner.signature for place in page.root.places for inner in place.places
    )
    return "api" if defines or any(word in where for word in _API_WORDS) else "guide"
