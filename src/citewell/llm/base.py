"""What a model is asked and what it answers, whoever serves it: frozen values and the `Provider` protocol.

Nothing here knows a wire format; each provider's file translates to and from its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "tool_calls", "refused"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for. `arguments` is the object it gave; where that could not be parsed it is empty, `parse_error` says
    why in words for the model, and `raw` is what it wrote. `signature` is the provider's own, to be sent back with the call as it came."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    parse_error: str = ""
    raw: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn. `tool_calls` belong to an assistant's, `tool_call_id` to the result of one."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered: `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The JSON object that an answer has to be, as a JSON Schema."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model. With `schema`, the content is to be such an object; `max_output` is in tokens."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: OutputSchema | None = None
    max_output: int = 2048
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model of a provider; `str` is its name in settings, `provider:model`."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True)
class Capability:
    """What a model can do, as far as is known; what an error shows to be untrue is remembered as such. Without `max_tokens` the limit
    of the output goes by its newer name. `window` is in tokens, None where nobody said."""

    tools: bool = True
    json_schema: bool = True
    json_object: bool = True
    temperature: bool = True
    max_tokens: bool = True
    window: int | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the provider counted them: `cached` are part of `input`."""

    input: int = 0
    cached: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of what a model thinks; never part of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of what a model says."""

    text: str


Delta = Thinking | Content


@dataclass(frozen=True, slots=True)
class ChatResult:
    """A complete reply. `usage` is None where the provider did not say; `model` is who answered."""

    content: str
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: TokenUsage | None = None
    model: ModelRef | None = None


FaultKind = Literal[
    "auth",  # 401, 403: the key
    "not_found",  # 404: the model or the address
    "too_long",  # 400: more than the model's window
    "no_tools",  # 400: the model takes no tools
    "no_schema",  # 400: the model takes no json_schema, or no json_object
    "no_temperature",  # 400: the model takes no temperature
    "no_max_tokens",  # 400: the model takes max_completion_tokens instead of max_tokens
    "bad_request",  # any other 4xx
    "rate_limited",  # 429
    "server",  # 5xx, 529
    "connection",  # no connection, or one that broke
    "timeout",
    "empty",  # a reply without choices, or with neither text nor calls
    "stream",  # an error event in the stream, or a stream that is no proper one
]


class ProviderFault(Exception):
    """Why a request gave no reply: a closed kind, what happened in words without secrets, and what the wire said.

    `shown` is whether a piece had been passed on before; `retry_after` is in seconds and `window` in tokens, None where nothing usable
    was said.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        shown: bool = False,
        window: int | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.shown = shown
        self.window = window


class Provider(Protocol):
    """A service that serves models. One call of `stream` is exactly one HTTP request."""

    name: str

    def stream(self, model: str, request: ChatRequest, *, capability: Capability, seconds: float) -> AsyncIterator[Delta | ChatResult]:
        """The pieces as they come, then one `ChatResult`, last. Raises `ProviderFault`. Closing the iterator cancels the request.

        `seconds` is the limit for the whole of it. What `capability` says a model lacks is not sent: without tools none are offered, and a
        schema is asked for in the strongest way the model knows.
        """
        ...

    async def models(self, *, seconds: float) -> list[str]:
        """The names of the models that it serves. Raises `ProviderFault`."""
        ...

    async def aclose(self) -> None: ...
