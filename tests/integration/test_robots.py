"""What robots.txt allows, over real sockets (RFC 9309)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import pytest

from citewell.ingest.crawl.robots import Robots
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.fetch_help import Clock, fetcher

RULES = b"""\xef\xbb\xbf# who may read
User-agent: *
Disallow: /

User-agent: Citewell
Disallow: /private/
Allow: /private/open*.html$
Crawl-delay: 2
Sitemap: /sitemap.xml
Sitemap: https://other.example/map.xml
Sitemap: javascript:alert(1)
Sitemap: /sitemap.xml
"""


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with SiteServer(Site(pages={"/robots.txt": RULES, "/a": b"a"})) as server:
        yield server


async def load(server: SiteServer) -> Robots:
    async with fetcher() as one:
        return await Robots.load(one, f"{server.url}docs/")


async def test_the_rules_for_citewell(server: SiteServer) -> None:
    robots = await load(server)

    allowed = {path: robots.allows(server.url + path) for path in ("", "docs/", "private/", "private/open1.html", "private/open1.html?x")}

    assert allowed == {"": True, "docs/": True, "private/": False, "private/open1.html": True, "private/open1.html?x": False}
    assert robots.sitemaps == (f"{server.url}sitemap.xml", "https://other.example/map.xml")
    assert (robots.delay, robots.problem) == (2.0, "")
    assert server.paths == ["/robots.txt"]


async def test_its_pause_is_kept_from_then_on(server: SiteServer) -> None:
    clock = Clock()

    async with fetcher(clock=clock) as one:
        await Robots.load(one, server.url)
        await one.get(f"{server.url}a", allowed=lambda _: "")

    assert clock.slept == [2.0]


@pytest.mark.parametrize(("asked", "kept"), [(b"86400", 30.0), (b"-1", 0.0), (b"nan", 0.0), (b"inf", 0.0), (b"soon", 0.0), (b"0.5", 0.5)])
async def test_a_pause_has_a_limit(server: SiteServer, asked: bytes, kept: float) -> None:
    server.site.pages["/robots.txt"] = b"User-agent: *\nCrawl-delay: " + asked

    assert (await load(server)).delay == kept


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_where_there_is_none_all_is_allowed(server: SiteServer, status: int) -> None:
    server.site.scripts["/robots.txt"] = [Reply(status, b"User-agent: *\nDisallow: /")]

    robots = await load(server)

    assert (robots.allows(f"{server.url}docs/"), robots.problem) == (True, "")


@pytest.mark.parametrize("reply", [Reply(500), Reply(503), Reply(429), Reply(raw=b"garbage\r\n\r\n"), Reply(raw=b"")])
async def test_where_it_cannot_be_asked_nothing_is_allowed(server: SiteServer, reply: Reply) -> None:
    server.site.scripts["/robots.txt"] = [reply]

    robots = await load(server)

    assert not robots.allows(f"{server.url}docs/")
    assert robots.problem.startswith(f"{server.url}robots.txt cannot be read: it")
    assert len(server.requests) == 3


async def test_redirects_are_followed(server: SiteServer) -> None:
    server.site.scripts["/robots.txt"] = [Reply(301, headers={"Location": "/rules"})]
    server.site.pages["/rules"] = RULES

    assert not (await load(server)).allows(f"{server.url}private/")


@pytest.mark.parametrize("target", ["/robots.txt", "", "mailto:us@example.org"])
async def test_a_redirect_to_nowhere_is_no_file(server: SiteServer, target: str) -> None:
    server.site.redirect("/robots.txt", target)

    assert (await load(server)).allows(f"{server.url}private/")


async def test_a_redirect_to_a_private_machine_is_not_followed(server: SiteServer) -> None:
    with SiteServer(Site(pages={"/robots.txt": b""}), host="127.0.0.2") as secret:
        server.site.redirect("/robots.txt", f"{secret.url}robots.txt")

        robots = await load(server)

        assert not robots.allows(server.url)
        assert secret.connections == 0


async def test_only_so_much_of_it_is_read(server: SiteServer) -> None:
    rules = b"User-agent: *\nDisallow: /a\n"
    half = b"\nAllow: /a/b"  # of a rule that is longer
    padding = b"#" * (500 * 1024 - len(rules) - len(half))
    server.site.scripts["/robots.txt"] = [Reply(body=lambda: [rules, padding, half, b"c\n", *repeat(b"Disallow: /\n", 9)])]

    robots = await load(server)

    assert [robots.allows(server.url + path) for path in ("", "a/b", "a/bc")] == [True, False, False]


async def test_an_endless_one_ends(server: SiteServer) -> None:
    server.site.scripts["/robots.txt"] = [Reply(body=lambda: repeat(b"User-agent: *\nDisallow: /x\n"))]

    robots = await load(server)

    assert [robots.allows(server.url + path) for path in ("a", "x")] == [True, False]


@pytest.mark.parametrize("body", [b"", b"\0\xff\xfe\n" * 99, b"<!doctype html><p>Disallow: everything", "Disällow: /".encode("latin-1")])
async def test_what_is_no_robots_txt_forbids_nothing(server: SiteServer, body: bytes) -> None:
    server.site.pages["/robots.txt"] = body

    assert (await load(server)).allows(f"{server.url}docs/")


async def test_rules_are_those_of_one_host(server: SiteServer) -> None:
    robots = await load(server)

    assert robots.covers(f"{server.url}anything")
    assert not robots.covers("https://other.example/")
    assert not robots.covers(server.url.replace(str(server.port), "1"))


async def test_many_rules_take_little_time(server: SiteServer) -> None:
    server.site.pages["/robots.txt"] = b"User-agent: *\n" + b"".join(b"Disallow: /*a*b*c%d*$\n" % n for n in range(20_000))

    robots = await load(server)

    assert robots.allows(f"{server.url}{'a/b/' * 200}")
