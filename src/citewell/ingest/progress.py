"""Who is told how far indexing is."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told how far a phase ("pages", "vectors") is. Must not raise."""

    def __call__(self, phase: str, done: int, total: int) -> None: ...


def no_progress(phase: str, done: int, total: int) -> None:
    """For callers that do not want to know."""
