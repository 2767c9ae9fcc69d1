"""The store on PostgreSQL: reading. What writes is in `pg_write`; both only run named statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from citewell.errors import NotFound
from citewell.index.db import Row
from citewell.index.identifiers import last_component
from citewell.index.pg_log import PgLog
from citewell.index.pg_visits import PgVisits
from citewell.index.pg_write import PgWriter
from citewell.index.store import Candidate, CorpusInfo, Listed, Sample, SearchQuery, TermWeight
from citewell.types import NO_FILTERS, Document, Filters, Section, SourceInfo


class PgStore(PgWriter, PgVisits, PgLog):
    """`store.Store` over an open `Database`. The caller's libraries are enforced here, in SQL, and nowhere else."""

    async def corpus(self) -> CorpusInfo:
        row = await self.db.fetch_one("corpus")
        assert row is not None
        return CorpusInfo(**row)

    async def sources(self) -> list[SourceInfo]:
        return [SourceInfo(**row) for row in await self.db.fetch("sources")]

    async def search(self, query: SearchQuery) -> list[Candidate]:
        scope = await self._scope(query.filters)
        if scope["sources"] == []:
            return []
        rows = await self.db.fetch(
            "search",
            terms=list(query.terms),
            vector=query.vector,
            symbols=list(query.symbols),
            lasts=[last_component(symbol) for symbol in query.symbols],
            depth=query.depth,
            candidates=query.rare_terms,
            **scope,
        )
        return [_candidate(row) for row in rows]

    async def _scope(self, filters: Filters) -> dict[str, Any]:
        """The filter as parameters; a source that does not exist leaves an empty list, which nothing matches."""
        sources = None
        if filters.sources:
            sources = [row["id"] for row in await self.db.fetch("source_ids", names=list(filters.sources))]
        return {"libraries": list(filters.libraries) or None, "kinds": list(filters.kinds) or None, "sources": sources}

    async def sections(self, ids: Sequence[int], filters: Filters = NO_FILTERS) -> list[Section]:
        rows = await self.db.fetch("sections", ids=list(ids), libraries=list(filters.libraries) or None)
        found = {row["id"]: Section(**row) for row in rows}
        return [found[n] for n in ids if n in found]

    async def known_symbols(self, symbols: Sequence[str], filters: Filters = NO_FILTERS) -> set[str]:
        lasts, libraries = [last_component(symbol) for symbol in symbols], list(filters.libraries) or None
        rows = await self.db.fetch("known_symbols", symbols=list(symbols), lasts=lasts, libraries=libraries) if symbols else []
        return {row["key"] for row in rows}

    async def known_terms(self, terms: Sequence[int], filters: Filters = NO_FILTERS) -> set[int]:
        libraries = list(filters.libraries) or None
        return {row["term"] for row in await self.db.fetch("known_terms", terms=list(terms), libraries=libraries)} if terms else set()

    async def term_weights(self, terms: Sequence[int]) -> dict[int, TermWeight]:
        return {row["term"]: TermWeight(row["df"], row["idf"]) for row in await self.db.fetch("idf", terms=list(terms))} if terms else {}

    async def list_documents(self, prefix: str, *, limit: int, offset: int, filters: Filters = NO_FILTERS) -> Listed:
        rows = await self.db.fetch("list_documents", prefix=prefix, limit=limit, offset=offset, libraries=list(filters.libraries) or None)
        if not rows and offset:  # beyond the end: the total is still worth telling
            first = await self.db.fetch("list_documents", prefix=prefix, limit=1, offset=0, libraries=list(filters.libraries) or None)
            return Listed([], first[0]["total"] if first else 0)
        return Listed([_listed(row) for row in rows], rows[0]["total"] if rows else 0)

    async def read_document(self, name: str, filters: Filters = NO_FILTERS) -> Document:
        libraries = list(filters.libraries) or None
        row = await self.db.fetch_one("read_document", name=name, libraries=libraries)
        if row is None:
            near = await self.db.fetch("near_documents", name=name, libraries=libraries)
            names = ", ".join(found["name"] for found in near)
            raise NotFound(f"There is no document {name}.", hint=f"Near it: {names}." if names else "citewell docs list shows them all.")
        return Document(**row)

    async def sample_sections(self, limit: int) -> list[Sample]:
        return [Sample(row["id"], row["heading_path"], row["text"]) for row in await self.db.fetch("sample_sections", limit=limit)]

    async def nearest_distance(self, vector: str, *, outside_page_of: int | None = None, filters: Filters = NO_FILTERS) -> float | None:
        libraries = list(filters.libraries) or None
        row = await self.db.fetch_one("nearest_other", vector=vector, section_id=outside_page_of, libraries=libraries)
        return None if row is None else row["distance"]


def _candidate(row: Row) -> Candidate:
    return Candidate(row["id"], row["document_id"], row["text_hash"], row["keyword"], row["dense"], row["symbol"], row["canonical"])


def _listed(row: Row) -> Document:
    return Document(row["source"], row["path"], row["url"], row["title"], "", "", "", "", datetime.min)
