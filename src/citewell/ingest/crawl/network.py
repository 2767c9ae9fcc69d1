"""The only way out to the network: a transport that connects to no address but public ones, and to the hosts that the user named.

A name is resolved once for a connection, every answer is checked, and the connection goes to an address that was checked, so that a name
which answers differently the second time gains nothing. Proxies that the environment names are not used.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager

import anyio
import httpcore2
import httpx2

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

_MOST_ADDRESSES = 4  # tried of one name
_IDLE_SECONDS = 30.0  # for which an unused connection is kept
_MOST_CONNECTIONS = 10
_IP = ipaddress.IPv4Address | ipaddress.IPv6Address
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is given out of IPv6
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # where a network has IPv6 only, names of IPv4 hosts resolve to it


class PrivateAddress(Exception):
    """A host that nobody named leads to an address that is not public; the message says which."""


class NoAddress(Exception):
    """A host name has no address; the message says why."""


async def resolve_host(host: str, port: int) -> Sequence[str]:
    """The IP addresses of a host by the system's resolver. Raises `OSError`."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, and so are those that it stands for."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(_is_global(each) for each in (ip, *_embedded(ip)))


def _is_global(ip: _IP) -> bool:
    if isinstance(ip, ipaddress.IPv6Address) and ip not in _UNICAST:
        return ip in _NAT64  # the address that it stands for decides
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_loopback or ip.is_link_local)


def _embedded(ip: _IP) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that a router or a tunnel makes of an IPv6 address."""
    if isinstance(ip, ipaddress.IPv4Address):
        return
    if ip.sixtofour:
        yield ip.sixtofour
    if ip.teredo:
        yield from ip.teredo
    if ip in _NAT64:
        yield ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)


class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections to addresses that were checked."""

    def __init__(self, named_hosts: Iterable[str], resolver: Resolver) -> None:
        self._named = frozenset(host.lower().strip("[]") for host in named_hosts)
        self._public: set[str] = set()
        self._resolver = resolver
        self._plain = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is the library's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failure: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        try:
            with anyio.fail_after(timeout):
                addresses = await self._addresses(host, port)
        except TimeoutError as error:
            raise NoAddress(f"the name {host} could not be resolved in time") from error
        for address in addresses:
            try:
                return await self._plain.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        assert failure is not None
        raise failure

    async def _addresses(self, host: str, port: int) -> list[str]:
        """The addresses to try, all of them checked."""
        try:
            addresses = [host] if _is_ip(host) else list(await self._resolver(host, port))
        except (OSError, UnicodeError) as error:
            raise NoAddress(f"the name {host} has no address") from error
        if not addresses or not all(map(_is_ip, addresses)):
            raise NoAddress(f"the name {host} has no address")
        if all(map(is_public, addresses)):
            self._public.add(host)
        elif host not in self._named or host in self._public:  # a named host is either private or not, and does not become so meanwhile
            raise PrivateAddress(f"{host} leads to an address that is not public")
        return addresses[:_MOST_ADDRESSES]

    async def sleep(self, seconds: float) -> None:
        await self._plain.sleep(seconds)


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@contextmanager
def _translated() -> Iterator[None]:
    """Errors of the connection pool as those of httpx2, which has one of the same name for each."""
    try:
        yield
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol) as error:
        kind: type[httpx2.TransportError] = getattr(httpx2, type(error).__name__, httpx2.TransportError)
        raise kind(str(error)) from error


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translated():
            async with aclosing(self._response.aiter_stream()) as pieces:
                async for piece in pieces:
                    yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


class GuardedTransport(httpx2.AsyncBaseTransport):
    """An httpx2 transport for HTTP/1.1 over connections that the guard has checked.

    `named_hosts` may have any address, as long as it was not a public one before; every other host raises `PrivateAddress` unless all its
    addresses are public. `NoAddress` is raised for a name that does not resolve, and what else goes wrong as a `httpx2.TransportError`.
    Redirects are not followed.
    """

    def __init__(self, *, named_hosts: Iterable[str], resolver: Resolver = resolve_host, ssl_context: ssl.SSLContext | None = None) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or httpx2.create_ssl_context(),
            network_backend=_GuardedBackend(named_hosts, resolver),
            keepalive_expiry=_IDLE_SECONDS,
            max_connections=_MOST_CONNECTIONS,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = httpcore2.URL(scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path)
        wanted = httpcore2.Request(method=request.method, url=url, headers=request.headers.raw, extensions=request.extensions)
        with _translated():
            response = await self._pool.handle_async_request(wanted)
        return httpx2.Response(response.status, headers=response.headers, stream=_Body(response), request=request)

    async def aclose(self) -> None:
        await self._pool.aclose()
