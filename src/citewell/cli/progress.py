"""How far long work is: a bar on a terminal, plain lines elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from citewell.cli.streams import tell
from citewell.render import one_line

_LINE_SECONDS = 5.0
_LABELS = {"pages": "reading pages", "vectors": "embedding sections", "calibration": "calibrating the guard"}


def progress_display() -> _Bars | Lines:
    """The display that suits stderr: a context manager that is called with (phase, done, total)."""
    return _Bars() if sys.stderr.isatty() else Lines()


def _label(phase: str) -> str:
    name, _, source = phase.partition(": ")
    label = _LABELS.get(name, name)
    return one_line(f"{label} of {source}" if source else label)


class Lines:
    """A line when a phase begins, at most one every few seconds while it lasts, and one with where it ended when the display is left.
    Phases may run side by side; one without anything to do is not shown. `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, tuple[float, str]] = {}  # when, and which line
        self._latest: dict[str, str] = {}

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *details: object) -> None:
        for phase, line in self._latest.items():
            if self._told[phase][1] != line:
                tell(line)

    def __call__(self, phase: str, done: int, total: int) -> None:
        if not total:
            return
        line = self._latest[phase] = f"{_label(phase)}: {done} of {total}"
        now = self._clock()
        if phase not in self._told or now - self._told[phase][0] >= _LINE_SECONDS:
            self._told[phase] = now, line
            tell(line)


class _Bars:
    """One bar a phase."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def __call__(self, phase: str, done: int, total: int) -> None:
        if not total:
            return
        if phase not in self._tasks:
            self._tasks[phase] = self._progress.add_task(_label(phase), total=total)
        self._progress.update(self._tasks[phase], completed=done, total=total)
