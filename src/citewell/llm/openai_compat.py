"""OpenAI's chat completions, as OpenAI, OpenRouter, vLLM, Ollama, llama.cpp and many others speak them. A wire format only."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from citewell.llm.assemble import Assembly, count_of, fields_of, items_of
from citewell.llm.base import Capability, ChatRequest, Delta, Finish, Message, OutputSchema, TokenUsage, ToolCall
from citewell.llm.faults import Asked
from citewell.llm.provider import NO_KEY, ErrorEvent, HttpProvider

if TYPE_CHECKING:
    import openai

OFFICIAL = "https://api.openai.com/v1"
_FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refused",
}


class OpenAICompat(HttpProvider):
    """`base_url` with or without `/v1`; empty, it is OpenAI's own. A server on loopback needs no key."""

    sdk = "openai"
    extra = "openai"

    def __init__(
        self, base_url: str, api_key: SecretStr | None, *, name: str = "openai-compat", clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(name, with_version(base_url), api_key, clock=clock)
        self._sdk: openai.AsyncOpenAI | None = None

    def _secrets(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def _forget(self) -> None:
        self._sdk = None

    def _opened(self) -> openai.AsyncOpenAI:
        import openai

        if self._sdk is None:
            self._sdk = openai.AsyncOpenAI(
                api_key=NO_KEY, base_url=self.base_url, http_client=self._client(), max_retries=0, timeout=None, default_headers={}
            )
        return self._sdk

    async def _pieces(
        self, model: str, request: ChatRequest, capability: Capability, assembly: Assembly
    ) -> AsyncGenerator[list[Delta] | None, None]:
        from openai import AsyncStream

        body = self._body(model, request, capability)
        # The events are taken as plain JSON: the SDK's types promise what no server keeps.
        stream = await self._opened().post("/chat/completions", cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object])
        async for event in stream:
            yield _read(event, assembly)

    async def _names(self) -> list[Any]:
        found = await self._opened().get("/models", cast_to=object)
        return [fields_of(item).get("id") for item in items_of(fields_of(found).get("data"))]

    def _event_error(self, error: Exception) -> object:
        import openai

        return (error.body or str(error)) if type(error) is openai.APIError else None

    def _asked(self, request: ChatRequest, capability: Capability) -> Asked:
        return dataclasses.replace(Asked.of(request, capability), max_tokens=limit_name(self.base_url, capability) == "max_tokens")

    def _body(self, model: str, request: ChatRequest, capability: Capability) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            limit_name(self.base_url, capability): request.max_output,
        }
        if request.temperature is not None and capability.temperature:
            body["temperature"] = request.temperature
        if request.tools and capability.tools:
            body["tools"] = [
                {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}}
                for tool in request.tools
            ]
        if request.schema and (form := _response_format(request.schema, capability)):
            body["response_format"] = form
        return body


def with_version(base_url: str) -> str:
    """The address that the SDK wants. Where a server has no path of its own its API is below `/v1`; one with a path is taken as it is."""
    url = re.sub(r"/chat/completions$", "", base_url.strip().rstrip("/")).rstrip("/")
    if not url:
        return OFFICIAL
    return url if urlsplit(url).path else f"{url}/v1"


def limit_name(base_url: str, capability: Capability) -> str:
    """What the limit of the output is called. OpenAI has renamed it, and its newer models refuse the older name, which most others know
    alone."""
    host = urlsplit(base_url).hostname or ""
    own = host == "openai.com" or host.endswith((".openai.com", ".openai.azure.com"))
    return "max_completion_tokens" if own or not capability.max_tokens else "max_tokens"


def _response_format(schema: OutputSchema, capability: Capability) -> dict[str, Any] | None:
    """The strongest way that the model knows."""
    if capability.json_schema:
        described = {"name": schema.name, "description": schema.description, "schema": dict(schema.schema)}
        return {"type": "json_schema", "json_schema": described}
    return {"type": "json_object"} if capability.json_object else None


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.tool_calls:
        calls = [_call(call) for call in message.tool_calls]
        return {"role": "assistant", "content": message.content or None, "tool_calls": calls}
    return {"role": message.role, "content": message.content}


def _call(call: ToolCall) -> dict[str, Any]:
    """Arguments that were no object go back as an empty one: servers refuse a history with broken JSON."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    written = {"id": call.id, "type": "function", "function": {"name": call.name or "unnamed", "arguments": arguments}}
    return written | {"extra_content": json.loads(call.signature)} if call.signature else written


def _read(event: object, assembly: Assembly) -> list[Delta]:
    fields = fields_of(event)
    if fields.get("object") == "error":  # as older vLLM says it
        raise ErrorEvent(event)
    if fields.get("usage"):
        assembly.usage = _usage(fields_of(fields["usage"]))
    choice = fields_of(next(iter(items_of(fields.get("choices"))), None))
    said = fields_of(choice.get("delta")) or fields_of(
        choice.get("message")
    )  # a message is the whole reply of a server that does not stream
    pieces = assembly.think(said.get("reasoning_content") or said.get("reasoning")) + _spoken(said.get("content"), assembly)
    pieces += assembly.say(said.get("refusal"))
    if said.get("refusal"):
        assembly.finish = "refused"
    for call in items_of(said.get("tool_calls")):
        _add_call(fields_of(call), assembly)
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason:
        assembly.complete = True
        assembly.finish = "refused" if assembly.finish == "refused" else _FINISHES.get(reason, "stop")
    return pieces


def _spoken(content: object, assembly: Assembly) -> list[Delta]:
    """Text, or a list of parts, some of them thoughts."""
    if isinstance(content, str):
        return assembly.say(content)
    pieces: list[Delta] = []
    for part in map(fields_of, items_of(content)):
        if part.get("type") == "thinking":
            thoughts = part.get("thinking")
            for thought in items_of(thoughts) if isinstance(thoughts, list) else [{"text": thoughts}]:
                pieces += assembly.think(fields_of(thought).get("text"))
        else:
            pieces += assembly.say(part.get("text"))
    return pieces


def _add_call(call: dict[str, Any], assembly: Assembly) -> None:
    function = fields_of(call.get("function"))
    extra = call.get("extra_content")  # where Gemini's endpoint keeps the signature that it wants back
    assembly.call(
        index=call.get("index"),
        call_id=call.get("id"),
        name=function.get("name"),
        arguments=function.get("arguments"),
        signature=json.dumps(extra) if isinstance(extra, dict) else "",
    )


def _usage(usage: dict[str, Any]) -> TokenUsage:
    total = count_of(usage.get("prompt_tokens"))
    cached = count_of(fields_of(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return TokenUsage(input=total, cached=min(cached, total), output=count_of(usage.get("completion_tokens")))
