"""The HTTP client that all SDKs are given: what it lets out, and how much it lets in. Imports httpx2, so import it when it is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import anyio
import httpx2

from citewell.llm.base import FaultKind
from citewell.llm.sse import DONE, NoStream, regular
from citewell.web import is_loopback

CONNECT_SECONDS = 10.0
_MOST_STREAM = 16 * 2**20  # bytes of one reply
_MOST_LIST = 4 * 2**20  # bytes of a list of models
_MOST_ERROR = 2**16  # bytes of an error that are read
_CONNECTIONS = 128
_CLOSING_SECONDS = 1.0
_LINGER_SECONDS = 0.25  # for the end of a stream after its last event, so that the connection can be used again
_DONE = f"data: {DONE}\n\n".encode()
# SDKs add what the environment tells them (keys, organisations, headers) and describe this machine; none of it leaves.
_HEADERS = frozenset("host accept content-type content-length transfer-encoding connection anthropic-version".split())


class Exchange:
    """One HTTP request and what came of it: how the body is read depends on what was asked for.

    `broken` is why the body could not be read to its end, `body` that of a refusal, `done` whether a stream said that it is over.
    """

    def __init__(self, *, streams: bool, named: bool = False) -> None:
        self.streams = streams
        self.named = named
        self.response: httpx2.Response | None = None
        self.broken: tuple[FaultKind, str] | None = None
        self.body = bytearray()
        self.done = False
        self._sent = False

    @contextmanager
    def current(self) -> Iterator[None]:
        """Within the block, requests of this task belong to the exchange."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def begin(self) -> None:
        if self._sent:
            raise RuntimeError("an SDK sent a second request for one call")
        self._sent = True

    async def aclose(self) -> None:
        """Closes the connection, unless the response was read to its end, even in a task that is cancelled."""
        if self.response is not None:
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await self.response.aclose()

    async def read(self, stream: httpx2.AsyncByteStream, status: int) -> AsyncIterator[bytes]:
        """The body as an SDK may see it."""
        if status != 200:
            async for chunk in stream:
                room = _MOST_ERROR - len(self.body)
                self.body += chunk[:room]
                yield chunk[:room]
                if len(chunk) >= room:
                    return
        elif self.streams:
            chunks = self._bounded(stream, _MOST_STREAM)
            try:
                async for event in regular(chunks, named=self.named):
                    self.done = event.endswith(_DONE)
                    yield event
            except NoStream as error:
                self.broken = "stream", f"sent {error}"
                raise httpx2.RemoteProtocolError(str(error)) from None
            with anyio.move_on_after(_LINGER_SECONDS):
                async for _ in chunks:
                    pass
        else:
            async for chunk in self._bounded(stream, _MOST_LIST):
                yield chunk

    async def _bounded(self, stream: httpx2.AsyncByteStream, most: int) -> AsyncIterator[bytes]:
        received = 0
        async for chunk in stream:
            received += len(chunk)
            if received > most:
                words = f"sent more than {most // 2**20} MB"
                self.broken = "stream", words
                raise httpx2.RemoteProtocolError(words)
            yield chunk


_current: ContextVar[Exchange] = ContextVar("exchange")


class _Guarded(httpx2.AsyncByteStream):
    def __init__(self, exchange: Exchange, stream: httpx2.AsyncByteStream, status: int) -> None:
        self._exchange = exchange
        self._stream = stream
        self._status = status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._exchange.read(self._stream, self._status):
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def new_client(base_url: str, secrets: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client that sends `secrets` as headers, whatever an SDK believes its key to be, and follows no redirects: they would lead the key
    elsewhere. Proxies of the environment are used except to loopback."""

    async def sending(request: httpx2.Request) -> None:
        _current.get().begin()
        for name in [name for name in request.headers if name.lower() not in _HEADERS]:
            del request.headers[name]
        request.headers.update({"User-Agent": "citewell", "Accept-Encoding": "identity", **secrets})
        request.extensions["timeout"] = {"connect": CONNECT_SECONDS, "read": None, "write": None, "pool": None}

    async def receiving(response: httpx2.Response) -> None:
        exchange = _current.get()
        response.headers.pop("content-encoding", None)  # none was asked for: a compressed body is read as the garbage that it is
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        exchange.response = response
        response.stream = _Guarded(exchange, response.stream, response.status_code)

    return httpx2.AsyncClient(
        event_hooks={"request": [sending], "response": [receiving]},
        limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=20, keepalive_expiry=30.0),
        trust_env=not is_loopback(base_url),
        verify=not (base_url.startswith("http://") and is_loopback(base_url)),  # certificates that nobody shows take 0.1 s to load
        follow_redirects=False,
    )


def failure_of(error: BaseException) -> tuple[FaultKind, str] | None:
    """What an error of the connection within an SDK's error means, with its words; None where there is none."""
    found: BaseException | None = error
    for _ in range(10):
        if found is None:
            break
        if isinstance(found, httpx2.TimeoutException):
            return "timeout", f"could not be connected to within {CONNECT_SECONDS:g} seconds"
        if isinstance(found, httpx2.ConnectError | httpx2.UnsupportedProtocol | httpx2.ProxyError):
            return "connection", f"cannot be reached: {found or type(found).__name__}"
        if isinstance(found, httpx2.DecodingError):
            return "stream", "sent a body that cannot be decoded"
        if isinstance(found, httpx2.RequestError):
            return "connection", f"broke the connection: {found or type(found).__name__}"
        found = found.__cause__ or found.__context__
    return None
