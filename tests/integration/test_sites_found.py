"""Which pages of a site are found, and which are not asked."""

from __future__ import annotations

import gzip
import zlib

import pytest

from citewell.app import Citewell
from citewell.errors import IngestError
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.site_help import counts, crawl, html, paths, texts

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(words_app: Citewell) -> Citewell:
    return words_app


# ---- how pages are found ------------------------------------------------------------------------------------------------------


async def test_pages_without_links_are_found_by_what_the_site_names(app: Citewell, server: SiteServer, site: Site) -> None:
    lines = b"widget.spin py:function 1 by/inventory.html#$ -\n"
    header = b"# Sphinx inventory version 2\n# Project: Widget\n# Version: 2.1\n# The remainder of this file is compressed using zlib.\n"
    locations = "".join(f"<url><loc>{server.url}{path}</loc></url>" for path in ("docs/by/sitemap.html", "blog/", "docs/logo.png"))
    inner = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'
    outer = f"<sitemapindex><sitemap><loc>{server.url}maps/one.xml.gz</loc></sitemap></sitemapindex>"
    body = "<html><body><h1>Spin</h1><dl class='py function'><dt id='widget.spin'>spin()</dt><dd>Turns it.</dd></dl></body></html>"
    site.pages = {
        "/docs/": html("Widget", "The widget manual."),
        "/docs/objects.inv": header + zlib.compress(lines),
        "/docs/by/inventory.html": body.encode(),
        "/docs/by/sitemap.html": html("Mapped", "Only a map knows this."),
        "/docs/by/llms.html": html("Listed", "Only a list knows this."),
        "/docs/llms.txt": b"# Widget\n\n- [Listed](by/llms.html): a page\n",
        "/robots.txt": f"User-agent: *\nSitemap: {server.url}maps/index.xml\n".encode(),
        "/maps/index.xml": outer.encode(),
        "/maps/one.xml.gz": gzip.compress(inner.encode()),
    }
    report = await crawl(app, server)
    assert await paths(app) == ["by/inventory.html", "by/llms.html", "by/sitemap.html", "index.html"]
    best = (await app.search("widget.spin"))[0].section
    assert (best.anchor, best.version) == ("widget.spin", "2.1")
    assert report.skipped == ()


async def test_a_page_whose_name_ends_like_an_index_is_asked_by_its_whole_name(app: Citewell, server: SiteServer, site: Site) -> None:
    lines = b"widget.device_index py:function 1 widget.device_index.html#$ -\nwidget.api py:module 1 api/index.html#$ -\n"
    header = b"# Sphinx inventory version 2\n# Project: Widget\n# Version: 2.1\n# The remainder of this file is compressed using zlib.\n"
    site.pages = {
        "/docs/": html("Widget", "The widget manual."),
        "/docs/objects.inv": header + zlib.compress(lines),
        "/docs/widget.device_index.html": html("device_index", "Counts the devices."),
        "/docs/api/": html("API", "The whole of it."),
    }
    report = await crawl(app, server)
    assert await paths(app) == ["api/index.html", "index.html", "widget.device_index.html"]
    assert report.skipped == ()


async def test_a_stub_leads_on_and_a_canonical_link_does_not(app: Citewell, server: SiteServer, site: Site) -> None:
    refresh = "<meta http-equiv='refresh' content='0; url=new/place.html'>"
    canonical = "<link rel='canonical' href='https://widget.example/stable/guide.html'>"
    site.pages["/docs/old.html"] = html("Moved", "See there.", head=refresh)
    site.pages["/docs/new/place.html"] = html("Place", "The sprocket lives here.")
    site.pages["/docs/guide.html"] = html("Guide", "The widget hums.", "old.html", head=canonical)
    report = await crawl(app, server)
    assert await paths(app) == ["api/index.html", "guide.html", "index.html", "new/place.html"]
    assert [(skip.origin, skip.reason) for skip in report.skipped] == [("old.html", "a redirect to another page")]
    again = await crawl(app, server)
    assert counts(again) == (0, 0, 4, 0, 0)
    assert again.skipped == report.skipped, "what is no document is named every time, and asked with a condition"
    assert "if-none-match" in next(asked for asked in server.requests if asked.path == "/docs/old.html").headers


