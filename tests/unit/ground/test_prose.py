"""Prose of pages put into answers: it shows what the page shows, and does nothing else, whatever a page holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citewell.ground import markers
from citewell.ground.prose import LABEL, as_markdown, is_markdown, shown
from tests.unit.ground.hostile import TEXTS, slow
from tests.unit.ground.texts import MARKDOWN

CLIENT = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = st.lists(
    st.sampled_from(
        "<script> </b> <!-- --> <img\x20onerror=x> ![a](b) [a](javascript:x) ]( __init__ *x* **kwargs *args _ ** ~~x~~ ~~~ ``` ` `` `a` "
        "&lt; &copy; &amp &#60; \\ \\* \\\\ \\< # > - + 1. 12) = | --- *** <a\x20b <http://x> [^1] [1] x[2] word 🙂 é . !".split(" ")
    )
    | st.sampled_from([" ", "  ", "\n"]),
    max_size=12,
).map("".join) | st.text(max_size=40).filter(str.isprintable)


def rendered(markdown: str) -> tuple[list[str], str]:
    """What a client makes of an answer's paragraph: the kinds of things in it, and the words it shows."""
    tokens = CLIENT.parse(markdown)
    kinds = [token.type for token in tokens if token.type not in {"paragraph_open", "paragraph_close", "inline"}]
    children = [child for token in tokens for child in token.children or []]
    kinds += [child.type for child in children if child.type not in {"text", "code_inline", "text_special"}]
    return kinds, "".join(child.content for child in children)


def words(text: str) -> str:
    return " ".join(text.split())


@given(HOSTILE | MARKDOWN.filter(lambda text: "\x00" not in text))
def test_what_a_page_shows_is_shown_and_does_nothing(text: str) -> None:
    text = re.sub(r"(^|\n)[ \t]*>[ \t>]*", r"\1", text)  # marks of quotations are no words of the page
    markdown = as_markdown(text, markdown=False)
    kinds, seen = rendered(markdown)
    assert kinds == []
    assume(not LABEL.match(text))
    without_notes = re.sub(r"\[\^[^\]\s]{1,40}\]:?\s?", "", text) if "`" not in text else None
    if without_notes is not None:
        assert words(seen) == words(without_notes)
    assert list(markers.find(markdown)) == []


@given(HOSTILE | MARKDOWN.filter(lambda text: "\x00" not in text))
def test_what_an_author_wrote_in_markdown_does_nothing_more(text: str) -> None:
    markdown = as_markdown(text, markdown=True)
    assert rendered(markdown)[0] == []
    assert list(markers.find(markdown)) == []


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("It is *not* **safe** and _never_ ~~was~~.", "It is not safe and never was."),
        ("***Both*** of **the *two* words** and *a*b.", "Both of the two words and ab."),
        ("snake_case_name, 2 * 3 * 4 and __init__", "snake_case_name, 2 * 3 * 4 and init"),
        ('See [the *guide*](a_(b).md "t") and ![an image](x.png) now.', "See the guide and now."),
        ("[![logo](x.png)](https://h) [the guide][1] and [2][3]", "the guide and [2][3]"),
        ("Press <kbd>Ctrl</kbd>+<kbd>C</kbd><br/>", "Press Ctrl+C"),
        ("&lt;script&gt; &amp;lt; \\*stars\\* \\&lt; &nope", "<script> &lt; *stars* &lt; &nope"),
        ("`a <b> *c* [d](e)` and ``x ` y``", "a <b> *c* [d](e) and x ` y"),
        ("a [^1] note and `[^0-9]`", "a note and [^0-9]"),
        ("See <https://h/x>.", "See https://h/x."),
    ],
)
def test_markdown_is_read_as_its_page_shows_it(text: str, page: str) -> None:
    assert words(rendered(as_markdown(text, markdown=True))[1]) == page
    if "[^1]" not in text:
        assert words(shown(text, markdown=True)) == page


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("The <script> tag and __init__ of *x*.", "The \\<script> tag and \\_\\_init\\_\\_ of \\*x\\*."),
        ("![a](https://evil/?q=1) and [b](javascript:x)", "!\\[a\\](https://evil/?q=1) and \\[b\\](javascript:x)"),
        ("Call f(*args, **kwargs) with snake_case if a < b & c.", "Call f(*args, **kwargs) with snake_case if a < b & c."),
        ("Escape &lt; as `&lt;`, a lone ` tick", "Escape \\&lt; as `&lt;`, a lone \\` tick"),
        ("C:\\*.txt and \\n", "C:\\\\*.txt and \\n"),
        ("**Note:** so **it** is", "Note: so \\*\\*it\\*\\* is"),
        ("--no-cache does", "--no-cache does"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
    ],
)
def test_only_what_would_mean_something_is_escaped(text: str, markdown: str) -> None:
    assert as_markdown(text, markdown=False) == markdown


def test_which_pages_are_markdown() -> None:
    assert [is_markdown(path) for path in ("a/b.md", "B.MARKDOWN", "a.md.txt", "a.html", "md", "a.md/x.htm")] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("markdown", [True, False])
def test_hostile_prose_takes_no_time(markdown: bool) -> None:
    assert TEXTS
    assert slow(lambda text: as_markdown(text[:4000], markdown=markdown)) == {}
