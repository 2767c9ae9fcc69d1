"""Requests go out at the pace that is allowed."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from citewell.index.embed.pace import Pace

pytestmark = pytest.mark.anyio


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await anyio.lowlevel.checkpoint()
        self.now = max(self.now, until)


async def turns(pace: Pace, clock: Clock, count: int) -> list[float]:
    found: list[float] = []

    async def one() -> None:
        await pace.turn()
        found.append(clock() - 100)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(one)
    return found


async def test_without_a_limit_nobody_waits() -> None:
    clock = Clock()
    assert await turns(Pace(sleep=clock.sleep, clock=clock), clock, 5) == [0] * 5


async def test_requests_are_spread_over_the_minute() -> None:
    clock = Clock()
    assert sorted(await turns(Pace(30, sleep=clock.sleep, clock=clock), clock, 4)) == pytest.approx([0, 2, 4, 6])


async def test_time_that_passed_unused_is_not_saved_up() -> None:
    clock = Clock()
    pace = Pace(60, sleep=clock.sleep, clock=clock)
    await turns(pace, clock, 1)
    clock.now = 150
    assert sorted(await turns(pace, clock, 3)) == pytest.approx([50, 51, 52])


async def test_a_pause_that_the_server_asked_for_holds_for_all() -> None:
    clock = Clock()
    pace = Pace(sleep=clock.sleep, clock=clock)
    pace.hold(12)
    pace.hold(3)
    assert await turns(pace, clock, 3) == pytest.approx([12, 12, 12])
