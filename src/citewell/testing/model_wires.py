"""How each of three protocols writes a scripted reply, event by event; used by `citewell.testing.models`."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """A piece of text; where the request forces the submission of an answer, a piece of what is submitted."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """A piece of thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, its arguments in pieces of JSON; Gemini, which knows no pieces, gets them together. Without `id` none is given."""

    name: str
    arguments: Sequence[str] = ("{}",)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes of the stream as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Error:
    """An error in the midst of the stream."""

    message: str = "The server is overloaded."
    kind: str = "overloaded_error"
    code: int = 529


@dataclass(frozen=True, slots=True)
class Wait:
    """The stream goes on when the event is set."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens; those cached are part of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


Step = Say | Think | Call | Raw | Error | Wait


def event(data: Any, name: str = "") -> bytes:
    """A server-sent event of JSON."""
    return (f"event: {name}\n" * bool(name) + f"data: {json.dumps(data, ensure_ascii=False)}\n\n").encode()


class Wire(ABC):
    """A protocol."""

    def stream(
        self, request: Mapping[str, Any], steps: Sequence[Step], usage: Usage | None, finish: str, *, proper: bool
    ) -> Iterator[bytes | Wait]:
        """The events of a reply; the last ones only where it ends properly."""
        yield from self.begin(request, usage)
        for number, step in enumerate(steps):
            match step:
                case Wait():
                    yield step
                case Raw():
                    yield step.data
                case _:
                    yield from self.step(request, number, step)
        if proper:
            yield from self.end(request, usage, finish)

    def begin(self, request: Mapping[str, Any], usage: Usage | None) -> Iterator[bytes]:  # noqa: ARG002 - not every protocol uses them
        yield from ()

    @abstractmethod
    def step(self, request: Mapping[str, Any], number: int, step: Say | Think | Call | Error) -> Iterator[bytes]: ...

    @abstractmethod
    def end(self, request: Mapping[str, Any], usage: Usage | None, finish: str) -> Iterator[bytes]: ...

    @abstractmethod
    def models(self, names: Sequence[str]) -> Any: ...


class _OpenAI(Wire):
    def begin(self, request: Mapping[str, Any], usage: Usage | None) -> Iterator[bytes]:  # noqa: ARG002
        yield self._chunk(request, {"role": "assistant", "content": ""})

    def step(self, request: Mapping[str, Any], number: int, step: Say | Think | Call | Error) -> Iterator[bytes]:
        match step:
            case Say():
                yield self._chunk(request, {"content": step.text})
            case Think():
                yield self._chunk(request, {"reasoning_content": step.text})
            case Error():
                yield event({"error": {"message": step.message, "type": step.kind, "code": step.code}})
            case Call():
                head = {"index": number, "type": "function", "function": {"name": step.name, "arguments": ""}}
                yield self._chunk(request, {"tool_calls": [head | ({"id": step.id} if step.id else {})]})
                for piece in step.arguments:
                    yield self._chunk(request, {"tool_calls": [{"index": number, "function": {"arguments": piece}}]})

    def end(self, request: Mapping[str, Any], usage: Usage | None, finish: str) -> Iterator[bytes]:
        yield self._chunk(request, {}, "content_filter" if finish == "refused" else finish)
        if usage and request.get("stream_options", {}).get("include_usage"):
            counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output}
            yield self._chunk(request, None, usage=counts | {"prompt_tokens_details": {"cached_tokens": usage.cached}})
        yield b"data: [DONE]\n\n"

    def _chunk(self, request: Mapping[str, Any], delta: Any, finish: str | None = None, **more: Any) -> bytes:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request.get("model")}
        return event(head | {"choices": choices} | more)

    def models(self, names: Sequence[str]) -> Any:
        return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


