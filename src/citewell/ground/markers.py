"""Citation markers `[n]` in Markdown: found where they are markers, never in code, links or escapes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set

from citewell.ground.blocks import Block, blocks, code_spans, is_escaped

MARKER = r"\[\d{1,9}(?:[ \t]{0,3}[,;][ \t]{0,3}\d{1,9}){0,50}\]"

_MARKER = re.compile(MARKER)
_BRACKET = re.compile(r"[\[\]]")
_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,2000}>")
_PLACE = r"(?:\\\S|\\(?=\s)|[^\s()\\\x00-\x1f\x7f])"  # a character of an address: escaped, or neither a blank nor a bracket
_TARGET = re.compile(
    rf"\(\s{{0,3}}(?:<(?:\\.|[^<>\n\\]){{0,1000}}>|(?!<){_PLACE}{{0,1000}}(?:\({_PLACE}{{0,500}}\){_PLACE}{{0,500}}){{0,3}})"
    r"(?:\s{1,3}(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'))?\s{0,3}\)"
)
_LABEL = re.compile(r"\[([^\[\]\n]{1,200})\]")
_DEFINITION = re.compile(
    r"^[ \t>]*\[([^\[\]\n]{1,200})\]:[ \t]*\S{1,2000}(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$", re.MULTILINE
)


def opaque_spans(markdown: str) -> list[tuple[int, int]]:
    """Where code is: nothing inside is a marker or a sentence end."""
    found: list[tuple[int, int]] = []
    for block in blocks(markdown):
        found.extend([(block.start, block.end)] if block.kind == "fence" else code_spans(markdown, block.start, block.end))
    return found


def find(markdown: str) -> Iterator[tuple[int, int, list[int]]]:
    """Every marker as (start, end, numbers); `[1, 2]` names two."""
    definitions = {match.start(1) - 1: match.group(1).casefold() for match in _DEFINITION.finditer(markdown)}
    labels = set(definitions.values())
    for block in blocks(markdown):
        if block.kind == "fence":
            continue
        code = code_spans(markdown, block.start, block.end)
        hidden = sorted([*code, *link_spans(markdown, block, code, labels)])
        for match in _outside(_MARKER, markdown, block, hidden):
            if match.start() not in definitions and not is_escaped(markdown, match.start()):
                yield match.start(), match.end(), [int(number) for number in re.findall(r"\d+", match.group(0))]


def _outside(pattern: re.Pattern[str], text: str, block: Block, hidden: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The matches in a block that begin in none of the hidden spans, which are in order."""
    at = 0
    for match in pattern.finditer(text, block.start, block.end):
        while at < len(hidden) and hidden[at][1] <= match.start():
            at += 1
        if at == len(hidden) or match.start() < hidden[at][0]:
            yield match


def link_spans(markdown: str, block: Block, code: list[tuple[int, int]], labels: Set[str] = frozenset()) -> list[tuple[int, int]]:
    """The links and images of a block outside its `code`, from their first bracket to the end of their target; a bracket in a link's text
    belongs to it. `labels` are those that the text defines."""
    found: list[tuple[int, int]] = [match.span() for match in _outside(_AUTOLINK, markdown, block, code)]
    opened: list[int] = []
    after = block.start
    for match in _outside(_BRACKET, markdown, block, sorted([*code, *found])):
        at = match.start()
        if at < after or is_escaped(markdown, at):
            continue
        if match.group(0) == "[":
            opened.append(at)
        elif opened:
            left = opened.pop()
            target = _TARGET.match(markdown, at + 1, block.end) or _reference(markdown, at + 1, labels)
            if target:
                after = target.end()
                found.append((left, after))
                opened.clear()
    return sorted(found)


def _reference(markdown: str, at: int, labels: Set[str]) -> re.Match[str] | None:
    label = _LABEL.match(markdown, at)
    return label if label and label.group(1).casefold() in labels else None


def rewrite(markdown: str, number: Callable[[int, int], int | None]) -> tuple[str, int]:
    """The text with each marker's numbers replaced by `number(position, old)`; what that maps to None is removed and counted.

    With a marker that goes, the blanks before it go too; all else stays as it is, byte for byte.
    """
    pieces, at, removed = [], 0, 0
    for start, end, numbers in find(markdown):
        new = [number(start, old) for old in numbers]
        removed += sum(value is None for value in new)
        kept = list(dict.fromkeys(value for value in new if value is not None))
        left = markdown[at:start]
        pieces.append(left if kept else left.rstrip(" "))
        pieces.append("".join(f"[{value}]" for value in kept))
        at = end
    pieces.append(markdown[at:])
    return "".join(pieces), removed


def escape(text: str) -> str:
    """Prose in which nothing reads as a marker or a link: square brackets outside code are escaped."""
    pieces, at = [], 0
    for block in blocks(text):
        if block.kind == "fence":
            continue
        for match in _outside(_BRACKET, text, block, code_spans(text, block.start, block.end)):
            if not is_escaped(text, match.start()):
                pieces.append(text[at : match.start()] + "\\")
                at = match.start()
    return "".join([*pieces, text[at:]])
