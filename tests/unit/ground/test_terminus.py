"""The one maker of answers: whatever a draft holds, what comes out is cited exactly or says that it is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from citewell.ground import markers
from citewell.ground.run import Deps, Run
from citewell.ground.terminus import ground, refuse
from citewell.index.store import CorpusInfo, Store
from citewell.profile import Profile, Referrals
from citewell.settings import Settings
from citewell.types import Answer, Budget, Draft, GuardVerdict, Hit, Section

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TEXTS = (
    "The default time-out is 30 seconds. Set `timeout` to change it.",
    "The widget spins 🙂 three times. It stops by itself.\n\n```python\nspin(3)\n```",
    "Install the widget with pip. The widget needs Python 3.11.",
)
PROFILE = Profile(referrals=Referrals(repositories=("widget/widget",), forum="https://forum.example/?q={query}"))


def section(number: int, text: str) -> Section:
    page, place = f"p{number}.md", f"Page {number}"
    address = ("manual", page, f"doc:manual/{page}", f"a{number}", place, f"{place} > Part")
    return Section(number, f"hash{number}", *address, "widget", "guide", "1.0", 0, text, NOW)


def a_run(question: str = "How long is the time-out?", texts: tuple[str, ...] = TEXTS) -> Run:
    run = Run(question, Budget(16, 60_000, 120.0), CorpusInfo(7, "", 3, None), 0.0, "trace")
    for number, text in enumerate(texts, start=1):
        run.evidence.add(Hit(section(number, text), 1.0 / number, {}))
    return run


def deps(tmp_path: Path = Path()) -> Deps:
    """No store: a draft that brings its own text needs none."""
    return Deps(cast(Store, None), None, PROFILE, Settings(home=tmp_path), clock=lambda: 1.5)


async def answer(text: str, run: Run | None = None) -> Answer:
    return await ground(run or a_run(), deps(), Draft("single", "planner", text))


def assert_exact(result: Answer) -> None:
    shown = [number for _, _, numbers in markers.find(result.answer_md) for number in numbers]
    assert list(dict.fromkeys(shown)) == [citation.number for citation in result.citations] == list(range(1, len(result.citations) + 1))
    for citation in result.citations:
        assert citation.quote == TEXTS[citation.section_id - 1][citation.start : citation.end] != ""


async def test_markers_become_exact_citations_in_reading_order() -> None:
    result = await answer("The widget needs Python 3.11. [3] The default time-out is 30 seconds. [1]")
    assert result.status == "answered"
    assert [citation.section_id for citation in result.citations] == [3, 1]
    assert [citation.quote for citation in result.citations] == ["The widget needs Python 3.11.", "The default time-out is 30 seconds."]
    assert result.answer_md == "The widget needs Python 3.11. [1] The default time-out is 30 seconds. [2]"
    assert_exact(result)
    assert result.referrals == ()


async def test_emoji_before_a_quote_do_not_shift_it() -> None:
    result = await answer("It stops by itself. [2]")
    (citation,) = result.citations
    assert TEXTS[1][citation.start : citation.end] == "It stops by itself."


async def test_a_marker_without_a_section_is_removed_and_counted() -> None:
    result = await answer("The default time-out is 30 seconds. [1][7] Install the widget with pip. [3]")
    assert "[7]" not in result.answer_md
    assert result.warnings == ("1 citation marker(s) named no section that was shown and were removed.",)
    assert result.status == "answered"
    assert_exact(result)


async def test_what_the_cited_text_does_not_say_falls_and_it_is_said() -> None:
    result = await answer("The default time-out is 30 seconds. [1] Frogs migrate to warmer ponds every winter. [1]")
    assert (result.status, result.reason) == ("partial", "unsupported")
    assert "Frogs" not in result.answer_md
    assert [claim.support for claim in result.claims] == ["supported", "unsupported"]
    assert "1 sentence(s) that the cited text does not support were removed." in result.warnings
    assert result.referrals
    assert_exact(result)


@pytest.mark.parametrize(
    "text", ["", "   ", "The time-out is 31 seconds.", "Frogs migrate.", "Frogs migrate. [1]", "[1]", "[9]", "```\nunclosed [1]"]
)
async def test_nothing_that_stands_is_not_found_with_referrals(text: str) -> None:
    result = await answer(text)
    assert (result.status, result.reason, result.citations) == ("not_found", "unsupported", ())
    assert [referral.url.split("/")[2] for referral in result.referrals] == ["deepwiki.com", "github.com", "forum.example"]
    assert not list(markers.find(result.answer_md))


async def test_a_claim_without_a_marker_gets_that_of_the_section_that_says_it() -> None:
    result = await answer("The default time-out is 30 seconds.")
    assert (result.status, result.answer_md) == ("answered", "The default time-out is 30 seconds. [1]")
    assert_exact(result)


async def test_no_evidence_is_no_sections() -> None:
    result = await answer("Anything. [1]", a_run(texts=()))
    assert (result.status, result.reason, result.citations) == ("not_found", "no_sections", ())


async def test_a_refusal_is_an_answer_without_referrals_and_without_cost() -> None:
    result = refuse(a_run(), deps(), GuardVerdict(allowed=False, reason="off_topic", message="Ask about widgets."))
    assert (result.status, result.reason, result.answer_md, result.referrals) == ("refused", "off_topic", "Ask about widgets.", ())
    assert (result.usage.llm_calls, result.usage.seconds, result.route, result.protocol) == (0, 1.5, "none", "none")


async def test_an_answer_says_which_documentation_it_comes_from() -> None:
    run = a_run()
    result = await answer("The default time-out is 30 seconds. [1]", run)
    assert (result.docs_version, result.index_version, result.crawled_at, result.trace_id) == ("1.0", 7, NOW, "trace")
    assert result.budget == run.budget


async def test_a_sink_that_breaks_is_dropped() -> None:
    run = a_run()

    def broken(_event: object) -> None:
        raise ValueError("the display is gone")

    run.sink = broken
    run.trace("one")
    run.trace("two")
    assert run.sink is None
    assert (await answer("The default time-out is 30 seconds. [1]", run)).warnings == ("The progress display failed and was dropped.",)


SENTENCES = ("The default time-out is 30 seconds.", "Install the widget with pip.", "The widget spins 🙂 three times.", "Frogs migrate.")
MARKS = ("[1]", "[2]", "[3]", "[4]", "[0]", "[1, 3]", "[99]", "\\[1\\]", "[1](https://evil.example)", "[^1]", "[1]: https://evil.example")
MARKUP = ("\n\n", "\n- ", "\n| a | b |\n|---|---|\n| c | [2] |\n", "```python\nspin(3)\n```", "```", "~~~", "> ", "# ", "**", "`x[1]`")
ODDS = ("e.g. ", "…", "。", "\u200b", "")
PIECES = st.sampled_from((*SENTENCES, *MARKS, *MARKUP, *ODDS))


@hypothesis_settings(max_examples=1000, deadline=None)
@given(st.lists(PIECES | st.text(max_size=12), max_size=24))
async def test_no_draft_makes_a_citation_up(pieces: list[str]) -> None:
    result = await answer(" ".join(pieces))
    assert_exact(result)
    assert result.status in {"answered", "partial", "not_found"}
    assert (result.status == "not_found") == (not result.citations)
    assert {number for claim in result.claims for number in claim.citations} == {citation.number for citation in result.citations}


async def test_a_marker_in_a_table_row_stays_inside_the_table_and_a_heading_supports_a_name() -> None:
    result = await answer("| what | how long |\n| --- | --- |\n| default time-out of Page 1 | 30 seconds [1] |")
    assert result.answer_md.endswith("| default time-out of Page 1 | 30 seconds [1] |")
    assert [citation.section_id for citation in result.citations] == [1]


async def test_the_same_draft_gives_the_same_answer() -> None:
    text = "The widget needs Python 3.11. [3] The default time-out is 30 seconds. [1]"
    assert replace(await answer(text), usage=replace((await answer(text)).usage)) == await answer(text)


@pytest.mark.parametrize("index_version", [0, 3])
async def test_an_empty_index_says_so_whether_or_not_it_ever_held_anything(index_version: int) -> None:
    run = a_run(texts=())
    run.corpus = CorpusInfo(index_version, "", 0, None)
    result = await ground(run, deps(), Draft("single", "rules"))
    assert (result.status, result.reason) == ("not_found", "no_sections")
    assert "citewell index FOLDER" in result.answer_md
