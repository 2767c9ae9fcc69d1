"""Words of documentation as weighted terms: identifiers split and joined, stemmed, weighted by BM25. Pure.

BM25 after Robertson & Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond". The part of the score that depends
on the section alone is computed once, at index time, against a fixed pivot length, and stored as a sparse vector; a query is the
sparse vector of its terms' idf, and the score their inner product.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from functools import lru_cache

import Stemmer

RECIPE = "1"  # part of every page's content hash: other terms or weights of the same text make the page new
K1 = 1.2
B = 0.5  # documentation sections are bounded in length, so length says less than in a collection of whole texts
PIVOT = 110  # terms of a typical section
HEADING_WEIGHT = 2.0
DIMENSIONS = 1_000_000_000  # pgvector's most; terms are hashed into them
MAX_QUERY_TERMS = 400
MAX_TERMS = 15_000  # pgvector stores at most 16,000 non-zero elements

_TOKEN = re.compile(r"\w+(?:[.:/\-]+\w+)*")
_JOINT = re.compile(r"[.:/\-]+")
_PARTS = re.compile(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")  # scripts that write words without blanks between
_LONGEST = 128  # characters of a term: what is longer is data, not a word
_PLURALS = {"gpus": "gpu", "cpus": "cpu", "tpus": "tpu", "apus": "apu", "npus": "npu"}  # Latin words to the stemmer
_STEMMER = Stemmer.Stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return _PLURALS.get(word) or str(_STEMMER.stemWord(word))


# Words that say nothing about what is asked: grammar, and how questions are put. As they are written, and as `tokens` gives them.
_GRAMMAR = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but by can could d did do "
    "does doing don down during each else etc few for from further get give had has have having he her here hers him his how i if in into "
    "is it its itself just know let like ll m me mean might more most must my myself need no nor not now of off on once one only or other "
    "our ours out over own please re s same see shall she should so some such t than that the their theirs them then there these they "
    "thing things this those through to too under until up us use used uses using ve very want was way we were what when where which "
    "while who whom why will with would you your yours tell show find explain".split()
)
STOP_WORDS = _GRAMMAR | {_stem(word) for word in _GRAMMAR}


def tokens(text: str) -> list[str]:
    """The terms of a text in order: each word stemmed; an identifier as itself, in one word, and by its parts.

    `torch.DataLoader` gives `torch.dataloader`, `torch`, `dataload` (which is what "dataloader" gives), `data`, `loader`.
    """
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group(0)
        found.extend(_expand(token) if len(token) <= _LONGEST else _split(token))
    return found


@lru_cache(maxsize=100_000)
def _expand(token: str) -> tuple[str, ...]:
    return tuple(_split(token))


def _split(token: str) -> list[str]:
    pieces = [piece for piece in _JOINT.split(token) if piece.strip("_")]
    found = [token.lower()[:_LONGEST]] if len(pieces) > 1 and not token.replace("-", "").isalpha() else []
    for piece in pieces:
        found.extend(_words(piece))
    return found


def _words(piece: str) -> list[str]:
    """A name without joints: as one word, then its parts."""
    if not piece.isascii():
        return _foreign(piece)
    parts = [_stem(part.lower()[:_LONGEST]) for part in _PARTS.findall(piece)]
    if len(parts) == 1:
        return parts
    whole = piece.strip("_").lower()[:_LONGEST]
    return [whole if "_" in whole else _stem(whole), *parts]


def _foreign(piece: str) -> list[str]:
    """Words in other scripts; where no blanks part them, every two neighbouring characters."""
    found = []
    for word in piece.lower().split("_"):
        pairs = [run[n : n + 2] for run in _UNSPACED.findall(word) for n in range(len(run) - 1)]
        found.extend(pairs or [_stem(word[:_LONGEST])] if word else [])
    return found


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
    return list(dict.fromkeys(term_id(term) for term in (telling or terms)[:MAX_QUERY_TERMS]))


def sparse_literal(weights: dict[int, float]) -> str:
    """A sparse vector as pgvector reads it."""
    body = ",".join(f"{dimension}:{weight:.4f}" for dimension, weight in sorted(weights.items()))
    return f"{{{body}}}/{DIMENSIONS}"
