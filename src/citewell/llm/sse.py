"""Server-sent events made regular before an SDK reads them: each SDK trips over something that real servers send.

Comments and fields nobody needs go, an event's name comes from its data where the server left it out, bytes that are no UTF-8 become
U+FFFD, a JSON body that answers a request for a stream becomes a stream of its objects, and what is no reply at all is told apart. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass, field

DONE = "[DONE]"
_BLANK = b" \t\r\n\xef\xbb\xbf"
_EVENT_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)


class NoStream(ValueError):
    """What came is no stream of events; says what it is."""


@dataclass(slots=True)
class Lines:
    """Lines out of chunks that are split anywhere, without their ends. Every byte is copied once."""

    _held: list[bytes] = field(default_factory=list)
    _after_return: bool = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that a chunk completes."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_return = False
        for line in chunk.splitlines(keepends=True):
            self._held.append(line)
            if line.endswith((b"\n", b"\r")):
                yield b"".join(self._held).rstrip(b"\r\n")
                self._held.clear()
        if chunk:
            self._after_return = chunk.endswith(b"\r")

    def rest(self) -> bytes:
        """What came after the last end of a line."""
        return b"".join(self._held)


@dataclass(slots=True)
class _Event:
    name: str = ""
    data: list[str] = field(default_factory=list)

    def take(self, line: bytes) -> None:
        key, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if key == "data":
            self.data.append(value)
        elif key == "event" and _EVENT_NAME.fullmatch(value):
            self.name = value

    @property
    def text(self) -> str:
        return "\n".join(self.data)

    def written(self, *, named: bool) -> bytes:
        """The event with its name, where names are wanted, and its data alone."""
        name = self.name or _name_in(self.text) if named else ""
        lines = [f"event: {name}"] * bool(name) + [f"data: {line}" for line in self.data]
        return ("\n".join(lines) + "\n\n").encode()


async def regular(chunks: AsyncIterable[bytes], *, named: bool) -> AsyncIterator[bytes]:
    """The same events, one a piece, up to and with `[DONE]`; with their names where an SDK needs them. Raises `NoStream`.

    An event that the end of the stream cuts in two is dropped.
    """
    iterator = aiter(chunks)
    head = b""
    async for chunk in iterator:
        head = (head + chunk).lstrip(_BLANK)
        if head:
            break
    if head.startswith((b"{", b"[")):
        body = [head] + [chunk async for chunk in iterator]
        for event in _events_of_json(b"".join(body)):
            yield event.written(named=named)
        return
    if head.startswith(b"<"):
        raise NoStream("a page instead of a reply")
    async for event in _events(head, iterator):
        yield event.written(named=named)


async def _events(head: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[_Event]:
    lines, event = Lines(), _Event()
    async for chunk in _with_head(head, chunks):
        for line in lines.feed(chunk):
            if line:
                event.take(line)
                continue
            if event.data:
                yield event
            if event.text.strip() == DONE:
                return
            event = _Event()
    if rest := lines.rest():
        event.take(rest)
    if event.text.strip() == DONE or _parsed(event.text) is not None:
        yield event


async def _with_head(head: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for chunk in chunks:
        yield chunk


def _events_of_json(body: bytes) -> Iterator[_Event]:
    found = _parsed(body.decode("utf-8", "replace"))
    if found is None:
        raise NoStream("broken JSON instead of a reply")
    for item in found if isinstance(found, list) else [found]:
        yield _Event(data=[json.dumps(item)])


def _parsed(text: str) -> object:
    """The value of a JSON text, None for any other."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _name_in(text: str) -> str:
    found = _parsed(text)
    name = found.get("type") if isinstance(found, dict) else None
    return name if isinstance(name, str) and _EVENT_NAME.fullmatch(name) else "message"