async def test_formats_are_told_by_what_the_server_says(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/docs/old.html"] = html("Old", "Gizmo.", "notes.md", "readme", "picture", "latin")
    site.pages["/docs/notes.md"] = b"# Notes\n\nThe sprocket is *green*.\n\n[more](more.md)\n"
    site.pages["/docs/more.md"] = b"# More\n\nThe flange is blue.\n"
    site.pages["/docs/readme"] = b"# Read me\n\nThe lever is red.\n"
    site.pages["/docs/picture"] = b"\x89PNG\r\n"
    site.pages["/docs/latin"] = html("Café", "Größe und Länge").decode().encode("latin-1")
    types = {
        "notes.md": "text/plain; charset=utf-8",
        "readme": "text/markdown",
        "picture": "image/png",
        "latin": "text/html; charset=ISO-8859-1",
    }
    site.media_types = {f"/docs/{path}": kind for path, kind in types.items()}
    report = await crawl(app, server)
    assert {"notes.md", "more.md", "readme", "latin"} <= set(await paths(app))
    assert "Größe und Länge" in (await texts(app, "Größe"))[0]
    assert [skip.reason for skip in report.skipped] == ["image/png is not read"]


# ---- what is not asked --------------------------------------------------------------------------------------------------------


async def test_robots_txt_is_obeyed(app: Citewell, server: SiteServer, site: Site) -> None:
    site.pages["/robots.txt"] = b"User-agent: citewell\nDisallow: /docs/api/\n"
    report = await crawl(app, server)
    assert "/docs/api/" not in server.paths
    assert [(skip.origin, skip.reason) for skip in report.skipped] == [("api/index.html", "robots.txt does not allow it")]
    site.pages["/robots.txt"] = b"User-agent: *\nDisallow: /\n"
    with pytest.raises(IngestError, match=r"was not asked: the robots\.txt of 127\.0\.0\.1 does not allow it"):
        await crawl(app, server)
    assert server.paths == ["/robots.txt"]
    assert (await app.sources())[0].pages == 3, "what is indexed stays"
    site.pages["/robots.txt"] = b""
    assert (await crawl(app, server)).added == 1, "what was found while it was forbidden is not forgotten"


async def test_a_robots_txt_that_cannot_be_read_forbids_everything(app: Citewell, server: SiteServer, site: Site) -> None:
    site.scripts["/robots.txt"] = [Reply(403)]
    assert (await crawl(app, server)).added == 4
    site.scripts["/robots.txt"] = [Reply(raw=b"nonsense\r\n\r\n")]
    with pytest.raises(IngestError, match=r"robots\.txt cannot be read"):
        await crawl(app, server)


async def test_an_entry_that_leads_to_another_host_is_named_and_not_followed(app: Citewell, server: SiteServer, site: Site) -> None:
    with SiteServer(Site({"/": html("Other", "Another host.")}), host="127.0.0.2") as other:
        site.redirect("/docs/", other.url)
        with pytest.raises(IngestError, match="it leads to another host") as raised:
            await crawl(app, server)
        assert raised.value.hint == f"It leads to {other.url}: index that."
        assert other.connections == 0


async def test_an_entry_may_lead_on_within_its_host(app: Citewell, server: SiteServer, site: Site) -> None:
    site.redirect("/docs", "/docs/")
    site.redirect("/", "/docs/guide.html")
    assert (await crawl(app, server, "docs")).added == 4
    await app.remove(server.url.removeprefix("http://") + "docs")
    assert (await crawl(app, server, "")).added == 4
