"""The rebuilt PyTorch site served on loopback: crawled, it is the same as its folder, and a second crawl costs next to nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.testing.sites import Site, SiteServer
from citewell.types import IndexReport
from tests.data.conftest import ADDRESS, PARTS, index_parts

pytestmark = [pytest.mark.data, pytest.mark.anyio]

NOWHERE_LINKED = "_table.html"  # pages that others were made of: no link, no inventory and no sitemap names them

Place = tuple[str, str, str, int, str]


async def places(app: Citewell, source: str) -> set[Place]:
    """Every stored section of a source: path, anchor, heading path, part and text."""
    found = await app.store.find_source(source)
    assert found is not None
    async with app.db.connection() as connection:
        rows = await connection.execute(
            "SELECT d.path, s.anchor, s.heading_path, s.part, s.text FROM sections s JOIN documents d ON d.id = s.document_id"
            " WHERE s.source_id = %s",
            [found.id],
        )
        return {(row["path"], row["anchor"], row["heading_path"], row["part"], row["text"]) for row in await rows.fetchall()}


async def crawl(settings: Settings, server: SiteServer, parts: list[str]) -> list[IndexReport]:
    async with Citewell(settings, load_profile("pytorch")) as app:
        app.embedder = None
        return [await app.index(f"{server.url}{part}/", source=f"crawled {part}") for part in parts]


async def compare(settings: Settings, site: Path, parts: list[str]) -> None:
    with SiteServer(Site.of_folder(site)) as server:
        for path in [path for path in server.site.pages if path.endswith("/sitemap.xml")]:
            server.site.pages[path] = server.site.pages[path].replace(ADDRESS.encode(), server.url.encode())
        first = await crawl(settings, server, parts)
        requests = len(server.requests)
        started = time.monotonic()
        again = await crawl(settings, server, parts)
        seconds = time.monotonic() - started
        asked = server.requests[requests:]
    assert [(report.unchanged, report.added, report.updated, report.deleted) for report in again] == [
        (report.pages, 0, 0, 0) for report in first
    ]
    pages = sum(report.pages + len(report.skipped) for report in first)
    served = server.site.pages
    unconditional = [request.path for request in asked if "if-none-match" not in request.headers and request.path in served]
    assert len(asked) <= pages + 6 * len(parts), "robots.txt, the inventory, sitemaps and llms.txt of each part come on top"
    assert len(unconditional) <= 4 * len(parts), "what has to be read each time"
    assert seconds < 0.02 * pages, "far below the time that reading them takes"
    async with Citewell(settings, load_profile("pytorch")) as app:
        for part in parts:
            crawled, listed = await places(app, f"crawled {part}"), await places(app, PARTS[part])
            assert crawled == {place for place in listed if not place[0].endswith(NOWHERE_LINKED)}, part


async def test_the_smallest_part_crawled_is_its_folder(settings: Settings, site: Path) -> None:
    part = "audio/stable"
    async with Citewell(settings, load_profile("pytorch")) as app:
        app.embedder = None
        await app.index(str(site / part), source=PARTS[part], base_url="")
    await compare(settings, site, [part])


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_the_whole_site_crawled_is_its_folder(settings: Settings, site: Path) -> None:
    await index_parts(settings, site, vectors=False)
    await compare(settings, site, list(PARTS))
