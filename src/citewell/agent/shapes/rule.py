"""A rule: how sentences of one shape look, in a short notation for patterns over words. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from citewell.agent.phrases import VERBS
from citewell.types import QuestionShape

Place = Literal["any", "done", "about"]

# A sentence is its words with a blank behind each, marks of punctuation being words too; a pattern spans a bounded number of them.
_SHORTHAND = {
    "BEGIN": r"(?:^|%(?:[:,;] |and |but |so ))",  # where a clause may begin
    "PLURAL": r"(?:~LISTABLE)",
    "LISTABLE": r"(?!(?:does|its|has|was|this|always|across|thus|yes|perhaps|versus|plus|vs) )"
    r"(?:[a-z][\w-]*[^\W\dsui_]s|criteria|indices|matrices|schemata) ",
    "GIVEN": r"(?:a|an|my own|our own|my|our|the|some|(?-i:[A-Z])\S*|[a-z]\w{0,30}?(?-i:[A-Z])\S*|\w+[-_\d]\S*) ",  # an object begins
    "NEW": r"(?:a|an|my own|our own) ",
    "CHOOSE": r"(?:use|using|choose|pick|prefer|take|go for|go with|opt for|reach for|favou?r|need|want) ",
    "DETAILED": r"~(?:that|which|with|using|for|on|in|from|to|on top of|where|whose) ",
    "~": r"(?:[^\s,;:?!.]\S* ){0,6}?",  # up to six words within a clause
    "...": r"(?:[^;?!.]\S* ){0,25}?",  # of a sentence
    "ITEM": r"(?:[^\W\d][\w`.'/+-]{2,} |\w{1,2} [^\W\d]\w+ )(?:[^;?!:.,]\S* ){0,7}?",  # of an enumeration
    "VERBS": rf"(?:{'|'.join(VERBS)})(?:e?s)? ",
    "VERB": rf"(?:{'|'.join(VERBS)}) ",
    "%": r"(?<!\S)",  # here a word begins
}


@dataclass(frozen=True, slots=True)
class Rule:
    """`found` in a sentence and nothing of `unless` in it makes it of that shape.

    `place`: "any" sentence that asks; what is to be "done", where it asks how to or tells to; or a sentence "about" things, not doing.
    """

    shape: QuestionShape
    reason: str
    found: re.Pattern[str]
    unless: re.Pattern[str] | None
    place: Place


def _pattern(text: str) -> re.Pattern[str]:
    for short, full in _SHORTHAND.items():
        text = text.replace(short, full)
    return re.compile(text, re.IGNORECASE)


def rules(shape: QuestionShape, *rows: tuple[str, Place, str, str | None]) -> tuple[Rule, ...]:
    return tuple(Rule(shape, reason, _pattern(found), _pattern(unless) if unless else None, place) for reason, place, found, unless in rows)


# Of what happens to the asker: "why is my build slower than yesterday" compares nothing.
MINE = r"^(?:why|how come) ~(?:my|our|i|i'm|we|it|this) |^what(?:'s| is)? (?:causes|wrong) "
