"""The body of an answer, read in pieces and unpacked within a limit, so that neither an endless body nor a bomb fills the memory."""

from __future__ import annotations

import zlib
from contextlib import aclosing, suppress

import anyio
import httpx2

CODING = "gzip"  # what is asked for; an answer in another coding breaks the rules
_GZIP = 16 + zlib.MAX_WBITS
_MOST_DRAINED = 64 * 1024
_DRAINING_SECONDS = 1.0


class TooLarge(Exception):
    """The body, unpacked, is larger than the limit."""


class BrokenCoding(Exception):
    """The body is compressed in a way that was not asked for, or is damaged or cut short."""


async def read_body(response: httpx2.Response, *, limit: int, cut: bool = False) -> bytes:
    """The unpacked body of at most `limit` bytes; what is beyond is left out if `cut`. Raises `TooLarge` and `BrokenCoding`."""
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise BrokenCoding
    declared = response.headers.get("content-length", "")
    if not cut and declared.isdecimal() and int(declared) > limit:
        raise TooLarge
    unpacker = _Unpacker() if coding.endswith("gzip") else None
    body = bytearray()
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            body += unpacker.unpack(piece, limit + 1 - len(body)) if unpacker else piece
            if len(body) > limit:
                if not cut:
                    raise TooLarge
                return bytes(body[:limit])
    if unpacker and unpacker.unfinished:
        raise BrokenCoding
    return bytes(body)


async def drain(response: httpx2.Response) -> None:
    """Read a body that nobody needs if it is short, so that its connection serves the next request, too; else it is closed."""
    left = _MOST_DRAINED
    with suppress(httpx2.TransportError), anyio.move_on_after(_DRAINING_SECONDS):
        async with aclosing(response.aiter_raw()) as pieces:
            async for piece in pieces:
                left -= len(piece)
                if left < 0:
                    return


class _Unpacker:
    """Gzip data, which may have several members, piece by piece."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._begun = False

    @property
    def unfinished(self) -> bool:
        return self._begun and not self._member.eof

    def unpack(self, data: bytes, most: int) -> bytes:
        """What a piece unpacks to, at most so many bytes; then the rest of it is lost."""
        unpacked = b""
        while data and len(unpacked) < most:
            if self._member.eof:
                if not data.startswith(b"\x1f"):
                    break  # padding after the end
                self._member = zlib.decompressobj(_GZIP)
            self._begun = True
            try:
                unpacked += self._member.decompress(data, most - len(unpacked))
            except zlib.error as error:
                raise BrokenCoding from error
            data = self._member.unused_data
        return unpacked
