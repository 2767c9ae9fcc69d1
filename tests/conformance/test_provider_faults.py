"""Every failure of a model server, and the one fault that it is to everything above; each from exactly one request."""

from __future__ import annotations

import threading
from email.utils import formatdate

import pytest

from citewell.llm.base import Capability, Content
from citewell.llm.http import CONNECT_SECONDS
from citewell.testing.models import Error, ModelServer, Raw, Reply, Say, Think, Wait
from tests.conformance.provider_help import (
    ANSWER,
    CANARY,
    KEY,
    KINDS,
    LOOK,
    NOW,
    Kind,
    ask,
    asked,
    call,
    fault_of,
    outcome_of,
    refused,
    saying,
)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)]

FULL = ask(tools=(LOOK,), schema=ANSWER, temperature=0.2)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, "bad_request"),
        (401, "auth"),
        (402, "auth"),
        (403, "auth"),
        (404, "not_found"),
        (408, "timeout"),
        (413, "too_long"),
        (422, "bad_request"),
        (429, "rate_limited"),
        (500, "server"),
        (503, "server"),
        (529, "server"),
    ],
)
async def test_a_status_is_a_kind_of_fault(kind: Kind, status: int, expected: str) -> None:
    outcome = await outcome_of(kind, refused(kind, status, "Something about it."), request=FULL)
    assert outcome.fault is not None
    assert (outcome.kind, outcome.fault.status, outcome.fault.shown) == (expected, status, False)
    assert f"{status}: Something about it." in str(outcome.fault)


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "registry.ollama.ai/library/tiny:latest does not support tools", "no_tools"),
        (404, "No endpoints found that support tool use. To learn more about provider routing, visit …", "no_tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "no_tools"),
        (500, "tools param requires --jinja flag", "no_tools"),
        (400, "Function calling is not enabled for models/tiny", "no_tools"),
        (400, "`tool calling` is not supported with this model", "no_tools"),
        (400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", "no_schema"),
        (400, "JSON mode is not enabled for models/tiny", "no_schema"),
        (400, "Function calling with a response mime type: 'application/json' is unsupported", "no_tools"),
        (404, "No endpoints found that can handle the requested parameters.", "no_schema"),
        (
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported.",
            "no_temperature",
        ),
        (400, "`temperature` is deprecated for this model.", "no_temperature"),
        (400, "tiny is not a valid model ID", "not_found"),
        (400, "model 'tiny' not found, try pulling it first", "not_found"),
        (400, "API key not valid. Please pass a valid API key.", "auth"),
    ],
)
async def test_words_tell_what_a_model_lacks(kind: Kind, status: int, message: str, expected: str) -> None:
    assert (await outcome_of(kind, refused(kind, status, message), request=FULL)).kind == expected


@pytest.mark.parametrize("message", ["tools are not supported", "response_format is not supported", "temperature is not supported"])
async def test_what_was_not_asked_is_not_lacking(kind: Kind, message: str) -> None:
    assert (await outcome_of(kind, refused(kind, 400, message))).kind == "bad_request"


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 8192),
        ("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens.", 131072),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
        ("the request exceeds the available context size. try increasing it", None),
        ("request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("input length exceeds the context length", None),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576),
        ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32768),
        ("Please reduce the length of the messages or completion.", None),
        ("Trying to keep the first 5000 tokens when context the overflows.", None),
    ],
)
async def test_too_long_is_known_in_everybodys_words(kind: Kind, message: str, window: int | None) -> None:
    outcome = await outcome_of(kind, refused(kind, 400, message), request=FULL)
    assert outcome.fault is not None
    assert (outcome.kind, outcome.fault.window) == ("too_long", window)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "2.5"}, 2.5),
        ({"Retry-After": formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"Retry-After": formatdate(NOW - 90, usegmt=True)}, 0.0),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "abc"}, None),
        ({"Retry-After": "9" * 400}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After-Ms": "1500"}, 1.5),
        ({"Retry-After-Ms": "x", "Retry-After": "3"}, 3.0),
        ({}, None),
    ],
)
async def test_what_a_429_says_about_waiting(kind: Kind, headers: dict[str, str], seconds: float | None) -> None:
    outcome = await outcome_of(kind, refused(kind, 429, headers=headers))
    assert outcome.fault is not None
    assert (outcome.kind, outcome.fault.retry_after) == ("rate_limited", seconds)


async def test_a_delay_in_the_body_counts_too(kind: Kind) -> None:
    details = [
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
    ]
    outcome = await outcome_of(kind, Reply(status=429, body=[{"error": {"code": 429, "message": "Slow down.", "details": details}}]))
    assert outcome.fault is not None
    assert (outcome.fault.retry_after, "429: Slow down." in str(outcome.fault)) == (34.5, True)


@pytest.mark.parametrize(
    "body",
    [b"<html><h1>Bad gateway</h1></html>", b"", b"null", b"[]", b"\xff\xfe", b'"boom"', b'{"error": "boom"}', b"[" * 5000, b'{"error": 5}'],
)
async def test_the_body_of_a_refusal_may_be_anything(kind: Kind, body: bytes) -> None:
    outcome = await outcome_of(kind, Reply(status=502, body=body))
    assert outcome.kind == "server"
    assert "502" in str(outcome.fault)
    assert "html" not in str(outcome.fault)
    assert len(str(outcome.fault)) < 350


async def test_a_huge_refusal_is_not_read_to_its_end(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply(status=500, body=b'{"error": {"message": "' + b"x" * 30_000_000))
    assert outcome.kind == "server"
    assert len(str(outcome.fault)) < 350


