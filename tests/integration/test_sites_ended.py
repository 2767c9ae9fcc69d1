"""Crawls that did not see everything, sites that are not there, and servers that answer for what they do not have."""

from __future__ import annotations

import zlib
from collections import defaultdict
from functools import partial

import anyio
import pytest

from citewell.app import Citewell
from citewell.errors import IngestError
from citewell.ingest.crawl.fetch import Fetcher
from citewell.ingest.discover import site as site_module
from citewell.testing.sites import Reply, Site, SiteServer
from citewell.types import SourceInfo
from tests.integration.site_help import counts, crawl, html, many, paths, texts

pytestmark = pytest.mark.anyio
DOWN = [Reply(raw=b"overloaded\r\n\r\n")]


@pytest.fixture
def app(words_app: Citewell, monkeypatch: pytest.MonkeyPatch) -> Citewell:
    """With a crawler that does not wait between tries."""

    async def no_time(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(site_module, "Fetcher", partial(Fetcher, sleep=no_time))
    return words_app


async def only_source(app: Citewell) -> SourceInfo:
    (source,) = await app.sources()
    return source


# ---- what was not seen --------------------------------------------------------------------------------------------------------


async def test_a_crawl_that_was_broken_off_is_not_complete(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages = {"/docs/": html("Home", "All of it.", *(f"{n}.html" for n in range(40)))} | many(40)
    site.scripts = {f"/docs/{n}.html": DOWN for n in range(20, 40)}
    assert not (await crawl(app, server)).complete
    assert (await only_source(app)).indexed_at is None
    site.scripts = {}
    assert (await crawl(app, server)).complete
    completed = (await only_source(app)).indexed_at
    assert completed is not None
    report = await app.refresh([server.url + "docs/3.html"])
    assert report.sources[0].complete
    assert (await only_source(app)).indexed_at == completed, "one page is not all"


async def test_ten_failures_at_the_very_end_are_an_outage_too(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages = {"/docs/": html("Home", "All of it.", *(f"{n}.html" for n in range(20)))} | many(20)
    site.scripts = {f"/docs/{n}.html": DOWN for n in range(10, 20)}
    report = await crawl(app, server)
    assert not report.complete
    assert any("was broken off" in warning for warning in report.warnings)


async def test_a_crawl_that_met_the_limit_of_pages_is_not_complete(app: Citewell, server: SiteServer, site: Site) -> None:
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 1})
    assert not (await crawl(app, server)).complete
    assert (await only_source(app)).indexed_at is None
    assert [source.complete for source in (await app.refresh()).sources] == [False]


async def test_the_progress_of_a_crawl_ends_where_its_total_does(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages = {"/docs/": html("Home", "All of it.", *(f"{n}.html" for n in range(9)))} | many(9)
    site.redirect("/docs/3.html", "/docs/4.html")
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 4})
    await crawl(app, server)
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 100})
    told: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    await app.index(server.url + "docs/", progress=lambda phase, done, total: told[phase].append((done, total)))
    done, total = told["pages"][-1]
    assert done == total
    assert max(total for _, total in told["pages"]) <= 7, "what an earlier run has read is no part of this one"


# ---- single pages of a site whose entry is gone -------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [Reply(404), DOWN[0], Reply(302, headers={"Location": "https://elsewhere.example/"})])
async def test_a_page_is_refreshed_although_the_start_page_is_gone(app: Citewell, server: SiteServer, site: Site, entry: Reply) -> None:
    await crawl(app, server)
    site.scripts["/docs/"] = [entry]
    site.pages["/docs/guide.html"] = html("Guide", "The widget hums at forty hertz.")
    report = await app.refresh([server.url + "docs/guide.html"])
    assert [counts(source) for source in report.sources] == [(0, 1, 0, 0, 0)]
    assert "forty hertz" in (await texts(app, "hums hertz"))[0]
    del site.pages["/docs/old.html"]
    assert (await app.refresh([server.url + "docs/old.html"])).sources[0].deleted == 1


