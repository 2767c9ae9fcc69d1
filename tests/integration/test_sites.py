"""A site into the index: what is asked, and what changes from one crawl to the next."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from citewell.app import Citewell
from citewell.errors import SourceConflict, UsageError
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.site_help import counts, crawl, html, many, paths, texts

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(words_app: Citewell) -> Citewell:
    return words_app


async def test_a_site_is_what_lies_below_its_address(app: Citewell, server: SiteServer) -> None:
    report = await crawl(app, server)
    assert counts(report) == (4, 0, 0, 0, 0)
    assert report.source == server.url.removeprefix("http://") + "docs"
    assert await paths(app) == ["api/index.html", "guide.html", "index.html", "old.html"]
    best = (await app.search("spin function"))[0].section
    assert best.url == server.url + "docs/api/"
    assert Counter(server.paths).most_common(1)[0][1] == 1, "nothing is asked twice"
    assert not {"/blog/", "/docs/guide.html?print=1", "/docs/logo.png"} & set(server.paths)
    assert (await app.read_document(f"{report.source}/guide.html")).title == "Guide"


async def test_a_crawl_without_change_asks_each_page_once_with_a_condition(app: Citewell, server: SiteServer) -> None:
    await crawl(app, server)
    before = (await app.store.corpus()).index_version
    report = await crawl(app, server)
    assert counts(report) == (0, 0, 4, 0, 0)
    assert (await app.store.corpus()).index_version == before
    pages = [asked for asked in server.requests if asked.path in server.site.pages]
    assert sorted(asked.path for asked in pages) == ["/docs/", "/docs/api/", "/docs/guide.html", "/docs/old.html"]
    assert all("if-none-match" in asked.headers for asked in pages if asked.path != "/docs/"), "the first is read for its links"


async def test_only_what_changed_is_indexed(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    site.pages["/docs/guide.html"] = html("Guide", "The widget hums at forty hertz.", "new.html")
    site.pages["/docs/new.html"] = html("New", "The widget now whistles.")
    report = await crawl(app, server)
    assert counts(report) == (1, 1, 3, 0, 0), "old.html has no link any more, but is still there"
    assert "forty hertz" in (await texts(app, "widget hums hertz"))[0]
    assert "whistles" in (await texts(app, "widget whistles"))[0]
    assert not any("thirty" in text for text in await texts(app, "hums thirty hertz"))


async def test_a_page_that_is_gone_goes_and_comes_back(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    page = site.pages.pop("/docs/old.html")
    assert counts(await crawl(app, server)) == (0, 0, 3, 1, 0)
    assert not any("gizmo" in text for text in await texts(app, "gizmo"))
    site.pages["/docs/old.html"] = page
    assert counts(await crawl(app, server)) == (1, 0, 3, 0, 0)
    assert "gizmo" in (await texts(app, "gizmo"))[0]


async def test_a_page_that_moved_keeps_its_sections(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    before = (await app.search("gizmo"))[0].section
    site.pages["/docs/notes/old.html"] = site.pages.pop("/docs/old.html")
    site.redirect("/docs/old.html", "/docs/notes/old.html")
    assert counts(await crawl(app, server)) == (0, 0, 3, 0, 1)
    after = (await app.search("gizmo"))[0].section
    assert (after.id, after.url) == (before.id, server.url + "docs/notes/old.html")
    assert counts(await crawl(app, server)) == (0, 0, 4, 0, 0)
    assert server.paths.count("/docs/notes/old.html") == 1, "the old address is asked, but not followed again"


async def test_a_redirect_out_of_the_site_takes_its_page_along(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    site.redirect("/docs/old.html", "/blog/")
    report = await crawl(app, server)
    assert report.deleted == 1
    assert [(skip.origin, skip.reason) for skip in report.skipped] == [("old.html", "leads out of the site")]
    assert "/blog/" not in server.paths


async def test_most_pages_gone_at_once_is_taken_for_an_outage(app: Citewell, server: SiteServer, site: Site) -> None:
    numbers = range(30)
    site.pages = {f"/docs/{n}.html": html(f"Page {n}", f"Fact number {n}.") for n in numbers}
    site.pages["/docs/"] = html("Home", "All of it.", *(f"{n}.html" for n in numbers))
    assert (await crawl(app, server)).added == 31
    kept = site.pages
    site.pages = {"/docs/": html("Home", "We will be back soon.")}
    report = await crawl(app, server)
    assert (report.deleted, report.pages) == (0, 31)
    assert "30 of 31 pages are not found any more; they were kept" in report.warnings[0]
    assert (await crawl(app, server, prune=True)).deleted == 30
    site.pages = kept
    assert counts(await crawl(app, server)) == (30, 1, 0, 0, 0)
    site.pages = {"/docs/": kept["/docs/"]}
    assert (await crawl(app, server, prune=False)).deleted == 0


async def test_three_addresses_that_look_alike_are_three_documents(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages |= {
        "/docs/foo": html("One", "The first foo.", "foo/", "foo.html", "../docs/./foo", "foo/index.html"),
        "/docs/foo.html": html("Two", "The second foo."),
        "/docs/foo/": html("Three", "The third foo."),
        "/docs/foo/index.html": html("Three", "The third foo."),
    }
    site.pages["/docs/old.html"] = html("Old", "Gizmo.", "foo")
    await crawl(app, server)
    assert [path for path in await paths(app) if path.startswith("foo")] == ["foo", "foo.html", "foo/index.html"]


async def test_a_page_whose_new_address_fails_stays(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs/"] = html("Widget", "The widget manual.", "old.html", "new.html", "guide.html")
    site.pages["/docs/new.html"] = html("New", "The widget now whistles.")
    await crawl(app, server)
    site.redirect("/docs/old.html", "/docs/new.html")
    site.pages["/docs/new.html"] = b""
    assert counts(await crawl(app, server))[3] == 1, "the new page is empty, and goes; the old one is all there is"
    assert "gizmo" in (await texts(app, "gizmo"))[0]
    site.pages["/docs/new.html"] = html("New", "The widget whistles again.")
    assert (await crawl(app, server)).deleted == 1
    assert not any("gizmo" in text for text in await texts(app, "gizmo"))


async def test_a_page_that_became_something_else_goes(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    site.media_types["/docs/old.html"] = "application/pdf"
    site.pages["/docs/old.html"] += b" "
    assert (await crawl(app, server)).deleted == 1
    assert not any("gizmo" in text for text in await texts(app, "gizmo"))


# ---- crawls that are broken off -----------------------------------------------------------------------------------------------


async def test_a_crawl_that_was_broken_off_goes_on(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages = {"/docs/": html("Home", "All of it.", *(f"{n}.html" for n in range(40)))} | many(40)
    down = [Reply(raw=b"overloaded\r\n\r\n")]
    site.scripts = {f"/docs/{n}.html": down for n in range(20, 40)}
    first = await crawl(app, server)
    assert first.added == 21
    assert any("failed 10 times in a row; the crawl was broken off" in warning for warning in first.warnings)
    site.scripts = {}
    second = await crawl(app, server)
    assert counts(second) == (20, 0, 1, 0, 0), "of the rest, only the entry was asked again"
    assert any("21 addresses had been visited" in warning for warning in second.warnings)
    assert counts(await crawl(app, server)) == (0, 0, 41, 0, 0)


async def test_a_run_asks_no_more_pages_than_the_limit(app: Citewell, server: SiteServer, site: Site) -> None:
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 5})
    site.pages = {"/docs/": html("Home", "An endless one.", "0.html")} | many(1000)
    first = await crawl(app, server)
    assert first.added == 6
    assert len([path for path in server.paths if path in site.pages]) == 6
    assert any("5 pages were asked, the most for one run" in warning for warning in first.warnings)
    assert (await crawl(app, server)).added == 5


async def test_a_few_pages_that_fail_are_named_and_the_rest_is_indexed(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    site.scripts["/docs/guide.html"] = [Reply(raw=b"overloaded\r\n\r\n")]
    report = await crawl(app, server)
    assert counts(report) == (0, 0, 3, 0, 0)
    assert [skip.origin for skip in report.skipped] == ["guide.html"]
    assert "thirty hertz" in (await texts(app, "widget hums hertz"))[0], "an answer is still given from the page as it was"


# ---- names and addresses ------------------------------------------------------------------------------------------------------


async def test_a_mirror_is_cited_at_the_published_address(app: Citewell, server: SiteServer) -> None:
    await app.index(server.url + "docs/", source="manual", base_url="https://widget.example/docs/")
    assert (await app.search("spin function"))[0].section.url == "https://widget.example/docs/api/"


async def test_a_site_and_a_folder_of_one_name_are_a_conflict(app: Citewell, server: SiteServer) -> None:
    await app.index(server.url + "docs/", source="manual")
    with pytest.raises(SourceConflict, match="docs/"):
        await app.index(server.url + "blog/", source="manual")


@pytest.mark.parametrize("address", ["ftp://widget.example/", "https://user:secret@widget.example/", "https:///docs", "file:///etc/passwd"])
async def test_what_is_no_web_address_is_said(app: Citewell, address: str) -> None:
    with pytest.raises(UsageError, match="cannot be indexed"):
        await app.index(address)


@pytest.mark.parametrize("kind", ["text/html", "text/markdown"])
async def test_a_change_of_options_makes_all_pages_anew_without_being_told_that_nothing_changed(
    app: Citewell, server: SiteServer, site: Site, kind: str
) -> None:
    site.media_types = dict.fromkeys(site.pages, kind)
    await app.index(server.url + "docs/", source="manual")
    report = await app.index(server.url + "docs/", source="manual", kind="api")
    assert report.updated == report.pages
    assert {hit.section.kind for hit in await app.search("widget")} == {"api"}


async def test_reports_are_whole(app: Citewell, server: SiteServer) -> None:
    first, again = await crawl(app, server), await crawl(app, server)
    assert replace(first, added=0, unchanged=4, seconds=0.0) == replace(again, seconds=0.0)
