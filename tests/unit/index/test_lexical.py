"""Words and identifiers as terms, and BM25 weights that behave as BM25 does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.index.lexical import DIMENSIONS, MAX_TERMS, STOP_WORDS, query_terms, section_weights, sparse_literal, term_id, tokens
from tests.unit.ground.hostile import slow

WORDS = st.text("abcdefghijklmnop", min_size=1, max_size=12)


class TestTokens:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("running runs", ["run", "run"]),
            ("torch.cat", ["torch.cat", "torch", "cat"]),
            ("os.path.join", ["os.path.join", "os", "path", "join"]),
            ("std::move", ["std::move", "std", "move"]),
            ("CUE_DEBUG_X", ["cue_debug_x", "cue", "debug", "x"]),
            ("scaled_dot_product", ["scaled_dot_product", "scale", "dot", "product"]),
            ("--no-cache-dir", ["no", "cach", "dir"]),
            ("DataLoader", ["dataload", "data", "loader"]),
            ("HTTPServer", ["httpserver", "http", "server"]),
            ("conv2d", ["conv2d", "conv", "2", "d"]),
            ("__init__", ["init"]),
            ("torch.__version__", ["torch.__version__", "torch", "version"]),
            ("3.11", ["3.11", "3", "11"]),
            ("GPUs and APIs", ["gpu", "and", "api"]),
            ("don’t", ["don", "t"]),
            ("naïve café", ["naïv", "café"]),
            ("Größe_Maß", ["größe", "maß"]),
            ("", []),
            (" .-_:/ ", []),
        ],
    )
    def test_a_word_is_stemmed_and_an_identifier_is_itself_and_its_parts(self, text: str, expected: list[str]) -> None:
        assert tokens(text) == expected

    @pytest.mark.parametrize(
        ("written", "otherwise"),
        [
            ("DataLoader", "dataloader"),
            ("NumPy", "numpy"),
            ("TransformerEncoder", "transformerencoder"),
            ("GPUs", "gpu"),
            ("GPUs", "gpus"),
            ("CPUs", "cpus"),
            ("IDs", "id"),
            ("requires_grad_", "requires_grad"),
            ("_private_name", "private_name"),
            ("Torch.Cat", "torch.cat"),
            ("ﬁle", "file"),
            ("ｆｕｌｌ", "full"),
            ("cafe\u0301", "café"),
        ],
    )
    def test_one_name_written_in_two_ways_meets_in_its_first_term(self, written: str, otherwise: str) -> None:
        assert tokens(written)[0] == tokens(otherwise)[0]

    def test_a_name_in_pieces_meets_the_same_in_words(self) -> None:
        assert {"data", "loader"} <= set(tokens("DataLoader")) & set(tokens("data_loader")) & set(tokens("data loader"))

    def test_the_last_part_of_a_long_name_is_not_lost(self) -> None:
        assert "float" in tokens(f"{'package.' * 30}from_float")
        assert max(map(len, tokens("a" * 5000 + ".b" * 5000))) <= 128

    def test_scripts_without_blanks_are_found_by_their_parts(self) -> None:
        assert set(tokens("安装软件")) & set(tokens("如何安装"))
        assert tokens("中") == ["中"]
        assert tokens("用torch安装") == tokens("用torch安装")

    @given(st.text())
    def test_terms_are_lower_case_words_without_blanks(self, text: str) -> None:
        for term in tokens(text):
            assert term
            assert not re.search(r"\s", term)
            assert term == term.lower()

    @given(st.text(), st.text())
    def test_texts_do_not_change_each_others_terms(self, left: str, right: str) -> None:
        assert tokens(f"{left} {right}") == tokens(left) + tokens(right)

    @given(WORDS, WORDS)
    def test_camel_case_and_one_word_meet(self, first: str, second: str) -> None:
        assert tokens(first.title() + second.title())[0] == tokens(first + second)[0]


class TestQuery:
    def test_grammar_says_nothing_and_is_left_out(self) -> None:
        assert query_terms("What does the widget do, and how is it used?") == query_terms("widget")

    @pytest.mark.parametrize("word", ["does", "because", "before", "during", "very", "only", "once", "please", "having", "above"])
    def test_in_its_stemmed_form_too(self, word: str) -> None:
        assert set(tokens(word)) <= STOP_WORDS

    def test_unless_there_is_nothing_else(self) -> None:
        assert query_terms("to be or not to be") != []
        assert query_terms("") == []

    def test_each_term_once(self) -> None:
        assert query_terms("widget widgets Widget") == [term_id("widget")]


class TestWeights:
    @given(st.integers(1, 30), st.integers(0, 60))
    def test_a_word_that_occurs_oftener_weighs_more(self, times: int, others: int) -> None:
        length = times + 1 + others  # the same length for both
        fewer = section_weights("", " ".join(["widget"] * times + ["other"] * (length - times)))
        more = section_weights("", " ".join(["widget"] * (times + 1) + ["other"] * (length - times - 1)))
        assert fewer[term_id("widget")] < more[term_id("widget")]

    @given(st.integers(1, 10), st.integers(0, 200))
    def test_in_a_longer_section_it_weighs_less(self, times: int, others: int) -> None:
        shorter = section_weights("", " ".join(["widget"] * times + ["other"] * others))
        longer = section_weights("", " ".join(["widget"] * times + ["other"] * (others + 1)))
        assert shorter[term_id("widget")] > longer[term_id("widget")]

    @given(st.integers(1, 50))
    def test_it_never_weighs_more_than_its_bound(self, times: int) -> None:
        assert 0 < section_weights("", "widget " * times)[term_id("widget")] < 2.2

    def test_in_the_heading_it_weighs_more(self) -> None:
        assert section_weights("Widget", "A widget.")[term_id("widget")] > section_weights("Guide", "A widget.")[term_id("widget")]
        assert term_id("widget") in section_weights("Widget", "")

    def test_grammar_has_no_weight(self) -> None:
        assert section_weights("The", "does it and because") == {}

    def test_what_the_database_can_hold_is_kept_by_frequency(self) -> None:
        text = "widget widget " + " ".join(f"w{number}" for number in range(MAX_TERMS))
        weights = section_weights("", text)
        assert len(weights) <= MAX_TERMS
        assert term_id("widget") in weights

    @given(st.text(max_size=200), st.text(max_size=200))
    def test_a_sparse_vector_is_one_the_database_reads(self, heading: str, text: str) -> None:
        literal = sparse_literal(section_weights(heading, text))
        body, dimensions = literal.removeprefix("{").split("}/")
        pairs = [pair.split(":") for pair in body.split(",") if pair]
        places = [int(place) for place, _ in pairs]
        assert int(dimensions) == DIMENSIONS
        assert places == sorted(set(places))
        assert all(1 <= place <= DIMENSIONS for place in places)
        assert all(float(weight) > 0 for _, weight in pairs)


@given(st.text())
def test_a_term_has_its_place_in_the_vector(term: str) -> None:
    assert 1 <= term_id(term) <= DIMENSIONS
    assert term_id(term) == term_id(term)


def test_hostile_texts_take_no_time() -> None:
    assert slow(lambda text: section_weights(text, text)) == {}
