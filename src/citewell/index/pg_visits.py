"""The store on PostgreSQL: what is remembered of a site's addresses between crawls."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.index.db import Database, run
from citewell.index.store import PageAt, Visit
from citewell.types import NO_FILTERS, Filters, Source


class PgVisits:
    db: Database

    async def begin_crawl(self, source: Source) -> dict[str, Visit]:
        await self.db.fetch("begin_crawl", source_id=source.id)
        return await self.visits(source)

    async def visits(self, source: Source) -> dict[str, Visit]:
        return {row["url"]: Visit(**row) for row in await self.db.fetch("visits", source_id=source.id)}

    async def put_visits(self, source: Source, visits: Sequence[Visit]) -> None:
        latest = {visit.url: visit for visit in visits}
        rows = list(latest.values())
        values = {
            "urls": [visit.url for visit in rows],
            "paths": [visit.path for visit in rows],
            "reasons": [visit.reason for visit in rows],
            "targets": [visit.target for visit in rows],
            "etags": [visit.etag for visit in rows],
            "modified": [visit.last_modified for visit in rows],
            "made_by": [visit.made_by for visit in rows],
        }
        found = sorted({url for visit in visits for url in visit.found} - latest.keys())
        confirmed = [visit.path for visit in rows if visit.path and not visit.reason]
        async with self.db.transaction(durable=False) as connection:
            await run(connection, "put_visits", values | {"source_id": source.id})
            await run(connection, "find_visits", {"source_id": source.id, "urls": found})
            await run(connection, "confirm_documents", {"source_id": source.id, "paths": confirmed})

    async def pages_at(self, urls: Sequence[str], filters: Filters = NO_FILTERS) -> list[PageAt]:
        rows = await self.db.fetch("pages_at", urls=list(urls), libraries=list(filters.libraries) or None)
        return [PageAt(**row) for row in rows]
