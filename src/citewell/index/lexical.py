"""Words of documentation as weighted terms: identifiers split and joined, stemmed, weighted by BM25. Pure.

BM25 after Robertson & Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond". The part of the score that depends
on the section alone is computed once, at index time, against a fixed pivot length, and stored as a sparse vector; a query is the
sparse vector of its terms' idf, and the score their inner product.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from functools import lru_cache

import Stemmer

K1 = 1.2
B = 0.5  # documentation sections are bounded in length, so length says less than in a collection of whole texts
PIVOT = 110  # terms of a typical section
HEADING_WEIGHT = 2.0
DIMENSIONS = 1_000_000_000  # pgvector's most; terms are hashed into them
MAX_TERMS = 15_000  # pgvector stores at most 16,000 non-zero elements

_TOKEN = re.compile(r"[^\W_]+(?:[._:/\-]+[^\W_]+|_+[^\W_]*)*|_+[^\W_]+(?:_+[^\W_]*)*", re.UNICODE)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_JOINT = re.compile(r"[.:/\-]+")
_LONGEST = 64
_STEMMER = Stemmer.Stemmer("english")

# Words that say nothing about what is asked: grammar, and how questions are put.
STOP_WORDS = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but by can could d did do "
    "does doing don down during each else etc few for from further get give had has have having he her here hers him his how i if in into "
    "is it its itself just know let like ll m me mean might more most must my myself need no nor not now of off on once one only or other "
    "our ours out over own please re s same see shall she should so some such t than that the their theirs them then there these they "
    "thing things this those through to too under until up us use used uses using ve very want was way we were what when where which "
    "while who whom why will with would you your yours tell show find explain".split()
)


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def tokens(text: str) -> list[str]:
    """The terms of a text in order: each word stemmed; an identifier as itself, and by its parts."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        found.extend(_expand(match.group(0)[:_LONGEST]))
    return found


@lru_cache(maxsize=100_000)
def _expand(token: str) -> tuple[str, ...]:
    pieces = [piece for piece in _JOINT.split(token) if piece]
    found: list[str] = []
    if len(pieces) > 1 and not token.replace("-", "").isalpha():
        found.append(token.lower())
    for piece in pieces:
        parts = [part.lower() for part in _PARTS.findall(piece)] if piece.isascii() else [piece.lower()]
        if len(parts) > 1:
            found.append(piece.lower())
        found.extend(_stem(part) for part in parts)
    return tuple(found)


@lru_cache(maxsize=200_000)
def term_id(term: str) -> int:
    """The dimension of a term, 1..DIMENSIONS. Two terms in a hundred thousand share one, which costs a little precision."""
    return zlib.crc32(term.encode()) % DIMENSIONS + 1


def section_weights(heading_path: str, text: str) -> dict[int, float]:
    """Each term's BM25 weight in a section (saturated frequency over length), keyed by its dimension."""
    counts: Counter[str] = Counter()
    for term in tokens(text):
        counts[term] += 1
    length = sum(counts.values())
    weighted: dict[str, float] = dict(counts)
    for term in set(tokens(heading_path)):
        weighted[term] = weighted.get(term, 0.0) + HEADING_WEIGHT
    norm = K1 * (1 - B + B * length / PIVOT)
    kept = sorted(weighted.items(), key=lambda item: -item[1])[:MAX_TERMS]
    return {term_id(term): frequency * (K1 + 1) / (frequency + norm) for term, frequency in kept if term not in STOP_WORDS}


def query_terms(text: str) -> list[int]:
    """The dimensions of a question's terms, each once; stop words only when there is nothing else."""
    terms = list(dict.fromkeys(tokens(text)))
    telling = [term for term in terms if term not in STOP_WORDS]
    return list(dict.fromkeys(term_id(term) for term in telling or terms))


def sparse_literal(weights: dict[int, float]) -> str:
    """A sparse vector as pgvector reads it."""
    body = ",".join(f"{dimension}:{weight:.4f}" for dimension, weight in sorted(weights.items()))
    return f"{{{body}}}/{DIMENSIONS}"
