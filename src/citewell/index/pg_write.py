"""The store on PostgreSQL: what changes the corpus. Every page is one transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg import sql

from citewell.errors import EmbedderFailed, NotFound, SourceBusy, SourceConflict
from citewell.index.db import Connection, Database, Row, copy, run
from citewell.index.embed.base import MAX_WIDTH
from citewell.index.identifiers import last_component
from citewell.index.lexical import sparse_literal
from citewell.index.queries import statement
from citewell.index.store import NewPage, NewSection, Pending, SourceSpec
from citewell.types import Source

# Document frequencies are statistics, like those of ANALYZE: counted anew when so large a share of the sections has changed.
_RECOUNT_SHARE = 0.02
# Sections of equal text on more pages than this, and on more than this share of a source's pages, are banners and footers.
_REPEATED_PAGES = 10
_REPEATED_SHARE = 0.25


class PgWriter:
    def __init__(self, db: Database) -> None:
        self.db = db
        self._claimed = ""  # the embedder whose vectors are written: those of another are not, should it have come first after all

    # ---- sources ------------------------------------------------------------------------------------------------------------

    async def find_source(self, name: str) -> Source | None:
        row = await self.db.fetch_one("source_by_name", name=name)
        return None if row is None else Source(**row)

    async def bind_source(self, spec: SourceSpec) -> Source:
        await self._ensure_library(spec.library)
        async with self.db.transaction() as connection:
            rows = await run(connection, "source_by_name", {"name": spec.name})
            if not rows:
                rows = await run(connection, "add_source", _spec_params(spec))
                return Source(**rows[0])
            known = Source(**rows[0])
            if known.origin != spec.origin:
                raise SourceConflict(
                    f"The source {spec.name!r} is {known.origin}, not {spec.origin}.",
                    hint=f"Give this one another name with --source NAME, or forget the other: citewell remove {spec.name}.",
                )
            if known.library != spec.library:
                raise SourceConflict(
                    f"The source {spec.name!r} belongs to the library {known.library!r}, not {spec.library!r}.",
                    hint=f"Say --library {known.library}, or forget the source first: citewell remove {spec.name}.",
                )
            rows = await run(connection, "update_source", _spec_params(spec) | {"source_id": known.id})
            return Source(**rows[0])

    async def _ensure_library(self, library: str) -> None:
        """The library's partitions, made in a transaction of their own: their lock must not be held while pages are read."""
        await self.db.fetch("add_library", library=library)
        row = await self.db.fetch_one("library_id", library=library)
        assert row is not None
        names = {"sections": f"sections_{row['id']}", "vectors": f"vectors_{row['id']}"}
        if (await self.db.fetch("partition_exists", table=names["sections"]))[0]["found"]:
            return
        async with self.db.transaction() as connection:
            await run(connection, "lock_partitions", {})
            if (await run(connection, "partition_exists", {"table": names["sections"]}))[0]["found"]:
                return
            ddl = sql.SQL(statement("create_partition"))
            identifiers = {key: sql.Identifier(name) for key, name in names.items()}
            await connection.execute(ddl.format(**identifiers, library=sql.Literal(library)))

    @asynccontextmanager
    async def indexing(self, name: str) -> AsyncIterator[None]:
        """Held by a session lock of the server, so that it ends with the process, however that ends."""
        async with self.db.connection() as connection:
            if not (await run(connection, "lock_source", {"name": name}))[0]["locked"]:
                raise _busy(name)
            try:
                yield
            finally:
                await run(connection, "unlock_source", {"name": name})

    async def remove_source(self, name: str) -> int:
        async with self.db.transaction() as connection:
            rows = await run(connection, "source_by_name", {"name": name})
            if not rows:
                raise NotFound(f"There is no source {name!r}.", hint="citewell sources lists them.")
            if not (await run(connection, "lock_source_in_transaction", {"name": name}))[0]["locked"]:
                raise _busy(name)
            source = Source(**rows[0])
            scope = {"library": source.library, "source_id": source.id}
            pages = len(await run(connection, "page_hashes", scope))
            await run(connection, "remove_source_vectors", scope)
            sections = await run(connection, "remove_source_sections", scope)
            await run(connection, "remove_source", scope)
            await run(connection, "publish", {"changed": len(sections)})
        await self.count_terms()
        return pages

    async def finish_source(self, source: Source, *, complete: bool = True) -> None:
        await self.db.fetch("finish_source", source_id=source.id, complete=complete)

    # ---- pages --------------------------------------------------------------------------------------------------------------

    async def page_hashes(self, source: Source) -> dict[str, str]:
        return {row["path"]: row["content_hash"] for row in await self.db.fetch("page_hashes", source_id=source.id)}

    async def put_page(self, source: Source, page: NewPage) -> bool:
        async with self.db.transaction(durable=False) as connection:
            if page.moved_from:
                await run(connection, "move_page", {"source_id": source.id, "path": page.path, "moved_from": page.moved_from})
            document = (await run(connection, "put_document", _page_params(source, page)))[0]
            ids, changed = await self._put_sections(connection, source, page, document["id"])
            await run(connection, "clear_symbols", {"document_id": document["id"]})
            names = {(symbol.name, symbol.role, ids[symbol.section_key]) for symbol in page.symbols if symbol.section_key in ids}
            rows = [
                (name, name.lower(), last_component(name.lower()), role, source.library, source.id, document["id"], section_id, page.kind)
                for name, role, section_id in sorted(names)
            ]
            await copy(connection, "copy_symbols", rows)
            await run(connection, "publish", {"changed": changed})
        return bool(document["added"])

    async def _put_sections(self, connection: Connection, source: Source, page: NewPage, document_id: int) -> tuple[dict[bytes, int], int]:
        """Each section's id by its key, after the page holds exactly `page.sections`; and how many sections changed."""
        scope = {"library": source.library, "document_id": document_id}
        old = {bytes(row["key"]): row for row in await run(connection, "document_sections", scope)}
        fresh = [section for section in page.sections if section.key not in old]
        kept = {section.key for section in page.sections}
        gone = [row["id"] for key, row in old.items() if key not in kept]
        reworded: list[int] = []
        for section in page.sections:
            row = old.get(section.key)
            if row is not None:
                await run(connection, "update_section", _section_params(source, page, section) | {"id": row["id"]})
                if row["text_hash"] != section.text_hash:
                    reworded.append(row["id"])
        if gone or reworded:
            await run(connection, "delete_vectors", {"library": source.library, "ids": gone + reworded})
            await run(connection, "delete_sections", {"library": source.library, "ids": gone})
        if any(row["kind"] != page.kind for row in old.values()):
            await run(connection, "set_vectors_kind", scope | {"kind": page.kind})
        new_ids = [row["id"] for row in await run(connection, "next_section_ids", {"count": len(fresh)})]
        await copy(
            connection,
            "copy_sections",
            [_copy_row(source, page, document_id, section, number) for section, number in zip(fresh, new_ids, strict=True)],
        )
        ids = {key: row["id"] for key, row in old.items()} | {section.key: n for section, n in zip(fresh, new_ids, strict=True)}
        return ids, len(fresh) + len(gone) + len(reworded)

    async def delete_pages(self, source: Source, paths: Sequence[str]) -> int:
        if not paths:
            return 0
        scope = {"library": source.library, "source_id": source.id, "paths": list(paths)}
        async with self.db.transaction() as connection:
            await run(connection, "delete_page_vectors", scope)
            sections = await run(connection, "delete_page_sections", scope)
            await run(connection, "delete_pages", scope)
            await run(connection, "publish", {"changed": len(sections)})
        return len(paths)

    async def mark_repeated(self, source: Source) -> None:
        scope = {"library": source.library, "source_id": source.id}
        async with self.db.transaction(durable=False) as connection:
            if await run(connection, "mark_repeated", scope | {"pages": _REPEATED_PAGES, "share": _REPEATED_SHARE}):
                await run(connection, "drop_repeated_vectors", scope)
                await run(connection, "publish", {"changed": 0})

    async def count_terms(self) -> None:
        row = await self.db.fetch_one("changed_sections")
        if row is None or row["changed"] <= row["sections"] * _RECOUNT_SHARE:
            return
        async with self.db.transaction() as connection:
            if (await run(connection, "lock_terms", {}))[0]["locked"]:
                for step in ("clear_terms", "fill_terms", "note_sections"):
                    await run(connection, step, {})

    # ---- vectors ------------------------------------------------------------------------------------------------------------

    async def pending(self, source: Source, limit: int) -> list[Pending]:
        rows = await self.db.fetch("pending", library=source.library, source_id=source.id, limit=limit)
        return [Pending(row["id"], row["heading_path"], row["text"]) for row in rows]

    async def known_vectors(self, hashes: Sequence[str]) -> dict[str, str]:
        return {row["input_hash"]: row["embedding"] for row in await self.db.fetch("known_vectors", hashes=list(hashes))}

    async def put_vectors(self, source: Source, rows: Sequence[tuple[int, str, str]]) -> None:
        ids, hashes, embeddings = zip(*rows, strict=True) if rows else ((), (), ())
        values = {"library": source.library, "ids": list(ids), "hashes": list(hashes), "embeddings": list(embeddings)}
        async with self.db.transaction(durable=False) as connection:
            await run(connection, "put_vectors", values | {"embedder": self._claimed})

    async def claim_embedder(self, name: str, width: int) -> str:
        if width > MAX_WIDTH:
            raise EmbedderFailed(
                f"The embedding model makes vectors of {width} numbers; the database can index {MAX_WIDTH}.",
                hint="Set CITEWELL_EMBEDDINGS_DIMENSIONS to fewer if the model can do that, or choose another model.",
            )
        async with self.db.transaction() as connection:
            if (await run(connection, "embedder", {}))[0]["embedder"] != name:
                await connection.execute(statement("lock_vectors").encode())
                await run(connection, "set_embedder", {"embedder": name})
            held = str((await run(connection, "embedder", {}))[0]["embedder"])
            if held == name and (await run(connection, "vector_width", {}))[0]["width"] != width:
                ddl = sql.SQL(statement("set_vector_width"))
                await connection.execute(ddl.format(width=sql.Literal(width)))
        self._claimed = held
        return held

    async def set_threshold(self, distance: float) -> None:
        await self.db.fetch("set_threshold", distance=distance)


