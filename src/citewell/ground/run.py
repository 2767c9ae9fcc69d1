"""What a step works with: `Run`, the one mutable object of a question, and `Deps`, the services it may use."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from citewell.ground.evidence import Evidence
from citewell.index.embed import Embedder
from citewell.index.store import CorpusInfo, Store
from citewell.llm.dispatch import Dispatch
from citewell.llm.ledger import Ledger
from citewell.llm.models import Models
from citewell.profile import Profile
from citewell.settings import Settings
from citewell.types import NO_FILTERS, Budget, Draft, Event, Filters, TraceEvent, Usage

Sink = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Deps:
    """`embedder` is None without the packaged weights: then keywords alone find and rank. Without `models` none is ever asked. `clock`
    gives seconds."""

    store: Store
    embedder: Embedder | None
    profile: Profile
    settings: Settings
    models: Models | None = None
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class Run:
    """A question under way. `sink` is told what happens; one that raises is dropped. `shows_drafts`: it shows people what is not verified
    yet, so that no other model may take over once a piece was shown. `draft` is what the driver took to, so far. Without
    `dispatch` no model is asked."""

    question: str
    budget: Budget
    corpus: CorpusInfo
    started: float
    trace_id: str
    filters: Filters = NO_FILTERS
    evidence: Evidence = field(default_factory=Evidence)
    usage: Usage = field(default_factory=Usage)
    warnings: list[str] = field(default_factory=list)
    sink: Sink | None = None
    shows_drafts: bool = False
    draft: Draft = field(default_factory=lambda: Draft("single", "rules"))
    ledger: Ledger | None = None
    dispatch: Dispatch | None = None

    def spent(self) -> Usage:
        """What the question has cost so far."""
        usage = self.ledger.usage() if self.ledger else Usage()
        return replace(usage, tool_calls=self.usage.tool_calls, rounds=self.usage.rounds)

    def emit(self, event: Event) -> None:
        if self.sink is None:
            return
        try:
            self.sink(event)
        except Exception:  # noqa: BLE001 - whoever watches must not be able to break what is watched
            self.sink = None
            self.warnings.append("The progress display failed and was dropped.")

    def trace(self, text: str) -> None:
        self.emit(TraceEvent(text))
