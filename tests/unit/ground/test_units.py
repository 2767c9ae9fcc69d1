"""Units are exact spans: sentences, items, rows, code and signatures, cut where a reader of technical prose would cut."""

from __future__ import annotations

import pytest
from hypothesis import given

from citewell.ground.blocks import blocks, code_spans
from citewell.ground.units import units, with_heads
from citewell.index.reading import fences
from tests.unit.ground.hostile import slow
from tests.unit.ground.texts import MARKDOWN


def pieces(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in units(text)]


def kinds(text: str) -> list[str]:
    return [unit.kind for unit in units(text)]


class TestSpans:
    @given(MARKDOWN)
    def test_they_lie_in_the_text_in_order_and_apart(self, text: str) -> None:
        before = 0
        for unit, _ in with_heads(text):
            assert before <= unit.start < unit.end <= len(text)
            before = unit.end

    @given(MARKDOWN)
    def test_none_begins_or_ends_in_a_blank(self, text: str) -> None:
        for unit in units(text):
            piece = text[unit.start : unit.end]
            assert piece.strip()
            assert unit.kind == "code" or piece == piece.strip()

    @given(MARKDOWN)
    def test_a_fence_is_a_unit_or_outside_all_of_them(self, text: str) -> None:
        for first, last in fences(text):
            for unit in units(text):
                whole = (unit.kind, unit.start, unit.end) == ("code", first, last)
                assert whole or unit.end <= first or unit.start >= last

    @given(MARKDOWN)
    def test_a_code_span_is_in_one_unit_or_none(self, text: str) -> None:
        found = [unit for unit, _ in with_heads(text)]
        for block in blocks(text):
            for left, right in code_spans(text, block.start, block.end) if block.kind not in {"fence", "row"} else []:
                assert all(unit.end <= left or unit.start >= right or unit.start <= left < right <= unit.end for unit in found)

    @given(MARKDOWN)
    def test_no_word_is_lost(self, text: str) -> None:
        covered = [False] * len(text)
        for unit, _ in with_heads(text):
            covered[unit.start : unit.end] = [True] * (unit.end - unit.start)
        quotable = [block for block in blocks(text) if block.kind in {"paragraph", "heading", "row"}]
        for block in quotable:
            left_out = "".join(text[place] for place in range(block.start, block.end) if not covered[place])
            assert not left_out.translate({ord(mark): None for mark in ">#"}).strip()

    @given(MARKDOWN)
    def test_blocks_are_whole_lines_in_order(self, text: str) -> None:
        before = -1
        for block in blocks(text):
            assert before < block.start <= block.end <= len(text)
            assert block.start == 0 or text[block.start - 1] == "\n"
            assert block.end == len(text) or text[block.end] == "\n"
            before = block.end


class TestSentences:
    @pytest.mark.parametrize(
        "sentences",
        [
            ["It spins.", "It stops!", "Does it?", "Yes"],
            ["Use e.g. torch.cat or i.e. Joining, cf. Stack, vs. Adam.", "Then stop."],
            ["See Fig. 3, Sec. 2 and Eq. (4).", "The answer is no.", "Take No. 5."],
            ["It needs Python 3.11.", "Version 2.0.1 adds it.", "Since v1.2 it works."],
            ["Dr. Smith, J. Doe and Knuth et al. wrote it.", "Multiply by matrix A.", "The result is B."],
            ["It takes 5 ms.", "That is a while, approx. Forever."],
            ["Lists, sets, etc.", "Are allowed."],
            ["Call `a.b. C` and ``x ` y. Z``.", "Then go."],
            ["Wait... it goes on... and on.", "Wait…", "Then it stops… almost.", "Done."],
            ['He said "stop."', "Then he left.", "“Really?”", "‘Yes.’", "So it was."],
            ["It stops (see above. And below.) and goes on.", "(Really. It does.)", "End."],
            ["It joins.", "torch.cat does it.", "max_len limits it.", "cat() too.", "std::move as well.", "`x` is set."],
            ["It is so.[1]", "And so.", "[2] More."],
            ["Read [the docs. Really](https://h/a.b?c=d.) now.", "Then ask."],
            ["See the file config.py.", "It is short."],
            ["The U.S. and U.K. agree at 5 p.m. on it.", "They do."],
            ["他说：“好。”", "然后停止！", "真的？", "torch.cat 可以。", "end"],
            ["🙂👩‍💻 prints it.", "🙂 It prints again."],
            ["Don't.stop.now or a.b.c."],
            ["“Quoted… text.”", "— And a dash."],
            ["**Note.** It spins.", "It ends."],
        ],
    )
    def test_a_paragraph_is_its_sentences(self, sentences: list[str]) -> None:
        assert pieces(" ".join(sentences)) == sentences

    @pytest.mark.parametrize("abbreviation", ["e.g.", "i.e.", "cf.", "vs.", "approx.", "incl.", "resp.", "Dr.", "Prof.", "al.", "Inc."])
    def test_an_abbreviation_ends_none(self, abbreviation: str) -> None:
        assert len(pieces(f"Some of it, {abbreviation} The rest, is here.")) == 1

    def test_lines_of_a_paragraph_belong_together(self) -> None:
        assert pieces("It spins\nand stops. Then\nit spins.") == ["It spins\nand stops.", "Then\nit spins."]

    def test_a_quotation_is_read_without_its_marks(self) -> None:
        text = "> First one\n> goes on.\n> Second one.\n>\n> Third."
        assert pieces(text) == ["First one\n> goes on.", "Second one.", "Third."]

    def test_a_lead_in_is_a_sentence(self) -> None:
        assert pieces("For example:\n\n```\nx\n```") == ["For example:", "```\nx\n```"]


