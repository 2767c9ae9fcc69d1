"""A scripted documentation site on loopback that speaks real HTTP/1.1, and misbehaves as it is told. It records what it was asked."""

from __future__ import annotations

import hashlib
import mimetypes
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import Self, cast

from citewell.testing.loopback import LoopbackHandler, LoopbackServer


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. With a `body` of pieces the length is not declared, and the connection ends with the body.

    `raw` is sent instead of all else, as it is, and the connection ends. `pause` is waited before each piece of the body (each byte, where
    it has none), in seconds. `hang_up` resets the connection after the body, of which a `Content-Length` may have promised more.
    """

    status: int = 200
    body: bytes | Callable[[], Iterable[bytes]] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    pause: float = 0.0
    hang_up: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its method, its path with the query, its headers by lower-case names, and when it came (monotonic seconds)."""

    method: str
    path: str
    headers: Mapping[str, str]
    time: float


@dataclass(slots=True)
class Site:
    """What is served: `pages` by path, and `scripts`, whose replies are given one after the other, the last one for ever.

    A page has an ETag and, where `modified` names a time for its path (seconds since 1970), a Last-Modified header; conditional requests
    are answered with 304.
    """

    pages: dict[str, bytes] = field(default_factory=dict)
    scripts: dict[str, Sequence[Reply]] = field(default_factory=dict)
    modified: dict[str, float] = field(default_factory=dict)
    media_types: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_folder(cls, folder: Path, *, below: str = "/") -> Self:
        """The files of a folder; an `index.html` is also the page of its folder's address."""
        site = cls()
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            path = below + file.relative_to(folder).as_posix()
            site.pages[path] = file.read_bytes()
            site.modified[path] = file.stat().st_mtime
            if file.name == "index.html":
                address = path.removesuffix("index.html")
                site.pages[address], site.modified[address] = site.pages[path], site.modified[path]
        return site

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        """Let a path lead elsewhere."""
        self.scripts[path] = [Reply(status, headers={"Location": target})]

    def page(self, path: str, headers: Mapping[str, str]) -> Reply:
        """The answer to a request for a page that has no script; `headers` are the request's, by lower-case names."""
        body = self.pages.get(path)
        if body is None:
            return Reply(404, b"There is no such page.")
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        kind = self.media_types.get(path) or mimetypes.guess_type(path)[0] or "text/html"
        own = {"ETag": etag, "Content-Type": kind}
        if path in self.modified:
            own["Last-Modified"] = formatdate(self.modified[path], usegmt=True)
        asked = headers.get("if-none-match")
        unchanged = etag in asked if asked else headers.get("if-modified-since", "") == own.get("Last-Modified")
        return Reply(304, headers=own) if unchanged else Reply(200, body, own)


class SiteServer(LoopbackServer):
    """Serves a `Site` while in `with`, on a free port of a loopback address, with `tls` over HTTPS.

    `requests` are those that it got, `connections` is how many connections were made.
    """

    def __init__(self, site: Site, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        super().__init__(_Handler, host=host, tls=tls)
        self.site = site
        self.requests: list[Asked] = []
        self._given: defaultdict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address of the site's root, with its final slash."""
        return f"{self.origin}/"

    @property
    def paths(self) -> list[str]:
        """The paths that were asked, in order."""
        return [asked.path for asked in self.requests]

    def reply(self, asked: Asked) -> Reply:
        """The next answer to a request, which is recorded."""
        with self._lock:
            self.requests.append(asked)
            script = self.site.scripts.get(asked.path)
            if not script:
                return self.site.page(asked.path, asked.headers)
            turn = self._given[asked.path]
            self._given[asked.path] += 1
            return script[min(turn, len(script) - 1)]


class _Handler(LoopbackHandler):
    def do_GET(self) -> None:
        reply = cast("SiteServer", self.server).reply(Asked(self.command, self.path, self.given, time.monotonic()))
        try:
            self._send(reply)
        except OSError:  # the client has hung up, as it may
            self.close_connection = True

    def _send(self, reply: Reply) -> None:
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            self.close_connection = True
            return
        self._send_head(reply)
        for piece in _pieces(reply):
            if reply.pause:
                time.sleep(reply.pause)
            self.wfile.write(piece)
        if reply.hang_up:
            self.reset()

    def _send_head(self, reply: Reply) -> None:
        names = {name.lower() for name in reply.headers}
        self.send_response_only(reply.status, HTTPStatus(reply.status).phrase if reply.status in set(HTTPStatus) else "")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if not isinstance(reply.body, bytes):
            self.send_header("Connection", "close")
            self.close_connection = True
        elif "content-length" not in names and reply.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()


def _pieces(reply: Reply) -> Iterator[bytes]:
    if not isinstance(reply.body, bytes):
        yield from reply.body()
    elif reply.pause:
        yield from (reply.body[i : i + 1] for i in range(len(reply.body)))
    else:
        yield reply.body
