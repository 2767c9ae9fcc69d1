"""A scripted model server on loopback that speaks three real protocols: OpenAI's chat completions, Anthropic's messages and Gemini's
`streamGenerateContent`, each with its list of models.

    with ModelServer([Reply([Say("Use "), Say("pip [1].")], usage=Usage(input=900, output=12))]) as server:
        provider = OpenAICompat(server.url, None)
        ...
    assert server.requests[0].body["messages"][0]["role"] == "system"

A script is neutral: the same replies serve all three. It is strict: leaving the block fails when replies are left over, or when more was
asked than the script holds. Nothing waits for time to pass, only for events that the test sets.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal, cast

from citewell.testing.loopback import POLL_SECONDS, LoopbackHandler, LoopbackServer
from citewell.testing.model_wires import WIRES, Call, Error, Raw, Say, Step, Think, Usage, Wait, Wire

__all__ = ["Asked", "Call", "Error", "ModelServer", "Raw", "Reply", "Say", "Think", "Usage", "Wait"]

_PATIENCE_SECONDS = 30.0  # no test waits for longer
_UNSCRIPTED = 418


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply. With a status that is not 200, or a `body` (bytes as they are, anything else as JSON), it is no stream.

    `finish` is as in `ChatResult`. The stream ends as `end` says: properly, `cut` in the middle (the connection closes), or with a `reset`
    of the connection; `hold` is waited for before the first byte. With `bytes_at_once`, the stream is written in pieces of so many bytes.
    `content_type` is what the stream says that it is.
    """

    steps: Sequence[Step] = ()
    usage: Usage | None = None
    finish: str = "stop"
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    end: Literal["properly", "cut", "reset"] = "properly"
    hold: threading.Event | None = None
    bytes_at_once: int = 0
    content_type: str = "text/event-stream"


@dataclass(slots=True)
class Asked:
    """One request: its path with the query, its headers by lower-case names, its parsed body, and whether the client hung up before the
    reply was complete."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    hung_up: threading.Event = field(default_factory=threading.Event)


class ModelServer(LoopbackServer):
    """Serves a script of replies while in `with`; `models` are the names it lists, or the reply it gives to who asks for them.

    `requests` are those for replies, `listings` those for the models. `url` has no version: append `/v1` or not.
    """

    def __init__(self, replies: Sequence[Reply] = (), *, models: Sequence[str] | Reply = ()) -> None:
        super().__init__(_Handler)
        self.replies = list(replies)
        self.models = models
        self.requests: list[Asked] = []
        self.listings: list[Asked] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return self.origin

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        if kind is None:
            self.check()

    def check(self) -> None:
        """Fails unless the script was used up exactly."""
        assert len(self.requests) == len(self.replies), f"{len(self.replies)} replies are scripted, {len(self.requests)} were asked for"

    def reply(self, asked: Asked) -> Reply:
        """The next reply of the script."""
        with self._lock:
            self.requests.append(asked)
            turn = len(self.requests) - 1
        return self.replies[turn] if turn < len(self.replies) else Reply(status=_UNSCRIPTED, body={"error": {"message": "not scripted"}})


class _HungUp(Exception):
    """The client has closed the connection."""


class _Handler(LoopbackHandler):
    timeout = _PATIENCE_SECONDS

    def do_GET(self) -> None:
        server, wire = cast("ModelServer", self.server), self._wire()
        asked = self._asked({})
        server.listings.append(asked)
        names = server.models
        self._answer(asked, names if isinstance(names, Reply) else Reply(body=wire.models(names)), wire)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = self._asked(body)
        self._answer(asked, cast("ModelServer", self.server).reply(asked), self._wire())

    def _asked(self, body: dict[str, Any]) -> Asked:
        return Asked(self.path, self.given, body)

    def _wire(self) -> Wire:
        """Which protocol the request speaks: each has its own paths, and the lists of models of two differ by their headers."""
        if "anthropic-version" in self.headers:
            return WIRES["anthropic"]
        return WIRES["gemini" if "/v1beta" in self.path and "/chat/" not in self.path else "openai"]

    def _answer(self, asked: Asked, reply: Reply, wire: Wire) -> None:
        try:
            if reply.hold is not None:
                self._wait(reply.hold)
            if reply.status != HTTPStatus.OK or reply.body is not None:
                self._send_body(reply)
            else:
                self._send_stream(asked, reply, wire)
        except (OSError, _HungUp):
            asked.hung_up.set()
            self.close_connection = True

    def _send_body(self, reply: Reply) -> None:
        body = reply.body if isinstance(reply.body, bytes) else json.dumps({} if reply.body is None else reply.body).encode()
        self._send_head(reply.status, {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers})
        self.wfile.write(body)

    def _send_stream(self, asked: Asked, reply: Reply, wire: Wire) -> None:
        self._send_head(200, {"Content-Type": reply.content_type, "Transfer-Encoding": "chunked", **reply.headers})
        for piece in wire.stream(asked.body, reply.steps, reply.usage, reply.finish, proper=reply.end == "properly"):
            if isinstance(piece, Wait):
                self._wait(piece.event)
                continue
            for part in _parts(piece, reply.bytes_at_once):
                self._check()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if reply.end == "properly":
            self.wfile.write(b"0\r\n\r\n")
            return
        if reply.end == "reset":
            self.reset()
        self.close_connection = True

    def _send_head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response_only(status, "")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _wait(self, event: threading.Event) -> None:
        for _ in range(int(_PATIENCE_SECONDS / POLL_SECONDS)):
            if event.wait(POLL_SECONDS):
                return
            self._check()

    def _check(self) -> None:
        """Raises `_HungUp` when the client is gone."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            raise _HungUp


def _parts(piece: bytes, size: int) -> Iterator[bytes]:
    if not size:
        yield piece
        return
    yield from (piece[i : i + size] for i in range(0, len(piece), size))
