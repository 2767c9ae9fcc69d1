"""Nobody leads the crawler to a machine that the user did not name: not by redirects, by names, by spellings, nor by changing answers."""

from __future__ import annotations

from collections.abc import Iterator

import httpcore2
import pytest

from citewell.ingest.crawl.fetch import FetchFault
from citewell.testing.sites import Reply, Site, SiteServer
from tests.integration.fetch_help import Names, fault_of, fetcher, get


@pytest.fixture
def secret() -> Iterator[SiteServer]:
    """A private server that must not be reached."""
    with SiteServer(Site(pages={"/": b"secret"}), host="127.0.0.2") as server:
        yield server
        assert server.connections == 0


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(Site(pages={"/": b"<p>hello"})) as server:
        yield server


async def test_a_named_host_may_be_this_machine(site: SiteServer) -> None:
    fetched = await get(site.url)

    assert (fetched.status, fetched.data) == (200, b"<p>hello")


async def test_a_named_host_may_have_a_private_address_by_its_name(site: SiteServer) -> None:
    names = Names({"docs.internal": [["127.0.0.1"]]})

    fetched = await get(f"http://docs.internal:{site.port}/", "docs.internal", resolver=names)

    assert fetched.data == b"<p>hello"
    assert site.requests[0].headers["host"] == f"docs.internal:{site.port}"


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2:{port}/",
        "http://[::ffff:127.0.0.2]:{port}/",
        "http://[64:ff9b::7f00:2]:{port}/",
        "http://[2002:7f00:2::]:{port}/",
        "http://[::127.0.0.2]:{port}/",
        "http://[::1]:{port}/",
        "http://[::]:{port}/",
        "http://[fe80::1]:{port}/",
        "http://[fd00::1]:{port}/",
        "http://[fec0::1]:{port}/",
        "http://[ff02::1]:{port}/",
        "http://0.0.0.0:{port}/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://224.0.0.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://198.18.0.1/",
        "//127.0.0.2:{port}/",
        "\\\\127.0.0.2:{port}\\",
        "http:\\\\127.0.0.2:{port}/",
    ],
)
async def test_a_redirect_to_a_private_address_is_not_followed(site: SiteServer, secret: SiteServer, target: str) -> None:
    site.site.redirect("/away", target.format(port=secret.port))

    fault = await fault_of(f"{site.url}away")

    assert fault.kind == "private"
    assert "not public" in fault.reason


async def test_a_redirect_in_letters_that_look_like_an_address_is_not_followed(site: SiteServer, secret: SiteServer) -> None:
    head = f"HTTP/1.1 302 Found\r\nLocation: http://127。0。0。2:{secret.port}/\r\nContent-Length: 0\r\n\r\n"
    site.site.scripts["/away"] = [Reply(raw=head.encode())]

    assert (await fault_of(f"{site.url}away")).kind == "private"


@pytest.mark.parametrize(
    "target",
    [
        "http://2130706434:{port}/",
        "http://0x7f.2:{port}/",
        "http://0x7f000002:{port}/",
        "http://0177.0.0.2:{port}/",
        "http://127.2:{port}/",
        "http://127.0.0.02:{port}/",
        "http://%31%32%37.0.0.2:{port}/",
        "http://127.0.0.1@127.0.0.2:{port}/",
        "http://user:password@example.org/",
        "file:///etc/passwd",
        "ftp://127.0.0.2/",
        "gopher://127.0.0.2:{port}/",
        "javascript:alert(1)",
        "data:text/html,hello",
        "http://",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://127.0.0.2:{port}0000/",
        "http://exa mple.org/",
        "",
    ],
)
async def test_a_redirect_to_what_is_no_proper_address_is_not_followed(site: SiteServer, secret: SiteServer, target: str) -> None:
    site.site.redirect("/away", target.format(port=secret.port))

    fault = await fault_of(f"{site.url}away")

    assert (fault.kind, fault.url) == ("redirect", f"{site.url}away")


@pytest.mark.parametrize("answers", [["127.0.0.2"], ["93.184.215.14", "127.0.0.2"], ["127.0.0.2", "93.184.215.14"], ["::ffff:127.0.0.2"]])
async def test_a_name_that_leads_to_a_private_address_is_not_reached(secret: SiteServer, answers: list[str]) -> None:
    fault = await fault_of(f"http://evil.example:{secret.port}/", "docs.example", resolver=Names({"evil.example": [answers]}))

    assert fault.kind == "private"
    assert fault.reason == "evil.example leads to an address that is not public"


