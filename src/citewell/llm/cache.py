"""Replies kept for a day by what was asked. Retrieval always runs, so what a reader may not see any more, or what has changed, makes
another request and another key."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Protocol

from citewell.llm.base import ChatRequest, ChatResult, ModelRef

DAY = 86_400.0

_MOST_REPLIES = 512
_MOST_CHARS = 8_000_000  # of all replies together


class GenerationCache(Protocol):
    """Where replies are kept. One that fails is no reason to fail: implementations log it, and find nothing."""

    async def get(self, key: str) -> ChatResult | None:
        """The reply of that key, not older than a day."""
        ...

    async def put(self, key: str, result: ChatResult) -> None: ...


def cache_key(model: ModelRef, request: ChatRequest, prompt_version: str = "") -> str:
    """The SHA-256 of all that decides a reply, in hexadecimal."""
    asked = json.dumps([str(model), request, prompt_version], sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> dict[str, Any]:
    return {part.name: getattr(value, part.name) for part in fields(value)} if is_dataclass(value) else dict(value)


class MemoryCache:
    """The last replies of this process. `clock` gives seconds and never goes back."""

    def __init__(self, clock: Callable[[], float], *, most: int = _MOST_REPLIES, most_chars: int = _MOST_CHARS) -> None:
        self._clock = clock
        self._most = most
        self._most_chars = most_chars
        self._kept: OrderedDict[str, tuple[float, ChatResult]] = OrderedDict()
        self._chars = 0

    async def get(self, key: str) -> ChatResult | None:
        found = self._kept.get(key)
        if found is None:
            return None
        if self._clock() - found[0] >= DAY:
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return found[1]

    async def put(self, key: str, result: ChatResult) -> None:
        if key in self._kept:
            self._drop(key)
        self._kept[key] = (self._clock(), result)
        self._chars += _size(result)
        while self._kept and (len(self._kept) > self._most or self._chars > self._most_chars):
            self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        self._chars -= _size(self._kept.pop(key)[1])


def _size(result: ChatResult) -> int:
    return (
        len(result.content)
        + len(result.thinking)
        + sum(len(call.name) + len(call.raw) + len(str(call.arguments)) for call in result.tool_calls)
    )
