"""What a model wrote, without what would act on whoever reads it: pictures, tags, and links to where no section leads. Pure.

A page can order a model to append a picture whose address carries the question away; nothing that a model writes may load or lead anywhere
by itself. Code stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from citewell.ground.blocks import Block, blocks, code_spans, is_escaped
from citewell.ground.inline import Link, links, outside
from citewell.ground.markers import definitions

_TARGET = re.compile(r"\]\(\s*<?(https?://[^\s<>()]+)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def harmless(markdown: str, known: Callable[[str], bool]) -> str:
    """The text with its links to addresses that are `known`; of others their words, of pictures nothing, and of tags the letters."""
    labels = frozenset(definitions(markdown).values())
    gone: list[tuple[int, int, str]] = []
    for block in blocks(markdown):
        if block.kind != "fence":
            gone += _cuts(markdown, block, labels, known)
    pieces, at = [], 0
    for start, end, instead in sorted(gone):
        if start >= at:
            pieces += [markdown[at:start], instead]
            at = end
    return "".join([*pieces, markdown[at:]])


def _cuts(text: str, block: Block, labels: frozenset[str], known: Callable[[str], bool]) -> list[tuple[int, int, str]]:
    code = code_spans(text, block.start, block.end)
    found = links(text, block.start, block.end, code, labels)
    cuts: list[tuple[int, int, str]] = []
    for link in found:
        if link.picture:
            cuts.append((link.start, link.end, ""))
        elif not known(_address(text, link)):
            cuts += [(link.start, link.left, ""), (link.right, link.end, "")]
    autolinks = {link.start for link in found if text[link.start] == "<"}
    tags = (match.start() for match in outside(_TAG, text, block.start, block.end, code))
    return cuts + [(at, at, "\\") for at in tags if at not in autolinks and not is_escaped(text, at)]


def _address(text: str, link: Link) -> str:
    """Where a link leads; empty for what is no whole address of the web."""
    if text[link.start] == "<":
        words = text[link.left : link.right]
        return words if words.startswith(("http://", "https://")) else ""
    target = _TARGET.match(text, link.right)
    return target.group(1) if target else ""
