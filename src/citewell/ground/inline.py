"""The inside of a block of Markdown: its links, pictures and automatic links. The one reader of their syntax. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from citewell.ground.blocks import blocks, code_spans, is_escaped

_BRACKET = re.compile(r"[\[\]]")
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,2000}>")
_PLACE = r"(?:\\\S|\\(?=\s)|[^\s()\\\x00-\x1f\x7f])"  # a character of an address: escaped, or neither a blank nor a bracket
_TARGET = re.compile(
    rf"\(\s{{0,3}}(?:<(?:\\.|[^<>\n\\]){{0,1000}}>|(?!<){_PLACE}{{0,1000}}(?:\({_PLACE}{{0,500}}\){_PLACE}{{0,500}}){{0,3}})"
    r"(?:\s{1,3}(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'))?\s{0,3}\)"
)
_LABEL = re.compile(r"\[([^\[\]\n]{1,200})\]")


@dataclass(frozen=True, slots=True)
class Link:
    """`text[start:end]` is a link or a picture, `text[left:right]` the words that a page shows for it: none for a picture."""

    start: int
    end: int
    left: int
    right: int
    picture: bool = False


def links(text: str, start: int, end: int, code: Sequence[tuple[int, int]], labels: Set[str] | None = frozenset()) -> list[Link]:
    """The links and pictures of the block `text[start:end]` outside its `code`, in order; a picture may lie in a link's words.

    `labels` are those that the text defines, lower case. None: they are not known, so `[words][label]` is a link unless both are numbers.
    """
    found = [Link(*match.span(), match.start() + 1, match.end() - 1) for match in outside(_AUTOLINK, text, start, end, code)]
    hidden = sorted([*code, *((link.start, link.end) for link in found)])
    opened: list[int] = []
    after = start
    for match in outside(_BRACKET, text, start, end, hidden):
        at = match.start()
        if at < after or is_escaped(text, at):
            continue
        if match.group(0) == "[":
            opened.append(at)
        elif opened:
            left = opened.pop()
            target = _TARGET.match(text, at + 1, end) or _reference(text, left + 1, at, labels)
            if target:
                after = target.end()
                picture = left > start and text[left - 1] == "!" and not is_escaped(text, left - 1)
                found.append(Link(left - 1, after, after, after, True) if picture else Link(left, after, left + 1, at))
                if not picture:  # a link holds no links
                    opened.clear()
    return sorted(found, key=lambda link: (link.start, -link.end))


def _reference(text: str, left: int, right: int, labels: Set[str] | None) -> re.Match[str] | None:
    label = _LABEL.match(text, right + 1)
    if label is None:
        return None
    known = not (label.group(1).isdigit() and text[left:right].isdigit()) if labels is None else label.group(1).casefold() in labels
    return label if known else None


def all_links(text: str) -> list[Link]:
    """The links and pictures of a whole text, in order."""
    if "](" not in text:
        return []
    found: list[Link] = []
    for block in blocks(text):
        if block.kind != "fence":
            found += links(text, block.start, block.end, code_spans(text, block.start, block.end))
    return found


def hide(hidden: bytearray, link: Link, offset: int = 0) -> None:
    """Mark in a mask of a text, which begins at `offset`, what of a link a page does not show."""
    for left, right in ((link.start, link.left), (link.right, link.end)):
        hidden[left - offset : right - offset] = b"\1" * (right - left)


def outside(pattern: re.Pattern[str], text: str, start: int, end: int, hidden: Sequence[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The matches in `text[start:end]` that begin in none of the hidden spans, which are in order."""
    at = 0
    for match in pattern.finditer(text, start, end):
        while at < len(hidden) and hidden[at][1] <= match.start():
            at += 1
        if at == len(hidden) or match.start() < hidden[at][0]:
            yield match
