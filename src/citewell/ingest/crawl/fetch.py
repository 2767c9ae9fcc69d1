"""One address of a site, politely: one request at a time a host, with pauses, tries and redirects, everything within limits."""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Literal, Self
from urllib.parse import urlsplit

import anyio
import httpx2

from citewell.ingest.crawl.address import normal, resolve
from citewell.ingest.crawl.body import CODING, BrokenCoding, TooLarge, drain, read_body
from citewell.ingest.crawl.headers import LONGEST_PAUSE, content_type, retry_after, validator
from citewell.ingest.crawl.network import GuardedTransport, NoAddress, PrivateAddress, Resolver, resolve_host
from citewell.web import is_loopback

MAX_BYTES = 20 * 1024 * 1024  # of one answer, unpacked
MAX_SECONDS = 60.0  # for one request and its answer
_TRIES = 3
_BACKOFF = 1.0  # seconds after the first failure, twice as long after the next
_MOST_HOPS = 10
_CLOSING_SECONDS = 2.0
_ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5"
_OK, _UNCHANGED, _CLIENT_ERROR, _TOO_MANY, _SERVER_ERROR, _BEYOND = 200, 304, 400, 429, 500, 600
_REDIRECTS = frozenset((301, 302, 303, 307, 308))

Kind = Literal[
    "address",  # no http or https address
    "private",  # an address that is not public
    "off_site",  # a redirect that the caller refused
    "redirect",  # a redirect in circles or to nowhere
    "too_large",
    "too_slow",
    "connect",  # no connection, or one that broke
    "tls",
    "server",  # an error of the server, which stayed
    "coding",  # damaged compression
    "malformed",  # no proper HTTP
    "status",  # an answer that means nothing here
]
_TEMPORARY: frozenset[Kind] = frozenset(("too_slow", "connect", "tls", "server", "malformed"))


