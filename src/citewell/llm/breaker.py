"""Which models are left alone for a while, and for how long. Pure: the clock is passed in, and nothing waits here.

Cooldowns are per process by design: a worker that has seen no failure tries for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.llm.base import FaultKind, ModelRef

PAUSE = 60.0
GONE = 3600.0  # a model that is not there will not be soon
LOCKED = 900.0  # a key that is refused
LONGEST_RETRY_AFTER = 900.0

TRANSIENT: frozenset[FaultKind] = frozenset({"server", "connection", "timeout", "empty", "stream"})  # worth another try
_MOST = 1000  # models remembered; names come from settings, so more of them is a fault of ours


def cooldown(kind: FaultKind, retry_after: float | None = None) -> float:
    """For how many seconds a fault of this kind cools its model (its provider, for `auth`); 0 where it says nothing of the next request."""
    if kind == "auth":
        return LOCKED
    if kind == "not_found":
        return GONE
    if kind == "rate_limited":
        return min(retry_after, LONGEST_RETRY_AFTER) if retry_after and retry_after > 0 else PAUSE
    return PAUSE if kind in TRANSIENT else 0.0


class Breaker:
    """The cooldowns of a process. `clock` gives seconds and never goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}  # by `provider:model`, or by `provider` alone

    def failed(self, model: ModelRef, kind: FaultKind, retry_after: float | None = None) -> float:
        """Cool what failed; for how many seconds. A shorter cooldown never ends a longer one."""
        seconds = cooldown(kind, retry_after)
        if seconds:
            name = model.provider if kind == "auth" else str(model)
            self._until[name] = max(self._until.get(name, 0.0), self._clock() + seconds)
            self._forget()
        return seconds

    def worked(self, model: ModelRef) -> None:
        """A model that answers is cool no longer, and neither is its provider."""
        self._until.pop(str(model), None)
        self._until.pop(model.provider, None)

    def remaining(self, model: ModelRef) -> float:
        """For how many seconds more a model is to be left alone; 0 when it may be asked."""
        until = max(self._until.get(str(model), 0.0), self._until.get(model.provider, 0.0))
        return max(0.0, until - self._clock())

    def available(self, models: Sequence[ModelRef]) -> tuple[ModelRef, ...]:
        """Those that may be asked, in their order; all of them when all are cooling."""
        return tuple(model for model in models if not self.remaining(model)) or tuple(models)

    def _forget(self) -> None:
        if len(self._until) > _MOST:
            now = self._clock()
            kept = {name: until for name, until in self._until.items() if until > now}
            self._until = dict(sorted(kept.items(), key=lambda item: item[1])[-_MOST:])
