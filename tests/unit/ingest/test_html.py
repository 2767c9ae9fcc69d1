"""HTML to places and blocks: headings and their anchors, paragraphs, lists, code, admonitions, tabs; of every builder of documentation."""

from __future__ import annotations

import pytest

from citewell.ingest.chunk import chunk
from citewell.ingest.extract.html.page import extract_html
from tests.unit.ingest.ingest_help import html_page, markdown_of, of_html, read_html

# ---- headings and anchors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<h2 id='own'>T</h2>", "own"),
        ("<h2><a name='inner'></a>T</h2>", "inner"),
        ("<h2><a id='inner'>T</a></h2>", "inner"),
        ("<a name='before'></a><h2>T</h2>", "before"),
        ("<p><a name='before'></a></p><h2>T</h2>", "before"),
        ("<div id='around'><div><h2>T</h2></div></div>", "around"),
        ("<section id='around'><h2>T</h2></section>", "around"),
        ("<h2>T<a class='headerlink' href='#gone'>¶</a></h2>", ""),
        ("<p id='other'>x</p><h2>T</h2>", ""),
    ],
)
def test_a_heading_has_an_anchor_that_exists(markup: str, anchor: str) -> None:
    section = next(s for s in of_html(f"<h1 id='top'>Top</h1><p>x</p>{markup}<p>text</p>") if s.heading_path.endswith("T"))
    assert section.anchor == anchor


def test_the_ids_of_a_heading_without_text_go_to_what_stands_under_it() -> None:
    sections = of_html("<h1 id='a'>A</h1><span id='module-a'></span><h2 id='b'>B</h2><p>x</p><h2 id='c'>C</h2><p>y</p>")
    assert [(s.heading_path, s.ids) for s in sections] == [("A > B", {"a", "module-a", "b"}), ("A > C", {"c"})]


def test_ids_after_the_last_text_are_kept_too() -> None:
    (section,) = of_html("<h1 id='a'>A</h1><p>x</p><div id='end'></div>")
    assert section.ids == {"a", "end"}


def test_same_named_headings_are_two_sections() -> None:
    sections = of_html("<h1>A</h1><h2 id='e1'>Example</h2><p>one</p><h2 id='e2'>Example</h2><p>two</p><h2>Example</h2><h2>Example</h2>")
    assert len({(s.anchor, s.heading_path, s.nth, s.part) for s in sections}) == len(sections) == 4
    assert [s.anchor for s in sections] == ["e1", "e2", "", ""]


def test_headings_that_skip_a_rank() -> None:
    sections = of_html("<h1>A</h1><h3>B</h3><p>b</p><h2>C</h2><p>c</p><h4>D</h4><p>d</p>")
    assert [s.heading_path for s in sections] == ["A > B", "A > C", "A > C > D"]


def test_several_headings_of_the_first_rank_stand_under_the_title_that_the_page_names() -> None:
    page = "<h1>Frob</h1><p>x</p><h1>Methods</h1><p>y</p>"
    titled = chunk(extract_html(html_page(page, "<title>Frob — Docs 1.2.3 documentation</title>"), "p.html"))
    assert [s.heading_path for s in titled] == ["Frob", "Frob > Methods"]
    assert [s.heading_path for s in of_html(page)] == ["Frob", "Methods"]


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Head — Site</title>", "<h1>Heading</h1><p>x</p>", "Heading"),
        ("<title>Head — Site</title>", "<p>x</p>", "Head"),
        ("<title>&lt;no title&gt; — Site</title>", "<p>x</p>", "page"),
        ("", "<p>x</p>", "page"),
        ("<title>A|B</title>", "<p>x</p>", "A|B"),
    ],
)
def test_titles(head: str, body: str, title: str) -> None:
    assert extract_html(html_page(body, head), "dir/page.html").title == title


@pytest.mark.parametrize(
    ("head", "version"),
    [
        ("<script>var DOCUMENTATION_OPTIONS = { VERSION: '3.2.1', X: 1 }</script>", "3.2.1"),
        ("<title>A — B 2.10.0+cu130 documentation</title>", "2.10.0+cu130"),
        ("<title>A — B documentation</title>", ""),
    ],
)
def test_versions(head: str, version: str) -> None:
    assert extract_html(html_page("<p>x</p>", head), "p.html").version == version


