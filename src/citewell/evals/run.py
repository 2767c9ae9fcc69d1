"""A suite over a question set: every row scored, with a bounded number at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from citewell.app import Citewell
from citewell.errors import UsageError, ungrouped
from citewell.evals.dataset import QuestionRow
from citewell.evals.scorers.retrieval import group_ranks, score

_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A row's metrics, and what a person needs to see why."""

    id: str
    type: str
    question: str
    metrics: dict[str, float]
    detail: dict[str, Any]


async def run_retrieval(app: Citewell, rows: Sequence[QuestionRow], k: int) -> list[ScoredRow]:
    """The retrieval suite: each question searched as `citewell search` does. Raises `UsageError` when no row says what is expected."""
    scorable = [row for row in rows if row.expected or row.graded]
    if not scorable:
        raise UsageError("No row says what it expects.", hint='Give the rows "expected" or "graded"; see docs/evaluation.md.')
    results: dict[int, ScoredRow] = {}
    limit = anyio.CapacityLimiter(_AT_ONCE)

    async def one(number: int, row: QuestionRow) -> None:
        async with limit:
            hits = await app.search(row.question, k=k)
        found = [f"{hit.section.url}#{hit.section.anchor}" for hit in hits]
        results[number] = ScoredRow(row.id, row.type, row.question, score(row, hits, k), {"ranks": group_ranks(row, hits), "found": found})

    with ungrouped():
        async with anyio.create_task_group() as tasks:
            for number, row in enumerate(scorable):
                tasks.start_soon(one, number, row)
    return [results[number] for number in sorted(results)]
