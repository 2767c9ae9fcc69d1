"""The models of a process: their clients, prices, cooldowns, what is known of them and what they answered lately. A question takes its own
`Dispatch` and `Ledger` from here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from citewell.llm.breaker import Breaker
from citewell.llm.cache import GenerationCache, MemoryCache
from citewell.llm.capabilities import Capabilities
from citewell.llm.dispatch import Dispatch
from citewell.llm.ledger import Ledger, check_prices
from citewell.llm.prices import Prices, load_prices
from citewell.llm.registry import Registry
from citewell.settings import Settings
from citewell.types import Budget

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Models:
    """`clock` gives seconds and never goes back."""

    registry: Registry
    prices: Prices
    call_timeout: float
    clock: Clock
    breaker: Breaker
    cache: GenerationCache
    capabilities: Capabilities = field(default_factory=Capabilities)

    @classmethod
    def of(cls, settings: Settings, clock: Clock = time.monotonic) -> Models:
        """The models that the settings name; nothing is connected to yet. Raises `SettingsError` for a file of prices that is none."""
        registry = Registry(settings, clock=clock)
        return cls(registry, load_prices(settings.home, registry.free), settings.call_timeout, clock, Breaker(clock), MemoryCache(clock))

    def ledger(self, budget: Budget, started: float) -> Ledger:
        return Ledger(budget, self.prices, self.clock, started=started)

    def dispatch(self, budget: Budget, *, provider: str | None = None, model: str | None = None) -> Dispatch | None:
        """Who answers within such a budget; None for nobody: then answers are quotations. Raises `SettingsError` for a choice that cannot
        be asked, and for a model without a price while money is limited."""
        fleet = self.registry.fleet(provider=provider, model=model)
        if fleet.offline:
            return None
        check_prices(fleet.named, self.prices, budget.max_usd)
        return Dispatch(
            fleet,
            call_timeout=self.call_timeout,
            clock=self.clock,
            breaker=self.breaker,
            capabilities=self.capabilities,
            cache=self.cache,
        )

    async def aclose(self) -> None:
        await self.registry.aclose()
