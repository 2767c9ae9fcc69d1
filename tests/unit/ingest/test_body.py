"""A body is what was sent, however it came in pieces, and never more than its limit."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ingest.crawl.body import BrokenCoding, TooLarge, read_body


class _Pieces(httpx2.AsyncByteStream):
    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size, self.taken = data, size, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.data), self.size):
            self.taken += 1
            yield self.data[start : start + self.size]


def read(data: bytes, size: int, *, limit: int, packed: bool, cut: bool = False) -> bytes:
    headers = {"Content-Encoding": "gzip"} if packed else {}
    response = httpx2.Response(200, headers=headers, stream=_Pieces(data, size))
    return anyio.run(lambda: read_body(response, limit=limit, cut=cut))


@given(st.lists(st.binary(max_size=50), max_size=4), st.integers(1, 30), st.booleans())
def test_pieces_make_the_body(members: list[bytes], size: int, packed: bool) -> None:
    whole = b"".join(members)
    data = b"".join(map(gzip.compress, members)) if packed else whole

    assert read(data, size, limit=len(whole), packed=packed) == whole
    for limit in range(0, len(whole), 17):
        assert read(data, size, limit=limit, packed=packed, cut=True) == whole[:limit]
        with pytest.raises(TooLarge):
            read(data, size, limit=limit, packed=packed)


@given(st.binary(min_size=1, max_size=60), st.integers(1, 30), st.integers(1, 19))
def test_what_is_cut_short_is_damaged(body: bytes, size: int, missing: int) -> None:
    with pytest.raises(BrokenCoding):
        read(gzip.compress(body)[:-missing], size, limit=1000, packed=True)


@given(st.binary(max_size=60), st.integers(1, 30))
def test_any_bytes_are_gzip_data_or_damaged(data: bytes, size: int) -> None:
    try:
        body = read(data, size, limit=10, packed=True)
    except (BrokenCoding, TooLarge):
        return
    assert len(body) <= 10


def test_nothing_is_read_beyond_the_limit() -> None:
    stream = _Pieces(b"x" * 1000, 10)

    with pytest.raises(TooLarge):
        anyio.run(lambda: read_body(httpx2.Response(200, stream=stream), limit=100))
    assert stream.taken == 11