async def test_a_redirect_is_not_followed(kind: Kind) -> None:
    with ModelServer() as other:
        outcome = await outcome_of(kind, Reply(status=307, headers={"Location": f"{other.url}/v1/messages?key={CANARY}"}))
    assert outcome.kind == "not_found"
    assert "leads elsewhere" in str(outcome.fault)
    assert (other.connections, CANARY in str(outcome.fault)) == (0, False)


async def test_a_compressed_body_is_not_unpacked(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply(status=503, body=b"\x1f\x8b\x08garbage", headers={"Content-Encoding": "gzip"}))
    assert outcome.kind == "server"


async def test_no_server_is_no_connection(kind: Kind) -> None:
    with ModelServer() as server:
        url = server.url
    outcome = await call(kind.make(url, KEY))
    assert outcome.kind == "connection"
    assert "cannot be reached" in str(outcome.fault)


async def test_a_call_ends_with_its_time(kind: Kind) -> None:
    async with asked(kind, [Reply(hold=threading.Event())]) as (provider, server):
        outcome = await call(provider, seconds=0.3)
        assert (outcome.kind, outcome.fault and outcome.fault.shown) == ("timeout", False)
        assert server.requests[0].hung_up.wait(1)
    assert CONNECT_SECONDS <= 10


async def test_a_call_that_is_silent_in_the_middle_ends_with_its_time(kind: Kind) -> None:
    async with asked(kind, [Reply([Say("a"), Wait(threading.Event())])]) as (provider, server):
        outcome = await call(provider, seconds=0.5)
        assert (outcome.kind, outcome.fault and outcome.fault.shown, outcome.text) == ("timeout", True, "a")
        assert server.requests[0].hung_up.wait(1)


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_stream_that_breaks_before_the_first_piece(kind: Kind, end: str) -> None:
    outcome = await outcome_of(kind, Reply(end=end))
    assert (outcome.kind, outcome.fault and outcome.fault.shown) == ("connection", False)


@pytest.mark.parametrize("end", ["cut", "reset"])
async def test_a_stream_that_breaks_after_the_first_piece(kind: Kind, end: str) -> None:
    go_on = threading.Event()
    async with asked(kind, [Reply([Say("a"), Wait(go_on)], end=end)]) as (provider, _):
        pieces = provider.stream("tiny", ask(), capability=Capability(), seconds=20)
        assert await anext(pieces) == Content("a")
        go_on.set()
        fault = await fault_of(pieces)
    assert (fault.kind, fault.shown) == ("connection", True)


async def test_a_stream_that_ends_early_though_properly(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Say("a"), Raw(b'data: {"cut": ')], end="cut", headers={"Connection": "close"}))
    assert (outcome.kind, outcome.fault and outcome.fault.shown) == ("connection", True)


async def test_an_error_event_before_the_first_piece(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Error()]))
    assert (outcome.kind, outcome.fault and outcome.fault.shown) == ("stream", False)
    assert "The server is overloaded." in str(outcome.fault)


async def test_an_error_event_after_the_first_piece(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Say("a"), Error()]))
    assert (outcome.kind, outcome.fault and outcome.fault.shown, outcome.text) == ("stream", True, "a")


async def test_an_error_event_that_names_its_cause_is_that_fault(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Error("Slow down.", "rate_limit_error", 429)]))
    assert outcome.kind == "rate_limited"
    outcome = await outcome_of(kind, Reply([Error("prompt is too long: 9000 tokens > 8000 maximum", "invalid_request_error", 400)]))
    assert outcome.fault is not None
    assert (outcome.kind, outcome.fault.window) == ("too_long", 8000)


async def test_200_with_an_error_as_its_body(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply(body=kind.error(500, "It broke.")))
    assert (outcome.kind, "It broke." in str(outcome.fault)) == ("stream", True)


@pytest.mark.parametrize("body", [b"{}", b'{"choices": [], "candidates": [], "content": []}', b"[]", b"", b"null", b"\n\n", b": ping\n\n"])
async def test_200_without_choices_is_empty(kind: Kind, body: bytes) -> None:
    assert (await outcome_of(kind, Reply(body=body))).kind == "empty"


@pytest.mark.parametrize("text", ["", " \n"])
async def test_a_reply_of_nothing_is_empty(kind: Kind, text: str) -> None:
    assert (await outcome_of(kind, saying(text))).kind == "empty"


async def test_a_limit_spent_on_thinking_is_empty_and_says_so(kind: Kind) -> None:
    outcome = await outcome_of(kind, Reply([Think("hm")], finish="length"))
    assert (outcome.kind, outcome.fault and outcome.fault.shown) == ("empty", True)
    assert "limit of its output" in str(outcome.fault)


@pytest.mark.parametrize("body", [b"<!doctype html><p>Log in", b'{"choices": [', b"\xef\xbb\xbf <html>"])
async def test_200_with_what_is_no_reply(kind: Kind, body: bytes) -> None:
    assert (await outcome_of(kind, Reply(body=body))).kind == "stream"


@pytest.mark.parametrize("data", [b"data: {broken\n\n", b"event: message_start\ndata: oops\n\n", b"data: " + b"[" * 50_000 + b"\n\n"])
async def test_events_that_are_no_json(kind: Kind, data: bytes) -> None:
    assert (await outcome_of(kind, Reply([Raw(data)]))).kind == "stream"


async def test_a_reply_without_end_is_cut_off(kind: Kind) -> None:
    flood = Raw(b": " + b"x" * 2**20 + b"\n")
    outcome = await outcome_of(kind, Reply([flood] * 40))
    assert (outcome.kind, "more than 16 MB" in str(outcome.fault)) == ("stream", True)