class TestBlocks:
    def test_items_without_their_marks(self) -> None:
        text = "- One. Two.\n  Still two.\n* Three\n+ Four\n1. Five\n2) Six\n   - Seven"
        assert pieces(text) == ["One.", "Two.", "Still two.", "Three", "Four", "Five", "Six", "Seven"]
        assert set(kinds(text)) == {"item"}

    def test_what_only_looks_like_an_item_is_none(self) -> None:
        assert kinds("-5 degrees\n\n**bold** text\n\n1986.5 is a number") == ["sentence"] * 3

    def test_rows_without_the_head_and_its_rule(self) -> None:
        text = "| a | b |\n|:--|--:|\n| c. D | e |\n| f | g |\n\nAfter."
        assert pieces(text) == ["| c. D | e |", "| f | g |", "After."]
        assert kinds(text) == ["row", "row", "sentence"]

    def test_a_table_without_a_rule_is_rows(self) -> None:
        assert kinds("| a | b |\n| c | d |") == ["row", "row"]

    def test_code_is_one_unit_whatever_it_holds(self) -> None:
        text = "Before.\n```py\n# A. B\n\n- x\n```\nAfter. Now."
        assert pieces(text) == ["Before.", "```py\n# A. B\n\n- x\n```", "After.", "Now."]

    @pytest.mark.parametrize("text", ["```\n```", "```py\n\n```", "~~~\n  \n~~~", "```", "> ```\n>\n> ```"])
    def test_an_empty_fence_is_none(self, text: str) -> None:
        assert units(text) == []

    def test_an_open_fence_runs_to_the_end(self) -> None:
        assert pieces("```\nx\ny. Z") == ["```\nx\ny. Z"]
        assert pieces("```\nx") == ["```\nx"]

    def test_a_definition_begins_with_its_signatures(self) -> None:
        text = "`f(x)`\n`f(x, y)`\n\nReturns x."
        assert pieces(text) == ["`f(x)`", "`f(x, y)`", "Returns x."]
        assert kinds(text) == ["signature", "signature", "sentence"]

    def test_two_spans_in_a_line_are_no_signature(self) -> None:
        assert kinds("`a` `b`") == ["sentence"]

    @pytest.mark.parametrize("rule", ["---", "***", "___", "- - -", "* * *", "====", "----------"])
    def test_rules_and_underlines_are_none(self, rule: str) -> None:
        assert pieces(f"Before.\n\n{rule}\n\nAfter.") == ["Before.", "After."]
        assert pieces(f"Before.\n{rule}\nAfter.") == ["Before.", "After."]

    @pytest.mark.parametrize("text", ["# Head", "## Head ##", "> ### Head", "#", "", " \n\t\n", ">", "|---|---|"])
    def test_headings_and_nothing_are_none(self, text: str) -> None:
        assert units(text) == []

    def test_heads_are_told_apart(self) -> None:
        text = "# Head\n\n| a | b |\n|---|---|\n| c | d |\n"
        assert [(text[unit.start : unit.end], head) for unit, head in with_heads(text)] == [
            ("Head", True),
            ("| a | b |", True),
            ("| c | d |", False),
        ]


def test_hostile_texts_take_no_time() -> None:
    assert slow(units) == {}