class FetchFault(Exception):
    """Why an address could not be had: `reason` in words for the report, `url` where it happened (after redirects)."""

    def __init__(self, reason: str, kind: Kind, url: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind
        self.url = url

    @property
    def temporary(self) -> bool:
        """Whether another day may be better, as far as one can tell."""
        return self.kind in _TEMPORARY


class _Again(FetchFault):
    """A fault that another try may mend, after `wait` seconds where the server said so."""

    def __init__(self, reason: str, kind: Kind, url: str, wait: float | None = None) -> None:
        super().__init__(reason, kind, url)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer with status 200, 304 or 400 to 499. `url` is the address that gave it, `hops` are the addresses that redirected there.

    `data` is the unpacked body of a 200, `media_type` in lower case without parameters, `charset` as the header has it; "" where there is
    none. `etag` and `last_modified` are what to send with the next request.
    """

    url: str
    status: int
    data: bytes = b""
    etag: str = ""
    last_modified: str = ""
    media_type: str = ""
    charset: str = ""
    hops: tuple[str, ...] = ()


@dataclass(slots=True)
class _Host:
    """What is known of a host: whose turn it is, when the last request ended (by the clock), the pause between two requests in seconds."""

    delay: float
    ended: float | None = None
    lock: anyio.Lock = field(default_factory=anyio.Lock)


class Fetcher:
    """Fetches addresses; to be used in `async with`.

    `named_hosts` are those that the user named, which may have private addresses. `delay` is in seconds, and 0 for this machine. `clock`
    tells seconds since 1970. An answer may have `max_bytes` and take `max_seconds`.
    """

    def __init__(
        self,
        *,
        named_hosts: Iterable[str],
        delay: float,
        user_agent: str,
        resolver: Resolver = resolve_host,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        clock: Callable[[], float] = time.time,
        max_bytes: int = MAX_BYTES,
        max_seconds: float = MAX_SECONDS,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._transport = GuardedTransport(named_hosts=named_hosts, resolver=resolver, ssl_context=ssl_context)
        self._delay = delay
        self._headers = {"User-Agent": user_agent, "Accept": _ACCEPT, "Accept-Encoding": CODING}
        self._sleep = sleep
        self._clock = clock
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        # A server that falls silent gets another try, so it must not use up the whole time.
        self._extensions = {"timeout": httpx2.Timeout(max_seconds / _TRIES).as_dict()}
        self._hosts: dict[str, _Host] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._transport.aclose()

    def slow_down(self, url: str, seconds: float) -> None:
        """Wait at least so long between two requests to the host of an address, but at most 30 seconds."""
        host = self._host(url)
        host.delay = max(host.delay, min(seconds, LONGEST_PAUSE))

    async def get(
        self, url: str, *, etag: str = "", last_modified: str = "", allowed: Callable[[str], str], at_most: int | None = None
    ) -> Fetched:
        """What an address answers, after redirects. Raises `FetchFault` for all that is no answer.

        `etag` and `last_modified` make the request conditional, for this address and not for where it redirects. `allowed` is asked for
        each address that a redirect leads to, and returns "" or why it is not followed. `at_most` cuts the body at so many bytes.
        """
        try:
            url = normal(url)
        except ValueError as error:
            raise FetchFault(str(error), "address", url) from error
        hops: list[str] = []
        headers = {"If-None-Match": validator(etag), "If-Modified-Since": validator(last_modified)}
        headers = {name: value for name, value in headers.items() if value}
        while True:
            answer = await self._tried(url, headers, at_most)
            if isinstance(answer, Fetched):
                return replace(answer, hops=tuple(hops))
            hops.append(url)
            url, headers = _next(answer, hops, allowed), {}

    def _host(self, url: str) -> _Host:
        name = urlsplit(url).hostname or ""
        if name not in self._hosts:
            self._hosts[name] = _Host(0.0 if is_loopback(url) else self._delay)
        return self._hosts[name]

    async def _tried(self, url: str, headers: dict[str, str], at_most: int | None) -> Fetched | _Redirect:
        host = self._host(url)
        async with host.lock:
            wait = 0.0
            for tries in range(1, _TRIES + 1):
                await self._pause(host, wait)
                try:
                    return await self._exchange(url, headers, at_most)
                except _Again as again:
                    if tries == _TRIES:
                        raise FetchFault(f"{again.reason}, {_TRIES} times", again.kind, url) from again
                    wait = _BACKOFF * 2 ** (tries - 1) if again.wait is None else again.wait
                finally:
                    host.ended = self._clock()
            raise AssertionError("the last try returns or raises")

    async def _pause(self, host: _Host, wait: float) -> None:
        if host.ended is not None:  # a clock that was set meanwhile must not make it longer
            wait = max(wait, min(host.delay, host.ended + host.delay - self._clock()))
        if wait > 0:
            await self._sleep(wait)

    async def _exchange(self, url: str, headers: dict[str, str], at_most: int | None) -> Fetched | _Redirect:
        request = httpx2.Request("GET", url, headers=self._headers | headers, extensions=self._extensions)
        with _faults(url, self._max_seconds), anyio.fail_after(self._max_seconds):
            response = await self._transport.handle_async_request(request)
            try:
                return await self._outcome(url, response, headers, at_most)
            finally:
                with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                    await response.aclose()

    async def _outcome(self, url: str, response: httpx2.Response, asked: dict[str, str], at_most: int | None) -> Fetched | _Redirect:
        status, headers = response.status_code, response.headers
        if status != _OK:
            await drain(response)
        if status in _REDIRECTS:
            return _Redirect(headers.get("location", ""))
        if status == _TOO_MANY or _SERVER_ERROR <= status < _BEYOND:
            raise _Again(f"it answered {status}", "server", url, retry_after(headers, self._clock()))
        etag, last_modified = validator(headers.get("etag", "")), validator(headers.get("last-modified", ""))
        if status == _UNCHANGED and asked:
            unchanged = asked.get("If-None-Match", ""), asked.get("If-Modified-Since", "")
            return Fetched(url, status, etag=etag or unchanged[0], last_modified=last_modified or unchanged[1])
        if _CLIENT_ERROR <= status < _SERVER_ERROR:
            return Fetched(url, status)
        if status != _OK:
            raise FetchFault(f"it answered {status}", "status", url)
        limit = self._max_bytes if at_most is None else at_most
        data = await read_body(response, limit=limit, cut=at_most is not None)
        return Fetched(url, status, data, etag, last_modified, *content_type(headers.get("content-type", "")))


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


def _next(redirect: _Redirect, hops: list[str], allowed: Callable[[str], str]) -> str:
    """The address that a redirect leads to. Raises `FetchFault` where it is not to be followed."""
    url = resolve(hops[-1], redirect.location) if redirect.location else None
    if url is None:
        raise FetchFault("it redirects to what is no web address", "redirect", hops[-1])
    if url in hops:
        raise FetchFault("it redirects in a circle", "redirect", url)
    if len(hops) > _MOST_HOPS:
        raise FetchFault(f"it redirects more than {_MOST_HOPS} times", "redirect", url)
    if reason := allowed(url):
        raise FetchFault(reason, "off_site", url)
    return url


@contextmanager
def _faults(url: str, seconds: float) -> Iterator[None]:
    """All that can go wrong between the request and the end of its answer, as one kind of error."""
    try:
        yield
    except TimeoutError as error:
        raise FetchFault(f"it took longer than {seconds:g} seconds", "too_slow", url) from error
    except TooLarge as error:
        raise FetchFault("it is too large", "too_large", url) from error
    except BrokenCoding as error:
        raise FetchFault("its compression is damaged", "coding", url) from error
    except PrivateAddress as error:
        raise FetchFault(str(error), "private", url) from error
    except NoAddress as error:
        raise _Again(str(error), "connect", url) from error
    except httpx2.TimeoutException as error:
        raise _Again("it did not answer in time", "too_slow", url) from error
    except httpx2.ProtocolError as error:
        raise _Again("its answer was malformed or broke off", "malformed", url) from error
    except (httpx2.TransportError, OSError) as error:
        raise _connection_fault(error, url) from error


def _connection_fault(error: Exception, url: str) -> FetchFault:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return FetchFault(f"its certificate is not valid ({cause.verify_message})", "tls", url)
    if cause is not None:
        return FetchFault("there is no secure connection to it", "tls", url)
    return _Again("it cannot be connected to" if isinstance(error, httpx2.ConnectError) else "the connection broke off", "connect", url)
