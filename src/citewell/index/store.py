"""What a store of documentation does, as one protocol with its request and result values. `pg` implements it on PostgreSQL; the
conformance suite in tests/conformance says what every implementation must do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from citewell.types import Answer, Document, Filters, Section, Source, SourceInfo


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A source as the caller wants it: `origin` decides whether a known name means the same source."""

    name: str
    origin: str
    library: str
    kind: str = ""
    base_url: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class NewSection:
    """A section to store. `key` is unique in its page and does not depend on what else stands there; `lexical` maps a term's dimension
    to its weight."""

    key: bytes
    ordinal: int
    anchor: str
    heading_path: str
    part: int
    text: str
    text_hash: str
    lexical: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class NewSymbol:
    """A documented name and the section (by its key) that documents it."""

    name: str
    role: str
    section_key: bytes


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to publish. `moved_from` is the path under which the same page is stored so far, if it has moved."""

    path: str
    url: str
    title: str
    kind: str
    version: str
    content_hash: str
    text: str
    sections: Sequence[NewSection]
    symbols: Sequence[NewSymbol] = ()
    moved_from: str = ""
    canonical: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """What is remembered of an address of a site from one crawl to the next.

    `path` is the document's ("" for none), `reason` says why it is none, `target` where it redirects to. `etag` and `last_modified`
    are the server's validators; `made_by` digests all else that the stored page came from, so that they are only used while it holds.
    `found` are addresses first seen there. `done` says whether the crawl that is under way has been there.
    """

    url: str
    path: str = ""
    reason: str = ""
    target: str = ""
    etag: str = ""
    last_modified: str = ""
    made_by: str = ""
    found: tuple[str, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """A section that has no vector yet."""

    section_id: int
    heading_path: str
    text: str


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search. `vector` is None for keywords only; `depth` bounds each channel, `rare_terms` the candidates looked up by keyword."""

    terms: Sequence[int]
    vector: str | None
    symbols: Sequence[str] = ()
    filters: Filters = field(default_factory=Filters)
    depth: int = 60
    rare_terms: int = 4000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A section found by any channel, with its exact score in each: BM25; cosine similarity, None while its vector is pending; how
    closely a symbol of the question names it, 0..1. `canonical`: its page is at the address that it calls its own."""

    section_id: int
    document_id: int
    text_hash: str
    keyword: float
    dense: float | None
    symbol: float
    canonical: bool = False


@dataclass(frozen=True, slots=True)
class TermWeight:
    """Sections that hold a term, and its inverse document frequency."""

    df: int
    idf: float


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """`index_version` counts every published change; `embedder` is that of the vectors, "" while there are none; `max_distance` is the
    guard's calibrated threshold, if any."""

    index_version: int
    embedder: str
    sections: int
    max_distance: float | None


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of the catalogue: `documents` of `total`."""

    documents: Sequence[Document]
    total: int


@dataclass(frozen=True, slots=True)
class PageAt:
    """Where a page is stored: the name of its source and its path there."""

    url: str
    source: str
    path: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A section to calibrate the guard with."""

    section_id: int
    heading_path: str
    text: str


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A question as it is logged: its text and warnings without secrets, the pages that were read and those that were cited."""

    question: str
    answer: Answer
    libraries: Sequence[str]
    read: Sequence[str]
    cited: Sequence[str]
    warnings: Sequence[str]


class Store(Protocol):
    """Every method raises `DatabaseError` when the store fails. A page is published whole or not at all."""

    async def corpus(self) -> CorpusInfo: ...

    async def find_source(self, name: str) -> Source | None: ...

    async def bind_source(self, spec: SourceSpec) -> Source:
        """The source of that name, made if need be. Raises `SourceConflict` when the name is bound to another origin."""
        ...

    def indexing(self, name: str) -> AbstractAsyncContextManager[None]:
        """The right to make and change the source of a name, for one process at a time. Raises `SourceBusy` when another has it."""
        ...

    async def sources(self) -> list[SourceInfo]: ...

    async def remove_source(self, name: str) -> int:
        """Forget a source with all its pages; the number of pages. Raises `NotFound`, and `SourceBusy` while it is being indexed."""
        ...

    async def page_hashes(self, source: Source) -> dict[str, str]: ...

    async def put_page(self, source: Source, page: NewPage) -> bool:
        """Publish a page in one transaction, its old tail gone, sections that did not change kept with their vectors; whether it is new."""
        ...

    async def delete_pages(self, source: Source, paths: Sequence[str]) -> int: ...

    async def begin_crawl(self, source: Source) -> dict[str, Visit]:
        """What is known of a source's addresses. A crawl that did not end is gone on with for a day; else a new one begins."""
        ...

    async def visits(self, source: Source) -> dict[str, Visit]:
        """As `begin_crawl`, without beginning one."""
        ...

    async def put_visits(self, source: Source, visits: Sequence[Visit]) -> None:
        """Remember visits, and what they found as addresses to visit; documents that they confirm count as fetched now."""
        ...

    async def pages_at(self, urls: Sequence[str], filters: Filters = ...) -> list[PageAt]:
        """Where the documents with these addresses are stored."""
        ...

    async def count_terms(self) -> None:
        """Bring the document frequencies up to date, if so many sections have changed that it matters."""
        ...

    async def mark_repeated(self, source: Source) -> None:
        """Take out of searches what a good share of a source's pages say in the very same words, and put back what they no longer do."""
        ...

    async def finish_source(self, source: Source, *, complete: bool = True) -> None:
        """Note that a source has been indexed, if it was completely. A crawl that was not stays under way."""
        ...

    async def pending(self, source: Source, limit: int) -> list[Pending]:
        """Sections without a vector, short ones first."""
        ...

    async def known_vectors(self, hashes: Sequence[str]) -> dict[str, str]: ...

    async def put_vectors(self, source: Source, rows: Sequence[tuple[int, str, str]]) -> None:
        """Vectors as (section id, hash of what was embedded, literal). Sections that are gone meanwhile are passed over."""
        ...

    async def claim_embedder(self, name: str, width: int) -> str:
        """The embedder whose vectors the corpus holds: `name` if it had none. Raises `EmbedderFailed` for vectors that are too wide."""
        ...

    async def search(self, query: SearchQuery) -> list[Candidate]: ...

    async def sections(self, ids: Sequence[int], filters: Filters = ...) -> list[Section]:
        """The sections of those ids in the order given; those that are gone, or outside the filter's libraries, are left out."""
        ...

    async def known_symbols(self, symbols: Sequence[str], filters: Filters = ...) -> set[str]:
        """Which of these lower-case names are documented symbols, whole or from a dot on."""
        ...

    async def known_terms(self, terms: Sequence[int], filters: Filters = ...) -> set[int]:
        """Which of these terms any section holds, by the sections themselves: exact also between two counts."""
        ...

    async def term_weights(self, terms: Sequence[int]) -> dict[int, TermWeight]:
        """How telling each term is in this corpus."""
        ...

    async def list_documents(self, prefix: str, *, limit: int, offset: int, filters: Filters = ...) -> Listed: ...

    async def read_document(self, name: str, filters: Filters = ...) -> Document:
        """The stored page of `SOURCE/PATH`, whatever the case of its letters. Raises `NotFound` that names near misses."""
        ...

    async def sample_sections(self, limit: int) -> list[Sample]: ...

    async def nearest_distance(self, vector: str, *, outside_page_of: int | None = None, filters: Filters = ...) -> float | None:
        """Cosine distance (0..2) to the nearest section; None while there are no vectors."""
        ...

    async def set_threshold(self, distance: float) -> None: ...

    async def log_query(self, query: LoggedQuery, *, keep_days: int) -> None:
        """Add a question to the log, and forget those that are older than so many days."""
        ...
