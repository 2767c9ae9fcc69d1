"""Every rule of dispatch as a row: which model is asked, how often, after which pauses, and what comes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.llm.base import ChatRequest, Content, ModelRef, OutputSchema, Thinking, ToolSpec
from citewell.llm.breaker import Breaker
from citewell.llm.dispatch import pause_after
from citewell.llm.outcomes import Cut, LimitReached, NoModel, Reply, ToolsUnsupported
from citewell.types import Budget
from tests.unit.llm.fleet import A1, A2, B1, GOOD, REQUEST, After, House, Step, fault

pytestmark = pytest.mark.anyio

WITH_TOOLS = replace(REQUEST, tools=(ToolSpec("search", "", {}),))
WITH_SCHEMA = replace(REQUEST, schema=OutputSchema("answer", "", {}), temperature=0.0)
SERVER, CONNECTION, TIMEOUT, EMPTY, STREAM = (fault(kind) for kind in ("server", "connection", "timeout", "empty", "stream"))


def limited(retry_after: float | None) -> Step:
    return fault("rate_limited", 429, retry_after=retry_after)


# Script of A1, A2, B1 → calls of each, sleeps, seconds for which A1, A2, B1 are then left alone.
RULES: dict[str, tuple[tuple[list[Step], list[Step], list[Step]], list[float], tuple[float, float, float]]] = {
    "the first answers": (([GOOD], [], []), [], (0, 0, 0)),
    "429 without Retry-After": (([limited(None)], [GOOD], []), [], (60, 0, 0)),
    "429 with seconds": (([limited(7), GOOD], [], []), [7.25], (0, 0, 0)),
    "429 with nothing to wait": (([limited(0), GOOD], [], []), [0.25], (0, 0, 0)),
    "429 with half a minute": (([limited(30), GOOD], [], []), [30.25], (0, 0, 0)),
    "429 with more": (([limited(31)], [GOOD], []), [], (31, 0, 0)),
    "429 with an hour": (([limited(3600)], [GOOD], []), [], (900, 0, 0)),
    "429 with less than nothing": (([limited(-1)], [GOOD], []), [], (60, 0, 0)),
    "429 again and again": (([limited(5), limited(5), limited(5)], [GOOD], []), [5.25, 5.25], (5, 0, 0)),
    "404": (([fault("not_found", 404)], [GOOD], []), [], (3600, 0, 0)),
    "401": (([fault("auth", 401)], [], [GOOD]), [], (900, 900, 0)),
    "403": (([fault("auth", 403)], [], [GOOD]), [], (900, 900, 0)),
    "400": (([fault("bad_request", 400)], [GOOD], []), [], (0, 0, 0)),
    "400 too long": (([fault("too_long", 400)], [GOOD], []), [], (0, 0, 0)),
    "500 once": (([SERVER, GOOD], [], []), [1], (0, 0, 0)),
    "500 twice": (([SERVER, SERVER, GOOD], [], []), [1, 2], (0, 0, 0)),
    "500 for ever": (([SERVER] * 3, [GOOD], []), [1, 2], (58 + 2, 0, 0)),
    "no connection": (([CONNECTION] * 3, [GOOD], []), [1, 2], (60, 0, 0)),
    "time-out": (([TIMEOUT] * 3, [GOOD], []), [1, 2], (60, 0, 0)),
    "200 without choices": (([EMPTY] * 3, [GOOD], []), [1, 2], (60, 0, 0)),
    "error event before the first token": (([STREAM, CONNECTION, SERVER], [GOOD], []), [1, 2], (60, 0, 0)),
    "a failure, then 404": (([SERVER, fault("not_found", 404)], [GOOD], []), [1], (3600, 0, 0)),
    "all fail": (([SERVER] * 3, [fault("not_found", 404)], [limited(None)]), [1, 2], (60, 3600, 60)),
    "no key is right": (([fault("auth", 401)], [], [fault("auth", 401)]), [], (900, 900, 900)),
}


@pytest.mark.parametrize("name", RULES)
async def test_a_rule(name: str) -> None:
    scripts, sleeps, cooling = RULES[name]
    house = House(dict(zip((A1, A2, B1), map(list, scripts), strict=True)))
    expected = [model for model, script in zip((A1, A2, B1), scripts, strict=True) for _ in script]
    breaker = Breaker(house.clock)
    ask = house.ask()
    outcome = await house.dispatch(breaker=breaker).ask(ask)
    assert house.calls == expected
    assert house.sleeps == sleeps
    assert tuple(breaker.remaining(model) for model in (A1, A2, B1)) == cooling
    assert house.used_up()
    assert house.closed == len(expected)
    assert [(attempt.provider, attempt.model) for attempt in ask.ledger.usage().attempts] == [(ref.provider, ref.model) for ref in expected]
    failed = sum(step is not GOOD for script in scripts for step in script)
    troubles = outcome.troubles if isinstance(outcome, Reply | NoModel) else ()
    assert len(troubles) == failed
    if any(GOOD in script for script in scripts):
        assert isinstance(outcome, Reply)
        assert outcome.result == replace(GOOD, model=expected[-1])
        assert not outcome.cached
    else:
        assert isinstance(outcome, NoModel)


async def test_what_is_cooling_is_passed_over_and_when_all_are_all_are_tried() -> None:
    house = House({A1: [fault("not_found", 404)], B1: [GOOD, *[SERVER] * 3, *[SERVER] * 3]})
    dispatch = house.dispatch()
    await dispatch.ask(house.ask())
    house.script[A1] += [fault("not_found", 404)] * 2
    assert isinstance(await dispatch.ask(house.ask()), NoModel)
    assert house.calls == [A1, B1, B1, B1, B1, A1]  # the last one because nothing else was left
    assert isinstance(await dispatch.ask(house.ask()), NoModel)
    assert house.calls[6:] == [A1, B1, B1, B1]
    house.script[B1].append(GOOD)
    house.now += 60
    assert isinstance(await dispatch.ask(house.ask()), Reply)


async def test_a_key_that_was_refused_is_not_tried_twice_in_one_request() -> None:
    house = House({A1: [fault("not_found", 404)] * 2, A2: [fault("auth", 401)] * 2})
    dispatch = house.dispatch()
    await dispatch.ask(house.ask())
    assert house.calls == [A1, A2]
    await dispatch.ask(house.ask())
    assert house.calls == [A1, A2, A1, A2]
    house = House({A1: [fault("auth", 401)], A2: []})
    await house.dispatch().ask(house.ask())
    assert house.calls == [A1]


async def test_the_deadline_decides_whether_to_wait() -> None:
    house = House({A1: [limited(20)], B1: [SERVER, SERVER]}, took=2.0)
    ask = house.ask(budget=Budget(16, 100_000, 7.0))
    assert isinstance(await house.dispatch().ask(ask), NoModel)
    assert house.sleeps == [1]
    assert house.seconds == [7, 5, 2]
    assert ask.ledger.seconds_left == 0


async def test_a_call_that_had_little_time_cools_nothing() -> None:
    house = House({A1: [TIMEOUT, TIMEOUT]})
    breaker = Breaker(house.clock)
    await house.dispatch(breaker=breaker).ask(house.ask(budget=Budget(16, 100_000, 2.5)))
    assert (house.sleeps, breaker.remaining(A1)) == ([1], 0)


async def test_when_the_limit_of_calls_is_reached_nothing_waits_or_starts() -> None:
    house = House({A1: [SERVER, SERVER], B1: []})
    outcome = await house.dispatch().ask(house.ask(budget=Budget(2, 100_000, 120)))
    assert isinstance(outcome, LimitReached)
    assert (outcome.refusal.limit, len(outcome.troubles), house.sleeps) == ("calls", 2, [1])


async def test_a_model_that_costs_too_much_leaves_its_turn_to_a_cheaper_one() -> None:
    dear = ModelRef("a", "dear")
    house = House({dear: [], A1: [GOOD]})
    budget = Budget(16, 100_000, 120, max_usd=0.001)
    ledger_prices = replace(house.ledger()._prices, own={"dear": replace(house.ledger()._prices.bundled["1"], output=1000.0)})
    ask = house.ask()
    ask = replace(ask, ledger=house.ledger(budget, ledger_prices))
    assert isinstance(await house.dispatch().ask(ask), Reply)
    assert house.calls == [A1]
    alone = House({dear: []})
    outcome = await alone.dispatch().ask(replace(ask, ledger=alone.ledger(budget, ledger_prices)))
    assert isinstance(outcome, LimitReached)
    assert outcome.refusal.limit == "usd"


async def test_no_model_is_no_error() -> None:
    house = House({})
    assert await house.dispatch().ask(house.ask()) == NoModel()
    assert await house.dispatch().next_model(seconds=1) is None


@pytest.mark.parametrize(
    ("request_", "faults", "lacks"),
    [
        (WITH_SCHEMA, ["no_temperature"], {"temperature"}),
        (WITH_SCHEMA, ["no_schema"], {"json_schema"}),
        (WITH_SCHEMA, ["no_schema", "no_schema", "no_temperature"], {"json_schema", "json_object", "temperature"}),
        (WITH_SCHEMA, ["no_tools"], {"tools"}),
        (REQUEST, ["no_max_tokens"], {"max_tokens"}),
    ],
)
async def test_what_a_model_cannot_do_is_left_out_at_once_and_remembered(request_: ChatRequest, faults: list[str], lacks: set[str]) -> None:
    house = House({A1: [*(fault(kind, 400) for kind in faults), GOOD, GOOD]})
    dispatch = house.dispatch()
    ask = house.ask(request_)
    assert isinstance(await dispatch.ask(ask), Reply)
    assert house.sleeps == []
    assert ask.ledger.usage().llm_calls == len(faults) + 1
    assert isinstance(await dispatch.ask(house.ask(request_)), Reply)
    assert len(house.calls) == len(faults) + 2
    names = ("tools", "json_schema", "json_object", "temperature", "max_tokens")
    assert {name for name in names if not getattr(house.capabilities[-1], name)} == lacks


async def test_a_fault_that_teaches_nothing_new_leads_to_the_next_model() -> None:
    house = House({A1: [*[fault("no_schema", 400)] * 3, fault("no_temperature", 400)], B1: [GOOD, GOOD]})
    dispatch = house.dispatch()
    assert isinstance(await dispatch.ask(house.ask(replace(WITH_SCHEMA, temperature=None))), Reply)
    assert isinstance(await dispatch.ask(house.ask()), Reply)
    assert house.calls == [A1, A1, A1, B1, A1, B1]


async def test_a_model_without_tools_is_reported_and_then_known() -> None:
    house = House({A1: [fault("no_tools", 400), GOOD], B1: []})
    dispatch = house.dispatch()
    assert await dispatch.ask(house.ask(WITH_TOOLS)) == ToolsUnsupported(A1)
    assert await dispatch.ask(house.ask(WITH_TOOLS)) == ToolsUnsupported(A1)
    assert house.calls == [A1]
    assert isinstance(await dispatch.ask(house.ask()), Reply)
    known = await dispatch.next_model(seconds=1)
    assert known is not None
    assert (known[0], known[1].tools) == (A1, False)


async def test_what_is_too_long_is_trimmed_once() -> None:
    house = House({A1: [fault("too_long", 400, window=4096), fault("too_long", 400), GOOD], B1: [fault("too_long", 400), GOOD]})
    short, windows = replace(REQUEST, max_output=50), []

    def shorten(request: ChatRequest, window: int | None) -> ChatRequest | None:
        windows.append(window)
        return short

    dispatch = house.dispatch()
    assert isinstance(await dispatch.ask(house.ask(shorten=shorten)), Reply)
    assert house.calls == [A1, A1, B1, B1]
    assert house.requests == [REQUEST, short, REQUEST, short]
    assert windows == [4096, None]
    assert house.sleeps == []
    known = await dispatch.next_model(seconds=1)
    assert known is not None
    assert known[1].window == 4096


async def test_a_request_that_cannot_be_trimmed_goes_to_the_next_model() -> None:
    house = House({A1: [fault("too_long", 400)], B1: [GOOD]})
    assert isinstance(await house.dispatch().ask(house.ask(shorten=lambda request, window: None)), Reply)


@pytest.mark.parametrize("shows", [True, False])
async def test_no_other_model_takes_over_once_a_piece_was_shown(shows: bool) -> None:
    house = House({A1: [After((Thinking("hm"), Content("The ")), fault("connection"))], B1: [] if shows else [GOOD]})
    if not shows:
        house.script[A1] += [After((Content("The ans"),), STREAM), SERVER]
    heard: list[tuple[ModelRef, str]] = []

    def listen(model: ModelRef) -> object:
        def listener(piece: object) -> bool:
            heard.append((model, piece.text))  # type: ignore[attr-defined]
            return shows and isinstance(piece, Content)

        return listener

    ask = house.ask(listen=listen)
    outcome = await house.dispatch().ask(ask)
    usage = ask.ledger.usage()
    if shows:
        assert isinstance(outcome, Cut)
        assert (outcome.result.content, outcome.result.thinking, outcome.result.model) == ("The ", "hm", A1)
        assert (outcome.trouble.kind, house.calls, house.sleeps) == ("connection", [A1], [])
        assert usage.output_tokens == 3
        assert usage.input_tokens > 0
    else:
        assert isinstance(outcome, Reply)
        assert house.calls == [A1, A1, A1, B1]
        assert [text for model, text in heard if model == B1] == ["hm", GOOD.content]


def test_pauses() -> None:
    assert [pause_after(fault("server"), tries, 0.5) for tries in (1, 2, 3, 4)] == [1, 2, None, None]
    assert pause_after(fault("rate_limited", retry_after=float("nan")), 1, 0.5) is None
    assert pause_after(fault("auth"), 1, 0.5) is None
