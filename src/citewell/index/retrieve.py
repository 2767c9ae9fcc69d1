"""A question to ranked sections: the channels' exact scores fused, page by page, duplicates folded.

Fusion is the convex combination of scores that are each divided by their maximum (Bruch, Gai & Ingber 2023, "An Analysis of Fusion
Functions for Hybrid Retrieval"): unlike reciprocal ranks it keeps what a channel knows very well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.index.embed import Embedder
from citewell.index.identifiers import identifiers
from citewell.index.lexical import query_terms, tokens
from citewell.index.store import Candidate, SearchQuery, Store
from citewell.types import NO_FILTERS, Channel, Filters, Hit

DENSE_SHARE = 0.5
SYMBOL_BONUS = 0.25  # enough to lift the place of a named symbol over what only resembles the question
SECTIONS_A_PAGE = 3
SNIPPET_CHARS = 280

Scored = tuple[Candidate, float, dict[Channel, float]]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a search found, best first. `nearest` is the cosine distance (0..2) of the question to the nearest section; None without
    vectors."""

    hits: list[Hit]
    nearest: float | None


async def look_up(store: Store, embedder: Embedder | None, question: str, *, k: int = 8, filters: Filters = NO_FILTERS) -> Retrieved:
    """The k best sections for a question, without snippets. Without an embedder, by keywords and symbols alone."""
    query = SearchQuery(
        terms=query_terms(question),
        vector=None if embedder is None else await embedder.embed_query(question),
        symbols=identifiers(question),
        filters=filters,
        depth=max(60, 3 * k),
    )
    candidates = await store.search(query)
    ranked = fuse(candidates, k)
    sections = {section.id: section for section in await store.sections([item.section_id for item, _, _ in ranked], filters)}
    found = [(sections[item.section_id], score, channels) for item, score, channels in ranked if item.section_id in sections]
    closest = max((item.dense for item in candidates if item.dense is not None), default=None)
    hits = [Hit(section, round(score, 6), channels) for section, score, channels in found]
    return Retrieved(hits, None if closest is None else 1 - closest)


async def retrieve(store: Store, embedder: Embedder | None, question: str, *, k: int = 8, filters: Filters = NO_FILTERS) -> list[Hit]:
    """The hits of `look_up`."""
    return (await look_up(store, embedder, question, k=k, filters=filters)).hits


def with_snippets(hits: Sequence[Hit], question: str) -> list[Hit]:
    """The hits with what of each section is nearest to the question, for a person to see."""
    return [replace(hit, snippet=snippet(hit.section.text, question)) for hit in hits]


def fuse(candidates: Sequence[Candidate], k: int) -> list[Scored]:
    """The k best candidates with their score and each channel's share of it. Pure.

    A page takes at most `SECTIONS_A_PAGE` places while others wait. Sections of equal text are one hit: the one at the canonical address,
    else the best of them.
    """
    top_keyword = max((item.keyword for item in candidates), default=0.0) or 1.0
    top_dense = max((item.dense for item in candidates if item.dense is not None), default=0.0)
    scored = []
    for item in candidates:
        channels: dict[Channel, float] = {
            "dense": max(item.dense or 0.0, 0.0) / top_dense if top_dense > 0 else 0.0,
            "keyword": item.keyword / top_keyword,
            "symbol": item.symbol,
        }
        share = DENSE_SHARE if item.dense is not None else 0.0  # a section whose vector is pending is judged by its words alone
        score = share * channels["dense"] + (1 - share) * channels["keyword"] + SYMBOL_BONUS * item.symbol
        scored.append((item, score, {name: round(value, 4) for name, value in channels.items() if value > 0}))
    scored.sort(key=lambda entry: (-entry[1], entry[0].section_id))
    return _diverse(scored, k)


def _diverse(scored: Sequence[Scored], k: int) -> list[Scored]:
    taken: list[Scored] = []
    waiting: list[Scored] = []
    pages: Counter[int] = Counter()
    for item, score, channels in _folded(scored):
        fits = pages[item.document_id] < SECTIONS_A_PAGE
        pages[item.document_id] += fits
        (taken if fits else waiting).append((item, score, channels))
    return (taken + waiting)[:k]


def _folded(scored: Sequence[Scored]) -> list[Scored]:
    """Of sections with equal text one, at the place of the best of them."""
    canonical = {item.text_hash: item for item, _, _ in reversed(scored) if item.canonical}
    folded: dict[str, Scored] = {}
    for item, score, channels in scored:
        folded.setdefault(item.text_hash, (canonical.get(item.text_hash, item), score, channels))
    return list(folded.values())


def snippet(text: str, question: str, size: int = SNIPPET_CHARS) -> str:
    """The paragraph that holds most of the question's words, on one line; from the line that holds most where it is too long."""
    wanted = set(tokens(question))
    paragraphs = [block.strip() for block in re.split(r"\n\s*\n|^[ >]*```.*$", text, flags=re.MULTILINE) if block.strip()]
    if not paragraphs:
        return ""
    best = _most(paragraphs, wanted)
    shown = " ".join(paragraphs[best:][:4]).split()
    if len(paragraphs[best]) > size:
        lines = paragraphs[best].split("\n")
        line = _most(lines, wanted)
        shown = ["…"] * (line > 0) + " ".join(lines[line:]).split()
    words = " ".join(shown)
    return words if len(words) <= size else words[: size - 1].rsplit(" ", 1)[0] + "…"


def _most(pieces: Sequence[str], wanted: set[str]) -> int:
    """The first of the pieces that hold most of the wanted words."""
    return max(range(len(pieces)), key=lambda n: (len(wanted & set(tokens(pieces[n]))), -n))
