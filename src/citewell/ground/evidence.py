"""The ledger of what was found for a question, and the only owner of its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.types import Hit, Section


class Evidence:
    """Append-only. Adding a section gives it the next number from 1; adding it again gives the number it has."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._hits: list[Hit] = []

    def add(self, hit: Hit) -> int:
        number = self._numbers.get(hit.section.id)
        if number is None:
            self._hits.append(hit)
            number = self._numbers[hit.section.id] = len(self._hits)
        return number

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[tuple[int, Hit]]:
        return enumerate(self._hits, start=1)

    def section(self, number: int) -> Section | None:
        """The section of that number; None for a number that was never given."""
        return self._hits[number - 1].section if 1 <= number <= len(self._hits) else None
