"""HTML text to a document tree, within limits."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.extract.base import NotContent

_DEEPEST = 10_000  # parsing takes time that grows with the square of the depth
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)(?:[^<>]*?(/)>)?")
# Elements that hold nothing, or that the next of their kind closes: however many there are, they do not nest.
_FLAT = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot colgroup option optgroup "
    "rp rt body html head".split()
)
# Drawings and formulas are the only places where `<path/>` is closed by its own slash; whatever is not part of one ends it.
_FOREIGN = frozenset(("svg", "math"))
_DRAWN = frozenset(
    "circle clippath defs ellipse filter g line lineargradient marker mask path pattern polygon polyline radialgradient rect stop symbol "
    "text tspan use mi mn mo ms mspace mrow mfrac msqrt msub msup msubsup mtable mtr mtd mtext mover munder munderover mstyle".split()
)


def parse(text: str) -> LexborHTMLParser:
    """The document. Raises `NotContent` for one that nests so deeply that parsing it would take minutes: no page does."""
    if text.count("<") > _DEEPEST and _depth(text) > _DEEPEST:
        raise NotContent("nested too deeply")
    return LexborHTMLParser(text)


def _depth(text: str) -> int:
    """How deep the elements of a text can nest, at most."""
    deepest = depth = 0
    drawing = False
    for tag in _TAG.finditer(text):
        name = tag.group(2).lower()
        if name not in _FLAT:
            drawing = name in _FOREIGN or (drawing and name in _DRAWN)
            if drawing and tag.group(3):
                continue
            depth = max(depth - 1, 0) if tag.group(1) else depth + 1
            deepest = max(deepest, depth)
    return deepest
