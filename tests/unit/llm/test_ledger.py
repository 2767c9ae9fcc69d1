"""The account of a question: nothing starts beyond a limit, and only what a call misreports goes beyond one."""

from __future__ import annotations

import math

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from citewell.errors import SettingsError
from citewell.llm.base import ChatRequest, ChatResult, Message, ModelRef, OutputSchema, TokenUsage, ToolCall, ToolSpec
from citewell.llm.ledger import Booking, Ledger, Refusal, check_prices
from citewell.llm.prices import Price, Prices
from citewell.llm.tokens import estimate_input, estimate_output, estimate_text
from citewell.types import Attempt, Budget

CHEAP, DEAR, FREE, UNPRICED = (ModelRef("p", name) for name in ("cheap", "dear", "free", "unpriced"))
PRICES = Prices(own={"cheap": Price(1, 0.5, 2), "dear": Price(100, 50, 1000), "free": Price(0, 0, 0)})


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def ledger_of(calls: int = 10, tokens: int = 10_000, seconds: float = 60, usd: float | None = None, clock: Clock | None = None) -> Ledger:
    return Ledger(Budget(calls, tokens, seconds, usd), PRICES, clock or Clock())


def booked(ledger: Ledger, model: ModelRef = CHEAP, read: int = 100, written: int = 50) -> Booking:
    booking = ledger.book(model, read, written)
    assert isinstance(booking, Booking)
    return booking


@pytest.mark.parametrize(
    ("budget", "model", "limit"),
    [
        ({"calls": 0}, CHEAP, "calls"),
        ({"tokens": 149}, CHEAP, "tokens"),
        ({"seconds": 0}, CHEAP, "seconds"),
        ({"usd": 0.00019}, CHEAP, "usd"),
        ({"usd": 5}, UNPRICED, "usd"),
        ({"calls": 1, "tokens": 150, "seconds": 0.1, "usd": 0.00021}, CHEAP, None),
        ({"usd": 0}, FREE, None),
        ({}, UNPRICED, None),
    ],
)
def test_a_call_starts_within_all_limits_only(budget: dict[str, float], model: ModelRef, limit: str | None) -> None:
    found = ledger_of(**budget).book(model, 100, 50)  # type: ignore[arg-type]
    assert (found.limit if isinstance(found, Refusal) else None) == limit
    assert not isinstance(found, Refusal) or found.message


