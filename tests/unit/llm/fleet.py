"""A fleet of scripted providers and a clock that only sleeping moves: what dispatch does can be written down as a script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import anyio

from citewell.llm.base import Capability, ChatRequest, ChatResult, Content, Delta, Message, ModelRef, ProviderFault, Thinking, TokenUsage
from citewell.llm.breaker import Breaker
from citewell.llm.cache import GenerationCache
from citewell.llm.capabilities import Capabilities
from citewell.llm.dispatch import Ask, Dispatch
from citewell.llm.ledger import Ledger
from citewell.llm.prices import Price, Prices
from citewell.types import Budget

A1, A2, B1 = ModelRef("a", "1"), ModelRef("a", "2"), ModelRef("b", "1")
GOOD = ChatResult("The answer. [1]", usage=TokenUsage(20, 5, 4))
REQUEST = ChatRequest((Message("user", "How?"),), max_output=100)
PRICES = Prices(bundled={"1": Price(1, 1, 1), "2": Price(1, 1, 1)})
BUDGET = Budget(16, 100_000, 120)


def fault(kind: str, status: int | None = None, **more: object) -> ProviderFault:
    return ProviderFault(kind, f"it was {kind}", status=status, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class After:
    """A reply that comes, or breaks off, after these pieces; None hangs."""

    pieces: tuple[Delta, ...]
    end: ChatResult | ProviderFault | Exception | None


Step = ChatResult | ProviderFault | Exception | After | None


@dataclass
class House:
    """The fleet with its clock. `script` says for each model what its calls meet, in order; a script has to be used up."""

    script: dict[ModelRef, list[Step]]
    order: Sequence[ModelRef] = ()
    now: float = 1000.0
    calls: list[ModelRef] = field(default_factory=list)
    sleeps: list[float] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)
    capabilities: list[Capability] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    closed: int = 0
    took: float = 0.0  # how long each call takes on the clock

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds

    async def models(self, *, seconds: float) -> Sequence[ModelRef]:
        return self.order or tuple(self.script)

    def provider(self, name: str) -> Scripted:
        return Scripted(name, self)

    def used_up(self) -> bool:
        return not any(self.script.values())

    def dispatch(
        self,
        cache: GenerationCache | None = None,
        capabilities: Capabilities | None = None,
        breaker: Breaker | None = None,
        timeout: float = 60,
    ) -> Dispatch:
        return Dispatch(
            self,
            call_timeout=60,
            clock=self.clock,
            sleep=self.sleep,
            jitter=lambda: 0.25,
            breaker=breaker or Breaker(self.clock),
            capabilities=capabilities,
            cache=cache,
        )

    def ledger(self, budget: Budget = BUDGET, prices: Prices = PRICES) -> Ledger:
        return Ledger(budget, prices, self.clock)

    def ask(self, request: ChatRequest = REQUEST, budget: Budget = BUDGET, **more: object) -> Ask:
        return Ask(request, self.ledger(budget), **more)  # type: ignore[arg-type]


@dataclass
class Scripted:
    """A provider that does what the script of its house says."""

    name: str
    house: House

    async def stream(
        self, model: str, request: ChatRequest, *, capability: Capability, seconds: float
    ) -> AsyncIterator[Delta | ChatResult]:
        house, ref = self.house, ModelRef(self.name, model)
        house.calls.append(ref)
        house.requests.append(request)
        house.capabilities.append(capability)
        house.seconds.append(seconds)
        step = house.script[ref].pop(0)
        house.now += house.took
        try:
            pieces, end = (step.pieces, step.end) if isinstance(step, After) else ((), step)
            for piece in pieces:
                yield piece
            if end is None:
                await anyio.sleep_forever()
            if isinstance(end, Exception):
                raise end
            if isinstance(end, ChatResult):
                if not pieces:
                    yield Thinking("hm")
                    yield Content(end.content)
                yield end
        finally:
            house.closed += 1

    async def models(self, *, seconds: float) -> list[str]:
        return [ref.model for ref in self.house.script if ref.provider == self.name]

    async def aclose(self) -> None:
        return None
