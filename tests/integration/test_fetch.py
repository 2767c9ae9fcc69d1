"""A polite client: one request at a time, pauses, tries, redirects hop by hop, conditional requests."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import formatdate

import anyio
import pytest

from citewell.ingest.crawl.fetch import Fetched
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.fetch_help import Clock, Names, fault_of, fetcher, get

NOW = Clock().now


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with SiteServer(Site(pages={"/": b"<p>home", "/a": b"<p>a"}, modified={"/a": 1_000_000_000.0})) as server:
        yield server


async def test_an_answer(server: SiteServer) -> None:
    fetched = await get(f"{server.url}x/../a#part")

    assert fetched.url == f"{server.url}a"
    assert (fetched.status, fetched.data, fetched.media_type, fetched.hops) == (200, b"<p>a", "text/html", ())
    assert fetched.last_modified == "Sun, 09 Sep 2001 01:46:40 GMT"
    assert server.requests[0].headers["user-agent"] == "citewell/test"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 418, 451])
async def test_a_refusal_is_an_answer_without_content(server: SiteServer, status: int) -> None:
    server.site.scripts["/a"] = [Reply(status, b"no", {"ETag": '"x"'})]

    assert await get(f"{server.url}a") == Fetched(f"{server.url}a", status)
    assert len(server.requests) == 1


# ---- conditional requests


async def test_an_unchanged_page_is_not_sent_again(server: SiteServer) -> None:
    async with fetcher() as one:
        first = await one.get(f"{server.url}a", allowed=lambda _: "")
        by_tag = await one.get(f"{server.url}a", etag=first.etag, allowed=lambda _: "")
        by_date = await one.get(f"{server.url}a", last_modified=first.last_modified, allowed=lambda _: "")
        server.site.pages["/a"] = b"<p>new"
        changed = await one.get(f"{server.url}a", etag=first.etag, allowed=lambda _: "")

    assert [by_tag.status, by_date.status, changed.status] == [304, 304, 200]
    assert (by_tag.data, by_tag.etag, by_tag.last_modified) == (b"", first.etag, first.last_modified)
    assert changed.data == b"<p>new"


async def test_an_unchanged_page_keeps_its_marks_where_the_server_repeats_none(server: SiteServer) -> None:
    server.site.scripts["/a"] = [Reply(304)]

    fetched = await get_conditional(server, etag='"x"', last_modified="Sun, 09 Sep 2001 01:46:40 GMT")

    assert (fetched.etag, fetched.last_modified) == ('"x"', "Sun, 09 Sep 2001 01:46:40 GMT")


async def test_marks_that_would_break_the_request_are_not_sent(server: SiteServer) -> None:
    fetched = await get_conditional(server, etag='"x"\r\nX-Evil: 1', last_modified="\xe9" * 9)

    assert fetched.status == 200
    assert not server.requests[0].headers.keys() & {"if-none-match", "if-modified-since", "x-evil"}


async def test_the_marks_of_a_page_are_not_sent_to_where_it_redirects(server: SiteServer) -> None:
    server.site.redirect("/old", "/a")

    async with fetcher() as one:
        mark = (await one.get(f"{server.url}a", allowed=lambda _: "")).etag
        fetched = await one.get(f"{server.url}old", etag=mark, allowed=lambda _: "")

    assert fetched.status == 200
    assert [("if-none-match" in asked.headers) for asked in server.requests] == [False, True, False]


async def get_conditional(server: SiteServer, **marks: str) -> Fetched:
    async with fetcher() as one:
        return await one.get(f"{server.url}a", allowed=lambda _: "", **marks)


# ---- redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_and_named(server: SiteServer, status: int) -> None:
    server.site.redirect("/old/page", "../older", status)
    server.site.redirect("/older", f"{server.url}a#part", status)
    asked: list[str] = []

    fetched = await get(f"{server.url}old/page", allowed=lambda url: asked.append(url) or "")

    assert (fetched.url, fetched.data) == (f"{server.url}a", b"<p>a")
    assert fetched.hops == (f"{server.url}old/page", f"{server.url}older")
    assert asked == [f"{server.url}older", f"{server.url}a"]


@pytest.mark.parametrize("targets", [["/0"], ["/1", "/0"], ["/1", "/2", "/1"], ["/./0#x"]])
async def test_a_circle_ends_at_once(server: SiteServer, targets: list[str]) -> None:
    for number, target in enumerate(targets):
        server.site.redirect(f"/{number}", target)

    fault = await fault_of(f"{server.url}0")

    assert (fault.kind, fault.reason) == ("redirect", "it redirects in a circle")
    assert len(server.requests) == len(targets)


@pytest.mark.parametrize(("hops", "ends"), [(10, True), (11, False)])
async def test_ten_redirects_are_enough(server: SiteServer, hops: int, ends: bool) -> None:
    for number in range(hops):
        server.site.redirect(f"/{number}", f"/{number + 1}" if number + 1 < hops else "/a")

    if ends:
        assert (await get(f"{server.url}0")).url == f"{server.url}a"
    else:
        assert (await fault_of(f"{server.url}0")).reason == "it redirects more than 10 times"
    assert len(server.requests) == 11


async def test_a_redirect_that_the_caller_refuses_is_not_asked(server: SiteServer) -> None:
    with SiteServer(Site(pages={"/": b"elsewhere"})) as elsewhere:
        server.site.redirect("/away", elsewhere.url)

        fault = await fault_of(f"{server.url}away", allowed=lambda url: "" if url.startswith(server.url) else "leads out of the site")

        assert (fault.kind, fault.reason, fault.url) == ("off_site", "leads out of the site", elsewhere.url)
        assert (elsewhere.connections, fault.temporary) == (0, False)


# ---- tries


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 599])
async def test_an_error_of_the_server_is_tried_three_times(server: SiteServer, status: int) -> None:
    clock = Clock()
    server.site.scripts["/a"] = [Reply(status), Reply(status), Reply(200, b"at last")]
    server.site.scripts["/b"] = [Reply(status)]

    async with fetcher(clock=clock) as one:
        assert (await one.get(f"{server.url}a", allowed=lambda _: "")).data == b"at last"
    fault = await fault_of(f"{server.url}b")

    assert clock.slept == [1.0, 2.0]
    assert (fault.kind, fault.reason, fault.temporary) == ("server", f"it answered {status}, 3 times", True)
    assert server.paths == ["/a"] * 3 + ["/b"] * 3


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": " 2.5 "}, 2.5),
        ({"Retry-After": "0"}, 0.0),
        ({"Retry-After": "3600"}, 30.0),
        ({"Retry-After": "9" * 400}, 1.0),
        ({"Retry-After": "-5"}, 1.0),
        ({"Retry-After": "soon"}, 1.0),
        ({"Retry-After": "NaN"}, 1.0),
        ({"Retry-After": "١"}, 1.0),
        ({"Retry-After": formatdate(NOW + 9, usegmt=True)}, 9.0),
        ({"Retry-After": formatdate(NOW + 999, usegmt=True)}, 30.0),
        ({"Retry-After": formatdate(NOW - 999, usegmt=True)}, 0.0),
        ({"Retry-After": formatdate(NOW - 991, usegmt=True), "Date": formatdate(NOW - 999, usegmt=True)}, 8.0),
        ({"Retry-After": "Mon, 01 Jan 999999999 00:00:00 GMT"}, 1.0),
        ({"Retry-After": "Mon, 99 Foo 2030 99:99:99 +9999999"}, 1.0),
        ({"Retry-After": ""}, 1.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_the_server_says_when_to_come_again(server: SiteServer, status: int, headers: dict[str, str], waited: float) -> None:
    clock = Clock()
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    busy = Reply(raw=f"HTTP/1.1 {status} X\r\n{head}Connection: close\r\nContent-Length: 0\r\n\r\n".encode())
    server.site.scripts["/a"] = [busy, Reply(200, b"at last")]

    async with fetcher(clock=clock) as one:
        assert (await one.get(f"{server.url}a", allowed=lambda _: "")).status == 200

    assert sum(clock.slept) == waited


# ---- pauses


async def test_there_is_a_pause_between_two_requests_but_not_on_this_machine(server: SiteServer) -> None:
    named, here = Clock(), Clock()
    names = Names({"docs.internal": [["127.0.0.1"]]})

    async with fetcher("docs.internal", clock=named, delay=0.5, resolver=names) as one:
        for path in ("", "a", ""):
            await one.get(f"http://docs.internal:{server.port}/{path}", allowed=lambda _: "")
            named.now += 0.1
    async with fetcher(clock=here, delay=0.5) as one:
        for _ in range(3):
            await one.get(server.url, allowed=lambda _: "")

    assert named.slept == [0.4, 0.4]
    assert here.slept == []


async def test_the_pause_counts_for_redirects_and_tries_too(server: SiteServer) -> None:
    clock = Clock()
    server.site.redirect("/old", "/a")
    server.site.scripts["/a"] = [Reply(500), Reply(200, b"a")]

    async with fetcher(clock=clock) as one:
        one.slow_down(server.url, 3.0)
        await one.get(f"{server.url}old", allowed=lambda _: "")

    assert clock.slept == [3.0, 3.0]


@pytest.mark.parametrize(("asked", "kept"), [(5.0, 5.0), (0.1, 2.0), (86400.0, 30.0), (float("inf"), 30.0), (-1.0, 2.0)])
async def test_a_longer_pause_is_kept_up_to_a_limit(server: SiteServer, asked: float, kept: float) -> None:
    clock = Clock()

    async with fetcher(clock=clock) as one:
        one.slow_down(server.url, 2.0)
        one.slow_down(server.url, asked)
        for _ in range(2):
            await one.get(server.url, allowed=lambda _: "")

    assert clock.slept == [kept]


async def test_a_clock_that_is_set_back_makes_no_long_pause(server: SiteServer) -> None:
    clock = Clock()

    async with fetcher(clock=clock) as one:
        one.slow_down(server.url, 2.0)
        await one.get(server.url, allowed=lambda _: "")
        clock.now -= 1_000_000
        await one.get(server.url, allowed=lambda _: "")

    assert clock.slept == [2.0]


async def test_one_request_at_a_time(server: SiteServer) -> None:
    clock = Clock()

    async with fetcher(clock=clock) as one, anyio.create_task_group() as group:
        one.slow_down(server.url, 1.0)
        for _ in range(5):
            group.start_soon(lambda: one.get(server.url, allowed=lambda _: ""))

    assert clock.slept == [1.0] * 4
    assert server.connections == 1


async def test_one_connection_serves_many_requests_whatever_they_are_answered(server: SiteServer) -> None:
    server.site.scripts["/gone"] = [Reply(404, b"There is no such page." * 99)]
    server.site.scripts["/busy"] = [Reply(503, b"Later."), Reply(200, b"now")]
    server.site.redirect("/old", "/a")

    async with fetcher() as one:
        mark = (await one.get(f"{server.url}a", allowed=lambda _: "")).etag
        answers = [await one.get(server.url + path, etag=mark, allowed=lambda _: "") for path in ("a", "gone", "busy", "old", "a")]

    assert [answer.status for answer in answers] == [304, 404, 200, 200, 304]
    assert (len(server.requests), server.connections) == (8, 1)


@pytest.mark.parametrize(
    "reply",
    [Reply(404, b"x" * 100_000), Reply(404, b"x" * 90, pause=0.02), Reply(404, b"x", {"Content-Length": "9"}, hang_up=True)],
    ids=["long", "slow", "broken"],
)
async def test_the_body_of_a_refusal_does_not_count(server: SiteServer, reply: Reply) -> None:
    server.site.scripts["/gone"] = [reply]

    async with fetcher() as one:
        assert (await one.get(f"{server.url}gone", allowed=lambda _: "")).status == 404
        assert (await one.get(f"{server.url}a", allowed=lambda _: "")).status == 200
