"""When the next request may go out: so many a minute, and none while the server asks to be left alone."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


class Pace:
    """Gives each request its moment. `per_minute` 0 is no limit; `clock` is in seconds and never goes back."""

    def __init__(self, per_minute: int = 0, *, sleep: Sleep = anyio.sleep, clock: Clock = time.monotonic) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._sleep = sleep
        self._clock = clock
        self._next = 0.0  # when the next request may go out
        self._held = 0.0  # until when none may

    async def turn(self) -> None:
        """Return when the request may go out."""
        moment = max(self._clock(), self._next)
        self._next = moment + self._gap
        while (wait := max(moment, self._held) - self._clock()) > 0:
            await self._sleep(wait)

    def hold(self, seconds: float) -> None:
        """Let no request go out for so long."""
        self._held = max(self._held, self._clock() + seconds)
