"""What dispatch does beside the rules: time, cancellation, replies that were kept, providers that break their word."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.llm.base import ChatResult, Content, ModelRef, ToolCall
from citewell.llm.cache import DAY, MemoryCache, cache_key
from citewell.llm.outcomes import LimitReached, NoModel, Reply
from citewell.types import Attempt, Budget
from tests.unit.llm.fleet import A1, A2, B1, BUDGET, GOOD, REQUEST, After, House, Step, fault

pytestmark = pytest.mark.anyio


async def test_a_provider_that_does_not_end_in_time_is_left() -> None:
    house = House({A1: [After((Content("x"),), None)], B1: [GOOD]})
    ask = house.ask(budget=replace(BUDGET, max_seconds=0.01))
    with anyio.fail_after(5):
        outcome = await house.dispatch().ask(ask)
    assert isinstance(outcome, Reply)  # the clock of the ledger stands still, so there is time for the next
    assert [attempt.outcome for attempt in ask.ledger.usage().attempts] == ["timeout", "ok"]
    assert house.closed == 2


async def test_cancellation_settles_what_is_known() -> None:
    house = House({A1: [After((Content("x" * 30),), None)]})
    ask = house.ask(listen=lambda model: lambda piece: bool(heard.set()))
    heard = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.dispatch().ask, ask)
        with anyio.fail_after(5):
            await heard.wait()
        tasks.cancel_scope.cancel()
    usage = ask.ledger.usage()
    assert usage.attempts == (Attempt("a", "1", "cancelled", None, 0.0),)
    assert usage.output_tokens == 10
    assert usage.input_tokens > 0
    assert house.closed == 1
    assert ask.ledger.remaining.tokens == BUDGET.max_tokens - usage.input_tokens - usage.output_tokens


async def test_a_bug_propagates_and_is_settled() -> None:
    house = House({A1: [ValueError("a bug")]})
    ask = house.ask()
    with pytest.raises(ValueError, match="a bug"):
        await house.dispatch().ask(ask)
    assert [attempt.outcome for attempt in ask.ledger.usage().attempts] == ["error"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (After((Content("x"),), ValueError("x")), ""),
        (After((Content("x" * 100_000),), GOOD), "far more"),
        (After((), StopAsyncIteration()), ""),
    ],
)
async def test_a_provider_that_breaks_its_word_harms_nobody_else(step: Step, message: str) -> None:
    house = House({A1: [step] * 3, B1: [GOOD]})
    ask = house.ask()
    if message:
        outcome = await house.dispatch().ask(ask)
        assert isinstance(outcome, Reply)
        assert message in outcome.troubles[0].message
    else:
        with pytest.raises((ValueError, RuntimeError)):
            await house.dispatch().ask(ask)
    assert ask.ledger.remaining.calls == BUDGET.max_calls - len(house.calls)


async def test_tokens_that_nobody_counted_are_estimated() -> None:
    house = House({A1: [replace(GOOD, usage=None)], B1: []})
    ask = house.ask()
    await house.dispatch().ask(ask)
    usage = ask.ledger.usage()
    assert usage.output_tokens == 5
    assert usage.input_tokens > 0


async def test_a_kept_reply_costs_nothing_and_says_so() -> None:
    house = House({A1: [GOOD, GOOD, GOOD]})
    dispatch = house.dispatch(cache=MemoryCache(house.clock))
    heard: list[str] = []
    asks = [house.ask(prompt_version="1", listen=lambda model: lambda piece: bool(heard.append(piece.text))) for _ in range(2)]
    first, second = [await dispatch.ask(ask) for ask in asks]
    assert isinstance(first, Reply)
    assert second == Reply(first.result, cached=True)
    assert asks[1].ledger.usage().llm_calls == 0
    assert heard == ["hm", GOOD.content, GOOD.content]
    for again in (house.ask(prompt_version="2"), house.ask(prompt_version="1", fresh=True)):
        found = await dispatch.ask(again)
        assert isinstance(found, Reply)
        assert not found.cached
    assert house.used_up()


async def test_a_reply_that_was_cut_is_not_kept() -> None:
    house = House({A1: [replace(GOOD, finish="length"), GOOD]})
    dispatch = house.dispatch(cache=MemoryCache(house.clock))
    await dispatch.ask(house.ask())
    await dispatch.ask(house.ask())
    assert len(house.calls) == 2


async def test_the_cache_forgets_after_a_day_and_beyond_its_size() -> None:
    house = House({})
    cache = MemoryCache(house.clock, most=2, most_chars=100)
    await cache.put("a", GOOD)
    house.now += DAY - 1
    await cache.put("b", GOOD)
    assert await cache.get("a") == GOOD
    house.now += 1
    assert await cache.get("a") is None
    assert await cache.get("b") == GOOD
    await cache.put("c", GOOD)
    assert await cache.get("b") == GOOD
    await cache.put("d", GOOD)  # c was used longest ago
    assert [await cache.get(key) is not None for key in "bcd"] == [True, False, True]
    await cache.put("e", ChatResult("x" * 101))
    assert [await cache.get(key) for key in "bde"] == [None, None, None]


def test_a_key_says_all_that_decides_a_reply() -> None:
    call = ToolCall("1", "search", {"b": 1, "a": 2})
    variants = [
        (A1, REQUEST, ""),
        (B1, REQUEST, ""),
        (A1, replace(REQUEST, max_output=7), ""),
        (A1, replace(REQUEST, temperature=0.0), ""),
        (A1, replace(REQUEST, messages=(replace(REQUEST.messages[0], tool_calls=(call,)),)), ""),
        (A1, replace(REQUEST, messages=(replace(REQUEST.messages[0], content="\ud800"),)), ""),
        (A1, REQUEST, "2"),
    ]
    keys = [cache_key(*variant) for variant in variants]
    assert len(set(keys)) == len(variants)
    assert keys == [cache_key(*variant) for variant in variants]


FAULTS = st.sampled_from(
    ["server", "auth", "not_found", "rate_limited", "timeout", "empty", "bad_request", "too_long", "no_schema", "no_tools"]
)
STEPS = st.one_of(
    st.just(GOOD),
    st.builds(fault, FAULTS, retry_after=st.sampled_from([None, 0, 3, 40])),
    st.just(replace(GOOD, usage=None)),
)


@given(
    st.lists(STEPS, min_size=1, max_size=8),
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.builds(Budget, st.integers(0, 6), st.integers(0, 1500), st.sampled_from([0.0, 5.0, 60.0]), st.sampled_from([None, 0.0, 0.0005])),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
async def test_no_script_of_failures_goes_beyond_the_limits(steps: list[Step], questions: list[int], budget: Budget) -> None:
    """One account for several requests, some at the same time, as repairs and escalations are."""
    house = House({model: [steps[(at * 7 + n) % len(steps)] for n in range(60)] for at, model in enumerate((A1, A2, B1))})
    dispatch = house.dispatch()
    ask = replace(house.ask(), ledger=house.ledger(budget))
    for at_once in questions:
        async with anyio.create_task_group() as tasks:
            for _ in range(at_once):
                tasks.start_soon(dispatch.ask, replace(ask))
    usage = ask.ledger.usage()
    assert usage.llm_calls == len(usage.attempts) == len(house.calls) <= budget.max_calls
    assert usage.input_tokens + usage.output_tokens <= budget.max_tokens
    assert usage.cost_usd is not None
    assert usage.cost_usd <= (budget.max_usd if budget.max_usd is not None else 1)
    assert sum(house.sleeps) <= budget.max_seconds * sum(questions)
    outcome = await dispatch.ask(replace(ask))
    assert isinstance(outcome, Reply | NoModel | LimitReached)
    assert house.closed == len(house.calls)


def test_models_are_named_as_in_settings() -> None:
    assert str(ModelRef("a", "b:c")) == "a:b:c"
