"""Markdown to places and blocks: the author's lines as they are, anchors as hosting sites give them, no line of code a heading."""

from __future__ import annotations

import pytest

from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.markdown.page import extract_markdown
from tests.unit.ingest.ingest_help import fences, headings, keys, of_markdown, text_of, words_of


def only(text: str) -> str:
    (section,) = of_markdown(text)
    return section.text


# ---- fences -------------------------------------------------------------------------------------------------------------------


def test_a_comment_in_a_fence_is_no_heading() -> None:
    text = "```python\nx = 1\n# train loop\nfor e in r: pass\n```"
    assert only(text) == text


def test_an_unclosed_fence_hides_nothing() -> None:
    sections = of_markdown("# A\n```py\nx=1\n\n## Vital\ntext")
    assert [(s.anchor, s.heading_path, s.text) for s in sections] == [("a", "A", "```py\nx=1\n```"), ("vital", "A > Vital", "text")]


def test_every_unclosed_fence_of_a_page_is_closed() -> None:
    sections = of_markdown("# A\n````py\nx\n\n## B\n~~~\ny\n\n## C\n```\nz\n\n## D\nend")
    assert [s.heading_path for s in sections] == ["A", "A > B", "A > C", "A > D"]
    assert [fences(s.text) for s in sections] == [[("py", "x\n")], [("", "y\n")], [("", "z\n")], []]


@pytest.mark.parametrize("language", ["python", "sh", "yaml"])
def test_a_comment_after_a_blank_line_of_an_unclosed_fence_is_likelier_code(language: str) -> None:
    sections = of_markdown(f"# A\n```{language}\na\n\n# comment\nb\n\n## Vital\ntext")
    assert [s.heading_path for s in sections] == ["A", "A > Vital"]


def test_an_unclosed_fence_at_the_end_is_closed() -> None:
    assert only("text\n\n```py\nx = 1") == "text\n\n```py\nx = 1\n```"


def test_three_backticks_do_not_end_a_fence_of_four() -> None:
    text = "````md\n```python\nx\n```\n# no heading\n````"
    assert fences(only(text)) == [("md", "```python\nx\n```\n# no heading\n")]


def test_a_fence_with_text_after_its_backticks_is_not_an_end() -> None:
    assert fences(only("```\na\n``` b\nc\n```")) == [("", "a\n``` b\nc\n")]


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("python", "python"),
        ('Python title="a.py" {1,2}', "python"),
        ("{.python .numberLines}", "python"),
        ("{code-block} console", "console"),
        ("js,ignore", "js"),
        ("c++", "c++"),
        ("", ""),
        ("x" * 900, "x" * 40),
    ],
)
def test_the_language_of_a_fence(info: str, language: str) -> None:
    assert fences(only(f"~~~{info}\nx\n~~~")) == [(language, "x\n")]


def test_indented_code_and_html_comments() -> None:
    assert only("a\n\n    # code\n    b\n\nc <!-- no --> `<!-- yes -->`") == "a\n\n```\n# code\nb\n```\n\nc  `<!-- yes -->`"


def test_a_fence_in_a_nested_list_item_keeps_its_place() -> None:
    text = "- a\n  1. b\n\n     ```sh\n     ls\n     ```\n     c\n- ```py\n  x\n  ```\n- d"
    (section,) = of_markdown(text)
    assert fences(section.text) == [("sh", "ls\n"), ("py", "x\n")]
    assert words_of([section]) >= {"a", "b", "c", "d"}


def test_a_fence_longer_than_a_part_in_a_list_item() -> None:
    code = "\n".join(f"    line_{n} = {n}  # comment" for n in range(300))
    sections = of_markdown(f"# T\n\n- item\n\n  ```python\n{code}\n  ```\n")
    assert len(sections) > 3
    for section in sections:
        assert len(section.text) <= 2000
        assert [info for info, _ in fences(section.text)] == ["python"]
    assert words_of(sections) >= {f"line_{n}" for n in range(300)}


def test_a_fence_in_a_quotation() -> None:
    assert fences(only("> a\n> ```sh\n> ls\n> ```\n> b")) == [("sh", "ls\n")]


