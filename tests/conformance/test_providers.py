"""What every provider must do, over its own protocol: pieces as they come, tool calls, structured answers, usage, cancellation."""

from __future__ import annotations

import json
import threading
import time

import anyio
import pytest

from citewell.llm.base import Capability, ChatResult, Content, Message, ModelRef, Thinking, TokenUsage, ToolCall
from citewell.testing.models import Call, ModelServer, Raw, Reply, Say, Think, Usage, Wait
from tests.conformance.provider_help import ANSWER, KEY, KINDS, LOOK, READ, Kind, ask, asked, call, outcome_of, saying

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)]

WITH_TOOLS = ask(tools=(LOOK, READ))


async def test_pieces_come_as_they_are_said_and_the_result_last(kind: Kind) -> None:
    go_on = threading.Event()
    async with asked(kind, [Reply([Think("hm"), Say("Use "), Wait(go_on), Say("pip.")])]) as (provider, _):
        pieces = provider.stream("tiny", ask(), capability=Capability(), seconds=20)
        assert [await anext(pieces), await anext(pieces)] == [Thinking("hm"), Content("Use ")]
        go_on.set()
        rest = [piece async for piece in pieces]
    assert rest == [Content("pip."), ChatResult("Use pip.", "hm", model=ModelRef(provider.name, "tiny"))]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_a_stream_may_be_split_at_any_byte(kind: Kind, size: int) -> None:
    steps = [Say("naïve 🦔 "), Say('"quoted\\" \u2028line'), Call("look", ['{"q": "ü', '🦔"}'], "c1")]
    outcome = await outcome_of(kind, Reply(steps, bytes_at_once=size), request=WITH_TOOLS)
    assert outcome.text == outcome.done.content == 'naïve 🦔 "quoted\\" \u2028line'
    assert outcome.done.tool_calls[0].arguments == {"q": "ü🦔"}


async def test_comments_blank_lines_and_carriage_returns_are_no_events(kind: Kind) -> None:
    noise = Raw(b": keep-alive\n\n:\r\n\r\n\nretry: 5\nid: 7\nevent: ping\n\n: OPENROUTER PROCESSING\r\r")
    outcome = await outcome_of(kind, Reply([noise, Say("a"), noise, Say("b")]))
    assert outcome.done.content == "ab"


async def test_bytes_that_are_no_utf8_are_replaced(kind: Kind) -> None:
    body = {
        "openai": b'data: {"choices": [{"delta": {"content": "a\xff\xc3b"}}]}\n\n',
        "anthropic": b'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a\xff\xc3b"}}\n\n',
        "gemini": b'data: {"candidates": [{"content": {"parts": [{"text": "a\xff\xc3b"}]}}]}\n\n',
    }[kind.name]
    assert (await outcome_of(kind, Reply([Raw(body)]))).done.content == "a\ufffd\ufffdb"


async def test_halves_of_characters_are_replaced(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Raw(_text_event(kind, '"a\\ud83d!"'))]))
    assert outcome.done.content == "a\ufffd!"
    outcome.done.content.encode()


def _text_event(kind: Kind, text: str) -> bytes:
    forms = {
        "openai": '{"choices": [{"delta": {"content": %s}}]}',
        "anthropic": '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": %s}}',
        "gemini": '{"candidates": [{"content": {"parts": [{"text": %s}]}}]}',
    }
    return f"data: {forms[kind.name] % text}\n\n".encode()


async def test_a_wrong_media_type_does_not_matter(kind: Kind) -> None:
    assert (await outcome_of(kind, saying("ok", content_type="text/plain"))).done.content == "ok"


async def test_tool_calls_are_put_together_from_pieces(kind: Kind) -> None:
    steps = [Say("Let me look."), Call("look", ['{"q"', ': "wid', 'get"}'], "c1"), Call("read", ['{"url":"https://x/"}'], "c2")]
    outcome = await outcome_of(kind, Reply(steps, finish="tool_calls"), request=WITH_TOOLS)
    first, second = outcome.done.tool_calls
    assert (first.id, first.name, first.arguments, first.parse_error) == ("c1", "look", {"q": "widget"}, "")
    assert (second.id, second.name, second.arguments) == ("c2", "read", {"url": "https://x/"})
    assert (outcome.done.content, outcome.done.finish) == ("Let me look.", "tool_calls")


