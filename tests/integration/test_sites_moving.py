"""Addresses of a site that lead to one another, and what becomes of its pages when they begin to."""

from __future__ import annotations

import pytest

from citewell.app import Citewell
from citewell.testing.sites import Site, SiteServer
from tests.integration.site_help import counts, crawl, html, many, paths, texts

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(words_app: Citewell) -> Citewell:
    return words_app


async def test_an_index_file_that_redirects_to_its_folder_is_that_folder(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs/"] = html("Widget", "The widget manual.", "api/index.html", "api/")
    site.redirect("/docs/api/index.html", "/docs/api/")
    await crawl(app, server)
    assert "api/index.html" in await paths(app)
    assert counts(await crawl(app, server))[3] == 0
    assert "api/index.html" in await paths(app)


async def test_a_folder_whose_index_file_redirects_from_now_on_stays(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs/"] = html("Widget", "The widget manual.", "api/index.html")
    site.pages["/docs/api/index.html"] = site.pages.pop("/docs/api/")
    await crawl(app, server)
    site.pages["/docs/api/"] = site.pages.pop("/docs/api/index.html")
    site.redirect("/docs/api/index.html", "/docs/api/")
    report = await crawl(app, server)
    assert counts(report)[3] == 0
    assert "api/index.html" in await paths(app)


async def test_a_new_version_behind_the_same_entry_takes_the_place_of_the_old(app: Citewell, server: SiteServer, site: Site) -> None:
    for version in ("1", "2"):
        site.pages[f"/m/{version}/"] = html("Start", f"Start of {version}.", "a.html")
        site.pages[f"/m/{version}/a.html"] = html("A", f"Fact of version {version}.")
    site.pages["/m/1/b.html"] = html("B", "Only in version one.")
    site.pages["/m/1/a.html"] = html("A", "Fact of version 1.", "b.html")
    site.redirect("/m/", "/m/1/")
    await crawl(app, server, "m/")
    assert await paths(app) == ["a.html", "b.html", "index.html"]
    site.redirect("/m/", "/m/2/")
    report = await crawl(app, server, "m/")
    assert counts(report) == (0, 2, 0, 1, 0)
    assert "Fact of version 2" in (await texts(app, "fact of version"))[0]
    site.redirect("/m/", "/m/1/")
    assert counts(await crawl(app, server, "m/")) == (1, 2, 0, 0, 0), "and back: nothing that was known of these addresses holds"
    assert "Fact of version 1" in (await texts(app, "fact of version"))[0]


async def test_a_site_at_an_address_without_a_slash(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs"] = html("Widget", "The widget manual.", "/docs/guide.html", "/docs/")
    del site.pages["/docs/"]
    await crawl(app, server, "docs")
    assert "index.html" in await paths(app)


async def test_one_site_in_two_spellings(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server, "docs/")
    site.redirect("/docs", "/docs/")
    assert counts(await crawl(app, server, "docs")) == (0, 0, 4, 0, 0)


async def test_a_page_whose_visit_was_lost_is_refreshed_alone(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    async with app.db.transaction() as connection:
        await connection.execute(b"DELETE FROM visits")
    site.pages["/docs/guide.html"] = html("Guide", "The widget hums at forty hertz.")
    server.requests.clear()
    report = await app.refresh([server.url + "docs/guide.html"])
    assert "/docs/old.html" not in server.paths
    assert counts(report.sources[0]) == (0, 1, 0, 0, 0)


async def test_a_page_that_lost_its_text_in_an_outage_goes_when_it_is_asked_for(app: Citewell, server: SiteServer, site: Site) -> None:
    pages = many(30)
    site.pages = {"/docs/": html("Start", "Start.", "0.html"), **pages}
    await crawl(app, server)
    for path in pages:
        site.pages[path] = b"<html><body></body></html>"
    assert counts(await crawl(app, server))[3] == 0
    report = await crawl(app, server, prune=True)
    assert counts(report)[3] == 30


async def test_pages_that_went_in_a_crawl_that_was_broken_off_go_when_it_goes_on(
    app: Citewell, server: SiteServer, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await crawl(app, server)
    del site.pages["/docs/old.html"]
    with monkeypatch.context() as patch:
        patch.setattr(app.store, "delete_pages", lambda *_: pytest.fail("killed here"))
        with pytest.raises(pytest.fail.Exception):
            await crawl(app, server)
    report = await crawl(app, server)
    assert any("had been visited" in warning for warning in report.warnings)
    assert "old.html" not in await paths(app)


async def test_addresses_that_had_to_be_left_out_are_told_and_found_later(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages = {
        "/docs/": html("Start", "Start.", "list.html"),
        "/docs/list.html": html("List", "All.", *(f"{n}.html" for n in range(30))),
    }
    site.pages |= {f"/docs/{n}.html": html(f"Page {n}", f"Fact {n}.") for n in range(30)}
    settings = app.settings
    app.settings = settings.model_copy(update={"crawl_max_pages": 2})
    warnings: list[str] = []
    for _ in range(12):
        warnings += (await crawl(app, server)).warnings
    assert any("more than 20 addresses" in warning for warning in warnings)
    assert len(await paths(app)) == 20
    app.settings = settings
    await crawl(app, server)
    await crawl(app, server)
    assert len(await paths(app)) == 32


async def test_a_mirror_cites_pages_with_a_query_and_folders(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs/a%20b/"] = html("Blank", "Blanks all over.")
    site.pages["/docs/p?id=1"] = html("Query", "Queried facts.")
    site.pages["/docs/llms.txt"] = b"# Widget\n\n- [Query](p?id=1)\n- [Blank](a%20b/)\n"
    await app.index(server.url + "docs/", base_url="https://q.example/d/")
    found = {document.url for document in (await app.list_documents()).documents}
    assert {"https://q.example/d/p?id=1", "https://q.example/d/a%20b/"} <= found
