"""Gemini's `streamGenerateContent`. A wire format only."""

from __future__ import annotations

import logging
import re
import time
import warnings
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from citewell.llm.assemble import MADE, Assembly, count_of
from citewell.llm.base import Capability, ChatRequest, Delta, Finish, Message, TokenUsage, ToolCall
from citewell.llm.provider import NO_KEY, HttpProvider

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

OFFICIAL = "https://generativelanguage.googleapis.com"
_VERSION = "v1beta"
_REFUSALS = frozenset(
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY ESCALATION MODEL_ARMOR LANGUAGE PUP_LIMITED_DISABLED".split()
)


class Gemini(HttpProvider):
    """`base_url` with or without its version (`/v1beta`); empty, it is Google's own."""

    sdk = "google.genai"
    extra = "gemini"

    def __init__(self, base_url: str, api_key: SecretStr | None, *, name: str = "gemini", clock: Callable[[], float] = time.time) -> None:
        url = base_url.strip().rstrip("/") or OFFICIAL
        version = re.search(r"/(v\d+(?:alpha|beta)?\d*)$", url)
        super().__init__(name, url[: version.start()] if version else url, api_key, clock=clock)
        self._version = version[1] if version else _VERSION
        self._sdk: genai.Client | None = None

    def _secrets(self) -> Mapping[str, str]:
        return {"X-Goog-Api-Key": self.key} if self.key else {}

    def _forget(self) -> None:
        self._sdk = None

    def _opened(self) -> genai.Client:
        import httpx2
        from google import genai
        from google.genai import types

        if self._sdk is None:
            # The SDK would print what a server sends, for every word that it does not know yet, and complain of calls beside text.
            logging.getLogger("google_genai.types").setLevel(logging.ERROR)
            warnings.filterwarnings("ignore", r"(?s).*is not a valid \w+$", UserWarning, r"google\.genai\._common")
            options = types.HttpOptions(
                base_url=self.base_url,
                api_version=self._version,
                httpx_async_client=self._client(),
                # Never used: the SDK would build one of its own.
                httpx_client=httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False),
            )
            self._sdk = genai.Client(vertexai=False, api_key=NO_KEY, http_options=options)
        return self._sdk

    async def _pieces(
        self, model: str, request: ChatRequest, capability: Capability, assembly: Assembly
    ) -> AsyncGenerator[list[Delta] | None, None]:
        config = _config(request, capability)
        contents: Any = _contents(request.messages)
        stream = await self._opened().aio.models.generate_content_stream(model=model, contents=contents, config=config)
        async for event in stream:
            yield _read(event, assembly)

    async def _names(self) -> list[Any]:
        pager = await self._opened().aio.models.list(config={"page_size": 1000})
        return [
            model.name.removeprefix("models/")
            for model in pager.page
            if model.name and "generateContent" in (model.supported_actions or ["generateContent"])
        ]

    def _event_error(self, error: Exception) -> object:
        from google.genai import errors

        return error.details if isinstance(error, errors.APIError) else None


def _config(request: ChatRequest, capability: Capability) -> types.GenerateContentConfig:
    from google.genai import types

    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    tools = [
        types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
        for tool in (request.tools if capability.tools else ())
    ]
    schema = request.schema if capability.json_schema else None
    offered: list[Any] | None = [types.Tool(function_declarations=tools)] if tools else None
    return types.GenerateContentConfig(
        system_instruction=system or None,
        max_output_tokens=request.max_output,
        temperature=request.temperature if capability.temperature else None,
        tools=offered,
        response_mime_type="application/json" if request.schema and (schema or capability.json_object) else None,
        response_json_schema=dict(schema.schema) if schema else None,
        # The SDK would call functions by itself, and send a request after the other.
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        automatic_continuation=False,
    )


def _contents(messages: Sequence[Message]) -> list[types.Content]:
    """Turns of alternating roles. A result names the function that it is of, and the call only where Gemini gave it an id."""
    from google.genai import types

    names = {call.id: call.name for message in messages for call in message.tool_calls}
    turns: list[types.Content] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        parts = [_result_part(message, names)] if message.role == "tool" else _parts(message)
        if turns and turns[-1].role == role:
            turns[-1].parts = [*(turns[-1].parts or ()), *parts]
        elif parts:
            turns.append(types.Content(role=role, parts=parts))
    return turns


def _parts(message: Message) -> list[types.Part]:
    from google.genai import types

    text = [types.Part(text=message.content)] if message.content else []
    return [*text, *map(_call_part, message.tool_calls)]


def _call_part(call: ToolCall) -> types.Part:
    from google.genai import types

    function = types.FunctionCall(id=_own(call.id), name=call.name or "unnamed", args=dict(call.arguments))
    return types.Part(function_call=function, thought_signature=b64decode(call.signature) if call.signature else None)


def _result_part(message: Message, names: Mapping[str, str]) -> types.Part:
    from google.genai import types

    name = names.get(message.tool_call_id) or "unnamed"
    response = types.FunctionResponse(id=_own(message.tool_call_id), name=name, response={"output": message.content})
    return types.Part(function_response=response)


def _own(call_id: str) -> str | None:
    return None if call_id.startswith(MADE) else call_id or None


def _read(event: types.GenerateContentResponse, assembly: Assembly) -> list[Delta]:
    usage = event.usage_metadata
    if usage is not None and usage.prompt_token_count is not None:
        total = count_of(usage.prompt_token_count) + count_of(usage.tool_use_prompt_token_count)
        thought = count_of(usage.thoughts_token_count)
        cached = min(count_of(usage.cached_content_token_count), total)
        assembly.usage = TokenUsage(input=total, cached=cached, output=count_of(usage.candidates_token_count) + thought)
    if event.prompt_feedback is not None and event.prompt_feedback.block_reason is not None:
        assembly.finish, assembly.complete = "refused", True
    candidate = event.candidates[0] if event.candidates else None
    if candidate is None:
        return []
    pieces = [piece for part in (candidate.content and candidate.content.parts) or () for piece in _read_part(part, assembly)]
    if candidate.finish_reason is not None:
        assembly.finish, assembly.complete = _finish(str(candidate.finish_reason.value)), True
    return pieces


def _read_part(part: types.Part, assembly: Assembly) -> list[Delta]:
    call = part.function_call
    if call is not None:
        signature = b64encode(part.thought_signature).decode() if part.thought_signature else ""
        assembly.call(index=assembly.calls, call_id=call.id, name=call.name, arguments=call.args, signature=signature)
        return []
    return assembly.think(part.text) if part.thought else assembly.say(part.text)


def _finish(reason: str) -> Finish:
    if reason == "MAX_TOKENS":
        return "length"
    return "refused" if reason in _REFUSALS else "stop"
