"""The scripted site does what it is told, as a client from elsewhere sees it."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.testing.sites import Reply, Site, SiteServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SiteServer]:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide/index.html").write_text("<p>guide")
    (tmp_path / "notes.md").write_text("# Notes")
    with SiteServer(Site.of_folder(tmp_path, below="/docs/")) as server:
        yield server


def ask(server: SiteServer, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_a_folder_is_served(server: SiteServer) -> None:
    assert ask(server, "/docs/guide/")[:2] == (200, b"<p>guide")
    assert ask(server, "/docs/guide/index.html")[1] == b"<p>guide"
    assert ask(server, "/docs/notes.md")[1] == b"# Notes"
    assert ask(server, "/docs/other")[0] == 404
    assert server.paths == ["/docs/guide/", "/docs/guide/index.html", "/docs/notes.md", "/docs/other"]
    assert server.connections == 4


def test_pages_can_be_asked_conditionally(server: SiteServer) -> None:
    _, _, headers = ask(server, "/docs/notes.md")

    assert ask(server, "/docs/notes.md", {"If-None-Match": headers["ETag"]})[:2] == (304, b"")
    assert ask(server, "/docs/notes.md", {"If-Modified-Since": headers["Last-Modified"]})[0] == 304
    assert ask(server, "/docs/notes.md", {"If-None-Match": '"other"', "If-Modified-Since": headers["Last-Modified"]})[0] == 200


def test_a_script_is_followed_to_its_end(server: SiteServer) -> None:
    server.site.scripts["/x"] = [Reply(500), Reply(200, b"ok", {"X-Test": "1"})]
    server.site.redirect("/y", "/x", 308)

    assert [ask(server, "/x")[0] for _ in range(3)] == [500, 200, 200]
    assert ask(server, "/x")[2]["X-Test"] == "1"
    status, _, headers = ask(server, "/y", {"X-Mine": "2"})

    assert (status, headers["Location"]) == (308, "/x")
    assert server.requests[-1].headers["x-mine"] == "2"
    assert server.requests[-1].method == "GET"


def test_bad_manners(server: SiteServer) -> None:
    server.site.scripts |= {
        "/pieces": [Reply(body=lambda: [b"a", b"b"])],
        "/short": [Reply(body=b"half", headers={"Content-Length": "8"}, hang_up=True)],
        "/raw": [Reply(raw=b"nonsense")],
        "/nothing": [Reply(raw=b"")],
    }

    _, body, headers = ask(server, "/pieces")
    assert (body, headers["Content-Length"]) == (b"ab", None)
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        ask(server, "/short")
    for path in ("/raw", "/nothing"):
        with pytest.raises((http.client.BadStatusLine, ConnectionResetError)):
            ask(server, path)