@pytest.mark.parametrize(
    ("pieces", "arguments", "error"),
    [
        ([], {}, ""),
        (["{}"], {}, ""),
        (["[1", ", 2]"], {}, "must be a JSON object, not a list"),
        (['{"q": 1,}'], {}, "no valid JSON"),
        (['"{\\"q\\": \\"x\\"}"'], {"q": "x"}, ""),
        (['"look it up"'], {}, "no valid JSON"),
        (["null"], {}, "not null"),
        (["7"], {}, "not a number"),
        (['{"q": NaN}'], {}, "no valid JSON"),
    ],
)
async def test_arguments_that_are_no_object_are_told_to_the_model(
    kind: Kind, pieces: list[str], arguments: dict[str, object], error: str
) -> None:
    outcome = await outcome_of(kind, Reply([Call("look", pieces, "c1")]), request=WITH_TOOLS)
    if kind.name == "gemini" and (outcome.kind == "stream" or pieces == ["null"]):  # its SDK takes objects only, and null for none
        assert pieces not in ([], ["{}"])
        return
    (found,) = outcome.done.tool_calls
    assert found.arguments == arguments
    assert error in found.parse_error
    assert bool(found.parse_error) == bool(error)


async def test_missing_and_repeated_ids_are_made_unique(kind: Kind) -> None:
    earlier = (Message("assistant", tool_calls=(ToolCall("call-1", "look"),)), Message("tool", "x", tool_call_id="call-1"))
    request = ask(tools=(LOOK,))
    request = type(request)((*request.messages, *earlier), tools=request.tools)
    outcome = await outcome_of(kind, Reply([Call("look"), Call("look", id="a"), Call("look", id="a")]), request=request)
    ids = [found.id for found in outcome.done.tool_calls]
    assert (ids[1], len({*ids, "call-1"})) == ("a", 4)
    assert all(found.name == "look" for found in outcome.done.tool_calls)


async def test_a_call_without_a_name_is_told_to_the_model(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Call("", ["{}"], "c1")]), request=WITH_TOOLS)
    assert outcome.done.tool_calls[0].parse_error == "the call names no tool"


async def test_calls_beyond_all_bounds_are_refused(kind: Kind) -> None:
    calls = [Call("look", id=f"c{number}") for number in range(200)]
    assert (await outcome_of(kind, Reply(calls), request=WITH_TOOLS)).kind == "stream"


@pytest.mark.parametrize(("finish", "expected"), [("stop", "stop"), ("length", "length"), ("refused", "refused"), ("tool_calls", "stop")])
async def test_why_a_reply_ended(kind: Kind, finish: str, expected: str) -> None:
    assert (await outcome_of(kind, saying("Half a sent", finish=finish))).done.finish == expected


async def test_a_refusal_without_text_is_a_result(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply(finish="refused"))
    assert (outcome.done.content, outcome.done.finish) == ("", "refused")


async def test_usage_comes_with_the_last_event(kind: Kind) -> None:
    outcome = await outcome_of(kind, saying("ok", usage=Usage(input=900, output=12, cached=700)))
    assert outcome.done.usage == TokenUsage(input=900, cached=700, output=12)


async def test_usage_that_is_not_said_is_none(kind: Kind) -> None:
    assert (await outcome_of(kind, saying("ok"))).done.usage is None


async def test_an_answer_with_a_schema_is_the_content(kind: Kind) -> None:
    text = '{"answer_md": "Use pip [1]."}'
    async with asked(kind, [saying(text[:9], text[9:]) if kind.name != "anthropic" else saying(text)]) as (provider, server):
        outcome = await call(provider, ask(schema=ANSWER))
    assert (outcome.text, outcome.done.content, outcome.done.finish) == (text, text, "stop")
    assert outcome.done.tool_calls == ()
    assert "answer_md" in json.dumps(server.requests[0].body)


