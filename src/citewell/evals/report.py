"""Scored rows to a report: means with bootstrap intervals, by type, against a baseline. Pure but for writing the rows."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from citewell.errors import BaselineMissed, UsageError
from citewell.evals.run import ScoredRow

_RESAMPLES = 2000
_SEED = 20260101  # the same rows give the same interval
_BASELINE_FORM = 'It holds {"metrics": {"recall@8": 0.8}}.'


def report(suite: str, rows: Sequence[ScoredRow], out: Path | None) -> dict[str, Any]:
    """`{suite, n, metrics, intervals, by_type, rows_file}`; the rows go to the folder `out` as JSON Lines when it is given."""
    types: defaultdict[str, list[ScoredRow]] = defaultdict(list)
    for row in rows:
        types[row.type].append(row)
    return {
        "suite": suite,
        "n": len(rows),
        "metrics": means(rows),
        "intervals": {name: interval(_values(rows, name)) for name in means(rows)},
        "by_type": {name: {"n": len(group), **means(group)} for name, group in sorted(types.items())},
        "rows_file": str(_write(suite, rows, out)) if out else None,
    }


def means(rows: Sequence[ScoredRow]) -> dict[str, float]:
    """Each metric's mean over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row.metrics)
    return {name: round(fmean(_values(rows, name)), 4) for name in names}


def _values(rows: Sequence[ScoredRow], name: str) -> list[float]:
    return [row.metrics[name] for row in rows if name in row.metrics]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of at least one value, by the percentile bootstrap (Efron 1979)."""
    chance = random.Random(_SEED)  # noqa: S311 - statistics, no secret
    resampled = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return round(resampled[int(0.025 * _RESAMPLES)], 4), round(resampled[int(0.975 * _RESAMPLES) - 1], 4)


def read_baseline(file: Path) -> dict[str, float]:
    """The least value of each metric.

    The file is what `--json` prints, or `{"metrics": {name: least}}`, or `{name: least}`; anything else raises `UsageError`.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8-sig"))
        least = {str(name): _finite(value) for name, value in data.get("metrics", data).items()}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise UsageError(f"{file} is no baseline: {error}.", hint=_BASELINE_FORM) from error
    if not least:
        raise UsageError(f"{file} is no baseline: it names no metric.", hint=_BASELINE_FORM)
    return least


def compare(metrics: dict[str, float], least: Mapping[str, float]) -> None:
    """Raises `BaselineMissed` that names every metric below the baseline, or not measured."""
    missed = [f"{name} {metrics[name]:.4f} < {value:.4f}" for name, value in least.items() if name in metrics and metrics[name] < value]
    missed += [f"{name} was not measured" for name in least if name not in metrics]
    if missed:
        raise BaselineMissed(f"Below the baseline: {', '.join(missed)}.", hint="Compare the rows, or correct the baseline.")


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def make_folder(out: Path) -> None:
    """The folder for the rows, before there are any. Raises `UsageError` where it cannot be made."""
    with _told():
        out.mkdir(parents=True, exist_ok=True)


def _write(suite: str, rows: Sequence[ScoredRow], out: Path) -> Path:
    file = out / f"{suite}.jsonl"
    make_folder(out)
    with _told():
        file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    return file


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"The rows cannot be written: {error}.", hint="Name a folder for --out that can be written to.") from error
