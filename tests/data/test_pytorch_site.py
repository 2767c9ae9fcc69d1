"""The rebuilt PyTorch site: what is indexed, and that every citation of every answer is where it says it is."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from citewell.app import Citewell
from citewell.profile import load_profile
from citewell.types import Answer
from tests.data.conftest import IndexedSite, index_parts, questions

pytestmark = [pytest.mark.data, pytest.mark.anyio]

GENERATED = 300


def test_every_page_is_indexed_or_skipped_with_a_reason(keyword_site: IndexedSite) -> None:
    counts = {report.source: (report.pages, len(report.skipped)) for report in keyword_site.reports}
    assert counts == {"torch": (3363, 4), "tutorials": (223, 55), "torchvision": (527, 7), "torchaudio": (256, 5)}
    reasons = {"an index page, no content", "a search page, no content", "a redirect to another page"}
    assert {skip.reason for report in keyword_site.reports for skip in report.skipped} <= reasons
    assert sum(report.sections for report in keyword_site.reports) > 14_000


async def test_indexing_again_costs_a_hash_a_page(keyword_site: IndexedSite) -> None:
    first = sum(report.seconds for report in keyword_site.reports)
    started = time.monotonic()
    again = await index_parts(keyword_site.settings, keyword_site.root, vectors=False)
    assert [(report.unchanged, report.added, report.updated) for report in again] == [(report.pages, 0, 0) for report in again]
    assert time.monotonic() - started < first / 3  # of the text alone; with its vectors the first run takes twenty times as long


@cache
def anchors(page: Path) -> frozenset[str]:
    found = LexborHTMLParser(page.read_text(encoding="utf-8")).css("[id], a[name]")
    return frozenset(filter(None, (node.attributes.get("id") or node.attributes.get("name") for node in found)))


async def generated(app: Citewell, count: int) -> list[str]:
    """Questions made of the corpus's own symbols and headings, the same ones each time."""
    samples = await app.db.fetch("sections", ids=random.Random(7).sample(range(1, 14_000), count), libraries=None)
    names = [row["heading_path"].rsplit(" > ", 1)[-1] for row in samples]
    return [f"How do I use {name}?" if n % 2 else f"What does {name} do?" for n, name in enumerate(names)]


async def assert_exact(app: Citewell, indexed: IndexedSite, answer: Answer) -> int:
    stored = {section.id: section for section in await app.store.sections([citation.section_id for citation in answer.citations])}
    for citation in answer.citations:
        section = stored[citation.section_id]
        assert citation.quote == section.text[citation.start : citation.end] != ""
        assert citation.section_hash == section.text_hash
        assert not citation.anchor or citation.anchor in anchors(indexed.page(citation.url)), citation
        assert f"[{citation.number}]" in answer.answer_md
    assert [citation.number for citation in answer.citations] == list(range(1, len(answer.citations) + 1))
    return len(answer.citations)


async def ask_all(app: Citewell, asked: Sequence[str]) -> list[Answer]:
    return [await app.ask(question, guarded=False) for question in asked]


async def test_every_citation_is_where_it_says(keyword_site: IndexedSite, data: Path) -> None:
    asked = [row["question"] for file in sorted((data / "questions").glob("*.jsonl")) for row in questions(data, file.stem)]
    async with Citewell(keyword_site.settings, load_profile("pytorch")) as app:
        app.embedder = None
        answers = await ask_all(app, asked + await generated(app, GENERATED))
        cited = [await assert_exact(app, keyword_site, answer) for answer in answers]
    assert len(asked) > 200
    assert len(answers) > len(asked) + 0.9 * GENERATED
    assert sum(count > 0 for count in cited) > 0.7 * len(answers)
    assert all(answer.status != "answered" or answer.citations for answer in answers)
