"""The one account of a question: calls, tokens, seconds and money. A call is booked before it may start and settled after.

What is booked counts as spent until it is settled, so calls at the same time cannot pass a limit together. A provider that then reports
more than was booked overshoots by that once; nothing starts after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from citewell.errors import SettingsError
from citewell.llm.base import ModelRef, TokenUsage
from citewell.llm.prices import Price, Prices
from citewell.types import Attempt, Budget, Usage

Limit = Literal["calls", "tokens", "seconds", "usd"]

_MOST_TOKENS = 2**53  # what a provider reports beyond this is no number of tokens


@dataclass(frozen=True, slots=True)
class Booking:
    """A call that may start: the tokens that it may cost, and the dollars where a price is known."""

    number: int
    model: ModelRef
    input: int
    output: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that may not start, the limit that forbids it, and that in words."""

    limit: Limit
    message: str


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is neither spent nor booked; never below 0. `usd` is None without a limit on money."""

    calls: int
    tokens: int
    seconds: float
    usd: float | None


class Ledger:
    """The account of one question that began at `started` (now, when it is None). `clock` gives seconds and never goes back."""

    def __init__(self, budget: Budget, prices: Prices, clock: Callable[[], float], *, started: float | None = None) -> None:
        self.budget = budget
        self._prices = prices
        self._clock = clock
        self._started = clock() if started is None else started
        self._open: dict[int, Booking] = {}
        self._attempts: list[Attempt] = []
        self._spent = TokenUsage()
        self._usd = 0.0
        self._priced = True

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.budget.max_seconds - self._elapsed())

    @property
    def remaining(self) -> Remaining:
        left = None if self.budget.max_usd is None else max(0.0, self.budget.max_usd - self._committed_usd())
        tokens = max(0, self.budget.max_tokens - self._committed_tokens())
        return Remaining(max(0, self.budget.max_calls - self._calls()), tokens, self.seconds_left, left)

    def refusal(self, model: ModelRef, estimate_input: int, max_output: int) -> Refusal | None:
        """The limit that such a call would break now; None when it may start."""
        limits, cost = self.budget, self._cost(model, TokenUsage(estimate_input, 0, max_output))
        if self._calls() + 1 > limits.max_calls:
            return Refusal("calls", f"The limit of {limits.max_calls} calls of a model is reached.")
        if self._elapsed() >= limits.max_seconds:
            return Refusal("seconds", f"The limit of {limits.max_seconds:g} seconds is reached.")
        tokens = max(1, estimate_input + max_output)
        if self._committed_tokens() + tokens > limits.max_tokens:
            left = self.remaining.tokens
            return Refusal("tokens", f"A call of up to {tokens} tokens does not fit into the {left} left of {limits.max_tokens}.")
        if limits.max_usd is None:
            return None
        if cost is None:
            return Refusal("usd", f"No price is known for {model}, and the money is limited.")
        if self._committed_usd() + cost > limits.max_usd:
            return Refusal(
                "usd", f"A call of up to ${cost:.4f} does not fit into the ${self.remaining.usd:.4f} left of ${limits.max_usd:g}."
            )
        return None

    def book(self, model: ModelRef, estimate_input: int, max_output: int) -> Booking | Refusal:
        """A call that may start now, or why none may. `estimate_input` is that of `tokens.estimate_input`."""
        refused = self.refusal(model, estimate_input, max_output)
        if refused:
            return refused
        number = self._calls() + 1
        cost = self._cost(model, TokenUsage(estimate_input, 0, max_output))
        self._open[number] = Booking(number, model, estimate_input, max_output, cost)
        return self._open[number]

    def settle(self, booking: Booking, usage: TokenUsage | None, outcome: str, status: int | None, seconds: float) -> None:
        """Enter what a call did cost, once; without `usage` all that was booked. `outcome` is "ok", the kind of a fault, or "cancelled"."""
        del self._open[booking.number]
        spent = _sane(usage) if usage is not None else TokenUsage(booking.input, 0, booking.output)
        cost = self._cost(booking.model, spent)
        self._priced = self._priced and cost is not None
        self._usd += cost or 0.0
        self._spent = TokenUsage(self._spent.input + spent.input, self._spent.cached + spent.cached, self._spent.output + spent.output)
        self._attempts.append(Attempt(booking.model.provider, booking.model.model, outcome, status, seconds))

    def usage(self) -> Usage:
        """What the settled calls cost. `cost_usd` is None once tokens were spent at an unknown price."""
        spent, cost = self._spent, self._usd if self._priced else None
        return Usage(
            llm_calls=self._calls(),
            input_tokens=spent.input,
            cached_tokens=spent.cached,
            output_tokens=spent.output,
            cost_usd=cost,
            seconds=self._elapsed(),
            attempts=tuple(self._attempts),
        )

    def _elapsed(self) -> float:
        return self._clock() - self._started

    def _calls(self) -> int:
        return len(self._attempts) + len(self._open)

    def _committed_tokens(self) -> int:
        return self._spent.input + self._spent.output + sum(booking.input + booking.output for booking in self._open.values())

    def _committed_usd(self) -> float:
        return math.fsum((self._usd, *(booking.usd or 0.0 for booking in self._open.values())))

    def _cost(self, model: ModelRef, usage: TokenUsage) -> float | None:
        price: Price | None = self._prices.of(model)
        if price is None:
            return None if usage.input or usage.output else 0.0
        return price.usd(usage)


def _sane(usage: TokenUsage) -> TokenUsage:
    """Numbers that can be counts: a report is as hostile as any other text from outside."""
    read, written = (min(max(0, count), _MOST_TOKENS) for count in (usage.input, usage.output))
    return TokenUsage(read, min(max(0, usage.cached), read), written)


def check_prices(models: Iterable[ModelRef], prices: Prices, max_usd: float | None) -> None:
    """Raises `SettingsError` for a model without a price while money is limited."""
    unknown = next((model for model in models if prices.of(model) is None), None) if max_usd is not None else None
    if unknown is not None:
        raise SettingsError(
            f"No price is known for {unknown}, and the money of a question is limited.",
            hint="Write the price of that model into prices.toml of the home (docs/settings.md shows how), or unset CITEWELL_MAX_USD.",
        )
