"""How good are answers without a model? Facts, citations, absent things, the guard, over an indexed corpus and its question sets.

    python benchmarks/offline_answers.py --home HOME --profile pytorch --questions DATA/questions --set pytorch

Prints one JSON document. Rows of `SET_dev` and `SET_multi` have `answer_facts` and `expected`, those of `SET_absent` ask for what is not
there, those of `offtopic` must be stopped. Index the corpus first, see docs/evaluation.md.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import anyio

from citewell.app import Citewell
from citewell.evals.dataset import read_rows
from citewell.evals.scorers.retrieval import group_ranks
from citewell.profile import load_profile
from citewell.settings import load_settings
from citewell.types import Answer, Hit


def plain(text: str) -> str:
    return " ".join(text.lower().replace("`", "").replace("\\", "").split())


def json_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def has_all_facts(row: dict[str, Any], answer: Answer) -> bool:
    return all(plain(fact) in plain(answer.answer_md) for fact in row["answer_facts"])


async def answerable(app: Citewell, file: Path) -> dict[str, Any]:
    """Of questions that the documentation answers: facts, citations, statuses."""
    raw = json_lines(file)
    answers = [await app.ask(row["question"]) for row in raw]
    found = []
    for row, answer in zip(read_rows(file), answers, strict=True):
        sections = await app.store.sections([citation.section_id for citation in answer.citations])
        ranks = group_ranks(row, [Hit(section, 0.0, {}) for section in sections])
        found.append(sum(rank is not None for rank in ranks) / len(ranks))
    return {
        "n": len(raw),
        "all_facts": round(sum(map(has_all_facts, raw, answers)) / len(raw), 3),
        "cites_an_expected_place": round(sum(share > 0 for share in found) / len(raw), 3),
        "coverage": round(sum(found) / len(raw), 3),
        "status": Counter(answer.status for answer in answers),
        "refused": [row["question"] for row, answer in zip(raw, answers, strict=True) if answer.status == "refused"],
        "median_seconds": round(median(answer.usage.seconds for answer in answers), 3),
        "median_characters": round(median(len(answer.answer_md) for answer in answers)),
    }


async def statuses(app: Citewell, file: Path) -> dict[str, Any]:
    """How questions without an answer end, by kind."""
    ends: dict[str, Counter[str]] = {}
    for row in json_lines(file):
        answer = await app.ask(row["question"])
        ends.setdefault(row.get("kind") or row["type"], Counter())[f"{answer.status} {answer.reason}".strip()] += 1
    return {kind: dict(counts) for kind, counts in ends.items()}


async def measure(options: argparse.Namespace) -> None:
    async with Citewell(load_settings(options.home), load_profile(options.profile)) as app:
        found: dict[str, Any] = {"set": options.set, "threshold": (await app.store.corpus()).max_distance}
        for kind in ("dev", "multi"):
            found[kind] = await answerable(app, options.questions / f"{options.set}_{kind}.jsonl")
        found["absent"] = await statuses(app, options.questions / f"{options.set}_absent.jsonl")
        found["offtopic"] = await statuses(app, options.questions / "offtopic.jsonl")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--profile")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--set", required=True)
    anyio.run(measure, parser.parse_args())
