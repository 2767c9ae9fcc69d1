"""Scores by hand: each figure below was worked out on paper from the definitions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import log2
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.app import Citewell
from citewell.errors import BaselineMissed, UsageError
from citewell.evals.dataset import QuestionRow
from citewell.evals.report import compare, interval, means, read_baseline, report
from citewell.evals.run import ScoredRow, run_retrieval
from citewell.evals.scorers.retrieval import group_ranks, haystack, score
from citewell.types import Hit, Section


def hit(url: str, anchor: str = "", title: str = "", heading: str = "") -> Hit:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Hit(Section(1, "h", "s", "p", url, anchor, title, heading, "l", "guide", "", 0, "text", now), 1.0, {})


def row(*groups: list[str], graded: dict[str, float] | None = None) -> QuestionRow:
    return QuestionRow("q", "t", "How?", list(groups), graded or {})


def scored(number: int, type_: str = "a", **metrics: float) -> ScoredRow:
    return ScoredRow(str(number), type_, "How?", metrics, {})


PAGES = [hit("https://h/one.html", "a", "One", "One > First"), hit("https://h/two.html", "b", "Two", "Two"), hit("https://h/three.html")]


class TestGroups:
    def test_a_place_is_its_address_its_title_and_its_heading_in_lower_case(self) -> None:
        assert haystack(PAGES[0]) == "https://h/one.html#a one one > first "

    def test_a_group_is_found_where_one_of_its_alternatives_is(self) -> None:
        assert group_ranks(row(["nowhere", "two.html#b"], ["first "], ["one.html#b"]), PAGES) == [2, 1, None]

    def test_a_trailing_blank_is_meant(self) -> None:
        assert group_ranks(row(["two "], ["tw "]), PAGES) == [2, None]

    @pytest.mark.parametrize(
        ("groups", "recall", "first", "reciprocal"),
        [
            ([["one"]], 1.0, 1.0, 1.0),
            ([["two"]], 1.0, 0.0, 1 / 2),
            ([["three"], ["nowhere"]], 1 / 2, 0.0, 1 / 3),
            ([["three"], ["two"], ["nowhere"], ["none"]], 2 / 4, 0.0, 1 / 2),
            ([["nowhere"]], 0.0, 0.0, 0.0),
        ],
    )
    def test_recall_hit_and_reciprocal_rank(self, groups: list[list[str]], recall: float, first: float, reciprocal: float) -> None:
        assert score(row(*groups), PAGES, 8) == {"recall@8": recall, "hit@1": first, "mrr": reciprocal}

    def test_only_the_first_k_count(self) -> None:
        assert score(row(["three"]), PAGES, 2) == {"recall@2": 0.0, "hit@1": 0.0, "mrr": 0.0}

    def test_no_hits_no_score(self) -> None:
        assert score(row(["one"]), [], 8) == {"recall@8": 0.0, "hit@1": 0.0, "mrr": 0.0}

    def test_a_row_that_expects_nothing_has_no_score(self) -> None:
        assert score(row(), PAGES, 8) == {}


class TestGrades:
    def test_the_gain_of_a_list_by_that_of_the_best_one(self) -> None:
        metrics = score(row(graded={"two.html": 3, "three.html": 1}), PAGES, 8)
        gained = (2**3 - 1) / log2(3) + (2**1 - 1) / log2(4)
        best = (2**3 - 1) / log2(2) + (2**1 - 1) / log2(3)
        assert metrics["ndcg@8"] == metrics["ndcg@5"] == pytest.approx(gained / best)
        assert metrics["ndcg@8"] == pytest.approx(0.6442, abs=1e-4)
        assert (metrics["mrr"], metrics["hit@1"], metrics["hit@5"], metrics["recall@8"]) == (1 / 2, 0.0, 1.0, 1.0)

    def test_the_best_list_has_all(self) -> None:
        metrics = score(row(graded={"one.html": 3, "two.html": 2, "three.html": 1}), PAGES, 5)
        assert metrics == {"mrr": 1.0, "hit@1": 1.0, "ndcg@5": 1.0, "hit@5": 1.0, "recall@5": 1.0}

    def test_a_page_counts_at_its_first_place_only(self) -> None:
        hits = [hit("https://h/one.html", "a"), hit("https://h/one.html", "b"), hit("https://h/two.html")]
        metrics = score(row(graded={"two.html": 3}), hits, 8)
        assert (metrics["mrr"], metrics["ndcg@8"]) == (1 / 2, pytest.approx(1 / log2(3)))

    def test_a_grade_counts_once_however_many_pages_end_so(self) -> None:
        hits = [hit("https://h/v1/x.html"), hit("https://h/v2/x.html")]
        metrics = score(row(graded={"x.html": 3}), hits, 8)
        assert (metrics["recall@8"], metrics["ndcg@8"]) == (1.0, 1.0)

    def test_the_longest_end_of_an_address_is_meant(self) -> None:
        metrics = score(row(graded={"x.html": 1, "v2/x.html": 3}), [hit("https://h/v2/x.html"), hit("https://h/x.html")], 8)
        assert metrics["ndcg@8"] == 1.0

    def test_a_grade_of_nothing_is_not_expected(self) -> None:
        metrics = score(row(graded={"one.html": 0, "two.html": 2}), PAGES, 8)
        assert (metrics["recall@8"], metrics["mrr"]) == (1.0, 1 / 2)
        assert score(row(graded={"one.html": 0}), PAGES, 8) == {}

    def test_no_depth_is_deeper_than_the_search(self) -> None:
        assert set(score(row(graded={"one.html": 1}), PAGES, 3)) == {"mrr", "hit@1", "ndcg@3", "hit@3", "recall@3"}
        assert score(row(graded={"three.html": 1}), PAGES, 2)["mrr"] == 0.0

    def test_where_a_row_has_both_the_groups_decide_what_both_measure(self) -> None:
        metrics = score(row(["two"], graded={"one.html": 1}), PAGES, 8)
        assert (metrics["mrr"], metrics["hit@1"], metrics["ndcg@8"]) == (1 / 2, 0.0, 1.0)

    @given(
        st.dictionaries(st.sampled_from(["a.html", "b.html", "c.html", "v2/a.html"]), st.integers(0, 3)),
        st.lists(st.sampled_from(["https://h/a.html", "https://h/v2/a.html", "https://h/b.html", "https://h/z.html"]), max_size=8),
        st.integers(1, 8),
    )
    def test_every_score_is_a_share(self, graded: dict[str, float], pages: list[str], k: int) -> None:
        metrics = score(row(["a.html"], graded=graded), [hit(page) for page in pages], k)
        assert all(0 <= value <= 1 + 1e-9 for value in metrics.values())


class TestReport:
    ROWS = (scored(1, "a", mrr=1.0, recall=0.5), scored(2, "b", mrr=0.5), scored(3, "a", mrr=0.0, recall=1.0))

    def test_means_over_the_rows_that_have_a_metric(self) -> None:
        assert means(self.ROWS) == {"mrr": 0.5, "recall": 0.75}

    def test_the_whole_of_it(self, tmp_path: Path) -> None:
        found = report("retrieval", self.ROWS, tmp_path / "deep" / "out")
        assert list(found) == ["suite", "n", "metrics", "intervals", "by_type", "rows_file"]
        assert (found["suite"], found["n"]) == ("retrieval", 3)
        assert found["by_type"] == {"a": {"n": 2, "mrr": 0.5, "recall": 0.75}, "b": {"n": 1, "mrr": 0.5}}
        assert set(found["intervals"]) == {"mrr", "recall"}
        file = Path(found["rows_file"])
        assert [json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()] == ["1", "2", "3"]
        assert report("retrieval", self.ROWS, None)["rows_file"] is None

    def test_of_no_rows(self) -> None:
        assert report("retrieval", [], None) == {
            "suite": "retrieval",
            "n": 0,
            "metrics": {},
            "intervals": {},
            "by_type": {},
            "rows_file": None,
        }

    def test_a_folder_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(UsageError, match="The rows cannot be written") as caught:
            report("retrieval", self.ROWS, tmp_path / "file")
        assert "--out" in caught.value.hint


class TestInterval:
    def test_the_same_rows_give_the_same_interval(self) -> None:
        values = [0.0, 1.0, 0.5, 0.25, 1.0, 0.0]
        assert interval(values) == interval(values)

    @settings(deadline=None)  # a busy machine is no fault
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
    def test_it_holds_the_mean_and_lies_within_the_values(self, values: list[float]) -> None:
        low, high = interval(values)
        mean = sum(values) / len(values)
        assert min(values) - 1e-4 <= low <= mean + 1e-4
        assert mean - 1e-4 <= high <= max(values) + 1e-4

    def test_of_equal_values_it_is_a_point(self) -> None:
        assert interval([0.5] * 10) == (0.5, 0.5)
        assert interval([1.0]) == (1.0, 1.0)

    def test_it_is_about_as_wide_as_theory_says(self) -> None:
        low, high = interval([0.0, 1.0] * 50)
        assert (low, high) == (pytest.approx(0.5 - 1.96 * 0.05, abs=0.02), pytest.approx(0.5 + 1.96 * 0.05, abs=0.02))

    def test_of_more_rows_it_is_narrower(self) -> None:
        few, many = interval([0.0, 1.0] * 5), interval([0.0, 1.0] * 50)
        assert many[1] - many[0] < few[1] - few[0]


class TestBaseline:
    METRICS: ClassVar = {"recall@8": 0.8, "mrr": 0.5}

    @pytest.mark.parametrize(
        "text",
        [
            '{"metrics": {"recall@8": 0.8, "mrr": 0.4}}',
            '{"recall@8": 0.8}',
            '{"suite": "retrieval", "n": 3, "metrics": {"mrr": 0.5}, "intervals": {}, "by_type": {}, "rows_file": null}',
            '\ufeff{"metrics": {"mrr": 0}}',
        ],
    )
    def test_at_or_above_it_all_is_well(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "baseline.json"
        file.write_text(text, encoding="utf-8")
        assert compare(self.METRICS, read_baseline(file)) is None  # it raises otherwise, as the tests below show

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('{"metrics": {"recall@8": 0.81, "mrr": 0.5}}', "Below the baseline: recall@8 0.8000 < 0.8100."),
            ('{"recall@8": 0.9, "mrr": 0.6}', "Below the baseline: recall@8 0.8000 < 0.9000, mrr 0.5000 < 0.6000."),
            ('{"ndcg@5": 0.1}', "Below the baseline: ndcg@5 was not measured."),
        ],
    )
    def test_below_it_every_metric_is_named(self, tmp_path: Path, text: str, says: str) -> None:
        file = tmp_path / "baseline.json"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BaselineMissed) as caught:
            compare(self.METRICS, read_baseline(file))
        assert str(caught.value) == says
        assert caught.value.exit_code == 6
        assert "baseline" in caught.value.hint

    @pytest.mark.parametrize(
        "text",
        [
            *("", "{", "[]", "5", "null", '"x"', "{}", '{"metrics": {}}', '{"metrics": null}', '{"metrics": [0.8]}', "[" * 100_000),
            *('{"mrr": "high"}', '{"mrr": null}', '{"mrr": NaN}', '{"mrr": true}', '{"mrr": {"mean": 0.5}}'),
        ],
    )
    def test_what_is_no_baseline_is_named(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "baseline.json"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError) as caught:
            compare(self.METRICS, read_baseline(file))
        assert str(caught.value).startswith(f"{file} is no baseline: ")
        assert caught.value.hint == 'It holds {"metrics": {"recall@8": 0.8}}.'

    def test_a_missing_one_too(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="is no baseline"):
            read_baseline(tmp_path / "missing.json")


class Searched:
    """A stand-in that finds what it was told to find, and records what it was asked."""

    def __init__(self, found: dict[str, list[Hit]]) -> None:
        self.found = found
        self.asked: list[tuple[str, int]] = []

    async def search(self, question: str, *, k: int) -> list[Hit]:
        self.asked.append((question, k))
        return self.found[question]


@pytest.mark.anyio
class TestRun:
    async def test_every_row_that_expects_something_is_searched_and_scored_in_order(self) -> None:
        rows = [QuestionRow(str(n), "t", f"q{n}", [[f"page{n}"]], {}) for n in range(10)]
        app = Searched({f"q{n}": [hit("https://h/other"), hit(f"https://h/page{n}", "x")] for n in range(10)})
        found = await run_retrieval(cast(Citewell, app), [*rows, QuestionRow("x", "t", "unexpecting", [], {})], 5)
        assert sorted(app.asked) == [(f"q{n}", 5) for n in range(10)]
        assert [item.id for item in found] == [str(n) for n in range(10)]
        assert all(item.metrics == {"recall@5": 1.0, "hit@1": 0.0, "mrr": 0.5} for item in found)
        assert found[3].detail == {"ranks": [2], "found": ["https://h/other#", "https://h/page3#x"]}

    @pytest.mark.parametrize("rows", [[], [QuestionRow("1", "", "q", [], {})]])
    async def test_rows_that_expect_nothing_are_an_error(self, rows: list[QuestionRow]) -> None:
        with pytest.raises(UsageError, match="No row says what it expects"):
            await run_retrieval(cast(Citewell, SimpleNamespace()), rows, 5)

    async def test_what_goes_wrong_in_a_search_is_told(self) -> None:
        app: Any = Searched({})
        with pytest.raises(ExceptionGroup) as caught:
            await run_retrieval(app, [QuestionRow("1", "", "q", [["x"]], {})], 5)
        assert caught.group_contains(KeyError)
