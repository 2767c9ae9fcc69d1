"""Cooldowns: how long, of what, and that they end."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.llm.base import FaultKind, ModelRef
from citewell.llm.breaker import Breaker, cooldown

A1, A2, B1 = ModelRef("a", "1"), ModelRef("a", "2"), ModelRef("b", "1")
MODELS = (A1, A2, B1)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("kind", "retry_after", "seconds"),
    [
        ("rate_limited", None, 60),
        ("rate_limited", 0, 60),
        ("rate_limited", -1, 60),
        ("rate_limited", float("nan"), 60),
        ("rate_limited", 31, 31),
        ("rate_limited", 5000, 900),
        ("rate_limited", float("inf"), 900),
        ("not_found", None, 3600),
        ("auth", None, 900),
        ("server", 300, 60),
        ("connection", None, 60),
        ("timeout", None, 60),
        ("empty", None, 60),
        ("stream", None, 60),
        ("too_long", None, 0),
        ("bad_request", None, 0),
        ("no_tools", None, 0),
        ("no_schema", None, 0),
        ("no_temperature", None, 0),
    ],
)
def test_what_a_fault_cools(kind: FaultKind, retry_after: float | None, seconds: float) -> None:
    clock = Clock()
    breaker = Breaker(clock)
    assert breaker.failed(A1, kind, retry_after) == seconds
    assert breaker.remaining(A1) == seconds
    assert breaker.remaining(A2) == (900 if kind == "auth" else 0)
    assert breaker.remaining(B1) == 0
    clock.now += seconds
    assert breaker.remaining(A1) == breaker.remaining(A2) == 0


def test_a_shorter_cooldown_does_not_end_a_longer_one() -> None:
    breaker = Breaker(Clock())
    breaker.failed(A1, "not_found")
    breaker.failed(A1, "server")
    assert breaker.remaining(A1) == 3600


def test_when_all_are_cooling_all_are_tried() -> None:
    breaker = Breaker(Clock())
    breaker.failed(A1, "auth")
    assert breaker.available(MODELS) == (B1,)
    breaker.failed(B1, "server")
    assert breaker.available(MODELS) == MODELS
    breaker.worked(A2)
    assert breaker.available(MODELS) == (A1, A2)
    assert breaker.available(()) == ()


def test_memory_is_bounded() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for number in range(3000):
        breaker.failed(ModelRef("a", str(number)), "not_found")
        clock.now += 1
    assert len(breaker._until) <= 1001
    assert breaker.remaining(ModelRef("a", "2999")) > 3500


RETRY_AFTER = st.sampled_from([None, float("nan"), float("inf"), -5, 0, 0.5, 31, 10_000])
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(MODELS),
        st.sampled_from([*get_args(FaultKind), "worked"]),
        RETRY_AFTER,
        st.integers(0, 2000),
    )
)


@given(EVENTS)
def test_whatever_happens_some_model_may_be_asked_and_every_cooldown_ends(events: list[tuple[ModelRef, str, float | None, int]]) -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for model, kind, retry_after, pause in events:
        if kind == "worked":
            breaker.worked(model)
            assert not breaker.remaining(model)
        else:
            seconds = breaker.failed(model, kind, retry_after)  # type: ignore[arg-type]
            assert seconds == cooldown(kind, retry_after)  # type: ignore[arg-type]
            assert breaker.remaining(model) >= seconds
        available = breaker.available(MODELS)
        assert available
        assert list(available) == [model for model in MODELS if model in available]
        assert all(0 <= breaker.remaining(model) <= 3600 for model in MODELS)
        clock.now += pause
    clock.now += 3600
    assert all(not breaker.remaining(model) for model in MODELS)
