"""The channels' scores as one ranking: what each knows counts, pages share the places, copies are folded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.index.retrieve import SECTIONS_A_PAGE, fuse, snippet
from citewell.index.store import Candidate
from tests.unit.ground.hostile import slow

SCORES = st.floats(0, 50, allow_nan=False)


def candidate(number: int, *, page: int = 0, text: str = "", keyword: float = 0, dense: float | None = 0, symbol: float = 0) -> Candidate:
    return Candidate(number, page or number, text or f"text {number}", keyword, dense, symbol)


CANDIDATES = st.lists(
    st.builds(
        lambda page, text, keyword, dense, symbol: (page, f"text {text}", keyword, dense, symbol),
        st.integers(1, 6),
        st.integers(1, 20),
        SCORES,
        st.none() | st.floats(-1, 1, allow_nan=False),
        st.sampled_from([0, 0, 0, 0.5, 1]),
    ),
    max_size=30,
).map(lambda rows: [Candidate(number, *row) for number, row in enumerate(rows, start=1)])


def order(candidates: list[Candidate], k: int = 8) -> list[int]:
    return [item.section_id for item, _, _ in fuse(candidates, k)]


@given(CANDIDATES, st.integers(1, 12))
def test_at_most_k_each_once_and_no_copies(candidates: list[Candidate], k: int) -> None:
    found = fuse(candidates, k)
    assert len(found) == min(k, len({item.text_hash for item in candidates}))
    assert len({item.section_id for item, _, _ in found}) == len({item.text_hash for item, _, _ in found}) == len(found)


@given(CANDIDATES)
def test_scores_are_finite_and_channels_between_nothing_and_all(candidates: list[Candidate]) -> None:
    for _, score, channels in fuse(candidates, 30):
        assert 0 <= score < 10
        assert all(0 <= value <= 1 for value in channels.values())


@given(CANDIDATES)
def test_the_order_in_which_they_come_does_not_matter(candidates: list[Candidate]) -> None:
    assert order(candidates) == order(candidates[::-1])


@given(CANDIDATES)
def test_a_page_does_not_take_all_places_while_others_wait(candidates: list[Candidate]) -> None:
    found = fuse(candidates, 8)
    everything = fuse(candidates, 100)
    for page in {item.document_id for item, _, _ in found}:
        mine = sum(item.document_id == page for item, _, _ in found)
        waiting = {item.document_id for item, _, _ in everything} - {item.document_id for item, _, _ in found}
        assert mine <= SECTIONS_A_PAGE or not waiting


def test_nine_sections_of_a_page_leave_places_for_others() -> None:
    crowd = [candidate(number, page=1, keyword=50 - number) for number in range(1, 10)]
    others = [candidate(number, keyword=1) for number in range(20, 27)]
    pages = [item.document_id for item, _, _ in fuse([*crowd, *others], 8)]
    assert pages.count(1) <= SECTIONS_A_PAGE
    assert len(pages) == 8


def test_a_page_alone_takes_them_all() -> None:
    assert len(order([candidate(number, page=1, keyword=number) for number in range(1, 10)])) == 8


def test_a_named_symbol_is_in_front_of_what_only_resembles_the_question() -> None:
    assert order([candidate(1, keyword=9, dense=0.7), candidate(2, keyword=8, dense=0.65, symbol=1)])[0] == 2


def test_what_both_channels_know_is_in_front_of_what_one_knows() -> None:
    assert order([candidate(1, keyword=10, dense=0.1), candidate(2, keyword=9, dense=0.9), candidate(3, keyword=0, dense=0.95)])[0] == 2


def test_while_its_vector_is_pending_a_section_is_judged_by_its_words() -> None:
    assert order([candidate(1, keyword=10, dense=None), candidate(2, keyword=6, dense=0.6)])[0] == 1


def test_without_vectors_words_alone_rank() -> None:
    assert order([candidate(1, keyword=1, dense=None), candidate(2, keyword=2, dense=None)]) == [2, 1]


def test_of_equals_the_older_section_is_first() -> None:
    assert order([candidate(2, keyword=1), candidate(1, keyword=1)]) == [1, 2]


def test_of_nothing_comes_nothing() -> None:
    assert fuse([], 8) == []


class TestSnippet:
    def test_it_begins_with_the_paragraph_that_answers_best(self) -> None:
        text = "First some words.\n\nThe widget spins clockwise.\n\nThen more of it."
        assert snippet(text, "how does the widget spin") == "The widget spins clockwise. Then more of it."

    def test_it_is_one_line_of_its_size(self) -> None:
        shown = snippet("word " * 200, "word", 40)
        assert len(shown) <= 40
        assert shown.endswith("…")
        assert "\n" not in shown

    @pytest.mark.parametrize("text", ["", "\n \n", "```\n```"])
    def test_of_nothing_there_is_none(self, text: str) -> None:
        assert snippet(text, "word") == ""

    @given(st.text(), st.text(), st.integers(2, 50))
    def test_of_anything_it_is_no_longer_than_asked(self, text: str, question: str, size: int) -> None:
        assert len(snippet(text, question, size)) <= size

    def test_hostile_texts_take_no_time(self) -> None:
        assert slow(lambda text: snippet(text, text)) == {}


def test_of_copies_the_one_at_its_canonical_address_is_the_hit_at_the_place_of_the_best() -> None:
    latest = Candidate(1, 1, "same", 9, 0.9, 0)
    stable = Candidate(2, 2, "same", 3, 0.3, 0, canonical=True)
    other = Candidate(3, 3, "other", 6, 0.6, 0)
    assert order([latest, stable, other]) == [2, 3]
    assert order([latest, other, Candidate(4, 4, "same", 1, 0.1, 0)]) == [1, 3]
