"""HTML text to a document tree, within limits."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.extract.base import NotContent

_DEEPEST = 10_000  # parsing takes time that grows with the square of the depth
_MOST_ATTRIBUTES = 5_000  # of one element: it grows with the square of their number, too
_ATTRIBUTE = r"""[\s/]*+=?[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]++)?+)?+"""  # as the HTML standard's tokenizer reads one
_START = re.compile(rf"<[A-Za-z][^\s/>]*+(?:{_ATTRIBUTE})*+")
_RAW_END = re.compile(r"</(?:script|style|textarea|title)", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)(?:[^<>]*?(/)>)?")
_LEAF = re.compile(
    r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>[^<>]*</\1>"
)  # most of a page, and never deeper than what is around it by more than one
# Elements that hold nothing, or that the next of their kind closes: however many there are, they do not nest.
_FLAT = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot colgroup option optgroup "
    "rp rt body html head".split()
)
# Drawings are the only places where `<path/>` is closed by its own slash; whatever is not part of one ends it.
_DRAWN = frozenset(
    "svg circle clippath defs ellipse filter g line lineargradient marker mask path pattern polygon polyline radialgradient rect stop "
    "symbol text tspan use".split()
)


def parse(text: str) -> LexborHTMLParser:
    """The document. Raises `NotContent` for one that nests so deeply that parsing it would take minutes: no page does."""
    if text.count("<") > _DEEPEST and _depth(_LEAF.sub("", text)) > _DEEPEST:
        raise NotContent("nested too deeply")
    if any(len(tag.group()) > 2 * _MOST_ATTRIBUTES for tag in _START.finditer(text)):
        text = _START.sub(lambda tag: _bounded(tag.group()), text)
    return LexborHTMLParser(text)


def _bounded(tag: str) -> str:
    """The start of an element with no more attributes than parsing bears. What only looks like one lies in a script, whose end is kept."""
    if len(tag) <= 2 * _MOST_ATTRIBUTES:
        return tag
    last = next(islice(re.finditer(_ATTRIBUTE, tag), _MOST_ATTRIBUTES, None), None)
    if last is None:
        return tag
    end = _RAW_END.search(tag, last.start())
    return tag[: last.start()] + (end.group() if end else "")


def _depth(text: str) -> int:
    """How deep the elements of a text can nest, at most. What ends an element that is not open ends none."""
    deepest = depth = 0
    drawing = False
    open_: Counter[str] = Counter()
    for tag in _TAG.finditer(text):
        ends, name, closed = tag.group(1), tag.group(2).lower(), tag.group(3)
        drawing = not ends if name == "svg" else drawing and name in _DRAWN
        if name in _FLAT or (drawing and closed) or (ends and not open_[name]):
            continue
        open_[name] += -1 if ends else 1
        depth += -1 if ends else 1
        deepest = max(deepest, depth)
    return deepest
