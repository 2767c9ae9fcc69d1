"""From a marker to the exact span of stored text that it rests on, and the link that opens it. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote as percent

from citewell.ground.flatten import find_words, flatten
from citewell.ground.inline import all_links
from citewell.ground.prose import LABEL, is_markdown, shown
from citewell.ground.units import Unit, units
from citewell.index.lexical import STOP_WORDS, tokens
from citewell.index.reading import fences
from citewell.render import IN_FRAGMENT
from citewell.types import Citation, Section

_FRAGMENT_WORDS = 5  # words at either end of a long quotation that a text fragment names
_FRAGMENT_WHOLE = 12  # a quotation of at most so many words is named whole
_FRAGMENT_CHARS = 2000  # of either end of a quotation that are looked at for those words

_NOTE = re.compile(r"\S*\[\^[^\]\s]{1,40}\]\S*")  # a footnote's mark, with the word that touches it, which a browser may see as one
_CELLS = re.compile(r"(?<!\\)\|")
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
    for link in all_links(text):
        if link.start < start < link.end < end:
            start = link.start
        elif start < link.start < end < link.end:
            end = link.end
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
        link=text_link(section.url, section.anchor, quotation, markdown=is_markdown(section.path)),
    )


def text_link(url: str, anchor: str, quotation: str, *, markdown: bool) -> str:
    """The page's address with its anchor and a text fragment (WICG Scroll-to-Text) of the quotation, percent-encoded.

    `markdown`: the page was written in Markdown, so that what looks like markup in the quotation is.
    """
    page = percent(url.partition("#")[0], safe="%:/?[]@!$&'*+,;=~")  # round brackets are allowed too, but end a Markdown link
    place = percent(anchor, safe=IN_FRAGMENT)
    fragment = _text_fragment(quotation, markdown=markdown)
    if not fragment:
        return f"{page}#{place}" if place else page
    return f"{page}#{place}:~:text={fragment}"


def _text_fragment(quotation: str, *, markdown: bool) -> str:
    """The words a browser looks for: the quotation as it is displayed, its two ends when it is long.

    What it looks for in one go lies in one block and runs over no footnote's mark. So a label ("Note:") is left out, a table row named by
    its first and last cells, a sentence with notes by what stands before the first and after the last, and of several lines in a code block
    the first stands for all.
    """
    if fences(quotation)[:1] and fences(quotation)[0][0] == 0:
        return _encode(next((line for line in quotation.split("\n")[1:] if line.strip(" \t>")), "").strip(" \t>").split())
    pieces = [quotation]
    if len(quotation) > 2 * _FRAGMENT_CHARS:
        pieces = [quotation[:_FRAGMENT_CHARS].rpartition(" ")[0], quotation[-_FRAGMENT_CHARS:].partition(" ")[2]]
    if quotation.lstrip().startswith("|"):
        pieces = [cell.replace("\\|", "|") for piece in pieces for cell in _CELLS.split(piece)]
    texts = [_without_label(_LEAD.sub("", text)) for piece in pieces for text in _NOTE.split(piece)]
    stretches = [shown(text, markdown=markdown).split() for text in texts]
    stretches = [words for words in stretches if words]
    if len(stretches) == 1 and len(stretches[0]) <= _FRAGMENT_WHOLE:
        return _encode(stretches[0])
    return _encode(stretches[0][:_FRAGMENT_WORDS]) + "," + _encode(stretches[-1][-_FRAGMENT_WORDS:]) if stretches else ""


def _without_label(text: str) -> str:
    """The text without the label at its head, if there is more to it."""
    label = LABEL.match(text)
    rest = text[label.end() :] if label else ""
    return rest if rest.strip() else text


def _encode(words: list[str]) -> str:
    # A hyphen separates prefixes and suffixes in a text directive, so it is encoded although addresses allow it.
    return percent(" ".join(words), safe="").replace("-", "%2D")