# ---- running text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>Use <code>a</code>, <tt>b</tt> and <kbd>c</kbd>.</p>", "Use `a`, `b` and `c`."),
        ("<p>A <a href='x'>link</a>, <b>bold</b>\n <em>text</em>.</p>", "A link, bold text."),
        ("<p><code>a`b</code> <code>`</code></p>", "``a`b`` `` ` ``"),
        ("<p><code>\\x</code><em><code>hh</code></em></p>", "`\\xhh`"),
        ("<p>10<sup>-3</sup> x<sup>n</sup> the 1<sup>st</sup> H<sub>2</sub>O</p>", "10^-3 x^n the 1st H2O"),
        ("<p>one<br>two</p>", "one two"),
        ("<p>a<span>b</span>c <x-y>d</x-y></p>", "abc d"),
        ("<p>see <img src='x' alt='a picture'>it</p>", "see it"),
        ("<p><img class='math' alt='a^2 + b'></p>", "$a^2 + b$"),
        ("<p><span class='math'>\\(a_i\\)</span></p>", "\\(a_i\\)"),
        (
            "<p><span class='katex'><span class='katex-mathml'><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2"
            "</annotation></semantics></math></span><span class='katex-html' aria-hidden='true'>x2</span></span></p>",
            "$x^2$",
        ),
        ("<p># no heading</p>", "\\# no heading"),
        ("<p>``` no fence</p><p>~~~</p>", "\\``` no fence\n\n\\~~~"),
        ("one<p>two</p>three", "one\n\ntwo\n\nthree"),
        ("<span>a<div>b</div>c</span>", "a\n\nb\n\nc"),
        ("<a href='x'><div>Card</div><div>Words</div></a>", "Card\n\nWords"),
        ("<p>zero&#8203;width &#xE0041;tag &#8238;bidi</p>", "zerowidth tag bidi"),
        (
            "<div class='versionadded'><p><span class='versionmodified'>New in version 3.9: </span>The flag.</p></div>",
            "New in version 3.9: The flag.",
        ),
    ],
)
def test_running_text(markup: str, text: str) -> None:
    assert markdown_of(markup) == text


# ---- lists --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ul><li>a</li><li><p>b</p><p>c</p></li></ul>", "- a\n- b\n\n  c"),
        ("<ol><li>a</li><li>b<ul><li>c</li></ul></li></ol>", "1. a\n2. b\n\n   - c"),
        ("<ol start='3'><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        ("<ol start='x'><li>a</li></ol>", "1. a"),
        ("<ul><li>a<pre>x = 1</pre>b</li></ul>", "- a\n\n  ```\n  x = 1\n  ```\n\n  b"),
        ("<ul><li><pre>x</pre></li><li>b</li></ul>", "-\n  ```\n  x\n  ```\n- b"),
        ("<ul><li><ul><li>a</li></ul></li></ul>", "-\n\n  - a"),
        ("<ul>stray<li>a</li><ul><li>b</li></ul><p>c</p></ul>", "stray\n\n- a\n\n  - b\n\n  c"),
        (
            "<dl><dt>Term</dt><dd>Words</dd><dt>Other</dt><dd><p>More</p><p>words</p></dd></dl>",
            "**Term:**\n  Words\n\n**Other:**\n  More\n\n  words",
        ),
        ("<dl><dt>a</dt><dt>b</dt></dl>", "- a\n- b"),
        ("<dl><div><dt>a</dt><dd>b</dd></div><p>c</p></dl>", "**a:**\n  b\n\nc"),
        ("<ul><li hidden>no</li><li>a</li></ul>", "- a"),
    ],
)
def test_lists(markup: str, text: str) -> None:
    assert markdown_of(markup) == text


# ---- admonitions, tabs, captions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markup",
    [
        "<div class='admonition note'><p class='admonition-title'>Note</p><p>Mind it.</p></div>",
        "<div class='admonition note'><p class='first admonition-title'>Note:</p><p class='last'>Mind it.</p></div>",
        "<div class='note'><h3 class='title'>Note</h3><p>Mind it.</p></div>",
        "<div class='theme-admonition'><div class='admonitionHeading_x1'><svg></svg>note</div><div><p>Mind it.</p></div></div>",
        "<div class='markdown-alert'><p class='markdown-alert-title'><svg></svg>Note</p><p>Mind it.</p></div>",
    ],
)
def test_admonitions_of_all_builders(markup: str) -> None:
    assert markdown_of(f"<h1>T</h1>{markup}") == "**Note:** Mind it."


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<ul><li>a</li></ul>", "**See also:**\n\n- a"),
        ("<pre>x</pre>", "**See also:**\n\n```\nx\n```"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "**See also:**\n\n**a:**\n  b"),
        ("<table><tr><th>a</th></tr><tr><td>b</td></tr></table>", "**See also:**\n\n| a |\n| --- |\n| b |"),
    ],
)
def test_an_admonition_without_a_paragraph_keeps_its_title(inside: str, text: str) -> None:
    assert markdown_of(f"<div class='admonition seealso'><p class='admonition-title'>See also</p>{inside}</div>") == text


def test_rubrics_captions_and_summaries_are_kept() -> None:
    text = markdown_of(
        "<p class='rubric'>Options</p><details><summary>More</summary><p>inside</p></details><div class='code-block-caption'>a.py</div>"
        "<pre>x</pre><figure><img alt='noise'><figcaption>A figure.</figcaption></figure>"
    )
    assert text == "**Options**\n\n**More**\n\ninside\n\na.py\n\n```\nx\n```\n\nA figure."


def test_a_card_that_links_to_another_page_opens_no_section() -> None:
    sections = of_html("<h1>T</h1><a href='other.html'><div><h4>Other page</h4><p>Its summary.</p></div></a><h2>Own</h2><p>x</p>")
    assert [(s.heading_path, s.text) for s in sections] == [("T", "**Other page**\n\nIts summary."), ("T > Own", "x")]


def test_content_is_where_it_is_even_if_a_landmark_is_empty() -> None:
    assert markdown_of("<main></main><div class='x'><p>real</p></div>") == "real"
    assert markdown_of("<main><article><p>one</p></article><article><p>two</p></article></main>") == "one\n\ntwo"
    assert read_html("<form id='aspnet'><h1>T</h1><p>in a form</p></form>").title == "T"
