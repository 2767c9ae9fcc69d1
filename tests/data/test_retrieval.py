"""Search over the whole PyTorch site with its vectors, against plain BM25 on the same site. It takes a quarter of an hour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from citewell.app import Citewell
from citewell.evals.dataset import read_rows
from citewell.evals.report import means
from citewell.evals.run import run_retrieval
from citewell.profile import load_profile
from citewell.settings import Settings
from tests.conftest import fresh_database
from tests.data.conftest import index_parts

pytestmark = [pytest.mark.data, pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.anyio]

# The better of two ways to cut the pages, as independent scripts measured it: recall@8, mean reciprocal rank.
BM25 = {"pytorch_dev": (0.80, 0.595), "pytorch_multi": (0.663, 0.650)}


@pytest.fixture(scope="module")
def full_site(embedded_url: str, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with fresh_database(embedded_url) as url:
        settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=url)
        anyio.run(_with_vectors, settings, site)
        yield settings


async def _with_vectors(settings: Settings, site: Path) -> None:
    first = await index_parts(settings, site, vectors=True)
    again = await index_parts(settings, site, vectors=True)
    assert all(report.embedded == 0 and report.unchanged == report.pages for report in again)
    assert sum(report.seconds for report in again) < 0.02 * sum(report.seconds for report in first)


@pytest.mark.parametrize("name", BM25)
async def test_search_is_at_least_as_good_as_bm25(full_site: Settings, data: Path, name: str) -> None:
    async with Citewell(full_site, load_profile("pytorch")) as app:
        metrics = means(await run_retrieval(app, read_rows(data / "questions" / f"{name}.jsonl"), 8))
    recall, mrr = BM25[name]
    assert metrics["recall@8"] >= recall, metrics
    assert metrics["mrr"] >= mrr, metrics


async def test_questions_of_the_corpus_pass_the_guard_and_most_others_do_not(full_site: Settings, data: Path) -> None:
    async with Citewell(full_site, load_profile("pytorch")) as app:
        on = [await app.ask(row.question) for row in read_rows(data / "questions" / "pytorch_dev.jsonl")]
        off = [await app.ask(row.question) for row in read_rows(data / "questions" / "offtopic.jsonl") if row.type == "plain"]
    assert sum(answer.status == "refused" for answer in on) <= 1
    assert sum(answer.status == "refused" for answer in off) >= 0.7 * len(off)
