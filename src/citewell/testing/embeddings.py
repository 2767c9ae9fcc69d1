"""An embedding endpoint on loopback that speaks OpenAI's protocol, and misbehaves as it is told. It records what it was asked."""

from __future__ import annotations

import hashlib
import json
import random
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from struct import pack
from typing import Any

from citewell.testing.loopback import LoopbackHandler, LoopbackServer


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that holds no vectors, or whatever else `body` is."""

    status: int
    body: bytes = b'{"error": {"message": "scripted"}}'
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its path, its headers by lower-case names, its body."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


@dataclass(slots=True)
class Embeddings:
    """What is answered: first the `script`, one refusal a request, then vectors of `width` numbers (or of the `dimensions` asked for).

    With `most_chars`, requests with more characters are refused as too long. `base64` writes vectors so, `shuffled` sends them in another
    order. `answered` are the texts that got vectors; `most_at_once` is the largest number of requests that were open together.
    """

    width: int = 8
    script: list[Refusal] = field(default_factory=list)
    most_chars: int = 0
    base64: bool = False
    shuffled: bool = False
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    most_at_once: int = 0
    _open: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, asked: Asked) -> Refusal:
        """The answer to a request."""
        with self._lock:
            self.asked.append(asked)
            if self.script:
                return self.script.pop(0)
            if self.most_chars and sum(map(len, asked.texts)) > self.most_chars:
                return Refusal(400, b'{"error": {"message": "This model\'s maximum context length is 8192 tokens."}}')
            self.answered += asked.texts
        return Refusal(200, json.dumps({"object": "list", "data": self._data(asked), "model": asked.body["model"]}).encode())

    def _data(self, asked: Asked) -> list[dict[str, Any]]:
        width = asked.body.get("dimensions") or self.width
        rows = [vector_of(text, width) for text in asked.texts]
        written = [b64encode(pack(f"<{width}f", *row)).decode() for row in rows] if self.base64 else rows
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(written)]
        return data[::-1] if self.shuffled else data

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts a request as open."""
        with self._lock:
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1


def vector_of(text: str, width: int) -> list[float]:
    """The same numbers for the same text, whoever asks; their length is not 1."""
    source = random.Random(hashlib.sha256(text.encode()).digest())  # noqa: S311 - nothing is secret here
    return [source.uniform(-2, 2) for _ in range(width)]


@contextmanager
def serving(embeddings: Embeddings) -> Iterator[Embeddings]:
    """The endpoint at `embeddings.url` for as long as the block lasts."""

    class Handler(LoopbackHandler):
        def do_POST(self) -> None:
            with embeddings.counted():
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                found = embeddings.reply(Asked(self.path, self.given, body))
                self.send_response(found.status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(found.body)), **found.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(found.body)

    with LoopbackServer(Handler) as server:
        embeddings.url = f"{server.origin}/v1"
        yield embeddings
