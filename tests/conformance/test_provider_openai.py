"""What is sent to OpenAI-compatible servers, and how freely they write what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from citewell.llm.base import Capability, ChatRequest, Content, Thinking, TokenUsage
from citewell.llm.openai_compat import limit_name, with_version
from citewell.testing.models import Reply
from tests.conformance.provider_help import ANSWER, LOOK, OPENAI, TALK, ask, outcome_of, said, sent

pytestmark = pytest.mark.anyio


async def test_openai_messages() -> None:
    body = await sent(OPENAI, ChatRequest(TALK, tools=(LOOK,), max_output=99, temperature=0.5))
    assert [message["role"] for message in body["messages"]] == "system system user assistant tool tool user assistant tool".split()
    assert body["messages"][3]["tool_calls"][1] == {
        "id": "call-2",
        "type": "function",
        "function": {"name": "look", "arguments": '{"q": "b"}'},
    }
    assert body["messages"][4] == {"role": "tool", "tool_call_id": "c1", "content": "Found a."}
    assert body["messages"][7]["tool_calls"][0]["function"] == {"name": "unnamed", "arguments": "{}"}
    assert body["tools"][0]["function"]["parameters"] == LOOK.parameters
    assert (body["max_tokens"], body["temperature"], body["stream"], body["stream_options"]) == (99, 0.5, True, {"include_usage": True})


async def test_openai_asks_for_json_in_the_strongest_way_left() -> None:
    forms = [
        (await sent(OPENAI, ask(schema=ANSWER), **can)).get("response_format")
        for can in ({}, {"json_schema": False}, {"json_schema": False, "json_object": False})
    ]
    assert forms[0]["json_schema"] == {"name": "answer", "description": "The answer.", "schema": ANSWER.schema}
    assert forms[1:] == [{"type": "json_object"}, None]


async def test_openai_names_the_limit_as_the_model_wants_it() -> None:
    body = await sent(OPENAI, ask(max_output=7), max_tokens=False)
    assert ("max_tokens" in body, body["max_completion_tokens"]) == (False, 7)
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    refusal = Reply(status=400, body=OPENAI.error(400, message))
    assert (await outcome_of(OPENAI, refusal)).kind == "no_max_tokens"
    assert (await outcome_of(OPENAI, refusal, max_tokens=False)).kind == "bad_request"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("", "https://api.openai.com/v1"),
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"),
    ],
)
def test_openai_addresses(given: str, used: str) -> None:
    assert with_version(given) == used


@pytest.mark.parametrize("host", ["api.openai.com", "mine.openai.azure.com", "openrouter.ai", "openai.com.example"])
def test_openai_itself_wants_the_newer_name(host: str) -> None:
    newer = limit_name(f"https://{host}/v1", Capability()) == "max_completion_tokens"
    assert newer == (host in {"api.openai.com", "mine.openai.azure.com"})


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
async def test_openai_reasoning_goes_by_two_names(key: str) -> None:
    outcome = await said(
        OPENAI, {"choices": [{"delta": {key: "hm"}}]}, {"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}
    )
    assert outcome.pieces == [Thinking("hm"), Content("ok")]


async def test_openai_content_in_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}, 7]
    outcome = await said(OPENAI, {"choices": [{"delta": {"content": parts}}]})
    assert outcome.pieces == [Thinking("hm"), Content("ok")]


def _tool_delta(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": list(calls)}}]}


@pytest.mark.parametrize(
    "fragments",
    [
        [
            {"index": 0, "function": {"name": "look"}},
            {"index": 0, "id": "a", "function": {"arguments": '{"q":'}},
            {"index": 0, "function": {"arguments": "1}"}},
        ],
        [{"id": "a", "function": {"name": "look", "arguments": '{"q":'}}, {"function": {"arguments": "1}"}}],
        [{"id": "a", "function": {"name": "look", "arguments": '{"q":'}}, {"id": "a", "function": {"name": "look", "arguments": "1}"}}],
        [
            {"index": 0, "id": "a", "function": {"name": "lo", "arguments": ""}},
            {"index": 0, "function": {"name": "ok", "arguments": '{"q":1}'}},
        ],
        [{"index": "0", "id": "a", "function": {"name": "look", "arguments": {"q": 1}}}],
        [{"index": 0, "id": "a", "function": {"name": "look", "arguments": '"{\\"q\\": 1}"'}}],
    ],
)
async def test_openai_calls_however_they_are_cut(fragments: list[dict[str, Any]]) -> None:
    outcome = await said(OPENAI, *map(_tool_delta, fragments))
    (found,) = outcome.done.tool_calls
    assert (found.id, found.name, found.arguments, found.parse_error) == ("a", "look", {"q": 1}, "")


@pytest.mark.parametrize("index", [{"index": 0}, {}])
async def test_openai_whole_calls_that_all_have_the_same_index(index: dict[str, int]) -> None:
    calls = [{**index, "id": name, "function": {"name": name, "arguments": "{}"}} for name in ("look", "read")]
    outcome = await said(OPENAI, _tool_delta(*calls))
    assert [found.name for found in outcome.done.tool_calls] == ["look", "read"]


async def test_openai_calls_with_the_same_id() -> None:
    calls = [{"id": "x", "function": {"name": "look", "arguments": json.dumps({"q": n})}} for n in (1, 2)]
    outcome = await said(OPENAI, _tool_delta(*calls))
    assert [found.arguments for found in outcome.done.tool_calls] == [{"q": 1}, {"q": 2}]


@pytest.mark.parametrize(
    "event",
    [
        [],
        7,
        {"choices": 7},
        {"choices": [7]},
        {"choices": [{"delta": 7, "finish_reason": 7}]},
        {"choices": [{"delta": {"content": 7, "reasoning": [], "tool_calls": [7, {"function": 7}, None]}}]},
        {"choices": [], "usage": 7},
        {"usage": {"prompt_tokens": -1, "completion_tokens": "9", "prompt_tokens_details": 3}},
        {"usage": {"prompt_tokens": True, "completion_tokens": 10**30}},
    ],
)
async def test_openai_events_of_any_shape(event: Any) -> None:
    outcome = await said(OPENAI, event, {"choices": [{"delta": {"content": "ok"}}]})
    assert outcome.done.content == "ok"
    assert outcome.done.usage is None or 0 <= outcome.done.usage.output <= 10**9


async def test_openai_reply_that_is_not_streamed() -> None:
    message = {"content": "ok", "reasoning": "hm", "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    outcome = await outcome_of(OPENAI, Reply(body=body))
    assert (outcome.text, outcome.done.tool_calls[0].name, outcome.done.usage) == ("ok", "look", TokenUsage(3, 0, 2))
