"""The three providers, each in front of a scripted server, and how each of them words a refusal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from citewell.llm.anthropic import Anthropic
from citewell.llm.base import (
    Capability,
    ChatRequest,
    ChatResult,
    Content,
    Delta,
    Message,
    OutputSchema,
    Provider,
    ProviderFault,
    ToolCall,
    ToolSpec,
)
from citewell.llm.gemini import Gemini
from citewell.llm.openai_compat import OpenAICompat
from citewell.testing.models import ModelServer, Raw, Reply, Say

CANARY = "cw-canary-7f3a9b21c4d8e6"
KEY = SecretStr(CANARY)
NOW = 1_800_000_000.0  # seconds since 1970, for dates in Retry-After

LOOK = ToolSpec("look", "Look something up.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
READ = ToolSpec("read", "Read a page.", {"type": "object", "properties": {"url": {"type": "string"}}})
ANSWER = OutputSchema(
    "answer", "The answer.", {"type": "object", "properties": {"answer_md": {"type": "string"}}, "required": ["answer_md"]}
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A provider under test."""

    name: str
    make: Callable[..., Provider]

    def error(self, status: int, message: str, **details: Any) -> dict[str, Any]:
        """The body of a refusal as this provider words it."""
        if self.name == "anthropic":
            types = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
            return {"type": "error", "error": {"type": types.get(status, "invalid_request_error"), "message": message}}
        if self.name == "gemini":
            return {"error": {"code": status, "message": message, "status": "FAILED_PRECONDITION", **details}}
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


KINDS: Sequence[Kind] = (Kind("openai", OpenAICompat), Kind("anthropic", Anthropic), Kind("gemini", Gemini))


def ask(*contents: str, **more: Any) -> ChatRequest:
    """A request of a system message and user messages."""
    users = tuple(Message("user", content) for content in contents or ("How?",))
    return ChatRequest((Message("system", "Answer from the context."), *users), **more)


@dataclass(slots=True)
class Outcome:
    """What a call came to: the pieces, the result or the fault."""

    pieces: list[Delta]
    result: ChatResult | None = None
    fault: ProviderFault | None = None

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Content))

    @property
    def done(self) -> ChatResult:
        assert self.fault is None, self.fault
        assert self.result is not None
        return self.result

    @property
    def kind(self) -> str:
        return "" if self.fault is None else self.fault.kind


async def call(provider: Provider, request: ChatRequest | None = None, *, seconds: float = 20.0, **can: Any) -> Outcome:
    """One call of a provider; the result must be the last thing that comes."""
    outcome = Outcome([])
    try:
        async for item in provider.stream("tiny", request or ask(), capability=Capability(**can), seconds=seconds):
            assert outcome.result is None
            if isinstance(item, ChatResult):
                outcome.result = item
            else:
                outcome.pieces.append(item)
    except ProviderFault as fault:
        outcome.fault = fault
    return outcome


@asynccontextmanager
async def asked(kind: Kind, replies: Sequence[Reply], **server: Any) -> AsyncIterator[tuple[Provider, ModelServer]]:
    """A provider in front of a server that gives these replies."""
    with ModelServer(replies, **server) as running:
        provider = kind.make(running.url, KEY, clock=lambda: NOW)
        yield provider, running
        await provider.aclose()


async def outcome_of(kind: Kind, *replies: Reply, request: ChatRequest | None = None, seconds: float = 20.0, **can: Any) -> Outcome:
    """The outcome of one call that gets the one reply."""
    async with asked(kind, replies) as (provider, _):
        return await call(provider, request, seconds=seconds, **can)


def refused(kind: Kind, status: int, message: str = "no", headers: Mapping[str, str] | None = None, **details: Any) -> Reply:
    return Reply(status=status, body=kind.error(status, message, **details), headers=headers or {})


def saying(*texts: str, **more: Any) -> Reply:
    return Reply([Say(text) for text in texts], **more)


async def fault_of(pieces: AsyncIterator[object]) -> ProviderFault:
    """The fault in which the rest of a call ends."""
    with pytest.raises(ProviderFault) as raised:
        async for _ in pieces:
            pass
    return raised.value


OPENAI, ANTHROPIC, GEMINI = KINDS

TALK = (
    Message("system", "One."),
    Message("system", "Two."),
    Message("user", "Compare."),
    Message("assistant", "Looking.", (ToolCall("c1", "look", {"q": "a"}), ToolCall("call-2", "look", {"q": "b"}))),
    Message("tool", "Found a.", tool_call_id="c1"),
    Message("tool", "Found b.", tool_call_id="call-2"),
    Message("user", "Go on."),
    Message("assistant", "", (ToolCall("c3", "", {}, "the call names no tool", "{"),)),
    Message("tool", "No such tool.", tool_call_id="c3"),
)


async def sent(kind: Kind, request: ChatRequest, **can: Any) -> dict[str, Any]:
    async with asked(kind, [saying("ok")]) as (provider, server):
        await call(provider, request, **can)
    return server.requests[0].body


async def said(kind: Kind, *events: dict[str, Any], **more: Any) -> Outcome:
    return await outcome_of(kind, Reply([Raw(f"data: {json.dumps(event)}\n\n".encode()) for event in events]), **more)
