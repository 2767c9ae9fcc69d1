"""What a model can do, found out by asking it three small things: to speak, to call a tool, to answer as a JSON object."""

from __future__ import annotations

import json
from dataclasses import dataclass

from citewell.llm.base import (
    Capability,
    ChatRequest,
    ChatResult,
    Content,
    Message,
    ModelRef,
    OutputSchema,
    Provider,
    ProviderFault,
    ToolSpec,
)

_OUTPUT = 256  # tokens of each reply; models that think first need some
_OBJECT = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": False}
_TOOL = ToolSpec("note_word", "Note a word.", _OBJECT)
_SCHEMA = OutputSchema("word", "A word.", _OBJECT)


@dataclass(frozen=True, slots=True)
class Probe:
    """What a model did. `fault` says why it did not even speak; the rest is only known where it did."""

    model: ModelRef
    fault: ProviderFault | None = None
    streams: bool = False
    tools: bool = False
    objects: bool = False

    @property
    def abilities(self) -> str:
        """In words for a person."""
        known = {"streams": self.streams, "calls tools": self.tools, "answers as JSON": self.objects}
        can = [name for name, able in known.items() if able]
        cannot = [name for name, able in known.items() if not able]
        return ", ".join(["answers", *can]) + (f"; not: {', '.join(cannot)}" if cannot else "")


async def probe(provider: Provider, model: ModelRef, *, seconds: float) -> Probe:
    """Ask a model; at most three requests, each within so many seconds. Raises nothing that a provider does wrong."""
    try:
        pieces, _ = await _ask(provider, model, ChatRequest((Message("user", "Say the word: ready"),), max_output=_OUTPUT), seconds)
    except ProviderFault as fault:
        return Probe(model, fault)
    tools = await _try(
        provider, model, ChatRequest((Message("user", "Note the word ready."),), tools=(_TOOL,), max_output=_OUTPUT), seconds
    )
    asked = Message("user", 'Answer with the JSON object {"word": "ready"} and nothing else.')
    objects = await _try(provider, model, ChatRequest((asked,), schema=_SCHEMA, max_output=_OUTPUT), seconds)
    return Probe(
        model,
        streams=pieces > 0,
        tools=tools is not None and any(call.name == _TOOL.name for call in tools.tool_calls),
        objects=objects is not None and _is_object(objects.content),
    )


async def _try(provider: Provider, model: ModelRef, request: ChatRequest, seconds: float) -> ChatResult | None:
    try:
        return (await _ask(provider, model, request, seconds))[1]
    except ProviderFault:
        return None


async def _ask(provider: Provider, model: ModelRef, request: ChatRequest, seconds: float) -> tuple[int, ChatResult]:
    """The number of pieces in which a reply came, and the reply. Raises `ProviderFault`."""
    pieces = 0
    async for piece in provider.stream(model.model, request, capability=Capability(), seconds=seconds):
        if isinstance(piece, ChatResult):
            return pieces, piece
        pieces += isinstance(piece, Content)
    raise ProviderFault("stream", f"{model} ended without a reply")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
