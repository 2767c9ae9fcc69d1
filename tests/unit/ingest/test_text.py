"""Plain text to places and blocks: headings and code only where the signs are clear, every word kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.index.visible import clean
from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract import extractor_for
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.text.page import extract_text
from tests.unit.ingest.ingest_help import headings, words


def sections(text: str, name: str = "dir/page.txt") -> list[Chunk]:
    return chunk(extract_text(decode(text.encode()), name))


def only(text: str) -> str:
    (section,) = sections(text)
    return section.text


def paths(text: str) -> list[str]:
    return [section.heading_path for section in sections(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Title\n=====\n\na\n\nSub\n---\nb\n\nSub 2\n~~~~~\n\nc", ["Title", "Title > Sub", "Title > Sub > Sub 2"]),
        ("*****\nTitle\n*****\n\na\n\nPart\n====\n\nb", ["Title", "Title > Part"]),
        ("NAME\n    ls - list\n\nSYNOPSIS\n    ls [FILE]", ["NAME", "SYNOPSIS"]),
        ("INTRODUCTION\n\nwords\n\nUSE IT WELL\n\nmore", ["INTRODUCTION", "USE IT WELL"]),
        ("1. Introduction\n\na\n\n2. Use\n\nb\n\n2.1 More use\n\nc", ["1. Introduction", "2. Use", "2. Use > 2.1 More use"]),
        ("Title\n=====\n\f\nOther\n=====\n\nx", ["Title", "Other"]),
    ],
)
def test_clear_headings(text: str, found: list[str]) -> None:
    assert paths(text) == found
    assert {section.anchor for section in sections(text)} == {""}


@pytest.mark.parametrize(
    "text",
    [
        "1. First do this\n\n2. Then do that\n\n3. Then rest",
        "1. A sentence that ends.\n\nx\n\n2. Another one.\n\ny",
        "NO.\n\nHTTP IS GOOD, ISN'T IT?\n\nx",
        "A\n\nx",
        "Name      Value\n---------------\na         b",
        "words that go on and on\n--",
        "------------------------------------------------\ngit bisect good\n------------------------------------------------",
        "$ ls -l\n-------",
        "OK",
        "first line\nsecond line",
    ],
)
def test_what_could_be_a_heading_but_need_not_is_none(text: str) -> None:
    assert paths(text) == ["page"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Run:\n\n    make\n      all\n\nDone.", "Run:\n\n```\nmake\n  all\n```\n\nDone."),
        ("Run:\n\n\tmake\n", "Run:\n\n```\nmake\n```"),
        ("- item\n\n    more of the item\n\ntext", "- item\n\n    more of the item\n\ntext"),
        (
            "text\n\n     A quotation of running words, which ends as a sentence does.",
            "text\n\nA quotation of running words, which ends as a sentence does.",
        ),
        ("speed     fast\ndepth     7", "```\nspeed     fast\ndepth     7\n```"),
        ("a\n\n-----------\n\nb", "a\n\nb"),
        ("# not a heading\n> not a quotation", "\\# not a heading\n\\> not a quotation"),
        ("  all\n  of it", "all\nof it"),
    ],
)
def test_blocks(text: str, shown: str) -> None:
    assert only(text) == shown


def test_the_title_is_the_first_heading_or_the_name() -> None:
    assert extract_text("Title\n=====\n\nx", "a/b.txt").title == "Title"
    assert extract_text("x", "a/b.txt").title == "b"


@pytest.mark.parametrize("name", ["page.txt", "page.rst.txt"])
def test_restructuredtext_under_another_name(name: str) -> None:
    extractor = extractor_for(name)
    assert extractor is not None
    page = extractor(".. _x:\n\nTitle\n=====\n\n.. note:: See :func:`f`.\n", name)
    assert chunk(page)[0].text == "**Note:** See `f()`."


def test_markdown_sources_of_a_site_are_markdown() -> None:
    extractor = extractor_for("_sources/a.md.txt")
    assert extractor is not None
    assert [section.anchor for section in chunk(extractor("# A b\n\nx", "a.md.txt"))] == ["a-b"]


@pytest.mark.parametrize("text", ["One directive:\n\n.. note:: x", "a :role:`x` and :role:`y`", ".. dots\n.. more dots"])
def test_a_single_sign_is_no_restructuredtext(text: str) -> None:
    assert words(only(text)) == words(text)


@pytest.mark.parametrize("name", ["LICENSE.txt", "fonts/SourceCodePro-LICENSE-67f5.txt", "GPL-3.0-or-later.txt", "COPYING.txt", "OFL.txt"])
def test_licences_are_no_content(name: str) -> None:
    with pytest.raises(NotContent, match="licence"):
        extract_text("You may", name)


@pytest.mark.parametrize("name", ["licensing-guide.txt", "noticeboard.txt", "changes.txt"])
def test_texts_about_something_else_are(name: str) -> None:
    assert extract_text("You may", name).root.content


@pytest.mark.parametrize("text", ["", "\n\n", "-----\n\n=====", " \t "])
def test_a_text_without_words_is_no_content(text: str) -> None:
    with pytest.raises(NotContent, match="no text"):
        extract_text(text, "page.txt")


LINES = st.lists(
    st.sampled_from(
        [
            "Title",
            "=====",
            "-----",
            "word word",
            "    code x",
            "\tcode",
            "- item",
            "1. One",
            "2. Two",
            "CAPITALS HERE",
            "",
            "a   b   c",
            "# x",
            "```",
            "> y",
        ]
    )
)


@settings(deadline=None)
@given(LINES)
def test_no_word_is_lost_and_no_heading_is_made(lines: list[str]) -> None:
    text = clean("\n".join(lines))
    try:
        found = sections(text)
    except NotContent:
        assert not words(text)
        return
    shown = set().union(*(words(f"{section.heading_path} {section.text}") for section in found))
    assert words(text) <= shown
    assert not any(headings(section.text) for section in found)
