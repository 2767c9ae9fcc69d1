"""Citation markers are found where a reader sees them as markers, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citewell.ground.blocks import blocks, code_spans
from citewell.ground.markers import find, rewrite
from tests.unit.ground.hostile import slow
from tests.unit.ground.texts import MARKDOWN

COMMONMARK = MarkdownIt("commonmark").disable("text_join")  # what was escaped stays a token of its own


def numbers(markdown: str) -> list[int]:
    return [number for _, _, named in find(markdown) for number in named]


class TestFind:
    @pytest.mark.parametrize(
        ("markdown", "expected"),
        [
            ("It is so [1].", [1]),
            ("It is so.[1][2] Next[3].", [1, 2, 3]),
            ("It is so [1, 2; 3].", [1, 2, 3]),
            ("[7] leads.", [7]),
            ("- [1] item\n> [2] quoted\n# [3] head\n| [4] | cell |", [1, 2, 3, 4]),
            ("As said in [1]: use it.", [1]),
            ("[1]: use it, said the manual.", [1]),
            ("[1] (see below)", [1]),
            ("[1](see below [2])", [1, 2]),
            ("[1](no end", [1]),
            ("\\\\[1]", [1]),
            ("`code` [1] `code`", [1]),
            ("a ` tick [1]", [1]),
            ("- a ` tick [1]\n- another ` tick [2]", [1, 2]),
            ("a ` tick [1]\n\nanother ` tick [2]", [1, 2]),
            ("\\`[1]\\`", [1]),
            ("[not a link] [1]", [1]),
            ("[t][1]", [1]),
            ("**[1]** *[2]* [[3]]", [1, 2, 3]),
            ("[0] [123456789]", [0, 123456789]),
            ("```\ncode\n```\n[1]", [1]),
            ("```inline``` [1]", [1]),
        ],
    )
    def test_a_marker(self, markdown: str, expected: list[int]) -> None:
        assert numbers(markdown) == expected

    @pytest.mark.parametrize(
        "markdown",
        [
            "`a[1]`",
            "``a ` [1]``",
            "`two\nlines [1]`",
            "```\n[1]\n```",
            "~~~py\nx[1]\n~~~",
            "```\n[1] never closed",
            "> ```\n> [1]\n> ```",
            "1. ```\n   [1]\n   ```",
            "[1](https://h/)",
            '[1](<a b> "title")',
            "[1](a(b)c)",
            "![1](x.png)",
            "[see [1] here](https://h/)",
            "[text](https://h/[1])",
            "<https://h/[1]>",
            "[text][1]\n\n[1]: https://h/",
            "[1][name]\n\n[name]: https://h/",
            "[1]: https://h/",
            '> [1]: https://h/ "title"',
            "\\[1]",
            "\\\\\\[1]",
            "[1\\]",
            "[^1] and [^1]: note",
            "[a1] [1a] [] [ ] [x] [1-3] [1.2]",
            "[1234567890]",
        ],
    )
    def test_no_marker(self, markdown: str) -> None:
        assert numbers(markdown) == []

    @given(MARKDOWN)
    def test_it_is_where_it_is_said_to_be(self, markdown: str) -> None:
        before = 0
        for start, end, named in find(markdown):
            assert before <= start < end
            assert re.fullmatch(r"\[\d+(?:\s*[,;]\s*\d+)*\]", markdown[start:end])
            assert named == [int(number) for number in re.findall(r"\d+", markdown[start:end])]
            before = end

    @given(MARKDOWN)
    def test_it_is_in_no_code(self, markdown: str) -> None:
        spans = [
            span
            for block in blocks(markdown)
            for span in ([(block.start, block.end)] if block.kind == "fence" else code_spans(markdown, block.start, block.end))
        ]
        assert not [start for start, _, _ in find(markdown) for left, right in spans if left <= start < right]

    @given(st.lists(st.sampled_from(["a ", "`", "``", "[1]", "\\", "\\`", "[1](u)", "(", "[x](u) ", "]", ")", "\n"]), max_size=12))
    def test_within_a_paragraph_it_is_what_commonmark_shows_as_text(self, pieces: list[str]) -> None:
        markdown = re.sub(r"\n+", "\nx ", "".join(["x ", *pieces]))
        (inline,) = COMMONMARK.parseInline(markdown)
        depth, shown = 0, []
        for token in inline.children or []:
            depth += {"link_open": 1, "link_close": -1}.get(token.type, 0)
            shown.append(token.content if token.type == "text" and not depth else "\0")
        assert len(list(find(markdown))) == len(re.findall(r"\[1\]", "".join(shown)))


class TestRewrite:
    @given(MARKDOWN)
    def test_kept_as_they_are_nothing_changes(self, markdown: str) -> None:
        single = re.sub(r"\[(\d+)\s*[,;][^\]]*\]", r"[\1]", markdown)
        assert rewrite(single, lambda _, number: number) == (single, 0)

    @given(MARKDOWN, st.integers(0, 9))
    def test_all_but_the_markers_stays_byte_for_byte(self, markdown: str, new: int) -> None:
        marks = list(find(markdown))
        changed, removed = rewrite(markdown, lambda _, number: new)
        assert removed == 0
        pieces, at = [], 0
        for start, end, _ in marks:
            pieces += [markdown[at:start], f"[{new}]"]
            at = end
        assert changed == "".join([*pieces, markdown[at:]])

    @given(MARKDOWN)
    def test_removed_they_leave_no_trace_but_the_blank_before_them(self, markdown: str) -> None:
        marks = list(find(markdown))
        changed, removed = rewrite(markdown, lambda _, number: None)
        assert removed == sum(len(named) for _, _, named in marks)
        left, at = [], 0
        for start, end, _ in marks:
            left.append(markdown[at:start])
            at = end
        assert changed.replace(" ", "") == "".join([*left, markdown[at:]]).replace(" ", "")

    def test_numbers_are_mapped_by_place_and_value(self) -> None:
        told: list[tuple[int, int]] = []

        def number(place: int, old: int) -> int | None:
            told.append((place, old))
            return {3: 1, 1: 2}.get(old)

        assert rewrite("A [3]. B [1, 3] and [7].", number) == ("A [1]. B [2][1] and.", 1)
        assert told == [(2, 3), (9, 1), (9, 3), (20, 7)]

    def test_one_number_twice_is_one_marker(self) -> None:
        assert rewrite("A [1, 2].", lambda _, number: 5) == ("A [5].", 0)


@pytest.mark.parametrize("work", [lambda text: list(find(text)), lambda text: rewrite(text, lambda _, number: None)])
def test_hostile_texts_take_no_time(work: Callable[[str], object]) -> None:
    assert slow(work) == {}
