"""Every example of the CommonMark specification as a page, alone, in a list, in a quotation, and all together.

The specification (CC BY-SA 4.0) is no part of this project: the npm package commonmark-spec has it as `spec.txt`. Its path is given by
CITEWELL_TEST_COMMONMARK.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.markdown.page import extract_markdown
from tests.unit.ingest.ingest_help import fences, keys, top_headings, words, words_of

pytestmark = pytest.mark.commonmark

EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n.*?^`{32}$", re.MULTILINE | re.DOTALL)
PARSER = MarkdownIt("commonmark").enable("table")
# What no reader sees, or what is read otherwise on purpose: forms, front matter, a heading of link definitions.
UNSEEN = re.compile(r"<textarea|<script|<style|\A---\n|\A\[foo\]: /url\n(?:bar\n)?===")


@pytest.fixture(scope="module")
def spec() -> str:
    path = os.environ.get("CITEWELL_TEST_COMMONMARK", "")
    if not path:
        pytest.fail("These tests need the specification: make test-commonmark")
    return Path(path).read_text(encoding="utf-8").replace("→", "\t")


def sections_of(text: str, size: int) -> list[Chunk]:
    try:
        return chunk(extract_markdown(decode(text.encode()), "p.md"), size)
    except NotContent:
        return []


def hold(text: str, size: int) -> list[Chunk]:
    sections = sections_of(text, size)
    for section in sections:
        fences(section.text)
        assert 0 < len(section.text) <= size
        assert top_headings(section.text) == []
    assert len(set(keys(sections))) == len(sections)
    ids = [name for section in sections for name in section.ids]
    assert len(set(ids)) == len(ids)
    for end in ("\r\n", "\r"):
        assert sections_of(text.replace("\n", end), size) == sections
    return sections


def seen(text: str) -> set[str]:
    """The words that a reader of the rendered page sees."""
    page = LexborHTMLParser(f"<body>{PARSER.render(text)}")
    return words(page.body.text(separator=" ")) if page.body else set()


@pytest.mark.parametrize("size", [400, 2000])
def test_every_example(spec: str, size: int) -> None:
    examples = EXAMPLE.findall(spec)
    assert len(examples) > 600
    for example in examples:
        sections = hold(example, size)
        shown = {"".join(section.text for section in sections)}
        missing = seen(example) - words_of(sections) - words(" ".join(seen("".join(shown))))
        assert UNSEEN.search(example) or not missing, (example, missing)


@pytest.mark.parametrize(("first", "rest"), [("- ", "  "), ("> ", "> "), ("10) ", "    "), ("> - ", ">   ")])
def test_every_example_in_a_list_or_a_quotation(spec: str, first: str, rest: str) -> None:
    for example in EXAMPLE.findall(spec):
        if not re.match(r"\*{4}|---\n", example):  # a line across the page that begins an item leaves a heading alone
            hold("\n".join((rest if n else first) + line for n, line in enumerate(example.split("\n"))), 400)


@pytest.mark.parametrize("size", [400, 2000])
def test_the_specification_itself_and_all_examples_in_one_page(spec: str, size: int) -> None:
    assert len(hold(spec, size)) > 100
    hold("\n\n".join(EXAMPLE.findall(spec)), size)
