"""Whatever a server sends, an answer ends within its limits of size and time, with a reason in words."""

from __future__ import annotations

import gzip
import socket
import tracemalloc
import zlib
from collections.abc import Iterator
from itertools import repeat

import anyio
import pytest

from citewell.ingest.crawl.fetch import FetchFault
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.fetch_help import fault_of, fetcher, get

MIB = 2**20
GZIP = {"Content-Encoding": "gzip"}


@pytest.fixture
def server() -> Iterator[SiteServer]:
    with SiteServer(Site()) as server:
        yield server


def endless() -> Iterator[bytes]:
    return repeat(b"x" * 65536)


def endless_zeros() -> Iterator[bytes]:
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    while True:
        yield packer.compress(bytes(MIB))


@pytest.mark.parametrize(
    ("reply", "kind", "reason"),
    [
        (Reply(body=b"x" * (25 * MIB)), "too_large", "it is too large"),
        (Reply(body=lambda: repeat(b"x" * MIB, 25)), "too_large", "it is too large"),
        (Reply(body=endless), "too_large", "it is too large"),
        (Reply(body=gzip.compress(bytes(25 * MIB)), headers=GZIP), "too_large", "it is too large"),
        (Reply(body=endless_zeros, headers=GZIP), "too_large", "it is too large"),
        (Reply(body=b"", headers={"Content-Length": "99999999999999999999"}), "too_large", "it is too large"),
        (Reply(body=b"this is not gzip", headers=GZIP), "coding", "its compression is damaged"),
        (Reply(body=gzip.compress(b"text" * 99)[:-12], headers=GZIP), "coding", "its compression is damaged"),
        (Reply(body=gzip.compress(b"text" * 99)[:-1] + b"!", headers=GZIP), "coding", "its compression is damaged"),
        (Reply(body=b"x", headers={"Content-Encoding": "br"}), "coding", "its compression is damaged"),
        (Reply(body=b"x", headers={"Content-Encoding": ", ".join(["gzip"] * 500)}), "coding", "its compression is damaged"),
    ],
)
async def test_large_and_damaged_bodies(server: SiteServer, reply: Reply, kind: str, reason: str) -> None:
    server.site.scripts["/"] = [reply]

    fault = await fault_of(server.url)

    assert (fault.kind, fault.reason, fault.temporary) == (kind, reason, False)
    assert len(server.requests) == 1


async def test_a_bomb_is_not_unpacked_beyond_the_limit(server: SiteServer) -> None:
    server.site.scripts["/"] = [Reply(body=gzip.compress(bytes(200 * MIB)), headers=GZIP)]

    tracemalloc.start()
    fault = await fault_of(server.url, max_bytes=MIB)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert fault.kind == "too_large"
    assert peak < 8 * MIB


@pytest.mark.parametrize("size", [999, 1000, 1001])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("declared", [False, True])
async def test_the_limit_is_exact(server: SiteServer, size: int, packed: bool, declared: bool) -> None:
    body = gzip.compress(b"x" * size) if packed else b"x" * size
    server.site.scripts["/"] = [Reply(body=body if declared else lambda: [body], headers=GZIP if packed else {})]

    if size > 1000:
        assert (await fault_of(server.url, max_bytes=1000)).kind == "too_large"
    else:
        assert (await get(server.url, max_bytes=1000)).data == b"x" * size


async def test_a_body_can_be_cut(server: SiteServer) -> None:
    server.site.scripts["/"] = [Reply(body=endless)]

    async with fetcher() as one:
        fetched = await one.get(server.url, allowed=lambda _: "", at_most=1000)

    assert fetched.data == b"x" * 1000


@pytest.mark.parametrize("body", [gzip.compress(b"one ") + gzip.compress(b"two"), gzip.compress(b"one two") + b"\0\0\0"])
async def test_gzip_may_have_members_and_padding(server: SiteServer, body: bytes) -> None:
    server.site.scripts["/"] = [Reply(body=body, headers=GZIP)]

    assert (await get(server.url)).data == b"one two"


async def test_a_slow_drip_ends(server: SiteServer) -> None:
    server.site.scripts["/"] = [Reply(body=b"x" * 100, pause=0.05)]

    fault = await fault_of(server.url, max_seconds=0.3)

    assert (fault.kind, fault.reason, fault.temporary) == ("too_slow", "it took longer than 0.3 seconds", True)
    assert len(server.requests) == 1


