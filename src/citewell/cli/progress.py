"""How far long work is: a bar on a terminal, plain lines elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from citewell.cli.streams import tell

_LINE_SECONDS = 5.0
_LABELS = {"pages": "reading pages", "vectors": "embedding sections", "calibration": "calibrating the guard"}


def progress_display() -> _Bars | _Lines:
    """The display that suits stderr: a context manager that is called with (phase, done, total)."""
    return _Bars() if sys.stderr.isatty() else _Lines()


class _Lines:
    """A line when a phase begins and ends, and every few seconds in between. Phases may run side by side."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *details: object) -> None:
        return None

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if phase not in self._last or done == total or now - self._last[phase] >= _LINE_SECONDS:
            self._last[phase] = now
            tell(f"{_LABELS.get(phase, phase)}: {done} of {total}")


class _Bars:
    """One bar a phase."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase not in self._tasks:
            self._tasks[phase] = self._progress.add_task(_LABELS.get(phase, phase), total=total)
        self._progress.update(self._tasks[phase], completed=done, total=total)
