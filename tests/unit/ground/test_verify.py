"""What counts as said by a passage: its words however they are set; and never a name, a number or a denial that it does not have."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ground.flatten import find_words, flatten
from citewell.ground.units import units
from citewell.ground.verify import verify
from tests.unit.ground.hostile import slow
from tests.unit.ground.texts import MARKDOWN

SGD = """`class torch.optim.SGD(params, lr=0.001, momentum=0)`

Implements stochastic gradient descent (optionally with momentum). Nesterov momentum isn’t used by default. It needs 2,000 steps.

> Note: the update differs
> from **Sutskever** et al.

| option | meaning |
|---|---|
| `lr` | learning rate |
"""


class TestVerdict:
    @pytest.mark.parametrize(
        "claim",
        [
            "Implements stochastic gradient descent (optionally with momentum).",
            "implements stochastic gradient descent",
            "Note: the update differs from Sutskever et al.",
            "lr · learning rate",
            "Nesterov momentum isn't used by default",
            "`class torch.optim.SGD(params, lr=0.001, momentum=0)`",
        ],
    )
    def test_word_for_word_it_stands_however_it_is_set(self, claim: str) -> None:
        assert verify(claim, SGD).support == "supported"
        assert verify(claim, SGD).score == 1.0
        assert verify(claim, SGD).reason == "word for word in the cited text"

    @pytest.mark.parametrize(
        "claim",
        [
            "SGD implements gradient descent, stochastic and with momentum.",
            "The learning rate `lr` is 0.001.",
            "By default, Nesterov momentum is not used.",
            "It needs 2000 steps.",
        ],
    )
    def test_with_all_its_words_it_stands(self, claim: str) -> None:
        assert verify(claim, SGD).support == "supported"

    def test_with_most_of_them_it_is_weak(self) -> None:
        verdict = verify("SGD implements stochastic gradient descent with nice momentum and cheap steps", SGD)
        assert verdict.support == "weak"
        assert 0.6 <= verdict.score < 0.9
        assert "“cheap”" in verdict.reason

    @pytest.mark.parametrize(
        ("claim", "lacks"),
        [
            ("SGD was removed in 2.0; use torch.optim.Zorp", "“2.0”, “zorp”"),
            ("SGD implements stochastic gradient descent, use torch.optim.Zorp", "“zorp”"),
            ("Stochastic gradient descent with momentum has the option `dampening`", "“dampening”"),
            ("Stochastic gradient descent implements the option --no-momentum", "“no-momentum”"),
            ("Implements stochastic gradient descent since 1.13", "“1.13”"),
            ("The momentum needs 200 steps", "“200”"),
            ("The class SGD has lr=0.01 with momentum=0", "“0.01”"),
        ],
    )
    def test_a_name_or_a_number_that_is_not_there_makes_it_fall_whatever_else_is(self, claim: str, lacks: str) -> None:
        verdict = verify(claim, SGD)
        assert verdict.support == "unsupported"
        assert verdict.reason == f"the cited text does not mention {lacks}"
        assert verdict.score < 0.6

    def test_a_name_may_be_written_in_full_or_by_its_last_part(self) -> None:
        assert (
            verify("Use torch.optim.SGD for stochastic gradient descent", "SGD implements stochastic gradient descent.").support
            == "supported"
        )
        assert verify("Use optim.SGD for stochastic gradient descent", SGD).support == "supported"

    @pytest.mark.parametrize(
        ("claim", "passage"),
        [
            ("Nesterov momentum is used by default.", SGD),
            ("The cache is never cleared.", "The cache is cleared. It is fast."),
            ("You can call it without a lock.", "You can call it with a lock."),
            ("The widget cannot spin fast.", "The widget can spin as fast as it likes."),
        ],
    )
    def test_what_denies_what_the_passage_says_is_weak_at_best(self, claim: str, passage: str) -> None:
        assert verify(claim, passage).support == "weak"
        assert "denies" in verify(claim, passage).reason

    def test_a_name_with_a_no_in_it_denies_nothing(self) -> None:
        assert verify("Pass --no-cache-dir to keep it small.", "To keep it small, pass `--no-cache-dir`.").support == "supported"
        assert verify("The no_grad mode saves memory", "Memory is saved by the no_grad mode.").support == "supported"

    def test_of_other_things_it_falls(self) -> None:
        verdict = verify("Bananas are yellow and sweet.", SGD)
        assert (verdict.support, verdict.score) == ("unsupported", 0.0)
        assert verdict.reason == "the cited text lacks “banana”, “sweet”, “yellow”"

    def test_what_is_lacking_is_named_up_to_four(self) -> None:
        assert verify("alpha beta gamma delta epsilon", SGD).reason.endswith("“alpha”, “beta”, “delta”, “epsilon” and more")

    @pytest.mark.parametrize("claim", ["", "It is.", "[]", "***"])
    def test_what_says_nothing_is_not_supported(self, claim: str) -> None:
        assert verify(claim, SGD).support == "unsupported"

    def test_a_word_within_a_word_is_not_it(self) -> None:
        assert verify("cat", "concatenate").support == "unsupported"
        assert verify("ten", "listen").support == "unsupported"

    @given(MARKDOWN, MARKDOWN)
    def test_the_score_is_a_share_and_goes_with_the_verdict(self, claim: str, passage: str) -> None:
        verdict = verify(claim, passage)
        assert 0 <= verdict.score <= 1
        assert verdict.reason
        if verdict.support == "supported":
            assert verdict.score >= 0.9
        if verdict.support == "weak":
            assert verdict.score >= 0.6

    @settings(deadline=None)  # a busy machine is no fault
    @given(MARKDOWN)
    def test_every_sentence_of_a_passage_is_supported_by_it(self, passage: str) -> None:
        for unit in units(passage):
            claim = passage[unit.start : unit.end]
            assert (
                verify(claim, passage).support == "supported"
                or not flatten(claim)[0]
                or find_words(flatten(claim)[0], flatten(passage)[0]) < 0
            )

    @given(st.text("ab .", max_size=30), st.text("ab .", max_size=30))
    def test_more_passage_never_takes_words_away(self, claim: str, passage: str) -> None:
        assert verify(claim, f"{passage}\n\nmore of it").score >= verify(claim, passage).score


class TestFlatten:
    @given(MARKDOWN)
    def test_every_character_has_its_place(self, text: str) -> None:
        flat, places = flatten(text)
        assert len(flat) == len(places)
        assert places == sorted(set(places))
        assert all(0 <= place < len(text) for place in places)
        for char, place in zip(flat, places, strict=True):
            if char.isalnum():
                assert text[place].lower() in {char, text[place]}

    @given(MARKDOWN)
    def test_it_is_one_line_without_marks_and_stays_as_it_is(self, text: str) -> None:
        flat, _ = flatten(text)
        assert flat == " ".join(flat.split())
        assert not set(flat) & set("*`\\|·\n")

    @pytest.mark.parametrize(
        ("text", "flat"),
        [
            ("It is **so**.", "it is so."),
            ("> a\n> - b\n\n  + c", "a b c"),
            ("| a | `b` |", "a b"),
            ("“x” — ’y’", "\"x\" - 'y'"),
            ("a\\[0\\]", "a[0]"),
            ("x-1 - 2", "x-1 - 2"),
            ('[the docs](https://h/a_(b) "t") and ![image](x.png) x', "the docs and x"),
            ("`x[0](y)` and x[0] (y)", "x[0](y) and x[0] (y)"),
            ("", ""),
            (" * ", ""),
        ],
    )
    def test_what_typesetting_adds_is_gone(self, text: str, flat: str) -> None:
        assert flatten(text)[0] == flat

    @pytest.mark.parametrize(
        ("words", "text", "at"),
        [
            ("cat", "a cat", 2),
            ("cat", "concat cat", 7),
            ("cat", "concat", -1),
            ("cat", "cat_x", -1),
            ("cat", "cats", -1),
            ("cat.", "cat.s", 0),
            ("可以", "它可以用", 1),
            ("", "x", -1),
            ("a", "", -1),
        ],
    )
    def test_words_are_found_whole(self, words: str, text: str, at: int) -> None:
        assert find_words(words, text) == at


def test_hostile_claims_and_passages_take_no_time() -> None:
    assert slow(lambda text: verify("zqz " + text, text)) == {}
