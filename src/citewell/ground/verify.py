"""Whether the cited text says what a claim says. Pure.

So far by words alone: a claim stands when it is in the cited section word for word, is weak when the section has most of its words,
and falls otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.index.lexical import STOP_WORDS, tokens
from citewell.types import Support

_WEAK = 0.6
_STRONG = 0.9


@dataclass(frozen=True, slots=True)
class Verdict:
    support: Support
    score: float
    reason: str


def verify(claim: str, passage: str) -> Verdict:
    """The verdict on a claim against the text of the sections it cites; `score` is the share of its telling words they hold."""
    if _squeezed(claim) and _squeezed(claim) in _squeezed(passage):
        return Verdict("supported", 1.0, "word for word in the cited text")
    words = set(tokens(claim)) - STOP_WORDS
    if not words:
        return Verdict("unsupported", 0.0, "it says nothing that could be checked")
    missing = words - set(tokens(passage))
    score = 1 - len(missing) / len(words)
    if score >= _STRONG:
        return Verdict("supported", score, "its words are in the cited text")
    if score >= _WEAK:
        return Verdict("weak", score, f"the cited text lacks {_named(missing)}")
    return Verdict("unsupported", score, f"the cited text lacks {_named(missing)}")


def _squeezed(text: str) -> str:
    return " ".join(re.sub(r"[\\|·]|^[ >\-*+]+", " ", text, flags=re.MULTILINE).split())


def _named(words: set[str]) -> str:
    shown = sorted(words)[:4]
    return ", ".join(f"“{word}”" for word in shown) + (" and more" if len(words) > len(shown) else "")
