"""A section's Markdown as the units that can be quoted: sentences, list items, table rows, code blocks, signatures. Pure.

Every unit is a span of the text, so that a quotation is exact by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from citewell.ground.blocks import Block, blocks, content_start
from citewell.ground.markers import MARKER, hidden_spans

UnitKind = Literal["sentence", "item", "row", "code", "signature", "heading"]

_SIGNATURE = re.compile(r"`[^`]+`")
# The end of a sentence, with the brackets and quotation marks that close there and the citation markers that follow.
_END = re.compile(rf"(?:(?<![.!?…])[.!?…]+[\"')\]”’»]{{0,9}}(?:{MARKER})*(?=\s|$)|[。！？]+[”’」』）】》]{{0,9}}(?:{MARKER})*)")
_GAP = re.compile(r"\s*(?:(?<=\n)>[\s>]*)?")
_BRACKETED = re.compile(r"\([^()]{1,300}\)")
_INNER_STOP = re.compile(r"[.!?…](?=\s)")
_OPENER = re.compile(r"[\"'(\[“‘«*_`\\]{0,9}(?:[A-Z0-9À-ÖØ-Þ`\"“]|[a-z_]\w{0,60}(?:\(|(?:[._]|::)\w))|[^\x00-\x7f]")
# Where a full stop ends no sentence: behind these; behind others when a number follows; behind the initial of a name.
_ABBREVIATIONS = frozenset("e.g i.e cf vs viz resp approx incl al dr mr mrs prof jr sr st inc ltd co ph.d".split())
_BEFORE_NUMBER = frozenset("no nos fig figs eq eqs sec ch vol p pp ver jan feb mar apr jun jul aug sep sept oct nov dec".split())
_LETTERS = re.compile(r"(?:[a-z]\.)+[a-z]")  # U.S., w.r.t.
_WORD = re.compile(r"[^\s(\[\"'“‘/]{1,8}$")
_NUMBERED = re.compile(r"\d{1,9}\\[.)]\s")  # how an answer begins what was an item of a numbered list
_NUMBER = re.compile(r"[(\[]?\d")
_FUNCTION_WORD = re.compile(r"(?:A|An|And|As|But|By|For|However|If|In|It|Its|Note|On|See|So|That|The|Then|These|This|To|Use|We|When|You)\b")


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]` of its section."""

    kind: UnitKind
    start: int
    end: int


def units(text: str) -> list[Unit]:
    """The units of a section's text, in order. Headings, heads of tables, rules and fences without content give none."""
    return [unit for unit, head in with_heads(text) if not head]


def with_heads(text: str) -> Iterator[tuple[Unit, bool]]:
    """The units of a text and its headings and heads of tables, in order, each with whether it is such a head."""
    for block, after in pairwise([*blocks(text), Block("break", len(text), len(text))]):
        start = content_start(text, block)
        if block.kind == "fence":
            if _has_content(text[block.start : block.end]):
                yield Unit("code", block.start, block.end), False
        elif block.kind == "heading":
            yield from ((Unit("heading", *span), True) for span in _trimmed(text, start, block.end))
        elif block.kind == "row":
            yield from ((Unit("row", *span), after.kind == "rule") for span in _trimmed(text, start, block.end))
        elif block.kind in {"paragraph", "item"}:
            yield from ((unit, False) for unit in _prose(text, block, start))


def _has_content(fence: str) -> bool:
    inner = fence.split("\n")[1:]
    closed = bool(inner) and not inner[-1].strip(" \t>`~")
    return any(line.strip(" \t>") for line in (inner[:-1] if closed else inner))


def _prose(text: str, block: Block, start: int) -> Iterator[Unit]:
    if block.kind == "paragraph" and _SIGNATURE.fullmatch(text[start : block.end].strip()) and "\n" not in text[start : block.end]:
        yield from (Unit("signature", *span) for span in _trimmed(text, start, block.end))
        return
    for left, right in _sentences(text, start, block):
        yield Unit("item" if block.kind == "item" else "sentence", left, right)


def _sentences(text: str, start: int, block: Block) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of a paragraph. A full stop in a code span, an abbreviation or a number ends none."""
    masked = _masked(text, block)
    number = _NUMBERED.match(masked, start - block.start)
    for stop in _END.finditer(masked, number.end() if number else start - block.start):
        if _ends(masked, stop):
            end = block.start + stop.end()
            yield from _trimmed(text, start, end)
            gap = _GAP.match(text, end, block.end)
            start = gap.end() if gap else end
    yield from _trimmed(text, start, block.end)


def _masked(text: str, block: Block) -> str:
    """The block with its code spans and links blacked out, and the full stops within brackets, so that none of them ends a sentence."""
    pieces, at = [], block.start
    for left, right in hidden_spans(text, block):
        if right > at:
            pieces += [text[at : max(left, at)], "`" * (right - max(left, at))]
            at = right
    masked = "".join([*pieces, text[at : block.end]])
    return _BRACKETED.sub(lambda bracketed: _INNER_STOP.sub(",", bracketed.group(0)), masked)


def _ends(masked: str, stop: re.Match[str]) -> bool:
    """Whether a sentence ends at this punctuation: what stands before it is no abbreviation, and what follows can begin one."""
    gap = _GAP.match(masked, stop.end())
    after = gap.end() if gap else stop.end()
    if stop.group(0)[0] in "。！？" or after == len(masked):
        return True
    if not _OPENER.match(masked, after):
        return False
    found = _WORD.search(masked, max(stop.start() - 8, 0), stop.start())
    word = found.group(0) if found else ""
    if word.lower() in _ABBREVIATIONS or _LETTERS.fullmatch(word.lower()):
        return False
    if word.lower() in _BEFORE_NUMBER:
        return not _NUMBER.match(masked, after)
    return not (len(word) == 1 and word.isupper()) or bool(_FUNCTION_WORD.match(masked, after))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = end - (len(piece) - len(piece.rstrip()))
    if right > left:
        yield left, right