async def test_a_slow_drip_of_headers_ends(server: SiteServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        fault = await fault_of(f"http://127.0.0.1:{silent.getsockname()[1]}/", max_seconds=0.3)

    assert (fault.kind, fault.reason, fault.temporary) == ("too_slow", "it did not answer in time, 3 times", True)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"garbage\r\n\r\n", "malformed"),
        (b"\0\xff\xfe" * 1000, "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n", "malformed"),
        (b"HTTP/1.1 99999 OK\r\n\r\n", "malformed"),
        (b"", "malformed"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000, "malformed"),
        (b"HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n", "status"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "status"),
        (b"HTTP/1.1 206 Partial\r\nContent-Length: 1\r\n\r\nx", "status"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "status"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "malformed"),
        (b"HTTP/1.1 305 Use Proxy\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n", "status"),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", "redirect"),
        (b"HTTP/1.1 302 Found\r\nLocation: /" + b"x" * 50_000 + b"\r\nContent-Length: 0\r\n\r\n", "redirect"),
        (b"HTTP/1.1 302 Found\r\nLocation: /\xff\xfe\r\nContent-Length: 0\r\n\r\n", "redirect"),
    ],
)
async def test_answers_that_are_no_proper_http(server: SiteServer, raw: bytes, kind: str) -> None:
    server.site.scripts["/"] = [Reply(raw=raw)]
    server.site.redirect("/%C3%BF%C3%BE", "/")

    assert (await fault_of(server.url)).kind == kind


async def test_a_connection_that_is_reset_in_the_middle_is_tried_again(server: SiteServer) -> None:
    broken = Reply(body=b"half", headers={"Content-Length": "8"}, hang_up=True)
    server.site.scripts["/"] = [broken, broken, Reply(body=b"the whole")]
    server.site.scripts["/never"] = [broken]

    assert (await get(server.url)).data == b"the whole"
    fault = await fault_of(f"{server.url}never")

    assert (fault.kind in ("malformed", "connect"), fault.temporary) == (True, True)
    assert server.paths == ["/"] * 3 + ["/never"] * 3


@pytest.mark.parametrize(
    ("headers", "known"),
    [
        ({"ETag": '"' + "x" * 60_000 + '"', "Content-Type": "x" * 30_000}, ("", "", "", "")),
        ({"ETag": '"\xe9"', "Last-Modified": "\x7f", "Content-Type": "text"}, ("", "", "", "")),
        ({"ETag": ' W/"a" ', "Content-Type": 'Text/HTML ; x=y; Charset="UTF-8"'}, ('W/"a"', "", "text/html", "UTF-8")),
        ({"Content-Type": "text/html; charset=../../etc"}, ("", "", "text/html", "..")),
        ({"Content-Type": ";;;charset=;", "Last-Modified": "yesterday"}, ("", "yesterday", "", "")),
    ],
)
async def test_strange_headers_do_no_harm(server: SiteServer, headers: dict[str, str], known: tuple[str, ...]) -> None:
    server.site.scripts["/"] = [Reply(body=b"text", headers=headers)]

    fetched = await get(server.url)

    assert (fetched.etag, fetched.last_modified, fetched.media_type, fetched.charset) == known
    assert fetched.data == b"text"


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    fault = await fault_of(f"http://127.0.0.1:{port}/")

    assert (fault.kind, fault.reason, fault.temporary) == ("connect", "it cannot be connected to, 3 times", True)


async def test_a_server_that_speaks_no_tls(server: SiteServer) -> None:
    fault = await fault_of(server.url.replace("http:", "https:"))

    assert (fault.kind, fault.reason) == ("tls", "there is no secure connection to it")


async def test_connections_are_given_back(server: SiteServer) -> None:
    """However an answer ends, later ones find a free connection."""
    server.site.pages["/"] = b"text"
    server.site.scripts["/large"] = [Reply(body=endless)]
    server.site.scripts["/drip"] = [Reply(body=b"x" * 100, pause=0.05)]
    server.site.scripts["/gone"] = [Reply(404, b"x" * 100_000)]

    async with fetcher(max_bytes=MIB, max_seconds=0.15) as one:
        for path in ("large", "drip", "gone", "") * 6:
            try:
                status = (await one.get(server.url + path, allowed=lambda _: "")).status
            except FetchFault as fault:
                status = {"too_large": 1, "too_slow": 2}[fault.kind]
            assert status == {"large": 1, "drip": 2, "gone": 404, "": 200}[path]


async def test_a_request_that_is_broken_off_leaves_nothing_behind(server: SiteServer) -> None:
    server.site.pages["/"] = b"text"
    server.site.scripts["/drip"] = [Reply(body=b"x" * 1000, pause=0.02)]

    async with fetcher() as one:
        for _ in range(12):
            with anyio.move_on_after(0.05) as scope:
                await one.get(f"{server.url}drip", allowed=lambda _: "")
            assert scope.cancelled_caught
        fetched = await one.get(server.url, allowed=lambda _: "")

    assert fetched.data == b"text"
