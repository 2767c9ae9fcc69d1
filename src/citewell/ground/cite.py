"""From a marker to the exact span of stored text that it rests on, and the link that opens it. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote as percent

from citewell.ground.flatten import find_words, flatten, links
from citewell.ground.units import Unit, units
from citewell.index.lexical import STOP_WORDS, tokens
from citewell.types import Citation, Section

_FRAGMENT_WORDS = 5  # words at either end of a long quotation that a text fragment names
_FRAGMENT_WHOLE = 12  # a quotation of at most so many words is named whole
_FRAGMENT_CHARS = 2000  # of either end of a quotation that are looked at for those words

_FENCED = re.compile(r"[ \t>]*(?:[-*+] |\d{1,9}[.)] )?(?:`{3,}(?!`)|~{3,}(?!~))[^\n]*\n(?P<code>.*)", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)")
_LINK = re.compile(r"\[([^\[\]]{0,300})\](?:\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)|\[[^\[\]\n]{0,100}\])")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`) ?([^`]{1,300}?) ?(?<!`)\1(?!`)")
_STRESS = re.compile(r"(?<![*\w\\])(\*{1,3})(?=[^\s*])([^*\n]{1,300}?)(?<=[^\s*\\])\1(?!\*)")  # underscores are names far more often
_LEAD = re.compile(r"^[ \t>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?", re.MULTILINE)


def best_span(claim: str, text: str) -> tuple[int, int] | None:
    """Where in a section's text a claim stands: word for word if it does, however it was set, else the unit that shares most of its words.

    None when the section shares no telling word with the claim.
    """
    pieces = units(text)
    said = flatten(claim)[0]
    if not said:
        return None
    words = set(tokens(claim)) - STOP_WORDS
    held = [(len(words & set(tokens(text[unit.start : unit.end]))), unit) for unit in pieces]
    most, unit = max(held, key=lambda pair: (pair[0], -pair[1].start), default=(0, Unit("sentence", 0, 0)))
    whole = next((unit for shared, unit in held if shared == most and flatten(text[unit.start : unit.end])[0] == said), None)
    if whole is not None:
        return whole.start, whole.end
    flat, places = flatten(text)
    at = find_words(said, flat)
    if at >= 0:
        return _with_marks(text, places[at], places[at + len(said) - 1] + 1)
    return (unit.start, unit.end) if most else None


def _with_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the links, code marks and stars that begin or end in it, so that none is cut in two."""
    for link in links(text):
        if link.start() < start < link.end() < end:
            start = link.start()
        elif start < link.start() < end < link.end():
            end = link.end()
    first, last = len(text[:start].rstrip("`*")), len(text) - len(text[end:].lstrip("`*"))
    for left, right in ((start, end), (start, last), (first, end), (first, last)):
        if text.count("`", left, right) % 2 == text.count("*", left, right) % 2 == 0:
            return left, right
    return start, end


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
    page = percent(url.partition("#")[0], safe="%:/?[]@!$&'*+,;=~")  # round brackets are allowed too, but end a Markdown link
    place = percent(anchor, safe="-._~!$'*+;=:@/?")
    fragment = _text_fragment(quotation)
    if not fragment:
        return f"{page}#{place}" if place else page
    return f"{page}#{place}:~:text={fragment}"


def _text_fragment(quotation: str) -> str:
    """The words a browser looks for: the quotation as it is displayed, without Markdown; its two ends when it is long.

    A fragment must lie in one block, so of several lines in a code block the first stands for all.
    """
    fenced = _FENCED.match(quotation)
    if fenced:
        words = next((line for line in fenced["code"].split("\n") if line.strip(" \t>")), "").strip(" \t>").split()
    elif len(quotation) > 2 * _FRAGMENT_CHARS:
        words = [*_plain(quotation[:_FRAGMENT_CHARS]).split()[:-1], *_plain(quotation[-_FRAGMENT_CHARS:]).split()[1:]]
    else:
        words = _plain(quotation).split()
    if len(words) <= _FRAGMENT_WHOLE:
        return _encode(words)
    return _encode(words[:_FRAGMENT_WORDS]) + "," + _encode(words[-_FRAGMENT_WORDS:])


def _encode(words: list[str]) -> str:
    # A hyphen separates prefixes and suffixes in a text directive, so it is encoded although addresses allow it.
    return percent(" ".join(words), safe="").replace("-", "%2D")


def _plain(markdown: str) -> str:
    """The text as a page displays it: code marks, emphasis, link targets and list markers taken off; of a table row, its first cell."""
    text = markdown.strip()
    if text.startswith("|"):
        text = next((cell for cell in re.split(r"(?<!\\)\|", text.strip("|")) if cell.strip()), "")
    for shape, shown in ((_LEAD, ""), (_IMAGE, ""), (_LINK, r"\1"), (_CODE, r"\2"), (_STRESS, r"\2")):
        text = shape.sub(shown, text)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