async def test_the_pages_of_a_version_are_found_without_the_entry_that_led_there(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages = {"/docs/v2/": html("Widget", "The manual.", "guide.html"), "/docs/v2/guide.html": html("Guide", "It hums.")}
    site.redirect("/docs/", "/docs/v2/")
    await crawl(app, server)
    assert await paths(app) == ["guide.html", "index.html"]
    site.scripts["/docs/"] = [Reply(404)]
    site.pages["/docs/v2/guide.html"] = html("Guide", "It whistles.")
    report = await app.refresh([server.url + "docs/v2/guide.html"])
    assert [counts(source) for source in report.sources] == [(0, 1, 0, 0, 0)]
    del site.pages["/docs/v2/"]
    assert (await app.refresh([server.url + "docs/v2/"])).sources[0].deleted == 1
    assert await paths(app) == ["guide.html"]


async def test_a_source_that_cannot_be_refreshed_says_what_and_what_to_do(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    site.scripts["/docs/"] = [Reply(404)]
    (failed,) = (await app.refresh()).failed
    what, remedy = failed.reason.splitlines()
    assert what.endswith("cannot be read: it answered 404.")
    assert remedy == f"Check the address. Its indexed pages stay; citewell remove {failed.origin} forgets them."
    with pytest.raises(IngestError, match="it answered 404") as raised:
        await crawl(app, server, prune=True)
    assert "citewell remove" in raised.value.hint


# ---- sites that are not there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://nowhere.invalid/docs/"])
async def test_a_dead_address_is_not_taken_for_one_that_is_closed(app: Citewell, address: str) -> None:
    with pytest.raises(IngestError, match=r"cannot be reached: ") as raised:
        await app.index(address)
    assert str(raised.value).startswith(address)
    assert raised.value.hint == "Check the address, and whether the server runs."


# ---- answers for what is not there --------------------------------------------------------------------------------------------

SPECIAL = ("/docs/objects.inv", "/docs/sitemap.xml", "/sitemap.xml", "/docs/llms.txt", "/robots.txt")


async def test_a_page_in_place_of_what_a_site_does_not_have_is_no_fault(app: Citewell, server: SiteServer, site: Site) -> None:
    before = await crawl(app, server)
    missing = html("Oh no", "There is no such page.")
    site.scripts |= {path: [Reply(200, missing, {"Content-Type": "text/html"})] for path in SPECIAL}
    report = await crawl(app, server)
    assert report.warnings == before.warnings
    assert report.pages == 4


async def test_bytes_in_place_of_what_a_site_does_not_have_are_no_fault(app: Citewell, server: SiteServer, site: Site) -> None:
    site.scripts |= {path: [Reply(200, b"%PDF-1.4\n\x00\xff" * 50)] for path in SPECIAL}
    assert (await crawl(app, server)).pages == 4


async def test_a_damaged_inventory_is_told_with_the_reason(app: Citewell, server: SiteServer, site: Site) -> None:
    head = b"# Sphinx inventory version 2\n# Project: Widget\n# Version: 1.0\n# The remainder is compressed using zlib.\n"
    site.pages["/docs/objects.inv"] = head + b"no zlib"
    assert "The site's objects.inv cannot be read: its compression is damaged." in (await crawl(app, server)).warnings
    site.pages["/docs/objects.inv"] = head + zlib.compress(b"a py:function 1 a.html -\n" * 99)[:-8]
    assert "The site's objects.inv cannot be read: too large or cut short." in (await crawl(app, server)).warnings


async def test_a_binary_file_that_is_called_a_page_is_refused(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs/"] = html("Widget", "The widget manual.", "paper", "guide.html")
    site.pages["/docs/paper"] = b"%PDF-1.4\n" + b"1 0 obj << /Type /Catalog /Words (the secret gizmo) >> endobj\n" * 20
    report = await crawl(app, server)
    assert ("paper", "binary file") in {(skip.origin, skip.reason) for skip in report.skipped}
    assert "paper" not in await paths(app)
