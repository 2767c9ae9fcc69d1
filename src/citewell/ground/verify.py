"""Whether the cited text says what a claim says. Pure.

So far by words alone: a claim stands when it is in the cited section word for word or nearly so, is weak when the section has most of its
words, and falls otherwise. Names of code and numbers cannot be approximated: one that the section does not have makes the claim fall.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from citewell.ground.flatten import find_words, flatten
from citewell.ground.units import units
from citewell.index.identifiers import identifiers, last_component
from citewell.index.lexical import STOP_WORDS, tokens
from citewell.types import Support

_WEAK = 0.6
_STRONG = 0.9
_MOST_NUMBERS = 40  # of a claim that are looked up

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)+|(?<![\w.])\d{2,}(?!\w)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'|]{1,500}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_DENIALS = ("not", "no", "never", "cannot", "neither", "nor", "without")
_DENIAL = re.compile(rf"(?<![\w-])(?:{'|'.join(_DENIALS)})(?![\w-])|n't\b")


@dataclass(frozen=True, slots=True)
class Verdict:
    support: Support
    score: float
    reason: str


def verify(claim: str, passage: str) -> Verdict:
    """The verdict on a claim against the text of the sections it cites; `score` is the share of its telling words they hold."""
    claim, passage = _THOUSANDS.sub("", claim), _THOUSANDS.sub("", passage)
    said, held = flatten(claim)[0], flatten(passage)[0]
    if find_words(said, held) >= 0:
        return Verdict("supported", 1.0, "word for word in the cited text")
    names = _names(claim)
    words = _telling(claim, names)
    if not words:
        return Verdict("unsupported", 0.0, "it says nothing that could be checked")
    missing = words - set(tokens(passage))
    score = 1 - len(missing) / len(words)
    strange = [thing for thing in [*names.values(), *_numbers(said), *_addresses(said)] if not _has(held, thing)]
    if strange:
        return Verdict("unsupported", min(score, _WEAK / 2), f"the cited text does not mention {_named(dict.fromkeys(strange))}")
    if score < _STRONG:
        return Verdict("weak" if score >= _WEAK else "unsupported", score, f"the cited text lacks {_named(missing)}")
    if _denies(said) != _denies(_nearest(words, passage)):
        return Verdict("weak", score, "the cited text has its words, but one of the two denies what the other says")
    return Verdict("supported", score, "its words are in the cited text")


def _names(claim: str) -> dict[str, str]:
    """The names of code in a claim, and what each is called by, which the passage must have as it is."""
    lower = claim.lower()
    found = [name for name in identifiers(claim) if not name.isalnum() or f"`{name}" in lower]
    return {name: last_component(name).lstrip("-") or name for name in found}


def _telling(claim: str, names: Mapping[str, str]) -> set[str]:
    """The words on which a claim stands: not its grammar, not its denials, and of a name in full only what it is called by."""
    spaces = {term for name, last in names.items() if last != name for term in tokens(name)}
    called = {term for last in names.values() for term in tokens(last)}
    return set(tokens(claim)) - STOP_WORDS - set(_DENIALS) - (spaces - called)


def _numbers(said: str) -> list[str]:
    """The numbers of more than a digit, each once, which the passage must have as they are."""
    return list(dict.fromkeys(_NUMBER.findall(said)))[:_MOST_NUMBERS]


def _addresses(said: str) -> list[str]:
    """The addresses that are written out, which the passage must have: nobody should be sent where no page sends."""
    return list(dict.fromkeys(address.rstrip(".,;:!?)]") for address in _ADDRESS.findall(said)))[:_MOST_NUMBERS]


def _has(held: str, thing: str) -> bool:
    return bool(re.search(rf"(?<!\d){re.escape(thing)}(?!\d)", held)) if thing[0].isdigit() else find_words(thing, held) >= 0


def _nearest(words: set[str], passage: str) -> str:
    """The sentence of the passage that shares most with the claim."""
    pieces = [passage[unit.start : unit.end] for unit in units(passage)]
    return flatten(max(pieces, key=lambda piece: len(words & set(tokens(piece))), default=passage))[0]


def _denies(flat: str) -> bool:
    return bool(_DENIAL.search(flat))


def _named(things: Collection[str]) -> str:
    shown = sorted(things)[:4]
    return ", ".join(f"“{thing}”" for thing in shown) + (" and more" if len(things) > len(shown) else "")
