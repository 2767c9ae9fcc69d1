"""Generated pages: every word is numbered, so that a test can say where it must turn up again."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from hypothesis import strategies as st


@dataclass(repr=False)
class Written:
    """A page with what is known of it: its headings in order, its words, the header cells of its tables."""

    lines: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    count: int = 0

    def __repr__(self) -> str:
        return f"Written({self.text[:2000]!r})"

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def word(self, kind: str = "w") -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def words(self, many: int, kind: str = "w") -> str:
        return " ".join(self.word(kind) for _ in range(many))


LENGTHS = st.one_of(st.integers(1, 8), st.integers(1, 8), st.sampled_from([60, 500]))
CELLS = st.one_of(st.integers(1, 4), st.integers(1, 4), st.sampled_from([20, 150]))
LANGUAGES = st.sampled_from(["", "python", "sh", "c++"])


def _heading(page: Written, draw: st.DrawFn) -> None:
    name = page.words(draw(st.integers(1, 3)), "Head")
    page.headings.append(name)
    page.lines += ["", "#" * draw(st.integers(2, 4)) + f" {name}", ""]


def _paragraph(page: Written, draw: st.DrawFn) -> None:
    text = page.words(draw(LENGTHS))
    page.lines += ["", draw(st.sampled_from(["", "`code` ", "**bold:** ", "> ", "e.g. "])) + text, ""]


def _fence(page: Written, draw: st.DrawFn, prefix: str = "") -> None:
    mark = draw(st.sampled_from(["```", "````", "~~~"]))
    inner = [page.words(draw(st.integers(1, 6)), "c") for _ in range(draw(st.sampled_from([1, 3, 90])))]
    inner = [draw(st.sampled_from(["", "# ", "    ", "## "])) + line for line in inner]
    if mark != "```":
        inner[len(inner) // 2 : 0] = ["```python", "", "```"]
    page.lines += ["", *(prefix + line for line in [mark + draw(LANGUAGES), *inner, mark]), ""]


def _listing(page: Written, draw: st.DrawFn) -> None:
    page.lines.append("")
    for n in range(draw(st.integers(1, 4))):
        marker = draw(st.sampled_from(["-", "*", f"{n + 1}."]))
        page.lines.append(f"{marker} {page.words(draw(LENGTHS))}")
        if draw(st.booleans()):
            _fence(page, draw, " " * (len(marker) + 1))
        if draw(st.booleans()):
            page.lines.append(" " * (len(marker) + 1) + f"- {page.words(2)}")
    page.lines.append("")


def _quotation(page: Written, draw: st.DrawFn) -> None:
    page.lines += ["", f"> {page.words(3)}"]
    _fence(page, draw, "> ")


def _table(page: Written, draw: st.DrawFn) -> None:
    width = draw(st.integers(1, 4))
    columns = [page.word("Col") for _ in range(width)]
    page.columns += columns
    rows = ["| " + " | ".join(page.words(draw(CELLS), "t") for _ in range(width)) + " |" for _ in range(draw(st.sampled_from([0, 2, 40])))]
    page.lines += ["", "| " + " | ".join(columns) + " |", "|" + " --- |" * width, *rows, ""]


@st.composite
def markdown_pages(draw: st.DrawFn) -> Written:
    """A page of Markdown with a title and up to twelve blocks, each of them well formed."""
    page = Written()
    title = page.words(2, "Title")
    page.headings.append(title)
    page.lines += [f"# {title}", ""]
    for _ in range(draw(st.integers(0, 12))):
        draw(st.sampled_from([_heading, _paragraph, _fence, _listing, _quotation, _table]))(page, draw)
    return page


@st.composite
def html_pages(draw: st.DrawFn) -> Written:
    """A page of HTML with a title, headings, definitions and everything that stands in them."""
    page = Written()
    title = page.words(2, "Title")
    page.headings.append(title)
    page.lines.append(f"<h1 id='top'>{title}</h1>")
    for _ in range(draw(st.integers(0, 8))):
        page.lines.append(draw(st.sampled_from([_html_heading, _html_definition, _html_block]))(page, draw, 0))
    return page


def _html_heading(page: Written, draw: st.DrawFn, depth: int) -> str:
    name = page.words(2, "Head")
    page.headings.append(name)
    rank = draw(st.integers(2, 4))
    return f"<h{rank} id='{page.word('id')}'>{name}</h{rank}>"


def _html_definition(page: Written, draw: st.DrawFn, depth: int) -> str:
    return f"<dl><dt id='{page.word('id')}'>{page.word('def')}()</dt><dd>{_html_block(page, draw, depth + 1)}</dd></dl>"


def _html_block(page: Written, draw: st.DrawFn, depth: int) -> str:
    kind = draw(st.sampled_from(["p", "pre", "ul", "ol", "table", "note", "dl", "quote"]))
    inside = (lambda: page.words(draw(LENGTHS))) if depth > 3 else (lambda: _html_block(page, draw, depth + 1))
    if kind == "pre":
        start = draw(st.sampled_from(["", "# ", "```", "    "]))
        code = "\n".join(start + page.words(draw(st.integers(1, 6)), "c") for _ in range(draw(st.sampled_from([1, 3, 90]))))
        return f"<div class='highlight-{draw(LANGUAGES)}'><div><pre>{html.escape(code)}</pre></div></div>"
    if kind in {"ul", "ol"}:
        return f"<{kind}>" + "".join(f"<li>{inside()}</li>" for _ in range(draw(st.integers(1, 3)))) + f"</{kind}>"
    if kind == "table":
        columns = [page.word("Col") for _ in range(2)]
        page.columns += columns
        rows = [f"<tr><td>{page.word('t')}</td><td>{page.words(draw(CELLS), 't')}</td></tr>" for _ in range(draw(st.sampled_from([1, 50])))]
        return "<table><tr>" + "".join(f"<th>{column}</th>" for column in columns) + "</tr>" + "".join(rows) + "</table>"
    if kind == "note":
        return f"<div class='admonition note'><p class='admonition-title'>{page.word('Note')}</p>{inside()}</div>"
    if kind == "dl":
        return f"<dl><dt>{page.word()}</dt><dd>{inside()}</dd></dl>"
    if kind == "quote":
        return f"<blockquote>{inside()}</blockquote>"
    start = draw(st.sampled_from(["", "``` ", "# ", "&lt;script&gt; ", "- "]))
    return f"<p>{start}<code>{page.word()}</code> {page.words(draw(LENGTHS))}</p>"
