"""A document page by page: nothing lost, every page ends, no fence cut that fits."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.index.reading import PAGE_CHARS, closed, fences, next_offset, normal_name
from tests.unit.ground.hostile import TEXTS

LINES = st.sampled_from(
    [
        *("# Heading", "## Another", "", "", "a line of text", "x" * 30, "- item", "> quoted", "#hashtag", "   "),
        *("```", "```python", "~~~", "````", "> ```", "- ```sh", "  ```", "```inline``` code", "~~~~~", "```` `x`"),
    ]
)
DOCUMENTS = st.lists(LINES, max_size=40).map("\n".join)
SIZES = st.integers(1, 120)


def pages(text: str, size: int) -> list[tuple[int, int]]:
    """The pages of a text as spans. Fails when one is empty."""
    found, at = [], 0
    while True:
        end = next_offset(text, at, size)
        found.append((at, len(text) if end is None else end))
        if end is None:
            return found
        assert at < end < len(text)
        at = end


class TestPages:
    @given(DOCUMENTS, SIZES)
    def test_joined_they_are_the_text(self, text: str, size: int) -> None:
        assert "".join(text[start:end] for start, end in pages(text, size)) == text

    @given(st.text(), SIZES)
    def test_whatever_the_text(self, text: str, size: int) -> None:
        assert "".join(text[start:end] for start, end in pages(text, size)) == text

    @given(DOCUMENTS, SIZES)
    def test_a_fence_that_fits_on_two_is_not_cut(self, text: str, size: int) -> None:
        cuts = [end for _, end in pages(text, size)[:-1]]
        for first, last in fences(text):
            if last + 1 - first <= 2 * size:
                assert not any(first < cut <= last for cut in cuts)

    @given(DOCUMENTS, SIZES)
    def test_a_page_is_longer_than_the_size_only_for_a_fence_or_the_blank_end(self, text: str, size: int) -> None:
        spans = fences(text)
        for start, end in pages(text, size):
            limit = start + size
            if end == len(text):  # blank lines at the end, at most a page of them
                end = max(len(text.rstrip()), min(end, limit))
            cut = [last for first, last in spans if first < limit <= last]
            assert end <= limit or (cut and end <= cut[0] + 1 and end <= limit + size + size // 2)

    @given(DOCUMENTS, SIZES)
    def test_no_page_but_the_last_is_less_than_half_full(self, text: str, size: int) -> None:
        assert all(end - start >= size // 2 for start, end in pages(text, size)[:-1])

    @given(DOCUMENTS, SIZES)
    def test_the_last_page_is_not_blank_unless_a_page_of_blank_lines_goes_before(self, text: str, size: int) -> None:
        *before, (start, _) = pages(text, size)
        assert not before or text[start:].strip() or not text[before[-1][0] + 1 + size // 2 :].strip()

    @given(DOCUMENTS, SIZES, st.integers(0, 500))
    def test_from_any_offset_it_goes_on(self, text: str, size: int, offset: int) -> None:
        end = next_offset(text, offset, size)
        assert end is None or offset < end < len(text)

    @given(DOCUMENTS, SIZES)
    def test_a_line_is_cut_only_when_none_ends_in_the_second_half_of_the_page(self, text: str, size: int) -> None:
        for start, end in pages(text, size)[:-1]:
            assert text[end - 1] == "\n" or "\n" not in text[start + size // 2 : end]

    def test_a_text_that_fits_is_whole(self) -> None:
        assert next_offset("x" * PAGE_CHARS, 0) is None
        assert next_offset("", 0) is None
        assert next_offset("short", 99) is None

    def test_a_page_ends_where_a_section_begins(self) -> None:
        text = "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree three three\n"
        assert [text[start:end] for start, end in pages(text, 30)] == ["# A\n\none\n\n## B\n\ntwo\n\n", "## C\n\nthree three three\n"]

    def test_else_behind_a_blank_line_else_behind_a_line(self) -> None:
        assert [end for _, end in pages("one\ntwo\n\nthree\nfour\nfive\n", 18)] == [9, 25]
        assert [end for _, end in pages("one\ntwo\nthree\nfour\n", 10)] == [8, 14, 19]

    def test_a_comment_in_a_fence_is_no_section(self) -> None:
        text = "para\n\n```sh\n# not a heading\nmake\n```\n\nend of it\n"
        assert [text[start:end] for start, end in pages(text, 40)] == [text[:38], text[38:]]

    def test_behind_a_fence_the_rest_is_read_as_text_again(self) -> None:
        text = "```\n" + "code\n" * 40 + "```\n\n# A\n\none one one one\n\n# B\n\n" + "two " * 8
        assert text[pages(text, 40)[-1][0] :].startswith("# B")

    def test_a_line_longer_than_a_page_is_cut_at_a_blank(self) -> None:
        assert [end for _, end in pages("word " * 10, 22)] == [20, 40, 50]
        assert [end for _, end in pages("x" * 50, 22)] == [22, 44, 50]

    def test_a_fence_longer_than_two_pages_is_cut_at_a_line(self) -> None:
        text = "```\n" + "code\n" * 40 + "```\n"
        assert all(text[end - 1] == "\n" for _, end in pages(text, 22))

    @pytest.mark.parametrize("block", ["```\n" + "code\n" * 7 + "```\n", "word " * 9 + "\n", "x" * 45 + "\n"])
    def test_a_large_block_leaves_no_page_nearly_empty(self, block: str) -> None:
        text = f"# T\n\nfew\n\n{block}\nend\n"
        spans = pages(text, 30)
        assert all(end - start >= 15 for start, end in spans[:-1])
        assert text[slice(*spans[0])].startswith("# T\n\nfew\n\n" + block[:10])

    def test_blank_lines_at_the_end_are_no_page(self) -> None:
        assert pages("x" * 20 + "\n" * 10, 20) == [(0, 30)]
        assert pages("```\n" + "x\n" * 10 + "```\n\n\n", 20) == [(0, 30)]


class TestFences:
    @pytest.mark.parametrize(
        ("text", "inside"),
        [
            ("a\n```\nb\n```\nc", "```\nb\n```"),
            ("```py\nb\n```", "```py\nb\n```"),
            ("````\n```\nb\n```\n````\nc", "````\n```\nb\n```\n````"),
            ("~~~\n```\n~~~\nc", "~~~\n```\n~~~"),
            ("> ```\n> b\n> ```\nc", "> ```\n> b\n> ```"),
            ("- ```\n  b\n  ```\nc", "- ```\n  b\n  ```"),
            ("```\nb", "```\nb"),
            ("```\n``` text\n```\nc", "```\n``` text\n```"),
            ("~~~ `x` ~~~\nb\n~~~", "~~~ `x` ~~~\nb\n~~~"),
            ("```\n> ```\n> b\n> ```\n```\nc", "```\n> ```\n> b\n> ```\n```"),
            ("> ```\n> > ```\n> ```\nc", "> ```\n> > ```\n> ```"),
            ("```\n    ```\nb\n```\nc", "```\n    ```\nb\n```"),
            ("10. ```\n    b\n    ```\nc", "10. ```\n    b\n    ```"),
            ("  - ```\n        ```\n    b\n    ````\nc", "  - ```\n        ```\n    b\n    ````"),
        ],
    )
    def test_from_the_opening_line_to_the_closing_one(self, text: str, inside: str) -> None:
        assert [text[start:end] for start, end in fences(text)] == [inside]

    @pytest.mark.parametrize("text", ["```inline``` code", "a ``` b", "``", "", "text ~~~"])
    def test_no_fence(self, text: str) -> None:
        assert fences(text) == []

    @given(DOCUMENTS)
    def test_they_are_whole_lines_in_order(self, text: str) -> None:
        before = -1
        for start, end in fences(text):
            assert before < start <= end <= len(text)
            assert start == 0 or text[start - 1] == "\n"
            assert end == len(text) or text[end] == "\n"
            before = end


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("manual/a.md", "manual/a.md"),
        ("./manual/a.md", "manual/a.md"),
        ("manual/./guide/./a.md", "manual/guide/a.md"),
        ("manual//guide///a.md", "manual/guide/a.md"),
        ("/manual/a.md\n", "manual/a.md"),
        ("manual/guide/", "manual/guide/"),
        ("manual/../a.md", "manual/../a.md"),
        ("manual/.hidden/a.md", "manual/.hidden/a.md"),
        ("manual", "manual"),
        ("manual/", "manual"),
        (" ./a b/c d ", "a b/c d"),
        ("", ""),
    ],
)
def test_a_document_is_named_as_people_write_it(name: str, stored: str) -> None:
    assert normal_name(name) == stored


@given(st.text("ab./", max_size=20))
def test_a_name_in_its_normal_form_stays_as_it_is(name: str) -> None:
    assert normal_name(normal_name(name)) == normal_name(name)


def test_hostile_documents_take_no_time() -> None:
    for name, text in TEXTS.items():
        started = time.process_time()
        pages(text, 2000)
        normal_name(text)
        assert time.process_time() - started < 1, name


class TestClosed:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a\n```py\nb", "```"),
            ("~~~~\n~~~\nb", "~~~~"),
            ("> ```\n> b", "> ```"),
            ("10. ```\n    b", "    ```"),
            ("- > ~~~", "  > ~~~"),
        ],
    )
    def test_an_open_fence_is_closed_by_its_own_marks(self, text: str, line: str) -> None:
        assert closed(text) == closed(f"{text}\n") == f"{text}\n{line}"

    @given(DOCUMENTS)
    def test_what_follows_is_no_code_and_what_was_closed_stays_as_it_is(self, text: str) -> None:
        done = closed(text)
        assert done.startswith(text)
        assert all(end <= len(done) for _, end in fences(f"{done}\n"))
        assert closed(done) == done
