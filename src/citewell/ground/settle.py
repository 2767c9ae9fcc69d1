"""Each claim of an answer to the exact spans that it rests on, or out of the answer: markers resolved, support checked, numbers given in
reading order. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from citewell.ground.cite import best_span, make_citation
from citewell.ground.claims import ClaimText, split_claims
from citewell.ground.evidence import Evidence
from citewell.ground.prose import unescaped
from citewell.ground.verify import Verdict, verify
from citewell.index.identifiers import identifiers
from citewell.index.reading import closed
from citewell.types import Citation, Claim, Section

_LEAD_IN = 120  # characters; a longer sentence says something of its own
_TITLE_WORDS = 3  # of a heading like "In short"
_MOST_LOOKED_AT = 30  # sections in which a claim without markers looks for its support

Span = tuple[Section, int, int]


@dataclass(frozen=True, slots=True)
class Settled:
    """An answer in which everything is cited. `fell` claims were taken out, `unknown` markers named no section that was shown."""

    answer_md: str
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]
    fell: int
    unknown: int


def settle(body: str, evidence: Evidence, shown: Sequence[int], wished: Sequence[int] = ()) -> Settled:
    """Settle an answer whose markers are numbers of the evidence, of those sections that its writer was shown. `wished` are sections that
    the writer named without a marker."""
    work = _Work(body, evidence, shown, [number for number in wished if number in shown])
    for claim in split_claims(body, headings=True):
        work.take(claim)
    return Settled(_tidy("".join([*work.pieces, body[work.at :]])), tuple(work.citations), tuple(work.claims), work.fell, work.unknown)


@dataclass(slots=True)
class _Work:
    body: str
    evidence: Evidence
    shown: Sequence[int]
    wished: Sequence[int]
    numbers: dict[tuple[int, int, int], int] = field(default_factory=dict)
    citations: list[Citation] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    at: int = 0
    fell: int = 0
    unknown: int = 0

    def take(self, claim: ClaimText) -> None:
        self.pieces.append(self.body[self.at : claim.start])
        self.at = claim.end
        if claim.kind == "heading" and not claim.numbers and self._titles(claim):
            self.pieces.append(self.body[claim.start : claim.end])
            return
        self.unknown += sum(number not in self.shown for number in claim.numbers)
        named = [number for number in dict.fromkeys(claim.numbers) if number in self.shown]
        spans = self._spans(claim, named)
        verdict = _verdict(claim, spans)
        if not claim.numbers:
            spans, verdict = self._found(claim)
        if verdict is None and not claim.numbers and _leads_in(claim):
            self.pieces.append(self.body[claim.start : claim.end])
        elif verdict is None or verdict.support == "unsupported":
            self.fell += 1
            if claim.kind == "heading":
                self.pieces[-1] = self.pieces[-1].rstrip("# \t")
            reason, score = (verdict.reason, verdict.score) if verdict else ("it cites nothing", 0.0)
            self.claims.append(Claim(claim.text, (), "unsupported", score, reason))
        else:
            mine = [self._number(span) for span in spans]
            self.pieces.append(_marked(claim, mine))
            self.claims.append(Claim(claim.text, tuple(mine), verdict.support, round(verdict.score, 4), verdict.reason))

    def _spans(self, claim: ClaimText, numbers: Sequence[int]) -> list[Span]:
        """Where in the sections of these numbers the claim stands; those that share no word with it are left out."""
        sections = filter(None, map(self.evidence.section, numbers))
        found = [(section, best_span(unescaped(claim.text), section.text)) for section in sections]
        return list(dict.fromkeys((section, *span) for section, span in found if span is not None))

    def _found(self, claim: ClaimText) -> tuple[list[Span], Verdict | None]:
        """The section that supports a claim without a marker best: of those its writer named, else of all that were shown. None for code
        that never ends: a marker behind it would be a part of it."""
        if claim.kind == "code" and closed(claim.text) != claim.text:
            return [], None
        numbers = self.wished or self.shown[:_MOST_LOOKED_AT]
        best: tuple[list[Span], Verdict | None] = ([], None)
        for number in numbers:
            spans = self._spans(claim, [number])
            verdict = _verdict(claim, spans)
            if verdict and verdict.support == "supported" and (best[1] is None or verdict.score > best[1].score):
                best = spans, verdict
        return best

    def _titles(self, claim: ClaimText) -> bool:
        """Whether a heading may stand without a source: it asserts nothing, or has its words from what was shown."""
        if len(claim.text.split()) <= _TITLE_WORDS and _asserts_nothing(claim.text):
            return True
        shown = filter(None, map(self.evidence.section, self.shown[:_MOST_LOOKED_AT]))
        passage = "\n".join(f"{section.heading_path}\n{section.text}" for section in shown)
        return verify(unescaped(claim.text), passage).support != "unsupported"

    def _number(self, span: Span) -> int:
        section, start, end = span
        key = (section.id, start, end)
        if key not in self.numbers:
            self.numbers[key] = len(self.numbers) + 1
            self.citations.append(make_citation(self.numbers[key], section, start, end))
        return self.numbers[key]


def _verdict(claim: ClaimText, spans: Sequence[Span]) -> Verdict | None:
    if not spans:
        return None
    return verify(unescaped(claim.text), "\n".join(f"{section.heading_path}\n{section.text}" for section, _, _ in spans))


def _leads_in(claim: ClaimText) -> bool:
    """Whether a claim only leads to what follows ("You can do it like this:") and asserts nothing that could be wrong."""
    text = claim.text.strip()
    return claim.kind != "code" and len(text) <= _LEAD_IN and text.endswith(":") and _asserts_nothing(text)


def _asserts_nothing(text: str) -> bool:
    """Whether a few words hold nothing that could be wrong: no name, number or address, and no denial."""
    return not identifiers(text) and not re.search(r"[\d`]|://|\b(?:not|never|no|only|always|must|www)\b", text, re.IGNORECASE)


def _marked(claim: ClaimText, numbers: Sequence[int]) -> str:
    tail = "".join(f"[{number}]" for number in numbers)
    if claim.kind == "code":
        return f"{claim.text}\n{tail}"
    if claim.kind == "row" and claim.text.endswith("|"):  # behind the last border a table hides it
        return f"{claim.text[:-1].rstrip()} {tail} |"
    return f"{claim.text} {tail}"


def _tidy(text: str) -> str:
    """No gaps where a claim was taken out, and no lead to what is not there any more."""
    lines = [line.rstrip() for line in text.split("\n")]
    kept: list[str] = []
    for line in lines:
        if line in {"-", "*", ">"} or (not line and kept and not kept[-1]):
            continue
        kept.append(line)
    return "\n".join(kept).strip()