async def test_a_name_is_asked_once_for_a_connection_and_checked_each_time(secret: SiteServer) -> None:
    """The second answer of a name that changes (DNS rebinding) is either not asked for, or checked, too."""
    names = Names({"evil.example": [["192.0.2.1"], ["127.0.0.2"]]})

    first = await fault_of(f"http://evil.example:{secret.port}/", "docs.example", resolver=names)
    assert names.asked == ["evil.example"]
    second = await fault_of(f"http://evil.example:{secret.port}/", "docs.example", resolver=names)

    assert (first.kind, second.kind) == ("private", "private")


async def test_a_connection_goes_to_the_address_that_was_checked(site: SiteServer) -> None:
    """Were the name resolved again for the connection, it would not be found."""
    names = Names({"docs.example": [["127.0.0.1"], ["192.0.2.1"]]})

    fetched = await get(f"http://docs.example:{site.port}/", "docs.example", resolver=names)

    assert (fetched.status, names.asked) == (200, ["docs.example"])


async def test_a_named_host_that_was_public_does_not_become_private(secret: SiteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner may be an attacker who now answers with an address of this machine."""
    names = Names({"docs.example": [["93.184.215.14"], ["127.0.0.2"]]})
    tried: list[str] = []

    async def connect_tcp(backend: object, host: str, *_: object) -> httpcore2.AsyncNetworkStream:
        tried.append(host)
        raise httpcore2.ConnectError  # nothing goes beyond this machine

    monkeypatch.setattr(httpcore2.AnyIOBackend, "connect_tcp", connect_tcp)
    fault = await fault_of(f"http://docs.example:{secret.port}/", "docs.example", resolver=names)

    assert (fault.kind, tried) == ("private", ["93.184.215.14"])


async def test_only_the_named_host_may_be_private(site: SiteServer, secret: SiteServer) -> None:
    names = Names({"docs.internal": [["127.0.0.1"]], "other.internal": [["127.0.0.2"]]})
    site.site.redirect("/away", f"http://other.internal:{secret.port}/")

    fault = await fault_of(f"http://docs.internal:{site.port}/away", "docs.internal", resolver=names)

    assert (fault.kind, fault.url) == ("private", f"http://other.internal:{secret.port}/")


async def test_another_address_of_a_host_is_tried_where_one_does_not_answer(site: SiteServer) -> None:
    names = Names({"docs.internal": [["127.0.0.9", "127.0.0.1"]]})

    fetched = await get(f"http://docs.internal:{site.port}/", "docs.internal", resolver=names)

    assert fetched.status == 200


@pytest.mark.parametrize("answers", [[], ["localhost"], ["nonsense"]])
async def test_a_resolver_that_tells_no_address_leads_nowhere(answers: list[str]) -> None:
    fault = await fault_of("http://docs.internal/", "docs.internal", resolver=Names({"docs.internal": [answers]}))

    assert (fault.kind, fault.reason) == ("connect", "the name docs.internal has no address, 3 times")


async def test_refusals_use_up_no_connections(site: SiteServer) -> None:
    async with fetcher() as one:
        for number in range(30):
            with pytest.raises(FetchFault, match="not public"):
                await one.get(f"http://10.0.0.{number}/", allowed=lambda _: "")
        fetched = await one.get(site.url, allowed=lambda _: "")

    assert fetched.status == 200


async def test_proxies_of_the_environment_are_not_used(site: SiteServer, secret: SiteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, secret.url)

    assert (await get(site.url)).status == 200


async def test_cookies_and_credentials_are_neither_kept_nor_sent(site: SiteServer) -> None:
    site.site.scripts["/a"] = [Reply(302, headers={"Location": "/", "Set-Cookie": "session=1; Path=/"})]

    async with fetcher() as one:
        await one.get(f"{site.url}a", allowed=lambda _: "")
        await one.get(site.url, allowed=lambda _: "")

    for asked in site.requests:
        assert asked.headers.keys() == {"host", "user-agent", "accept", "accept-encoding"}


@pytest.mark.parametrize("url", ["http://user:password@127.0.0.1/", "file:///etc/passwd", "127.0.0.1", "", "http://0x7f.1/"])
async def test_what_is_no_address_is_not_asked(url: str) -> None:
    assert (await fault_of(url)).kind == "address"
