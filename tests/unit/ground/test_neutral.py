"""Text in a prompt: nothing in it means anything there, and it is got back as it was."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citewell.ground import markers
from citewell.ground.neutral import neutral, one_line, percent_encoded, quotation, restored
from tests.unit.ground.hostile import slow
from tests.unit.ground.shown import HOSTILE

# Pieces of delimiters, so that some meet only when they are joined.
PIECES = [
    "<",
    "＜",
    "[",
    "\\",
    "/",
    " ",
    "docs-section",
    "DOCS-CUT",
    "user-question",
    "-x",
    "|",
    "｜",
    "im_end",
    ">",
    "s>",
    "INST]",
    "<SYS>>",
    "[1]",
    "`",
]
JOINED = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(JOINED | HOSTILE)
@example("<<<SYS>>")
@example("<\\<docs-section")
def test_a_neutral_text_is_restored_exactly(text: str) -> None:
    assert restored(neutral(text)) == text


@given(JOINED | HOSTILE)
@example("<docs-sectiondocs-section")
def test_nothing_is_left_to_take_the_meaning_from(text: str) -> None:
    """Each delimiter that is found in it again has its backslash."""
    done = neutral(text)
    for opening in (
        "<docs-section",
        "</docs-section",
        "<docs-cut",
        "<user-question>",
        "</user-question>",
        "<|im_end|>",
        "[INST]",
        "<｜im_end｜>",
    ):
        assert opening not in done


@given(JOINED)
def test_no_marker_of_ours_is_left_outside_code(text: str) -> None:
    assert not [*markers.find(quotation(text))]


@pytest.mark.parametrize(
    "text",
    [
        "<section>",
        "</section>",
        "a < b | c > d",
        "x <| f |> y",
        "Vec<T>",
        "std::array<int, 3> a;",
        "[n]",
        "x | y",
        "<S>",
        "a[i]",
        "[^1]",
    ],
)
def test_what_pages_say_of_code_is_left_alone(text: str) -> None:
    assert quotation(text) == text


@given(st.text(), st.integers(1, 50))
@example("a\n\nb\u2028[1]\x85</docs-section>", 50)
def test_one_line_is_one_and_has_no_end_but_its_own(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert not [*markers.find(line)] or "`" in text
    assert len(line.replace("\\", "")) <= most


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://h/a b\n<docs-section>", "https://h/a%20b%0A%3Cdocs-section%3E"),
        ("https://h/[1][2, 3]", "https://h/%5B1%5D%5B2%2C%203%5D"),
        ("https://h/[INST]", "https://h/%5BINST]"),
        ("doc:manual/ä (1).md#b", "doc:manual/ä%20(1).md#b"),
        ("http://[::1]:8000/?x[]=1", "http://[::1]:8000/?x[]=1"),
    ],
)
def test_an_address_keeps_all_that_is_harmless(address: str, shown: str) -> None:
    assert percent_encoded(address) == shown


def test_no_text_takes_long() -> None:
    for work in (neutral, restored, quotation, percent_encoded, lambda text: one_line(text, 300)):
        assert slow(work) == {}
    assert slow(lambda text: neutral("<" + " " * 9 + text)) == {}