async def test_what_a_model_lacks_is_not_sent(kind: Kind) -> None:
    request = ask(tools=(LOOK,), schema=ANSWER, temperature=0.3)
    async with asked(kind, [saying("ok")] * 2) as (provider, server):
        await call(provider, request)
        await call(provider, request, tools=False, json_schema=False, json_object=False, temperature=False)
    able, unable = (json.dumps(found.body) for found in server.requests)
    for word in ("look", "answer_md", "temperature"):
        assert word in able
        assert word not in unable


async def test_each_call_is_one_request_over_a_kept_connection(kind: Kind) -> None:
    async with asked(kind, [saying("a"), saying("b"), saying("c")], models=["tiny"]) as (provider, server):
        said = [(await call(provider)).done.content for _ in range(3)]
        assert await provider.models(seconds=20) == ["tiny"]
    assert (said, len(server.requests), server.connections) == (["a", "b", "c"], 3, 1)


async def test_it_works_again_after_it_was_closed(kind: Kind) -> None:
    async with asked(kind, [saying("a"), saying("b")]) as (provider, server):
        await call(provider)
        await provider.aclose()
        await provider.aclose()
        assert (await call(provider)).done.content == "b"
        assert server.connections == 2


async def test_many_calls_at_once(kind: Kind) -> None:
    async with asked(kind, [saying(*"The same text for all.")] * 40) as (provider, _):
        found: list[str] = []

        async def one() -> None:
            found.append((await call(provider)).done.content)

        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(one)
    assert found == ["The same text for all."] * 40


async def test_closing_the_iterator_hangs_up(kind: Kind) -> None:
    async with asked(kind, [Reply([Say("a"), Wait(threading.Event())])]) as (provider, server):
        pieces = provider.stream("tiny", ask(), capability=Capability(), seconds=60)
        assert await anext(pieces) == Content("a")
        started = time.monotonic()
        await pieces.aclose()  # type: ignore[attr-defined]
        assert await anyio.to_thread.run_sync(server.requests[0].hung_up.wait, 1)
        assert time.monotonic() - started < 1


@pytest.mark.parametrize("steps", [[], [Say("a"), Wait(threading.Event())]])
async def test_cancelling_the_task_hangs_up(kind: Kind, steps: list[Say | Wait]) -> None:
    async with asked(kind, [Reply(steps, hold=None if steps else threading.Event())]) as (provider, server):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, provider)
            with anyio.fail_after(10):
                while not server.requests:
                    await anyio.sleep(0.01)
                await anyio.sleep(0.1)
            started = time.monotonic()
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(server.requests[0].hung_up.wait, 1)
        assert time.monotonic() - started < 1


async def test_a_reply_is_complete_though_its_stream_stays_open(kind: Kind) -> None:
    async with asked(kind, [Reply([Say("a"), Raw(_ending(kind)), Wait(threading.Event())], end="cut")]) as (provider, _):
        assert (await call(provider, seconds=1.0)).done.content == "a"


def _ending(kind: Kind) -> bytes:
    return {
        "openai": b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n',
        "anthropic": b'data: {"type": "message_stop"}\n\n',
        "gemini": b'data: {"candidates": [{"finishReason": "STOP"}]}\n\n',
    }[kind.name]


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
async def test_an_address_may_end_in_its_version(kind: Kind, suffix: str) -> None:
    version = suffix.replace("v1", "v1beta") if kind.name == "gemini" else suffix
    with ModelServer([saying("ok")], models=["a", "b", "a", "", "x\n"]) as server:
        provider = kind.make(server.url + version, KEY)
        assert (await call(provider)).done.content == "ok"
        assert await provider.models(seconds=20) == ["a", "b"]
        await provider.aclose()
    paths = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "gemini": "/v1beta/models/tiny:streamGenerateContent?alt=sse"}
    assert server.requests[0].path == paths[kind.name]
