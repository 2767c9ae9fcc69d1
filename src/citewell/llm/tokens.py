"""How many tokens a request may cost, before anybody has counted them. Pure.

The rule: a token for every three bytes of UTF-8, and eight more for each message and each tool. English text has four to five bytes to
a token, code and Markdown three to four, and no byte-level tokenizer makes more tokens than bytes; so the estimate is rather too high
than too low. Tools and the schema count as the JSON in which they are sent.
"""

from __future__ import annotations

import json

from citewell.llm.base import ChatRequest, ChatResult, Message

_BYTES_PER_TOKEN = 3
_OVERHEAD = 8  # role, separators and the framing of a tool


def estimate_text(text: str) -> int:
    """The tokens of a text, at most."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // _BYTES_PER_TOKEN)


def estimate_input(request: ChatRequest) -> int:
    """The tokens that a request sends, at most; at least one."""
    tools = sum(_OVERHEAD + estimate_text(tool.name + tool.description + _json(tool.parameters)) for tool in request.tools)
    schema = request.schema
    asked = _OVERHEAD + estimate_text(schema.name + schema.description + _json(schema.schema)) if schema else 0
    return max(1, sum(map(_message, request.messages)) + tools + asked)


def estimate_output(result: ChatResult) -> int:
    """The tokens that a reply cost, at most, where its provider did not say."""
    return (
        estimate_text(result.content) + estimate_text(result.thinking) + sum(_call(call.name, call.arguments) for call in result.tool_calls)
    )


def _message(message: Message) -> int:
    return _OVERHEAD + estimate_text(message.content) + sum(_call(call.name, call.arguments) for call in message.tool_calls)


def _call(name: str, arguments: object) -> int:
    return _OVERHEAD + estimate_text(name + _json(arguments))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=dict)
