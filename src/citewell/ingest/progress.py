"""Who is told how far indexing is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told how far a phase ("pages", "vectors"; "pages: NAME" for one source of several) is. Must not raise."""

    def __call__(self, phase: str, done: int, total: int) -> None: ...


def no_progress(phase: str, done: int, total: int) -> None:
    """For callers that do not want to know."""


def of_source(progress: Progress, name: str) -> Progress:
    """The progress of one source of several."""
    return lambda phase, done, total: progress(f"{phase}: {name}", done, total)