def test_what_is_booked_counts_until_it_is_settled() -> None:
    ledger = ledger_of(calls=3, tokens=300, usd=1)
    first = booked(ledger)
    assert (ledger.remaining.calls, ledger.remaining.tokens) == (2, 150)
    second = booked(ledger)
    assert isinstance(ledger.book(CHEAP, 1, 0), Refusal)
    ledger.settle(first, TokenUsage(40, 30, 10), "ok", 200, 1.5)
    ledger.settle(second, None, "cancelled", None, 0.5)
    usage = ledger.usage()
    assert (usage.llm_calls, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (2, 140, 30, 60)
    assert usage.cost_usd == pytest.approx((10 * 1 + 30 * 0.5 + 10 * 2 + 100 + 50 * 2) / 1e6)
    assert usage.attempts == (Attempt("p", "cheap", "ok", 200, 1.5), Attempt("p", "cheap", "cancelled", None, 0.5))
    assert ledger.remaining.tokens == 100
    with pytest.raises(KeyError):
        ledger.settle(first, None, "ok", 200, 1)


def test_after_a_misreport_nothing_starts() -> None:
    ledger = ledger_of(tokens=200, usd=1)
    ledger.settle(booked(ledger), TokenUsage(10**30, 10**30, -5), "ok", 200, 1)
    usage = ledger.usage()
    assert usage.input_tokens == usage.cached_tokens == 2**53
    assert usage.output_tokens == 0
    assert isinstance(ledger.book(FREE, 0, 0), Refusal)
    assert (ledger.remaining.tokens, ledger.remaining.usd) == (0, 0)


def test_no_price_means_no_cost_is_known() -> None:
    ledger = ledger_of()
    ledger.settle(booked(ledger, UNPRICED), TokenUsage(), "rate_limited", 429, 0.1)
    assert ledger.usage().cost_usd == 0
    ledger.settle(booked(ledger, UNPRICED), TokenUsage(5, 0, 5), "ok", 200, 0.1)
    ledger.settle(booked(ledger), TokenUsage(5, 0, 5), "ok", 200, 0.1)
    assert ledger.usage().cost_usd is None


def test_time_counts_from_when_the_question_began() -> None:
    clock = Clock()
    ledger = Ledger(Budget(5, 1000, 10), PRICES, clock, started=45)
    assert ledger.seconds_left == 5
    clock.now += 7
    assert ledger.seconds_left == 0
    assert ledger.usage().seconds == 12
    assert isinstance(ledger.book(CHEAP, 1, 1), Refusal)


def test_a_model_without_a_price_is_told_at_start_when_money_is_limited() -> None:
    check_prices([CHEAP, UNPRICED], PRICES, None)
    check_prices([CHEAP, FREE], PRICES, 0.5)
    with pytest.raises(SettingsError, match=r"No price is known for p:unpriced") as error:
        check_prices([CHEAP, UNPRICED], PRICES, 0.5)
    assert "prices.toml" in error.value.hint


def test_estimates_count_everything_that_is_sent() -> None:
    plain = ChatRequest((Message("user", "x" * 300),))
    call = Message("assistant", "", (ToolCall("1", "search", {"query": "x" * 300}),))
    tool = ToolSpec("search", "x" * 300, {"type": "object"})
    schema = OutputSchema("answer", "x" * 300, {"type": "object"})
    assert 100 < estimate_input(plain) < 120
    for more in (ChatRequest((*plain.messages, call)), ChatRequest(plain.messages, (tool,)), ChatRequest(plain.messages, (), schema)):
        assert estimate_input(more) >= estimate_input(plain) + 100
    assert estimate_input(ChatRequest(())) == 1
    assert estimate_output(ChatResult("x" * 30, "x" * 30, call.tool_calls)) >= 120
    assert (estimate_text(""), estimate_text("ab"), estimate_text("漢字"), estimate_text("\ud800")) == (0, 1, 2, 1)


class Account(RuleBasedStateMachine):
    """Calls at the same time that fail, repeat, and report what they like. Beside it stands a list of what was booked and said."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.open: list[Booking] = []
        self.settled: list[tuple[Booking, TokenUsage]] = []
        self.excess_tokens = 0  # reported beyond what was booked, by calls that were open when the last one started
        self.excess_usd = 0.0
        self.budget = Budget(12, 3000, 40, 0.05)
        self.ledger = Ledger(self.budget, PRICES, self.clock)

    @rule(model=st.sampled_from([CHEAP, DEAR, FREE, UNPRICED]), read=st.integers(0, 900), written=st.integers(0, 300))
    def book(self, model: ModelRef, read: int, written: int) -> None:
        tokens, usd = (
            self.spent_tokens() + sum(b.input + b.output for b in self.open),
            self.spent_usd() + sum(b.usd or 0 for b in self.open),
        )
        found = self.ledger.book(model, read, written)
        if isinstance(found, Refusal):
            return
        assert model is not UNPRICED or not read + written
        assert len(self.open) + len(self.settled) < self.budget.max_calls
        assert tokens + read + written <= self.budget.max_tokens
        assert usd + (found.usd or 0) <= self.budget.max_usd + 1e-9  # type: ignore[operator]
        assert self.clock.now - 50 < self.budget.max_seconds
        self.open.append(found)
        self.excess_tokens, self.excess_usd = 0, 0.0

    @precondition(lambda self: self.open)
    @rule(
        data=st.data(),
        usage=st.none() | st.builds(TokenUsage, st.integers(-5, 4000), st.integers(-5, 4000), st.integers(-5, 2000)),
        outcome=st.sampled_from(["ok", "server", "rate_limited", "cancelled", "timeout"]),
    )
    def settle(self, data: st.DataObject, usage: TokenUsage | None, outcome: str) -> None:
        booking = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        self.ledger.settle(booking, usage, outcome, None, 0.1)
        read, written = (booking.input, booking.output) if usage is None else (max(0, usage.input), max(0, usage.output))
        cached = 0 if usage is None else min(max(0, usage.cached), read)
        spent = TokenUsage(read, cached, written)
        self.settled.append((booking, spent))
        self.excess_tokens += max(0, read + written - booking.input - booking.output)
        self.excess_usd += max(0.0, self.cost(booking.model, spent) - (booking.usd or 0))

    @rule(seconds=st.floats(0, 15, allow_nan=False))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def only_misreports_overshoot(self) -> None:
        assert self.spent_tokens() <= self.budget.max_tokens + self.excess_tokens
        assert self.spent_usd() <= self.budget.max_usd + self.excess_usd + 1e-9  # type: ignore[operator]

    @invariant()
    def every_request_is_an_attempt(self) -> None:
        usage = self.ledger.usage()
        assert usage.llm_calls == len(usage.attempts) + len(self.open) <= self.budget.max_calls
        assert len(usage.attempts) == len(self.settled)
        assert usage.input_tokens + usage.output_tokens == self.spent_tokens()
        assert usage.cost_usd is None or math.isclose(usage.cost_usd, self.spent_usd(), abs_tol=1e-9)

    @invariant()
    def what_remains_is_never_negative(self) -> None:
        left = self.ledger.remaining
        assert min(left.calls, left.tokens, left.seconds, left.usd or 0) >= 0
        if not (left.calls and left.tokens and left.seconds):
            assert isinstance(self.ledger.book(FREE, 1, 0), Refusal)

    @staticmethod
    def cost(model: ModelRef, usage: TokenUsage) -> float:
        price = PRICES.of(model)
        return price.usd(usage) if price else 0.0

    def spent_tokens(self) -> int:
        return sum(usage.input + usage.output for _, usage in self.settled)

    def spent_usd(self) -> float:
        return sum(self.cost(booking.model, usage) for booking, usage in self.settled)


TestAccount = Account.TestCase