def _busy(name: str) -> SourceBusy:
    return SourceBusy(f"Another process is indexing {name!r}.", hint="Wait for it to end, then run this again.")


def _spec_params(spec: SourceSpec) -> Row:
    return {
        "name": spec.name,
        "origin": spec.origin,
        "library": spec.library,
        "kind": spec.kind,
        "base_url": spec.base_url,
        "version": spec.version,
    }


def _page_params(source: Source, page: NewPage) -> Row:
    return {
        "source_id": source.id,
        "path": page.path,
        "url": page.url,
        "title": page.title,
        "kind": page.kind,
        "version": page.version,
        "content_hash": page.content_hash,
        "text": page.text,
        "canonical": page.canonical,
    }


def _section_params(source: Source, page: NewPage, section: NewSection) -> dict[str, Any]:
    return {
        "library": source.library,
        "kind": page.kind,
        "ordinal": section.ordinal,
        "text": section.text,
        "text_hash": section.text_hash,
        "terms": sorted(section.lexical),
        "lexical": sparse_literal(dict(section.lexical)),
    }


def _copy_row(source: Source, page: NewPage, document_id: int, section: NewSection, number: int) -> tuple[Any, ...]:
    terms, lexical = sorted(section.lexical), sparse_literal(dict(section.lexical))
    head = (number, source.library, source.id, document_id, page.kind, section.key, section.ordinal)
    return (*head, section.anchor, section.heading_path, section.part, section.text, section.text_hash, terms, lexical)
