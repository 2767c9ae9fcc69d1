"""Fetchers for tests: time does not pass, names resolve as a test says, and what was waited is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from citewell.ingest.crawl.fetch import Fetched, Fetcher, FetchFault


@dataclass(slots=True)
class Clock:
    """A clock that only goes on while somebody sleeps by it."""

    now: float = 1_800_000_000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


@dataclass(slots=True)
class Names:
    """A resolver with a script: the answers for each name, one after the other, the last one for ever."""

    answers: dict[str, list[list[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        script = self.answers.get(host)
        if not script:
            raise OSError("no such name")
        return script.pop(0) if len(script) > 1 else script[0]


def fetcher(*named: str, clock: Clock | None = None, **options: Any) -> Fetcher:
    """A fetcher that waits by a clock of its own, for named hosts."""
    clock = clock or Clock()
    settings: dict[str, Any] = {"delay": 0.0, "user_agent": "citewell/test", "max_seconds": 5.0, "resolver": Names()} | options
    return Fetcher(named_hosts=named or ("127.0.0.1",), sleep=clock.sleep, clock=clock, **settings)


async def get(url: str, *named: str, allowed: Any = lambda _: "", **options: Any) -> Fetched:
    """What one fetcher gets from one address."""
    async with fetcher(*named, **options) as one:
        return await one.get(url, allowed=allowed)


async def fault_of(url: str, *named: str, **options: Any) -> FetchFault:
    """Why an address cannot be had; fails if it can."""
    try:
        fetched = await get(url, *named, **options)
    except FetchFault as fault:
        return fault
    raise AssertionError(f"{url} answered {fetched.status}")
