"""What is sent to Anthropic and to Gemini, and what is special in what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.llm.base import ChatRequest, Message, TokenUsage
from citewell.testing.models import Call, Reply
from tests.conformance.provider_help import ANSWER, ANTHROPIC, GEMINI, LOOK, READ, TALK, ask, outcome_of, said, sent

pytestmark = pytest.mark.anyio


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
    assert (await outcome_of(GEMINI, Reply(body=event))).done.content == "half"


async def test_gemini_may_end_for_reasons_that_are_not_known_yet() -> None:
    outcome = await said(GEMINI, {"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "\x1b[31mNEW\n"}]})
    assert (outcome.done.content, outcome.done.finish) == ("ok", "stop")
