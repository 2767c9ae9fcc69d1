"""Broken and hostile pages: whatever the bytes, a page or a reason comes out, in time, with every anchor where it says."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.base import NotContent, Page, page_markdown
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.markdown.page import extract_markdown
from tests.unit.ground.hostile import TEXTS
from tests.unit.ingest.ingest_help import fences, html_page, keys, of_html, of_markdown, text_of, words, words_of

DEPTH = 10_000


def timed(work: Callable[[], list[Chunk]]) -> tuple[list[Chunk], float]:
    started = time.process_time()
    sections = work()
    return sections, time.process_time() - started


# ---- depth --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<div>", "</div>"),
        ("<b>", "</b>"),
        ("<span>", "</span>"),
        ("<ul><li>", "</li></ul>"),
        ("<ul>", "</ul>"),
        ("<blockquote>", "</blockquote>"),
        ("<section><h2>h</h2>", "</section>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<dl><dt id=a>t</dt><dd>", "</dd></dl>"),
        ("<dl><div>", "</div></dl>"),
        ("<a href=x>", "</a>"),
        ("<code>", "</code>"),
        ("<pre>", "</pre>"),
        ("<h1>", "</h1>"),
        ("<div>", ""),
        ("<b><p>", ""),
        ("<x-y>", "</x-y>"),
    ],
)
def test_ten_thousand_elements_deep(opening: str, closing: str) -> None:
    depth = DEPTH // opening.count("<")
    sections, seconds = timed(lambda: of_html(f"<p>before</p>{opening * depth}deep words{closing * depth}<p>after</p>"))
    assert words_of(sections) >= {"before", "deep", "words", "after"}
    assert seconds < 4
    assert page_markdown(extract_html(html_page(opening * 200 + "x" + closing * 200), "p.html"))


@pytest.mark.parametrize(
    "opening", ["<header>", "<div id='footer'>", "<div class='toc'>", "<form>", "<details><summary>", "<ul class='nav'>"]
)
def test_chrome_ten_thousand_elements_deep(opening: str) -> None:
    depth = DEPTH // opening.count("<")
    sections, seconds = timed(lambda: of_html(f"<p>before</p>{opening * (depth - 10)}<h2>head</h2><a href='a'>a</a><a href='b'>b</a>"))
    assert "before" in words_of(sections)
    assert seconds < 4


@pytest.mark.parametrize("repeated", ["<div></x>", "<div></p></span>", "<div>a</x-y>"])
def test_what_ends_nothing_makes_no_page_shallow(repeated: str) -> None:
    with pytest.raises(NotContent, match="nested too deeply"):
        of_html(repeated * 11_000)


def test_a_large_page_of_short_elements_is_read() -> None:
    assert len(words_of(of_html("<p>" + "".join(f"<b>w{n}</b> <i class='a'>v{n}</i> " for n in range(11_000))))) > 20_000


def test_a_drawing_of_many_strokes_is_read() -> None:
    drawing = "<svg>" + "<path d='M1 1'/><g><circle r='1'/></g>" * 10_000 + "</svg>"
    assert words_of(of_html(f"<p>before</p>{drawing}<p>after</p>")) >= {"before", "after"}


@pytest.mark.parametrize("around", ["{}", "<svg></svg>{}", "<svg><p>{}", "<svg><foreignObject>{}", "<math><mi>{}"])
def test_a_slash_closes_nothing_outside_of_a_drawing(around: str) -> None:
    with pytest.raises(NotContent, match="nested too deeply"):
        of_html(around.format("<path/>" * 11_000))


def test_what_would_take_minutes_to_parse_is_refused() -> None:
    with pytest.raises(NotContent, match="nested too deeply"):
        of_html("<div>" * 100_000 + "x")


def test_many_elements_side_by_side_are_not_nested() -> None:
    assert len(of_html("<h1>T</h1>" + "<div><span>a</span><ul><li>b</ul></div>" * 10_000)) > 1


@pytest.mark.parametrize("mark", ["> ", "- ", "* ", "1. ", ">"])
def test_ten_thousand_marks_deep(mark: str) -> None:
    sections, seconds = timed(lambda: of_markdown(f"before\n\n{mark * DEPTH}deep words\n\nafter"))
    assert words_of(sections) >= {"before", "deep", "words", "after"}
    assert seconds < 4


def test_a_staircase_of_lists() -> None:
    text = "\n".join("  " * n + f"- item{n}" for n in range(300))
    assert words_of(of_markdown(text)) >= {f"item{n}" for n in range(300)}


# ---- time ---------------------------------------------------------------------------------------------------------------------


def swallowed(extract: Callable[[str, str], Page]) -> Callable[[str], object]:
    def work(text: str) -> None:
        try:
            page_markdown(page := extract(text, "p"))
            chunk(page)
        except NotContent:
            pass

    return work


@pytest.mark.parametrize(
    "extract", [extract_markdown, extract_html, lambda text, name: extract_html(f"<p>{text.replace('<', '&lt;')}</p>", name)]
)
def test_no_text_takes_more_than_its_length(extract: Callable[[str, str], Page]) -> None:
    for name, text in TEXTS.items():
        started = time.process_time()
        swallowed(extract)(text)
        assert time.process_time() - started < 2, name


@pytest.mark.parametrize(
    "piece",
    [
        "<a>",
        "<a name=",
        "<span hidden>",
        "<!--",
        "<b>",
        "<h1>",
        "<dl><dt id=a>",
        "<svg>",
        "<ul>",
        "<table><tr><td>",
        "<section><h1>a</h1>",
        "&#8203;",
    ],
)
def test_repeated_markup_takes_no_more_than_its_length(piece: str) -> None:
    for extract in (extract_html, extract_markdown):
        started = time.process_time()
        swallowed(extract)(piece * (24_000 // len(piece)))
        assert time.process_time() - started < 2


# ---- tables -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["65534", "999999999999", "-1", "0", "1e9", "", " 2 ", "٣", "2.5", "x"])
def test_hostile_spans_cost_nothing(value: str) -> None:
    row = f"<tr><td colspan='{value}' rowspan='{value}'>cell</td><td>b</td></tr>"
    sections, seconds = timed(lambda: of_html(f"<table>{row * 300}</table>"))
    assert seconds < 4
    assert len(text_of(sections)) < 2_000_000
    assert words_of(sections) >= {"cell", "b"}


def test_a_long_text_is_not_repeated_by_its_span() -> None:
    long = "word " * 200
    (section,) = of_html(f"<table><tr><td rowspan='50'>{long}</td><td>a</td></tr><tr><td>b</td></tr></table>")
    assert section.text.count("word") == 200


def test_a_huge_table_is_read_in_time() -> None:
    rows = "".join(f"<tr><td>r{n}</td><td>value of {n}</td></tr>" for n in range(20_000))
    sections, seconds = timed(lambda: of_html(f"<table><tr><th>name</th><th>value</th></tr>{rows}</table>"))
    assert seconds < 15
    assert all(section.text.startswith("| name | value |\n| --- | --- |") for section in sections)
    assert words_of(sections) >= {f"r{n}" for n in range(20_000)}


# ---- broken markup ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>Title<p>first<p>second<ul><li>third",
        "<p>first<h1>Title<div>second</div><pre>third",
        "<table><tr><td>first<p>second<table><tr><td>third",
        "<b><i>first </b>second</i> <a href='x>third</a>'>third",
        "<ul><li>first<p>second</ul></p></div></div>third",
        "<dl><dd>first<dt>second<dd>third</dl>",
        "<frameset></frameset>first</html> second<body> third</p>",
    ],
)
def test_broken_markup_loses_no_words(markup: str) -> None:
    assert words_of(of_html(markup)) >= {"first", "second", "third"}


def test_a_heading_that_swallows_the_page_is_cut() -> None:
    sections = of_html(f"<h1>Title<p>{'word ' * 300}end</p></h1>")
    assert sections[0].heading_path == "Title"
    (section,) = of_html(f"<h1>{'word ' * 300}end</h1>")
    assert len(section.heading_path) < 310
    assert section.text.endswith("end")


TAGS = "p div span b h1 h2 h3 ul ol li dl dt dd table tr td th pre code a blockquote section br em details summary".split()
SOUP = st.lists(
    st.one_of(
        st.sampled_from([f"<{tag}>" for tag in TAGS]),
        st.sampled_from([f"</{tag}>" for tag in TAGS]),
        st.builds(lambda tag, name: f"<{tag} id='{name}'>", st.sampled_from(TAGS), st.sampled_from("xyz")),
        st.integers(0, 99).map(lambda n: f" w{n} "),
        st.sampled_from(
            ["<a name='n'>", "&#8203;", "&amp;", "\n", "<p class='rubric'>", "<div class='section' id='s'>", "<![CDATA[", "<!-- c -->"]
        ),
    ),
    max_size=40,
)


@settings(max_examples=250, deadline=None)
@given(SOUP)
def test_tag_soup_keeps_its_words_and_its_anchors_exist(soup: list[str]) -> None:
    page = html_page("".join(soup))
    document = LexborHTMLParser(page)
    assert document.body is not None
    there = {node.attributes.get("id") for node in document.css("[id]")} | {node.attributes.get("name") for node in document.css("a[name]")}
    shown = words(document.body.text(separator=" "))
    try:
        sections = chunk(extract_html(page, "p.html"))
    except NotContent:
        assert not shown
        return
    assert words_of(sections) >= shown
    assert {section.anchor for section in sections} | {name for section in sections for name in section.ids} <= there | {""}
    assert len(set(keys(sections))) == len(sections)
    for section in sections:
        assert section.text.strip()
        assert len(section.text) <= 2000
        fences(section.text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_page_or_none(text: str) -> None:
    for extract in (extract_html, extract_markdown):
        try:
            page = extract(text, "p")
        except NotContent:
            continue
        for section in chunk(page):
            assert section.text.strip()
            assert section.text.encode().decode() == section.text
            fences(section.text)
