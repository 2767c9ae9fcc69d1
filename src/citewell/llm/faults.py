"""What a refusal means: the status and the words of every provider, put into one closed set of kinds. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from citewell.llm.assemble import fields_of, items_of
from citewell.llm.base import Capability, ChatRequest, FaultKind
from citewell.web import retry_after

_SHOWN = 300
_MOST_WORDS = 4096  # of a refusal that are looked at for its kind
_MOST_WINDOW = 10**8


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asked a model to be able to do; a refusal is not about what was not asked."""

    tools: bool = False
    schema: bool = False
    temperature: bool = False
    max_tokens: bool = False

    @classmethod
    def of(cls, request: ChatRequest, capability: Capability) -> Asked:
        schema = request.schema is not None and (capability.json_schema or capability.json_object)
        return cls(bool(request.tools) and capability.tools, schema, request.temperature is not None and capability.temperature)


_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum (?:model|input|prompt) length|prompt (?:is )?too long|input (?:is )?too long"
    r"|too many (?:input |prompt )?tokens|input token count|input tokens exceed|(?:reduce|shorten) (?:the |your )?(?:length|prompt|input)"
    r"|exceed\w* (?:the )?(?:maximum|available|max|total) (?:number of )?(?:tokens|context|input)|context the overflows"
    r"|prompt contains [\d,]+ tokens|request exceeds the maximum size|string too long|exceed_context",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"(?:tool|function)[^.]{0,60}(?:not (?:supported|enabled|available|allowed)|unsupported|requires? )"
    r"|(?:not|n't|no|un)[ -]?support\w*[^.]{0,60}(?:tool|function)|support tool|tools param",
    re.IGNORECASE,
)
_NO_SCHEMA = re.compile(
    r"response[_ ]?format|response[_ ]?(?:json[_ ]?)?schema|response[_ ]?mime|json[_ -]?(?:schema|object|mode)|structured[_ ]output"
    r"|guided[_ ](?:json|decoding)|grammar|tool_choice",
    re.IGNORECASE,
)
_NO_TEMPERATURE = re.compile(r"temperature", re.IGNORECASE)
_NO_MAX_TOKENS = re.compile(r"max_completion_tokens", re.IGNORECASE)
_NOT_FOUND = re.compile(
    r"(?:not a valid|invalid|unknown|no such) model|model\b.{0,120}(?:not found|does not exist|not exist)", re.IGNORECASE
)
_NO_KEY = re.compile(
    r"api[ _]?key (?:not valid|is invalid|not found|expired)|(?:invalid|incorrect) api[ _]?key|API_KEY_INVALID", re.IGNORECASE
)
_ANY_PARAMETER = re.compile(r"no endpoints found that", re.IGNORECASE)

_WINDOWS = (
    re.compile(r"\d[\d,]* (?:tokens )?> ?(\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r"(?:context (?:length|window|size|limit)|model length)(?: of| is|:|\b)[^\d.]{0,20}(\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r"tokens allowed \((\d{3,9})\)", re.IGNORECASE),
    re.compile(r"with (\d[\d,]{2,11}) maximum context", re.IGNORECASE),
    re.compile(r"\"?n_ctx\"?\s*[:=]\s*(\d{3,9})"),
)


def kind_of(status: int, words: str, asked: Asked = Asked()) -> FaultKind:
    """What a status that is not 200 means, beside the words of its body."""
    if status in {401, 402, 403} or (status == 400 and _NO_KEY.search(words)):
        return "auth"
    if status == 429:
        return "rate_limited"
    if status in {408, 504}:
        return "timeout"
    if 400 <= status < 500 or status in {500, 501}:  # llama.cpp answers 500 to tools that it cannot do
        lacking = _lacking(words, asked)
        if lacking:
            return lacking
    if status >= 500:
        return "server"
    if status == 413 or (400 <= status < 500 and _TOO_LONG.search(words)):
        return "too_long"
    if status == 404 or 300 <= status < 400 or _NOT_FOUND.search(words):
        return "not_found"
    return "bad_request"


def _lacking(words: str, asked: Asked) -> FaultKind | None:
    """Which ability a refusal denies the model."""
    any_parameter = bool(_ANY_PARAMETER.search(words))
    if asked.max_tokens and _NO_MAX_TOKENS.search(words):
        return "no_max_tokens"
    if asked.tools and _NO_TOOLS.search(words):
        return "no_tools"
    if asked.schema and (_NO_SCHEMA.search(words) or any_parameter):
        return "no_schema"
    if asked.temperature and _NO_TEMPERATURE.search(words):
        return "no_temperature"
    return "no_tools" if asked.tools and any_parameter else None


_EVENT_STATUS = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "invalid_request_error": 400,
}
_TELLING: frozenset[FaultKind] = frozenset(
    {"auth", "not_found", "too_long", "no_tools", "no_schema", "no_temperature", "no_max_tokens", "rate_limited"}
)


def kind_of_event(error: object, asked: Asked = Asked()) -> FaultKind:
    """What an error within a stream means: as its code says where that tells more than that the stream is over."""
    fields = fields_of(error)
    fields = fields_of(fields.get("error")) or fields
    codes = [fields.get(key) for key in ("code", "type", "status")]
    status = next((_EVENT_STATUS[code] for code in codes if isinstance(code, str) and code in _EVENT_STATUS), 0)
    status = next((code for code in codes if type(code) is int and 400 <= code < 500), status)
    kind = kind_of(status, words_of(error), asked) if status else "stream"
    return kind if kind in _TELLING else "stream"


def words_of(error: object) -> str:
    """What an error says, as far as it is looked at: the message alone would lack the code, and what another provider said within it."""
    return _text_of(error)[:_MOST_WORDS]


def _text_of(error: object) -> str:
    return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, default=str)


def parsed(body: bytes) -> object:
    """The JSON of a body, else its text."""
    text = body.decode("utf-8", "replace")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def message_of(error: object) -> str:
    """The message of an error for people, on one line; "" for a page of HTML and for nothing."""
    if isinstance(error, list) and len(error) == 1:  # as Gemini wraps it
        error = error[0]
    for key in ("error", "message", "detail"):
        error = error.get(key, error) if isinstance(error, dict) else error
    text = " ".join(_text_of(error).split()) if error else ""
    return "" if text.startswith("<") else text


def shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def window_in(words: str) -> int | None:
    """The window, in tokens, that a refusal of too long a request mentions."""
    found = next((match for pattern in _WINDOWS if (match := pattern.search(words))), None)
    tokens = int(found[1].replace(",", "")) if found else 0
    return tokens if 0 < tokens <= _MOST_WINDOW else None


def wait_of(headers: Mapping[str, str], error: object, now: float) -> float | None:
    """The seconds that a refusal asks to be waited, in a header or in its body; None where nothing usable is said. `now` is in seconds
    since 1970."""
    milliseconds = retry_after(headers.get("retry-after-ms", ""), now, dates=False)
    if milliseconds is not None:
        return milliseconds / 1000
    seconds = retry_after(headers.get("retry-after", ""), now)
    return _retry_info(error) if seconds is None else seconds


def _retry_info(error: object) -> float | None:
    """The delay of a google.rpc.RetryInfo."""
    if isinstance(error, list) and len(error) == 1:
        error = error[0]
    details: list[Any] = items_of(fields_of(fields_of(error).get("error")).get("details"))
    for detail in details:
        delay = fields_of(detail).get("retryDelay")
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", delay, re.ASCII) if isinstance(delay, str) else None
        if match:
            return float(match[1])
    return None
