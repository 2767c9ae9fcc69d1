"""What each provider sends in its own protocol, and what is special in what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from citewell.llm.base import ChatRequest, Content, Message, Thinking, TokenUsage, ToolCall
from citewell.llm.openai_compat import OpenAICompat, with_version
from citewell.testing.models import Call, Raw, Reply
from tests.conformance.provider_help import ANSWER, KEY, KINDS, LOOK, READ, Kind, Outcome, ask, asked, call, outcome_of, saying

pytestmark = pytest.mark.anyio

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


def test_openai_itself_wants_the_newer_name() -> None:
    from citewell.llm.base import Capability

    assert "max_completion_tokens" in OpenAICompat("", KEY)._body("m", ask(), Capability())
    assert "max_tokens" in OpenAICompat("https://openrouter.ai/api/v1", KEY)._body("m", ask(), Capability())


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


async def test_anthropic_turns_alternate_and_results_stand_together() -> None:
    body = await sent(ANTHROPIC, ChatRequest(TALK, tools=(LOOK,), temperature=1.7))
    assert [block["text"] for block in body["system"]] == ["One.", "Two."]
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][2]["content"]] == ["tool_result", "tool_result", "text"]
    assert body["messages"][1]["content"][1] == {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": "a"}}
    assert body["messages"][4]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert (body["temperature"], "tool_choice" in body) == (1.0, False)


async def test_anthropic_sends_no_empty_text() -> None:
    body = await sent(
        ANTHROPIC, ChatRequest((Message("system", " "), Message("user", "a"), Message("assistant", ""), Message("user", "b")))
    )
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
    assert "system" not in body


async def test_anthropic_is_made_to_submit() -> None:
    alone, beside = await sent(ANTHROPIC, ask(schema=ANSWER)), await sent(ANTHROPIC, ask(schema=ANSWER, tools=(READ,)))
    assert alone["tool_choice"] == {"type": "tool", "name": "submit_answer", "disable_parallel_tool_use": True}
    assert [tool["name"] for tool in beside["tools"]] == ["read", "submit_answer"]
    assert beside["tool_choice"] == {"type": "any"}


async def test_anthropic_may_use_a_tool_before_it_submits() -> None:
    outcome = await outcome_of(ANTHROPIC, Reply([Call("read", ['{"url": "x"}'], "c1")]), request=ask(schema=ANSWER, tools=(READ,)))
    assert (outcome.done.content, outcome.done.tool_calls[0].name, outcome.done.finish) == ("", "read", "tool_calls")


async def test_anthropic_calls_a_tool_of_that_name_though_no_answer_was_asked() -> None:
    outcome = await outcome_of(ANTHROPIC, Reply([Call("submit_answer", ["{}"], "c1")]))
    assert outcome.done.tool_calls[0].name == "submit_answer"


async def test_anthropic_counts_what_it_wrote_to_the_cache() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 30, "output_tokens": 1}
    events = [{"type": "message_start", "message": {"usage": usage}}, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}]
    outcome = await said(ANTHROPIC, *events, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}})
    assert outcome.done.usage == TokenUsage(input=60, cached=20, output=5)


@pytest.mark.parametrize("submits", [True, False])
async def test_anthropic_reply_that_is_not_streamed(submits: bool) -> None:
    block = (
        {"type": "tool_use", "id": "a", "name": "submit_answer", "input": {"answer_md": "ok"}}
        if submits
        else {"type": "text", "text": "ok"}
    )
    body = {"type": "message", "content": [block, 7], "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 2}}
    outcome = await outcome_of(ANTHROPIC, Reply(body=body), request=ask(schema=ANSWER))
    assert outcome.done.content == ('{"answer_md": "ok"}' if submits else "ok")
    assert outcome.done.usage == TokenUsage(3, 0, 2)


@pytest.mark.parametrize("event", [{}, {"type": 7}, {"type": "content_block_delta", "index": [], "delta": 7}, {"type": "message_start"}])
async def test_anthropic_events_of_any_shape(event: dict[str, Any]) -> None:
    text = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}}
    assert (await said(ANTHROPIC, event, text)).done.content == "ok"


async def test_gemini_turns() -> None:
    body = await sent(GEMINI, ChatRequest(TALK, tools=(LOOK,), max_output=99, temperature=0.5))
    assert body["systemInstruction"]["parts"] == [{"text": "One.\n\nTwo."}]
    assert [turn["role"] for turn in body["contents"]] == ["user", "model", "user", "model", "user"]
    calls, results = body["contents"][1]["parts"][1:], body["contents"][2]["parts"]
    assert [part["functionCall"] for part in calls] == [
        {"id": "c1", "name": "look", "args": {"q": "a"}},
        {"name": "look", "args": {"q": "b"}},
    ]
    assert results[0]["functionResponse"] == {"id": "c1", "name": "look", "response": {"output": "Found a."}}
    assert results[1]["functionResponse"] == {"name": "look", "response": {"output": "Found b."}}
    assert results[2] == {"text": "Go on."}
    assert body["generationConfig"] == {"maxOutputTokens": 99, "temperature": 0.5}


async def test_gemini_asks_for_json_in_the_strongest_way_left() -> None:
    configs = [
        (await sent(GEMINI, ask(schema=ANSWER), **can))["generationConfig"]
        for can in ({}, {"json_schema": False}, {"json_schema": False, "json_object": False})
    ]
    assert configs[0]["responseJsonSchema"] == ANSWER.schema
    assert [config.get("responseMimeType") for config in configs] == ["application/json", "application/json", None]
    assert "responseJsonSchema" not in configs[1]


async def test_gemini_signatures_go_back_with_their_call() -> None:
    part = {"functionCall": {"name": "look", "args": {"q": "a"}}, "thoughtSignature": "c2lnbmVk"}
    outcome = await said(GEMINI, {"candidates": [{"content": {"parts": [part]}}]})
    (found,) = outcome.done.tool_calls
    body = await sent(
        GEMINI, ChatRequest((Message("user", "a"), Message("assistant", "", (found,)), Message("tool", "x", tool_call_id=found.id)))
    )
    assert body["contents"][1]["parts"] == [part]


async def test_gemini_refuses_a_question() -> None:
    outcome = await outcome_of(GEMINI, Reply(body={"promptFeedback": {"blockReason": "SAFETY"}}))
    assert (outcome.done.content, outcome.done.finish) == ("", "refused")


async def test_gemini_stream_as_one_list() -> None:
    events = [{"candidates": [{"content": {"parts": [{"text": text}]}}]} for text in ("o", "k")]
    outcome = await outcome_of(GEMINI, Reply(body=[*events, {"candidates": [{"finishReason": "STOP"}]}]))
    assert outcome.done.content == "ok"


async def test_gemini_thinking_counts_as_output() -> None:
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 5, "cachedContentTokenCount": 4}
    outcome = await said(GEMINI, {"candidates": [{"content": {"parts": [{"text": "ok"}]}}], "usageMetadata": usage})
    assert outcome.done.usage == TokenUsage(input=9, cached=4, output=7)


@pytest.mark.parametrize("event", [{"candidates": 7}, {"candidates": [{"content": {"parts": [{"functionCall": 7}]}}]}, 7])
async def test_gemini_events_of_any_shape(event: Any) -> None:
    assert (await said(GEMINI, event)).kind == "stream"


async def test_gemini_is_asked_once_though_it_offers_to_go_on() -> None:
    event = {"candidates": [{"content": {"parts": [{"text": "half"}]}, "finishReason": "CONTINUATION", "continuationToken": "dG9rZW4="}]}
    assert (await said(GEMINI, event)).done.content == "half"