# ---- headings -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words", "anchor"),
    [
        ("## Simple", "Simple", "simple"),
        ("## C++ & C#: `std::move`", "C++ & C#: std::move", "c--c-stdmove"),
        ("## `__init__` and snake_case", "__init__ and snake_case", "__init__-and-snake_case"),
        ("## *Very* __important__ ~~old~~ ***all***", "Very important old all", "very-important-old-all"),
        ("## [Link](http://x) and [ref][r]", "Link and ref", "link-and-ref"),
        ("## Build ![badge](b.svg)", "Build", "build"),
        ("## Größe 日本", "Größe 日本", "größe-日本"),
        ("## A &amp; B \\# C", "A & B # C", "a--b--c"),
        ("## Title ##", "Title", "title"),
        ("## Custom {#own-anchor}", "Custom", "own-anchor"),
        ("## Custom {: #own .cls }", "Custom", "own"),
        ("## Custom { .cls #own data-x=y }", "Custom", "own"),
        ("## Sets {a, b}", "Sets {a, b}", "sets-a-b"),
        ('## <a name="old"></a>Old', "Old", "old"),
        ("Setext\n------", "Setext", "setext"),
        ("Two\nlines\n---", "Two lines", "two-lines"),
        ("##", "Untitled", "section"),
    ],
)
def test_headings_and_their_anchors(line: str, words: str, anchor: str) -> None:
    sections = of_markdown(f"# Top\n\nx\n\n{line}\n\ntext")
    assert (sections[1].heading_path, sections[1].anchor) == (f"Top > {words}", anchor)


def test_same_named_headings_have_anchors_of_their_own() -> None:
    sections = of_markdown("# A\n## Example\none\n## Example\ntwo\n## Example 1\nthree\n## Example\nfour")
    assert [(s.anchor, s.text) for s in sections] == [
        ("example", "one"),
        ("example-1", "two"),
        ("example-1-1", "three"),
        ("example-2", "four"),
    ]
    assert len(set(keys(sections))) == 4


def test_an_explicit_anchor_takes_no_number() -> None:
    assert [s.anchor for s in of_markdown("# A\n## B {#own}\nx\n## B\ny")] == ["own", "b"]


def test_anchors_before_and_in_text_belong_to_what_they_stand_at() -> None:
    sections = of_markdown(
        "# A\n\nx <a id='here'></a>y\n\n<a name='b-old'></a>\n\n## B\n\n<span id='in-b'></span>\n\nz\n\n<a id='end'></a>"
    )
    assert [(s.ids, s.text) for s in sections] == [({"a", "here"}, "x y"), ({"b", "b-old", "in-b", "end"}, "z")]


def test_a_heading_as_long_as_a_page_is_cut_and_kept() -> None:
    (section,) = of_markdown(f"# {'word ' * 300}end")
    assert len(section.heading_path) < 310
    assert section.text.endswith("end")


def test_ranks() -> None:
    assert [s.heading_path for s in of_markdown("### C\nx\n# A\ny\n## B\nz\n# A\nw")] == ["C", "A", "A > B", "A"]


# ---- front matter and titles --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: Frob it", "Frob it"),
        ('title: "Frob: \\"it\\""', 'Frob: "it"'),
        ("title: 'It''s'", "It's"),
        ("other: x\ntitle:   Frob  \ntags: [a]", "Frob"),
        ("x: y\n  title: nested", "page"),
    ],
)
def test_front_matter_in_every_line_end(front: str, title: str, end: str) -> None:
    text = f"---\n{front}\n---\n\ntext\n\n## Sub\n\nmore\n".replace("\n", end)
    sections = of_markdown(text)
    assert [s.heading_path for s in sections] == ([title, f"{title} > Sub"] if title != "page" else ["Sub", "Sub"])
    assert text_of(sections) == "text\n\nmore"


def test_front_matter_of_hugo() -> None:
    sections = of_markdown('+++\ntitle = "Frob"\nweight = 1\n+++\ntext')
    assert [(s.heading_path, s.text) for s in sections] == [("Frob", "text")]


