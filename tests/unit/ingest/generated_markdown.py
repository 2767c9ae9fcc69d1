"""Generated Markdown in which everything lies in everything: lists, quotations, admonitions, tables, fences and HTML, nested.

Every word is numbered by its kind, so that a test can say where it must turn up again: w prose, c code, t cells, r first cells, Col
column names, Head headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

TOKEN = re.compile(r"(?:w|c|t|r|Col)\d+(?!\w)")
LONG = "長"  # of which a word without blanks is made
_ORNAMENTS = [
    "",
    "日本語 ",
    "e\u0301a\u0308 ",
    "👩\u200d💻🇩🇪 ",
    "`code` ",
    "`` a ` b `` ",
    "**bold** ",
    "a\\*b ",
    "[x](u) ",
    "# ",
    "1986\\. ",
    "a | b ",
]


@dataclass(repr=False)
class Draft:
    """A page as it is written, with its fences: language and lines."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    fences: list[tuple[str, list[str]]] = field(default_factory=list)
    count: int = 0

    def __repr__(self) -> str:
        return f"Draft({self.text!r})"

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def tokens(self) -> list[str]:
        return TOKEN.findall(self.text)

    def words(self, many: int, kind: str = "w") -> str:
        self.count += many
        return " ".join(f"{kind}{n}" for n in range(self.count - many, self.count))


_FEW = st.integers(1, 6)
_LENGTHS = st.one_of(_FEW, _FEW, _FEW, st.sampled_from([80, 500]))
_LANGUAGES = st.sampled_from(["", "python", "sh", "c++"])


def _paragraph(page: Draft, depth: int) -> list[str]:
    draw = page.draw
    text = "x" + draw(st.sampled_from(_ORNAMENTS)) + " " + page.words(draw(_LENGTHS))
    if draw(st.integers(0, 9)) == 0:
        text += " " + LONG * 3000
    words = text.split(" ")
    middle = len(words) // 2
    return [" ".join(words[:middle]), " ".join(words[middle:])] if middle > 2 and draw(st.booleans()) else [text]


def _fence(page: Draft, depth: int) -> list[str]:
    draw = page.draw
    mark, language = draw(st.sampled_from(["```", "`````", "~~~"])), draw(_LANGUAGES)
    starts = st.sampled_from(["", "# ", "## ", "    ", "\t", "- ", "> ", "| a | ", "<!-- "])
    inner = [draw(starts) + page.words(draw(_FEW), "c") for _ in range(draw(st.sampled_from([1, 3, 3, 8])))]
    inner += [page.words(4, "c") + " " * (n % 9 == 0) for n in range(draw(st.sampled_from([0, 0, 0, 150])))]
    if draw(st.integers(0, 9)) == 0:
        inner.append("    " + page.words(500, "c"))
    if mark != "```":
        inner[len(inner) // 2 : 0] = ["```python", "", "```"]
    page.fences.append((language, inner))
    return [mark + language, *inner, mark]


def _table(page: Draft, depth: int) -> list[str]:
    draw = page.draw
    width = draw(st.integers(1, 4))
    cells = st.one_of(_FEW, st.sampled_from([30, 150]))
    rows = [
        f"| {page.words(1, 'r')} |" + "".join(f" {page.words(draw(cells), 't')} |" for _ in range(width))
        for _ in range(draw(st.sampled_from([1, 2, 20])))
    ]
    return ["| " + " | ".join(page.words(1, "Col") for _ in range(width + 1)) + " |", "|" + " --- |" * (width + 1), *rows]


def _indented(lines: list[str], first: str, rest: str) -> list[str]:
    return [first + lines[0], *((rest + line).rstrip() if not line.strip() else rest + line for line in lines[1:])]


def _listing(page: Draft, depth: int) -> list[str]:
    draw = page.draw
    marker = draw(st.sampled_from(["- ", "* ", "1. ", "10) ", "-   "]))
    found: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        body = _paragraph(page, depth) if draw(st.integers(0, 4)) else _block(page, depth + 1)
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            body += ["", *_block(page, depth + 1)]
        found += [*([""] if found and draw(st.booleans()) else []), *_indented(body, marker, " " * len(marker))]
    return found


def _quotation(page: Draft, depth: int) -> list[str]:
    body = _block(page, depth + 1)
    for _ in range(page.draw(st.integers(0, 2))):
        body += ["", *_block(page, depth + 1)]
    return _indented(body, "> ", "> ")


def _html(page: Draft, depth: int) -> list[str]:
    words = page.words(page.draw(_FEW))
    return page.draw(
        st.sampled_from(
            [
                [f"<div><p>{words}</p></div>"],
                [f"<p align='center'>{words}", "</p>"],
                [f"<ul><li>{words}</li></ul>"],
                [f"<!-- {LONG[:0]} -->"],
            ]
        )
    )


def _admonition(page: Draft, depth: int) -> list[str]:
    body = _block(page, depth + 1)
    for _ in range(page.draw(st.integers(0, 2))):
        body += ["", *_block(page, depth + 1)]
    return _indented(['!!! note "Mind"', *body], "", "    ")


_INSIDE: list[Callable[[Draft, int], list[str]]] = [_paragraph, _paragraph, _fence, _table, _listing, _quotation]


def _block(page: Draft, depth: int) -> list[str]:
    return page.draw(st.sampled_from(_INSIDE if depth < 4 else _INSIDE[:3]))(page, depth)


def _heading(page: Draft, depth: int) -> list[str]:
    name = page.words(page.draw(st.integers(1, 3)), "Head")
    page.headings.append(name)
    rank = page.draw(st.integers(2, 4))
    return [name, "---"] if rank == 2 and page.draw(st.booleans()) else ["#" * rank + f" {name}"]


@st.composite
def nested_pages(draw: st.DrawFn) -> Draft:
    """A page with a title and up to eight blocks that are nested up to four deep."""
    page = Draft(draw)
    page.headings.append(page.words(1, "Head"))
    page.lines += [f"# {page.headings[0]}"]
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from([*_INSIDE, _html, _admonition, _heading, _heading]))
        page.lines += ["", *kind(page, 0), ""]
    return page
