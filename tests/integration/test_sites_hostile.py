"""A site that does everything wrong at once: the crawl ends, the good pages are indexed, and the report names each of the others."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from functools import partial

import anyio
import pytest

from citewell.app import Citewell
from citewell.ingest.crawl.fetch import Fetcher
from citewell.ingest.discover import site as site_module
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.site_help import crawl, html, paths, texts

pytestmark = pytest.mark.anyio

MIB = 2**20


@pytest.fixture
def app(words_app: Citewell, monkeypatch: pytest.MonkeyPatch) -> Citewell:
    """With a crawler that does not wait between tries, and not long for an answer."""

    async def no_time(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(site_module, "Fetcher", partial(Fetcher, sleep=no_time, max_seconds=1.5))
    return words_app


def endless() -> Iterator[bytes]:
    return itertools.repeat(b"<p>and so on</p>" * 4096)


def hostile() -> Site:
    deep = b"<html><body>" + b"<div>" * 10_500 + b"<p>At the bottom.</p></body></html>"
    links = b"".join(b"<a href='trap/%d.html'>x</a>" % n for n in range(100_000))
    site = Site(
        pages={
            "/docs/deep.html": deep,
            "/docs/links.html": b"<html><body><h1>Links</h1><p>The lever is long.</p>" + links + b"</body></html>",
            "/docs/secret.html": html("Secret", "Nobody reads this."),
            "/docs/good.html": html("Good", "The widget hums.", *(f"/docs/{name}.html" for name in NAMES)),
            "/docs/wrong-charset.html": "<html><body><h1>Grüße</h1><p>Die Größe.</p></body></html>".encode(),
            "/robots.txt": b"User-agent: *\nDisallow: /docs/secret.html\n",
        },
        scripts={
            "/docs/large.html": [Reply(body=b"x" * 25 * MIB, headers={"Content-Type": "text/html"})],
            "/docs/endless.html": [Reply(body=endless, headers={"Content-Type": "text/html"})],
            "/docs/drip.html": [Reply(body=b"<p>drip</p>" * 100, headers={"Content-Type": "text/html"}, pause=0.05)],
            "/docs/gzip.html": [Reply(body=b"\x1f\x8bnonsense", headers={"Content-Type": "text/html", "Content-Encoding": "gzip"})],
            "/docs/broken.html": [Reply(500)],
            "/docs/cut.html": [Reply(body=b"<p>cut", headers={"Content-Type": "text/html", "Content-Length": "900"}, hang_up=True)],
            "/docs/forbidden.html": [Reply(403)],
        },
        media_types={"/docs/wrong-charset.html": "text/html; charset=klingon"},
    )
    site.pages["/docs/"] = html("Home", "All of it.", "good.html")
    site.redirect("/docs/loop.html", "/docs/loop2.html")
    site.redirect("/docs/loop2.html", "/docs/loop.html")
    site.redirect("/docs/metadata.html", "http://169.254.169.254/latest/meta-data/")
    site.redirect("/docs/number.html", "http://2130706433:22/")
    return site


EXPECTED = {
    "large.html": "it is too large",
    "endless.html": "it is too large",
    "drip.html": "it took longer than 1.5 seconds",
    "gzip.html": "its compression is damaged",
    "broken.html": "it answered 500, 3 times",
    "cut.html": "the connection broke off, 3 times",
    "forbidden.html": "it answered 403",
    "loop.html": "it redirects in a circle",
    "loop2.html": "it redirects in a circle",
    "metadata.html": "leads out of the site",
    "number.html": "it redirects to what is no web address",
    "secret.html": "robots.txt does not allow it",
    "deep.html": "nested too deeply",
    "gone.html": "not found (404)",
}
NAMES = [*(name.removesuffix(".html") for name in EXPECTED), "links", "wrong-charset"]


async def test_nothing_hangs_nothing_is_asked_that_must_not_be_and_the_report_names_each(app: Citewell) -> None:
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 40})
    started = time.monotonic()
    with SiteServer(hostile()) as server:
        report = await crawl(app, server)
    assert time.monotonic() - started < 60
    named = {skip.origin: skip.reason for skip in report.skipped if not skip.origin.startswith("trap/")}
    assert named == EXPECTED
    assert "/docs/secret.html" not in server.paths
    assert await paths(app) == ["good.html", "index.html", "links.html", "wrong-charset.html"]
    assert "Die Größe" in (await texts(app, "Größe"))[0]
    assert len(set(server.paths)) < 60, "a hundred thousand links cost no more pages than the limit"
    assert any("40 pages were asked" in warning for warning in report.warnings)
