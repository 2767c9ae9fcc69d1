"""One request to whichever model answers: in order, within the ledger, around what fails. A stream that somebody watches and a silent
one are the same code; they differ in the listener.

Of the rules, `pause_after` says when the same model is tried again, `Breaker` which one is left alone, `lesser` what is asked in another
way, and `_Walk` who is next.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol, cast

import anyio

from citewell.llm.base import Capability, ChatRequest, ChatResult, Content, Delta, ModelRef, Provider, ProviderFault, TokenUsage
from citewell.llm.breaker import TRANSIENT, Breaker
from citewell.llm.cache import GenerationCache, cache_key
from citewell.llm.capabilities import Capabilities, lesser
from citewell.llm.ledger import Booking, Ledger, Refusal
from citewell.llm.outcomes import Cut, LimitReached, NoModel, Outcome, Reply, ToolsUnsupported, Trouble
from citewell.llm.tokens import estimate_input, estimate_output, estimate_text

MOST_TRIES = 3
PAUSES = (1.0, 2.0)
LONGEST_WAIT = 30.0  # a Retry-After up to here is waited for

_GRACE = 0.5  # seconds that a provider gets to notice its own time-out
_CHARS_PER_TOKEN = 40  # no text has more; who sends more than that ignores `max_output`
_BILLED = frozenset({"timeout", "empty", "stream"})  # the model may have read the request

Listener = Callable[[Delta], bool]
"""Is given each piece as it comes; returns whether any of it was shown to a user."""

Shorten = Callable[[ChatRequest, int | None], ChatRequest | None]
"""Makes of a request that was too long one that fits into so many tokens (half of it, where None is known); None where it cannot."""


class Fleet(Protocol):
    """The models of this house, in the order in which they are asked, and who serves them."""

    async def models(self, *, seconds: float) -> Sequence[ModelRef]: ...

    def provider(self, name: str) -> Provider: ...


@dataclass(frozen=True, slots=True)
class Ask:
    """One request with its account. `listen` makes a listener for each call, so that none hears two replies. With `fresh`, a reply
    that was kept is not taken."""

    request: ChatRequest
    ledger: Ledger
    listen: Callable[[ModelRef], Listener] | None = None
    shorten: Shorten | None = None
    prompt_version: str = ""
    fresh: bool = False


class Dispatch:
    """Asks the models of a fleet. `clock` gives seconds and never goes back, `jitter` a number of seconds from 0 to 1."""

    def __init__(
        self,
        fleet: Fleet,
        *,
        call_timeout: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        jitter: Callable[[], float] = random.random,
        breaker: Breaker | None = None,
        capabilities: Capabilities | None = None,
        cache: GenerationCache | None = None,
    ) -> None:
        self._fleet = fleet
        self._call_timeout = call_timeout
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._breaker = breaker or Breaker(clock)
        self._capabilities = capabilities or Capabilities()
        self._cache = cache

    async def next_model(self, *, seconds: float) -> tuple[ModelRef, Capability] | None:
        """Who would be asked now, and what is known of it; None where there is no model."""
        models = self._breaker.available(await self._fleet.models(seconds=seconds))
        return (models[0], self._capabilities.of(models[0])) if models else None

    async def ask(self, ask: Ask) -> Outcome:
        """The reply of the first model that gives one, or why there is none. Raises bugs only; cancellation settles the account."""
        models = await self._fleet.models(seconds=min(self._call_timeout, ask.ledger.seconds_left))
        walk = _Walk(models, self._breaker)
        troubles: list[Trouble] = []
        too_dear: LimitReached | None = None
        while (model := walk.step(troubles)) is not None:
            outcome = await self._ask_model(model, ask, troubles)
            if isinstance(outcome, LimitReached) and outcome.refusal.limit == "usd":
                too_dear = outcome  # another model may cost less
            elif outcome is not None:
                return outcome
        return replace(too_dear, troubles=tuple(troubles)) if too_dear else NoModel(tuple(troubles))

    async def _ask_model(self, model: ModelRef, ask: Ask, troubles: list[Trouble]) -> Outcome | None:
        """How one model took the request; None when the next is to be asked. Adds to the troubles."""
        if ask.request.tools and not self._capabilities.of(model).tools:
            return ToolsUnsupported(model)
        kept = await self._kept(model, ask)
        if kept is not None:
            return replace(kept, troubles=tuple(troubles))
        request, tries, shortened = ask.request, 0, False
        while True:
            outcome = await self._call(model, request, ask)
            if not isinstance(outcome, _Failed):
                return outcome if isinstance(outcome, Cut) else replace(outcome, troubles=tuple(troubles))
            troubles.append(_trouble(model, outcome.fault))
            fault, less = outcome.fault, lesser(self._capabilities.of(model), outcome.fault.kind, request)
            if less is not None:
                self._capabilities.learn(model, less)
                if fault.kind == "no_tools" and request.tools:
                    return ToolsUnsupported(model)
                continue
            shorter = None if shortened else self._shorter(model, request, ask, fault)
            if shorter is not None:
                request, shortened = shorter, True
                continue
            tries += 1
            if not await self._wait(model, request, ask.ledger, fault, tries):
                if fault.kind != "timeout" or outcome.full_time:  # a call that had less time than it may have says nothing
                    self._breaker.failed(model, fault.kind, fault.retry_after)
                return None

    def _shorter(self, model: ModelRef, request: ChatRequest, ask: Ask, fault: ProviderFault) -> ChatRequest | None:
        """A request that the model may take after it found one too long; what it said of its window is kept."""
        if fault.kind != "too_long":
            return None
        capability = self._capabilities.of(model)
        if fault.window is not None and fault.window != capability.window:
            capability = replace(capability, window=fault.window)
            self._capabilities.learn(model, capability)
        return ask.shorten(request, capability.window) if ask.shorten else None

    async def _wait(self, model: ModelRef, request: ChatRequest, ledger: Ledger, fault: ProviderFault, tries: int) -> bool:
        """Whether the same model is to be tried again, after the pause that this takes."""
        pause = pause_after(fault, tries, self._jitter())
        if pause is None or pause >= ledger.seconds_left:
            return False
        if ledger.refusal(model, estimate_input(request), request.max_output) is None:  # else there is nothing to wait for
            await self._sleep(pause)
        return True

    async def _kept(self, model: ModelRef, ask: Ask) -> Reply | None:
        if self._cache is None or ask.fresh:
            return None
        result = await self._cache.get(cache_key(model, ask.request, ask.prompt_version))
        if result is None:
            return None
        if ask.listen and result.content:
            ask.listen(model)(Content(result.content))
        return Reply(result, cached=True)

    async def _call(self, model: ModelRef, request: ChatRequest, ask: Ask) -> Reply | Cut | LimitReached | _Failed:
        """One HTTP request, booked and settled."""
        booking = ask.ledger.book(model, estimate_input(request), request.max_output)
        if isinstance(booking, Refusal):
            return LimitReached(booking)
        seconds = min(self._call_timeout, ask.ledger.seconds_left)
        received = _Received(ask.listen(model) if ask.listen else None, request.max_output)
        began = self._clock()
        try:
            result = await self._stream(model, request, received, seconds)
        except ProviderFault as fault:
            ask.ledger.settle(booking, received.cost(booking, sent=fault.kind in _BILLED), fault.kind, fault.status, self._clock() - began)
            return Cut(received.result(model), _trouble(model, fault)) if received.shown else _Failed(fault, seconds >= self._call_timeout)
        except BaseException as error:
            outcome = "cancelled" if isinstance(error, anyio.get_cancelled_exc_class()) else "error"
            ask.ledger.settle(booking, received.cost(booking, sent=True), outcome, None, self._clock() - began)
            raise
        usage = result.usage or TokenUsage(booking.input, 0, estimate_output(result))
        ask.ledger.settle(booking, usage, "ok", 200, self._clock() - began)
        self._breaker.worked(model)
        if self._cache is not None and result.finish in ("stop", "tool_calls"):
            await self._cache.put(cache_key(model, ask.request, ask.prompt_version), result)
        return Reply(result)

    async def _stream(self, model: ModelRef, request: ChatRequest, received: _Received, seconds: float) -> ChatResult:
        """The complete reply. Raises `ProviderFault`, also for a provider that breaks its word."""
        stream = self._fleet.provider(model.provider).stream(model.model, request, capability=self._capabilities.of(model), seconds=seconds)
        try:
            with anyio.fail_after(seconds + _GRACE):
                async with aclosing(cast("AsyncGenerator[Delta | ChatResult]", stream)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, ChatResult):
                            return replace(piece, model=piece.model or model)
                        received.take(piece)
        except TimeoutError as error:
            raise ProviderFault("timeout", f"{model} did not answer within {seconds:g} seconds") from error
        raise ProviderFault("stream", f"{model} ended without a reply")


def pause_after(fault: ProviderFault, tries: int, jitter: float) -> float | None:
    """For how many seconds to wait before the model that failed is asked again, after so many tries; None when it is to be left."""
    if tries >= MOST_TRIES:
        return None
    if fault.kind == "rate_limited" and fault.retry_after is not None and 0 <= fault.retry_after <= LONGEST_WAIT:
        return fault.retry_after + jitter
    return PAUSES[tries - 1] if fault.kind in TRANSIENT else None


def _trouble(model: ModelRef, fault: ProviderFault) -> Trouble:
    return Trouble(model, fault.kind, str(fault), fault.status)


@dataclass(frozen=True, slots=True)
class _Failed:
    """A call without a reply; `full_time` says whether it had the time that a call may have."""

    fault: ProviderFault
    full_time: bool


class _Received:
    """What has come of a reply, and whether any of it was shown."""

    def __init__(self, listener: Listener | None, max_output: int) -> None:
        self.shown = False
        self._listener = listener
        self._pieces: list[Delta] = []
        self._chars_left = _CHARS_PER_TOKEN * (max_output + 256)

    def take(self, piece: Delta) -> None:
        """Raises `ProviderFault` for more than the model was allowed to write."""
        self._chars_left -= len(piece.text)
        if self._chars_left < 0:
            raise ProviderFault("stream", "the model wrote far more than it was asked for")
        self._pieces.append(piece)
        if self._listener is not None and self._listener(piece):
            self.shown = True

    def cost(self, booking: Booking, *, sent: bool) -> TokenUsage:
        """What a call without an end did cost: its request, if anything came back or it was `sent` on the whole, and what came."""
        written = sum(estimate_text(piece.text) for piece in self._pieces)
        return TokenUsage(booking.input if sent or self._pieces else 0, 0, min(written, booking.output))

    def result(self, model: ModelRef) -> ChatResult:
        said = "".join(piece.text for piece in self._pieces if isinstance(piece, Content))
        thought = "".join(piece.text for piece in self._pieces if not isinstance(piece, Content))
        return ChatResult(said, thought, finish="length", model=model)


class _Walk:
    """Who is asked next: those that are not cooling, in order; when all are cooling, those that were before this request too."""

    def __init__(self, models: Sequence[ModelRef], breaker: Breaker) -> None:
        self._all = tuple(dict.fromkeys(models))
        self._left = list(self._all)
        self._breaker = breaker
        self._cool_before = {model for model in self._all if breaker.remaining(model)}

    def step(self, troubles: Sequence[Trouble]) -> ModelRef | None:
        ready = next((model for model in self._left if not self._breaker.remaining(model)), None)
        if ready is None and all(self._breaker.remaining(model) for model in self._all):
            refused = {trouble.model.provider for trouble in troubles if trouble.kind == "auth"}
            ready = next((model for model in self._left if model in self._cool_before and model.provider not in refused), None)
        if ready is not None:
            self._left.remove(ready)
        return ready
