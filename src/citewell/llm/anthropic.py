"""Anthropic's messages. A wire format only. An answer with a schema is asked for as the input of a tool that the model has to use."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from citewell.llm.assemble import Assembly, count_of, fields_of, items_of
from citewell.llm.base import Capability, ChatRequest, Delta, Finish, Message, TokenUsage
from citewell.llm.faults import Asked
from citewell.llm.provider import NO_KEY, ErrorEvent, HttpProvider

if TYPE_CHECKING:
    import anthropic

OFFICIAL = "https://api.anthropic.com"
SUBMIT = "submit_answer"
_FINISHES: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "refused",
}
_CACHED = {"cache_control": {"type": "ephemeral"}}


class Anthropic(HttpProvider):
    """`base_url` with or without `/v1`; empty, it is Anthropic's own."""

    sdk = "anthropic"
    extra = "anthropic"
    named_events = True

    def __init__(
        self, base_url: str, api_key: SecretStr | None, *, name: str = "anthropic", clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(name, re.sub(r"/v1(?:/messages)?$", "", base_url.strip().rstrip("/")) or OFFICIAL, api_key, clock=clock)
        self._sdk: anthropic.AsyncAnthropic | None = None

    def _secrets(self) -> Mapping[str, str]:
        return {"X-Api-Key": self.key} if self.key else {}

    def _forget(self) -> None:
        self._sdk = None

    def _opened(self) -> anthropic.AsyncAnthropic:
        import anthropic

        if self._sdk is None:
            self._sdk = anthropic.AsyncAnthropic(
                api_key=NO_KEY, base_url=self.base_url, http_client=self._client(), max_retries=0, timeout=None, open_telemetry=False
            )
        return self._sdk

    async def _pieces(
        self, model: str, request: ChatRequest, capability: Capability, assembly: Assembly
    ) -> AsyncGenerator[list[Delta] | None, None]:
        from anthropic import AsyncStream

        body = _body(model, request, capability)
        # The events are taken as plain JSON: the SDK's types promise what a compatible server need not keep.
        stream = await self._opened().post("/v1/messages", cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object])
        reader = _Reader(assembly, submits="tool_choice" in body)
        async for event in stream:
            yield reader.read(fields_of(event))

    async def _names(self) -> list[Any]:
        found = await self._opened().get("/v1/models?limit=1000", cast_to=object)
        return [fields_of(item).get("id") for item in items_of(fields_of(found).get("data"))]

    def _asked(self, request: ChatRequest, capability: Capability) -> Asked:
        """A schema is a tool here."""
        schema = request.schema is not None and capability.tools and capability.json_schema
        asked = Asked.of(request, capability)
        return dataclasses.replace(asked, tools=asked.tools or schema, schema=schema)

    def _event_error(self, error: Exception) -> object:
        import anthropic

        return (error.body or str(error)) if isinstance(error, anthropic.APIStatusError) else None


def _body(model: str, request: ChatRequest, capability: Capability) -> dict[str, Any]:
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
        for tool in (request.tools if capability.tools else ())
    ]
    turns = _turns(message for message in request.messages if message.role != "system")
    system = [{"type": "text", "text": m.content} for m in request.messages if m.role == "system" and m.content.strip()]
    if tools and turns:  # more turns will follow: what they begin with is kept by the server
        turns[-1]["content"][-1] |= _CACHED
    body: dict[str, Any] = {"model": model, "max_tokens": request.max_output, "messages": turns, "stream": True}
    if system:
        body["system"] = system
    if request.temperature is not None and capability.temperature:
        body["temperature"] = min(request.temperature, 1.0)  # the most that it takes
    if request.schema and capability.tools and capability.json_schema:
        # With tools beside it the model may go on using them before it submits.
        body["tool_choice"] = {"type": "any"} if tools else {"type": "tool", "name": SUBMIT, "disable_parallel_tool_use": True}
        tools.append({"name": SUBMIT, "description": request.schema.description, "input_schema": dict(request.schema.schema)})
    if tools:
        body["tools"] = tools
    return body


def _turns(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Turns of alternating roles: the results of tools are the user's, and all results of one turn belong into one."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    """A message's blocks; empty texts are refused, so there are none."""
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": message.content}]
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name or "unnamed", "input": dict(call.arguments)} for call in message.tool_calls
    ]
    return [*text, *calls]


class _Reader:
    """Reads the events of one stream. With `submits`, the input of `submit_answer` is the content."""

    def __init__(self, assembly: Assembly, *, submits: bool) -> None:
        self._assembly = assembly
        self._submits = submits
        self._submitted: set[object] = set()  # indices of blocks
        self._counts: dict[str, int] = {}

    def read(self, event: dict[str, Any]) -> list[Delta]:
        match event.get("type"):
            case "error":
                raise ErrorEvent(event)
            case "message_start":
                self._count(fields_of(event.get("message")).get("usage"))
            case "content_block_start":
                return self._begin(event.get("index"), fields_of(event.get("content_block")))
            case "content_block_delta":
                return self._go_on(event.get("index"), fields_of(event.get("delta")))
            case "message_delta":
                self._count(event.get("usage"))
                self._end(fields_of(event.get("delta")).get("stop_reason"))
            case "message_stop":
                self._assembly.complete = True
            case "message":  # the whole reply of a server that does not stream
                self._count(event.get("usage"))
                blocks = enumerate(items_of(event.get("content")))
                pieces = [piece for index, block in blocks for piece in self._begin(index, fields_of(block))]
                self._end(event.get("stop_reason"))
                self._assembly.complete = True
                return pieces
        return []

    def _begin(self, index: object, block: dict[str, Any]) -> list[Delta]:
        match block.get("type"):
            case "text":
                return self._assembly.say(block.get("text"))
            case "thinking":
                return self._assembly.think(block.get("thinking"))
            case "tool_use":
                given = block.get("input") or None
                if self._submits and block.get("name") == SUBMIT:
                    self._submitted.add(_hashable(index))
                    return self._assembly.say(json.dumps(given, ensure_ascii=False)) if given else []
                self._assembly.call(index=index, call_id=block.get("id"), name=block.get("name"), arguments=given)
        return []

    def _go_on(self, index: object, delta: dict[str, Any]) -> list[Delta]:
        match delta.get("type"):
            case "text_delta":
                return self._assembly.say(delta.get("text"))
            case "thinking_delta":
                return self._assembly.think(delta.get("thinking"))
            case "input_json_delta":
                if _hashable(index) in self._submitted:
                    return self._assembly.say(delta.get("partial_json"))
                self._assembly.call(index=index, arguments=delta.get("partial_json"))
        return []

    def _count(self, usage: object) -> None:
        """Counts come at the start and again at the end, where they are totals; the tokens read from a cache are not in `input_tokens`."""
        given = fields_of(usage)
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        self._counts |= {name: count_of(given[name]) for name in names if given.get(name) is not None}
        if self._counts:
            total, cached, written, output = (self._counts.get(name, 0) for name in names)
            self._assembly.usage = TokenUsage(input=total + cached + written, cached=cached, output=output)

    def _end(self, reason: object) -> None:
        if isinstance(reason, str) and reason:
            self._assembly.finish = _FINISHES.get(reason, "stop")


def _hashable(index: object) -> object:
    return index if type(index) is int else None
