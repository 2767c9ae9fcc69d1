"""What refusals mean, for refusals of any shape."""

from __future__ import annotations

import json
import time
from email.utils import formatdate

from hypothesis import given
from hypothesis import strategies as st

from citewell.llm import faults
from citewell.llm.faults import Asked

ALL = Asked(tools=True, schema=True, temperature=True, max_tokens=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "message", "details", "detail", "code", "type", "retryDelay"]) | st.text(), inner)
    ),
)


@given(st.integers(201, 599), st.text(), JSON)
def test_every_refusal_has_a_kind_words_and_a_wait(status: int, text: str, body: object) -> None:
    words = faults.words_of(body)
    assert faults.kind_of(status, words + text, ALL)
    assert faults.kind_of_event(body, ALL)
    assert "\n" not in faults.message_of(body)
    window = faults.window_in(words + text)
    assert window is None or window > 0
    wait = faults.wait_of({"retry-after": text, "retry-after-ms": text}, body, 0.0)
    assert wait is None or 0 <= wait <= 10**9


@given(st.binary(max_size=200))
def test_every_body_can_be_read(body: bytes) -> None:
    assert isinstance(faults.message_of(faults.parsed(body)), str)


@given(st.floats(0, 10**8), st.floats(0, 10**8))
def test_seconds_are_as_they_are_said(seconds: float, now: float) -> None:
    assert faults.retry_after(f" {seconds:.3f}\t", now) == round(seconds, 3)


def test_words_that_are_long_take_no_long_time() -> None:
    for piece in ("tool ", "function not ", "exceeds ", "9,", "context length is ", "model ", "prompt contains 9"):
        started = time.perf_counter()
        words = faults.words_of({"error": piece * (65_536 // len(piece))})
        assert faults.kind_of(400, words, ALL)
        assert faults.window_in(words) is None or "context" in piece
        assert time.perf_counter() - started < 2


def test_a_limit_of_the_output_is_not_too_long_a_request() -> None:
    words = json.dumps({"error": {"message": "max_tokens is too large: 50000. This model supports at most 4096 completion tokens."}})
    assert faults.kind_of(400, words, ALL) == "bad_request"


def test_the_pause_that_a_server_asks_for_is_read_as_seconds_or_as_a_date() -> None:
    assert faults.retry_after("7", 0) == 7
    assert faults.retry_after(" 0.5 ", 0) == 0.5
    assert faults.retry_after(formatdate(1_000_030, usegmt=True), 1_000_000) == 30
    assert faults.retry_after(formatdate(5, usegmt=True), 1_000_000) == 0
    assert [faults.retry_after(value, 0) for value in ("", "-3", "soon", "nan", "1e9", "9" * 50)] == [None] * 6


def test_tools_that_are_counted_are_not_refused() -> None:
    words = "This model's maximum context length is 8192 tokens. You requested 9000 tokens (8000 in the messages, 500 in the functions)."
    assert faults.kind_of(400, words, ALL) == "too_long"


def test_the_window_may_be_a_field_of_its_own() -> None:
    body = {"error": {"code": 400, "message": "the request exceeds the available context size", "n_prompt_tokens": 9000, "n_ctx": 4096}}
    assert faults.window_in(faults.words_of(body)) == 4096