def test_unclosed_front_matter_is_text() -> None:
    assert words_of(of_markdown("---\ntitle: x\n\ntext")) >= {"title", "text"}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Front\n---\n# Heading\nx", "Front"),
        ("# Heading\nx", "Heading"),
        ("x\n\n# Heading\ny", "Heading"),
        ("# One\nx\n# Two\ny", "One"),
        ("## Only\nx", "Only"),
        ("## One\nx\n## Two\ny", "page"),
        ("x", "page"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert extract_markdown(text, "dir/page.md").title == title


@pytest.mark.parametrize("text", ["", "\n\n", "---\ntitle: x\n---\n", "<!-- nothing -->", "***", "[a]: http://b.example"])
def test_a_page_without_text_is_no_content(text: str) -> None:
    with pytest.raises(NotContent, match="no text"):
        extract_markdown(text, "page.md")


# ---- everything else ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b\n  - c\n  - d\n- e",
        "1. a\n2. b\n\n   more\n3. c",
        "* a\n\n* b",
        "> quoted\n> text",
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n| `x \\| y` | 4 |",
        "a | b\n--- | ---\n1 | 2",
        "hard  \nbreak and\nsoft break",
        "text[^1].\n\n[^1]: note",
        "term\n: not a list here",
        "- [ ] open\n- [x] done",
        "<https://x.example> and <b>bold</b> &lt;",
        "line one\n\n* * x",
    ],
)
def test_the_lines_of_the_author_are_kept(text: str) -> None:
    assert only(text) == text


@pytest.mark.parametrize(
    "text", ["[a]: /u 'never closed", '[a]: /u "title" more', "[a]: <u>(b)", "a <!--> b -->", "a <!---> b -->", "[a]: /u 'x'\n[b]: /v (y"]
)
def test_what_only_looks_like_a_definition_or_a_comment_is_shown(text: str) -> None:
    assert only(text).replace(" ", "") == text.replace("<!-->", "").replace("<!--->", "").replace(" ", "")


@pytest.mark.parametrize("text", ["[a]: /u", "[a]: <u v> 'x'", '[a]: /u "x \\" y"', "[a]: /u (x)\n[b]: /v"])
def test_definitions_are_not_shown(text: str) -> None:
    assert only(f"x\n\n{text}") == "x"


def test_hidden_text_and_comments_are_dropped() -> None:
    text = only(
        "a <span style='display:none'>SECRET</span> b <!-- SECRET\nSECRET --> c `<i hidden>code</i>`\n\n<div hidden>SECRET</div>\n\n"
        "| k |\n|---|\n| <b style='color:white'>SECRET</b> v |\n\n<!-- SECRET -->\n\nd &#8203;&#xE0041; e <input> f <select> g"
    )
    assert "SECRET" not in text
    assert "`<i hidden>code</i>`" in text
    assert text.endswith("d  e <input> f <select> g")


def test_blocks_of_html_are_read_as_html() -> None:
    sections = of_markdown(
        "# T\n\n<div align='center'><h2 id='sub'>Sub</h2><p>x <code>y</code></p>\n<table><tr><th>a</th></tr><tr><td>b</td><td>c</td></tr>"
        "</table></div>\n\n<details><summary>More</summary>\n\n```py\nz\n```\n\n</details>\n\nend"
    )
    assert [(s.anchor, s.heading_path) for s in sections] == [("sub", "T > Sub")]
    assert sections[0].text == "x `y`\n\n| a |  |\n| --- | --- |\n| b | c |\n\n**More**\n\n```py\nz\n```\n\nend"


@pytest.mark.parametrize(
    ("first", "title"),
    [("!!! note", "**Note:** "), ('!!! danger "Careful *now*"', "**Careful *now*:** "), ("??? tip", "**Tip:** "), ('!!! note ""', "")],
)
def test_admonitions(first: str, title: str) -> None:
    assert only(f"{first}\n    para\n\n    ```py\n    # c\n    ```\n    tail\n\nafter") == f"{title}para\n\n```py\n# c\n```\ntail\n\nafter"


def test_nothing_that_is_no_heading_becomes_one() -> None:
    text = "# T\n\n- # in a list\n\n> # in a quotation\n\n```\n# in code\n```\n\n!!! note\n    # in a note\n\n\\# escaped\n\n    # indented"
    assert [s.heading_path for s in of_markdown(text)] == ["T"]
    assert headings("# T") == ["T"]
