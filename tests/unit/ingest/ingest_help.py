"""Pages from a few words to sections, and what every section must hold to."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.base import Page
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.markdown.page import extract_markdown

_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.disable(["inline", "text_join"])


def html_page(body: str, head: str = "<title>T</title>") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def read_html(body: str, name: str = "page.html") -> Page:
    return extract_html(decode(html_page(body).encode()), name)


def of_html(body: str, name: str = "page.html") -> list[Chunk]:
    return chunk(read_html(body, name))


def of_markdown(text: str, name: str = "page.md") -> list[Chunk]:
    return chunk(extract_markdown(decode(text.encode()), name))


def text_of(sections: list[Chunk]) -> str:
    return "\n\n".join(section.text for section in sections)


def markdown_of(body: str) -> str:
    """The text of the only section that a stretch of HTML makes."""
    (section,) = of_html(body)
    return section.text


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def words_of(sections: list[Chunk]) -> set[str]:
    return words(" ".join(f"{section.heading_path} {section.text}" for section in sections))


def keys(sections: list[Chunk]) -> list[tuple[str, str, int, int]]:
    return [(section.anchor, section.heading_path, section.nth, section.part) for section in sections]


def fences(text: str) -> list[tuple[str, str]]:
    """The fenced blocks that a Markdown parser sees: info string and content. Fails on one that is not closed."""
    found = []
    lines = text.split("\n")
    for token in _PARSER.parse(text):
        if token.type == "fence":
            assert token.map is not None
            last = lines[token.map[1] - 1].lstrip(" >")
            assert token.map[1] - token.map[0] > 1, f"a fence without an end: {text!r}"
            assert last.startswith(token.markup), f"a fence without an end: {text!r}"
            assert not last.strip(token.markup[0] + " "), f"a fence without an end: {text!r}"
            found.append((token.info, token.content))
    return found


def headings(text: str) -> list[str]:
    """The headings that a Markdown parser sees."""
    tokens = _PARSER.parse(text)
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]


def top_headings(text: str) -> list[str]:
    """The headings that a Markdown parser sees outside of lists and quotations."""
    tokens = _PARSER.parse(text)
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
