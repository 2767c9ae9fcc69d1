"""An answer as claims: each with the markers that a reader would count to it, and no marker lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given

from citewell.ground import markers
from citewell.ground.claims import split_claims
from citewell.index.reading import fences
from tests.unit.ground.hostile import slow
from tests.unit.ground.texts import MARKDOWN


def claims(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.numbers) for claim in split_claims(answer)]


def bare(text: str) -> str:
    """Without blanks, marks of quotations (a marker may stand in the next line of one) and escapes (of ticks that would open a fence)."""
    return re.sub(r"[\s>\\]", "", text)


class TestCover:
    @given(MARKDOWN)
    def test_every_marker_is_in_exactly_one_claim(self, answer: str) -> None:
        found = split_claims(answer)
        for start, end, _ in markers.find(answer):
            assert sum(claim.start <= start < end <= claim.end for claim in found) == 1

    @given(MARKDOWN)
    def test_their_numbers_are_the_markers_numbers_in_order(self, answer: str) -> None:
        named = [number for _, _, numbers in markers.find(answer) for number in numbers]
        assert [number for claim in split_claims(answer) for number in claim.numbers] == named

    @given(MARKDOWN)
    def test_they_lie_in_the_answer_in_order_and_apart(self, answer: str) -> None:
        before = 0
        for claim in split_claims(answer):
            assert before <= claim.start < claim.end <= len(answer)
            before = claim.end

    @given(MARKDOWN)
    def test_a_claims_text_is_the_answers_without_the_markers(self, answer: str) -> None:
        marks = list(markers.find(answer))
        for claim in split_claims(answer):
            left, at = [], claim.start
            for start, end, _ in marks:
                if claim.start <= start < claim.end:
                    left.append(answer[at:start])
                    at = end
            left.append(answer[at : claim.end])
            assert bare(claim.text) == bare("".join(left))

    @given(MARKDOWN)
    @example("[1]```python\nspin(3)\n```")
    @example("[1]```python\nspin(3)\n``` and more")
    @example("[1] ~~~\nspin(3)")
    def test_a_claims_text_opens_a_fence_only_if_it_is_one(self, answer: str) -> None:
        for claim in split_claims(answer):
            assert claim.kind == "code" or not fences(claim.text)

    @given(MARKDOWN)
    def test_a_claims_text_holds_no_marker_of_its_own(self, answer: str) -> None:
        for claim in split_claims(answer):
            assert claim.text == claim.text.strip()
            assert claim.text or claim.numbers


class TestWhose:
    @pytest.mark.parametrize(
        "answer",
        [
            "It spins [1].",
            "It spins. [1]",
            "It spins.[1]",
            "It spins [1]",
            "[1] It spins.",
            "It spins\n[1].",
            "It spins.\n[1]",
            "It spins.\n\n[1]",
        ],
    )
    def test_before_behind_or_below_the_full_stop_it_is_the_same(self, answer: str) -> None:
        ((text, numbers),) = claims(answer)
        assert (text.rstrip("."), numbers) == ("It spins", (1,))

    def test_each_sentence_has_its_own(self) -> None:
        assert claims("It spins [1]. It stops. [2] It waits.[3][4]\nIt ends [5].") == [
            ("It spins.", (1,)),
            ("It stops.", (2,)),
            ("It waits.", (3, 4)),
            ("It ends.", (5,)),
        ]

    def test_a_sentence_without_one_has_none(self) -> None:
        assert claims("It spins. It stops [1].") == [("It spins.", ()), ("It stops.", (1,))]

    def test_two_in_one_sentence(self) -> None:
        assert claims("It spins [1] and stops [2, 3].") == [("It spins and stops.", (1, 2, 3))]

    def test_below_code_it_is_the_codes(self) -> None:
        assert claims("```py\nspin()\n```\n[1]\n\nIt spins [2].") == [("```py\nspin()\n```", (1,)), ("It spins.", (2,))]

    def test_at_the_head_of_an_item_or_a_paragraph_it_is_theirs(self) -> None:
        assert claims("- [1] Spin\n- [2] Stop\n\n[3] Wait here.") == [("Spin", (1,)), ("Stop", (2,)), ("Wait here.", (3,))]

    def test_items_and_rows(self) -> None:
        assert claims("- Spin [1]\n- Stop [2]\n\n| a | b |\n|---|---|\n| c | d [3] |\n") == [
            ("Spin", (1,)),
            ("Stop", (2,)),
            ("| c | d |", (3,)),
        ]

    def test_the_next_line_of_an_item(self) -> None:
        assert claims("- It spins.\n  [1] It stops [2].") == [("It spins.", (1,)), ("It stops.", (2,))]

    def test_a_quotation_goes_on_in_the_next_line(self) -> None:
        assert claims("> It spins.\n> [1] It stops. [2]") == [("It spins.", (1,)), ("It stops.", (2,))]

    def test_a_heading_that_cites_is_a_claim_and_one_that_does_not_is_none(self) -> None:
        answer = "# Spinning [1]\n\n## Stopping\n\nIt stops [2].\n"
        assert claims(answer) == [("Spinning", (1,)), ("It stops.", (2,))]
        assert answer[split_claims(answer)[0].start :].startswith("Spinning [1]")

    def test_a_heading_between_keeps_markers_apart(self) -> None:
        assert claims("It spins.\n\n# Head\n\n[1] It stops.") == [("It spins.", ()), ("It stops.", (1,))]
        assert claims("It spins.\n\n# Head\n\n[1]") == [("It spins.", ()), ("", (1,))]

    def test_the_head_of_a_table_that_cites(self) -> None:
        assert claims("| a [1] | b |\n|---|---|\n| c | d |") == [("| a | b |", (1,)), ("| c | d |", ())]

    def test_alone_it_is_a_claim_of_nothing(self) -> None:
        assert claims("[1]") == [("", (1,))]
        assert claims("\n\n[2, 3].") == [(".", (2, 3))]

    def test_no_answer_no_claims(self) -> None:
        assert claims("") == claims(" \n\n") == claims("# Head\n\n---\n") == []


def test_hostile_answers_take_no_time() -> None:
    assert slow(split_claims) == {}
