"""From a marker to the exact span of stored text that it rests on, and the link that opens it. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote as percent

from citewell.ground.units import Unit, units
from citewell.index.lexical import STOP_WORDS, tokens
from citewell.types import Citation, Section

_FRAGMENT_WORDS = 5  # words at either end of a long quotation that a text fragment names
_FRAGMENT_WHOLE = 12  # a quotation of at most so many words is named whole


def best_span(claim: str, text: str) -> tuple[int, int] | None:
    """Where in a section's text a claim stands: word for word if it does, else the unit that shares most of its words.

    None when the section shares no telling word with the claim.
    """
    bare = claim.strip()
    at = text.find(bare) if bare else -1
    if at >= 0:
        return at, at + len(bare)
    wanted = set(tokens(bare)) - STOP_WORDS
    if not wanted:
        return None
    scored = [(len(wanted & set(tokens(text[unit.start : unit.end]))), unit) for unit in units(text)]
    best, unit = max(scored, key=lambda pair: (pair[0], -pair[1].start), default=(0, Unit("sentence", 0, 0)))
    return (unit.start, unit.end) if best else None


def make_citation(number: int, section: Section, start: int, end: int) -> Citation:
    """The citation of `section.text[start:end]`."""
    quotation = section.text[start:end]
    return Citation(
        number=number,
        section_id=section.id,
        section_hash=section.text_hash,
        source=section.source,
        path=section.path,
        url=section.url,
        anchor=section.anchor,
        title=section.title,
        heading_path=section.heading_path,
        quote=quotation,
        start=start,
        end=end,
        link=text_link(section.url, section.anchor, quotation),
    )


def text_link(url: str, anchor: str, quotation: str) -> str:
    """The page's address with its anchor and a text fragment (WICG Scroll-to-Text) of the quotation, percent-encoded."""
    fragment = _text_fragment(quotation)
    place = percent(anchor, safe="-._~!$'*+;=:@/?")
    if not fragment:
        return f"{url}#{place}" if place else url
    return f"{url}#{place}:~:text={fragment}"


def _text_fragment(quotation: str) -> str:
    """The words a browser looks for: the quotation as it is displayed, without Markdown; its two ends when it is long.

    A fragment must lie in one block, so of several lines in a code block the first stands for all.
    """
    fenced = re.match(r"[ >]*(?:`{3,}|~{3,})[^\n]*\n(.*?)\n[ >]*(?:`{3,}|~{3,})\s*$", quotation, re.DOTALL)
    shown = next((line for line in fenced.group(1).split("\n") if line.strip()), "") if fenced else _plain(quotation)
    words = shown.split()
    if not words:
        return ""
    if len(words) <= _FRAGMENT_WHOLE:
        return _encode(" ".join(words))
    return _encode(" ".join(words[:_FRAGMENT_WORDS])) + "," + _encode(" ".join(words[-_FRAGMENT_WORDS:]))


def _encode(words: str) -> str:
    # A hyphen separates prefixes and suffixes in a text directive, so it is encoded although addresses allow it.
    return percent(words, safe="").replace("-", "%2D")


def _plain(markdown: str) -> str:
    """The text as a page displays it: code marks, emphasis, link targets and list markers taken off; of a table row, its first cell."""
    if markdown.lstrip().startswith("|"):
        markdown = next((cell for cell in markdown.strip().strip("|").split("|") if cell.strip()), "")
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    text = re.sub(r"(`+) ?(.+?) ?\1", r"\2", text)
    text = re.sub(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    return re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", text)
