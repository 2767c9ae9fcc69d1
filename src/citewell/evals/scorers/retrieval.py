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
    """The metrics that a row allows: those of groups, those of grades, or both; where both have one, that of the groups."""
    return {**_by_grades(row, hits[:k], k), **_by_groups(row, hits[:k], k)}


def _by_groups(row: QuestionRow, hits: Sequence[Hit], k: int) -> dict[str, float]:
    if not row.expected:
        return {}
    ranks = [rank for rank in group_ranks(row, hits) if rank is not None]
    return {
        f"recall@{k}": len(ranks) / len(row.expected),
        "hit@1": float(min(ranks, default=0) == 1),
        "mrr": 1 / min(ranks) if ranks else 0.0,
    }


def _by_grades(row: QuestionRow, hits: Sequence[Hit], k: int) -> dict[str, float]:
    """nDCG over pages (Järvelin & Kekäläinen 2002, gain 2^grade - 1): a page counts at its first place only, a grade once."""
    ideal = sorted((grade for grade in row.graded.values() if grade > 0), reverse=True)
    if not ideal:
        return {}
    grades = _page_grades(row, hits)
    first = next((rank for rank, grade in enumerate(grades, start=1) if grade > 0), 0)
    metrics = {"mrr": 1 / first if first else 0.0, "hit@1": float(first == 1)}
    for depth in dict.fromkeys((min(5, k), k)):
        metrics[f"ndcg@{depth}"] = _gain(grades[:depth]) / _gain(ideal[:depth])
        metrics[f"hit@{depth}"] = float(any(grade > 0 for grade in grades[:depth]))
        metrics[f"recall@{depth}"] = sum(grade > 0 for grade in grades[:depth]) / len(ideal)
    return metrics


def _page_grades(row: QuestionRow, hits: Sequence[Hit]) -> list[float]:
    """The grade of each page in the order of the hits; a second page with the same end of its address gets none."""
    left = dict(row.graded)
    grades = []
    for page in dict.fromkeys(hit.section.url for hit in hits):
        end = max((end for end in left if page.endswith(end)), key=len, default=None)
        grades.append(0.0 if end is None else left.pop(end))
    return grades


def _gain(grades: Sequence[float]) -> float:
    return math.fsum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
