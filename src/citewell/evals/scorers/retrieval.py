"""Scores of one ranked list: recall@k, hit@1, reciprocal rank, nDCG. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.evals.dataset import QuestionRow
from citewell.types import Hit


def haystack(hit: Hit) -> str:
    """What a group's alternatives are looked for in."""
    section = hit.section
    return f"{section.url}#{section.anchor} {section.title} {section.heading_path} ".lower()


def group_ranks(row: QuestionRow, hits: Sequence[Hit]) -> list[int | None]:
    """For each expected group the rank (from 1) of the first hit that holds it; None when none does."""
    stacks = [haystack(hit) for hit in hits]
    return [
        next((rank for rank, stack in enumerate(stacks, start=1) if any(alternative in stack for alternative in group)), None)
        for group in row.expected
    ]


def score(row: QuestionRow, hits: Sequence[Hit], k: int) -> dict[str, float]:
    """The metrics that a row allows: those of groups, those of grades, or both."""
    metrics: dict[str, float] = {}
    if row.expected:
        ranks = [rank for rank in group_ranks(row, hits[:k]) if rank is not None]
        metrics[f"recall@{k}"] = len(ranks) / len(row.expected)
        metrics["hit@1"] = float(min(ranks, default=0) == 1)
        metrics["mrr"] = 1 / min(ranks) if ranks else 0.0
    if row.graded:
        metrics |= _graded(row, hits, k)
    return metrics


def _graded(row: QuestionRow, hits: Sequence[Hit], k: int) -> dict[str, float]:
    """nDCG over pages (Järvelin & Kekäläinen 2002, gain 2^grade - 1): each page counts at its first place only."""
    pages = list(dict.fromkeys(hit.section.url for hit in hits))
    grades = [next((grade for end, grade in row.graded.items() if page.endswith(end)), 0.0) for page in pages]
    ideal = sorted(row.graded.values(), reverse=True)
    found = next((rank for rank, grade in enumerate(grades, start=1) if grade > 0), 0)
    metrics = {"mrr": 1 / found if found else 0.0, "hit@1": float(found == 1)}
    for depth in dict.fromkeys((5, k)):
        best = _gain(ideal[:depth])
        metrics[f"ndcg@{depth}"] = _gain(grades[:depth]) / best if best else 0.0
        metrics[f"hit@{depth}"] = float(any(grade > 0 for grade in grades[:depth]))
        metrics[f"recall@{depth}"] = sum(grade > 0 for grade in grades[:depth]) / len(row.graded)
    return metrics


def _gain(grades: Sequence[float]) -> float:
    return math.fsum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
