"""Streams of events that are made regular."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.llm.sse import Lines, NoStream, regular

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
NOISE = st.sampled_from([b": comment", b":", b"id: 1", b"retry: 10", b"unknown", b"event: \xff"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


async def _stream(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def read(*chunks: bytes, named: bool = False) -> list[bytes]:
    async def collect() -> list[bytes]:
        return [event async for event in regular(_stream(chunks), named=named)]

    try:  # nothing in it waits, so it needs no loop
        collect().send(None)
    except StopIteration as stop:
        return list(stop.value)
    raise AssertionError("it waits for something")


def data_of(events: Sequence[bytes]) -> list[object]:
    return [
        json.loads(b"\n".join(line.removeprefix(b"data: ") for line in event.split(b"\n") if line.startswith(b"data"))) for event in events
    ]


def split(text: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@given(st.lists(st.tuples(OBJECTS, st.lists(NOISE, max_size=2)), max_size=6), ENDS, st.lists(st.integers(0, 5000), max_size=12))
def test_the_same_data_however_it_is_split_and_ended(
    items: list[tuple[dict[str, object], list[bytes]]], end: bytes, cuts: list[int]
) -> None:
    text = b"".join(
        end.join([*noise, b"data: " + json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), b"", b""]) for value, noise in items
    )
    assert data_of(read(*split(text, cuts))) == [value for value, _ in items]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.booleans())
def test_any_bytes_become_whole_events_or_no_stream(text: bytes, cuts: list[int], named: bool) -> None:
    try:
        events = read(*split(text, cuts), named=named)
    except NoStream:
        return
    for event in events:
        assert event.endswith(b"\n\n")
        event.decode()


@given(st.lists(OBJECTS, max_size=4), st.integers(0, 3))
def test_a_body_of_json_is_a_stream_of_its_objects(values: list[dict[str, object]], indent: int) -> None:
    assert data_of(read(json.dumps(values, indent=indent).encode())) == values


def test_one_object_is_one_event() -> None:
    assert read(b'  {\n "type": "error",\n', b' "error": {}\n}', named=True) == [b'event: error\ndata: {"type": "error", "error": {}}\n\n']


@pytest.mark.parametrize("body", [b"<html>", b"\xef\xbb\xbf\n <!doctype html>", b'{"cut": ', b"[1, 2", b"[" * 100_000])
def test_what_is_no_stream(body: bytes) -> None:
    with pytest.raises(NoStream):
        read(body)


def test_names_come_from_the_data_where_they_are_left_out() -> None:
    events = read(b'event: ping\ndata: {"type": "pong"}\n\ndata: {"type": "delta"}\n\ndata: {"type": "a b"}\n\ndata: x\n\n', named=True)
    assert [event.split(b"\n")[0] for event in events] == [b"event: ping", b"event: delta", b"event: message", b"event: message"]
    assert read(b"event: ping\ndata: {}\n\n") == [b"data: {}\n\n"]


def test_nothing_is_read_after_the_end() -> None:
    assert read(b"data: 1\n\ndata: [DONE]\n\ndata: 2\n\n") == [b"data: 1\n\n", b"data: [DONE]\n\n"]


def test_the_last_event_may_lack_its_blank_line_but_not_its_end() -> None:
    assert read(b"data: 1\n\ndata: [DONE]") == [b"data: 1\n\n", b"data: [DONE]\n\n"]
    assert read(b'data: 1\n\ndata: {"a": 2}') == [b"data: 1\n\n", b'data: {"a": 2}\n\n']
    assert read(b'data: 1\n\ndata: {"a": ') == [b"data: 1\n\n"]


def test_data_over_several_lines_stays_so() -> None:
    assert read(b"data: {\ndata:}\n\n") == [b"data: {\ndata: }\n\n"]


def test_long_lines_in_small_chunks_are_copied_once() -> None:
    started = time.perf_counter()
    lines = Lines()
    for _ in range(400_000):
        assert list(lines.feed(b"xxxxxxxxxx")) == []
    assert len(next(iter(lines.feed(b"\n")))) == 4_000_000
    assert time.perf_counter() - started < 5
