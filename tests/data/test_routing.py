"""The router on the questions that are kept for measuring: what it promises of both kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.agent.route import route
from citewell.evals.dataset import read_rows

pytestmark = pytest.mark.data


@pytest.mark.parametrize("name", ["pytorch_multi", "python_multi"])
def test_questions_of_several_sources_go_to_the_loop(data: Path, name: str) -> None:
    questions = [row.question for row in read_rows(data / "questions" / f"{name}.jsonl")]
    missed = [question for question in questions if route(question).route != "loop"]
    assert questions
    assert len(missed) <= 0.05 * len(questions), missed


@pytest.mark.parametrize("name", ["pytorch_dev", "python_dev"])
def test_questions_of_one_source_do_not(data: Path, name: str) -> None:
    questions = [row.question for row in read_rows(data / "questions" / f"{name}.jsonl")]
    misled = [question for question in questions if route(question).route != "single"]
    assert questions
    assert len(misled) <= 0.05 * len(questions), misled