class _Anthropic(Wire):
    def begin(self, request: Mapping[str, Any], usage: Usage | None) -> Iterator[bytes]:
        message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "content": []}
        if usage:
            message["usage"] = {
                "input_tokens": usage.input - usage.cached,
                "cache_read_input_tokens": usage.cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": 1,
            }
        yield self._event({"type": "message_start", "message": message})
        yield self._event({"type": "ping"})

    def step(self, request: Mapping[str, Any], number: int, step: Say | Think | Call | Error) -> Iterator[bytes]:
        match step:
            case Say() if request.get("tool_choice"):
                yield from self._block(number, {"type": "tool_use", "id": "toolu_1", "name": "submit_answer", "input": {}}, step.text)
            case Say():
                yield from self._block(number, {"type": "text", "text": ""}, step.text)
            case Think():
                yield from self._block(number, {"type": "thinking", "thinking": "", "signature": ""}, step.text)
            case Call():
                yield from self._block(number, {"type": "tool_use", "id": step.id, "name": step.name, "input": {}}, *step.arguments)
            case Error():
                yield self._event({"type": "error", "error": {"type": step.kind, "message": step.message}})

    def _block(self, index: int, block: dict[str, Any], *pieces: str) -> Iterator[bytes]:
        kind, key = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}.get(
            block["type"], ("input_json_delta", "partial_json")
        )
        yield self._event({"type": "content_block_start", "index": index, "content_block": block})
        for piece in pieces:
            yield self._event({"type": "content_block_delta", "index": index, "delta": {"type": kind, key: piece}})
        yield self._event({"type": "content_block_stop", "index": index})

    def end(self, request: Mapping[str, Any], usage: Usage | None, finish: str) -> Iterator[bytes]:
        reasons = {"length": "max_tokens", "tool_calls": "tool_use", "refused": "refusal"}
        reason = "tool_use" if request.get("tool_choice") and finish == "stop" else reasons.get(finish, "end_turn")
        counts = {"usage": {"output_tokens": usage.output}} if usage else {}
        yield self._event({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}} | counts)
        yield self._event({"type": "message_stop"})

    def _event(self, data: Mapping[str, Any]) -> bytes:
        return event(data, data["type"])

    def models(self, names: Sequence[str]) -> Any:
        return {"data": [{"type": "model", "id": name, "display_name": name} for name in names], "has_more": False}


class _Gemini(Wire):
    def step(self, request: Mapping[str, Any], number: int, step: Say | Think | Call | Error) -> Iterator[bytes]:  # noqa: ARG002
        match step:
            case Say():
                yield self._chunk({"text": step.text})
            case Think():
                yield self._chunk({"text": step.text, "thought": True})
            case Call():
                function = {"name": step.name, "args": _object("".join(step.arguments))} | ({"id": step.id} if step.id else {})
                yield self._chunk({"functionCall": function})
            case Error():
                yield event({"error": {"code": step.code, "message": step.message, "status": step.kind}})

    def end(self, request: Mapping[str, Any], usage: Usage | None, finish: str) -> Iterator[bytes]:  # noqa: ARG002
        reason = {"length": "MAX_TOKENS", "refused": "SAFETY"}.get(finish, "STOP")
        counts: dict[str, Any] = {}
        if usage:
            counts["usageMetadata"] = {
                "promptTokenCount": usage.input,
                "candidatesTokenCount": usage.output,
                "cachedContentTokenCount": usage.cached,
                "totalTokenCount": usage.input + usage.output,
            }
        yield event({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": reason, "index": 0}]} | counts)

    def _chunk(self, part: Mapping[str, Any]) -> bytes:
        return event({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]})

    def models(self, names: Sequence[str]) -> Any:
        return {"models": [{"name": f"models/{name}", "supportedGenerationMethods": ["generateContent"]} for name in names]}


def _object(text: str) -> Any:
    """The arguments of a call as a value; as their text where they are no JSON."""
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        return text


WIRES: Mapping[str, Wire] = {"openai": _OpenAI(), "anthropic": _Anthropic(), "gemini": _Gemini()}
