"""A question as the sentences that ask something, each as its words; and phrases of those words to search for. Pure.

Used by `agent.route` alone. What only tells a story, prints an error or is code asks nothing and is left out. Linear in the length of
the text: no pattern looks farther back or ahead than a bounded number of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citewell.index.identifiers import without_code
from citewell.index.lexical import STOP_WORDS

MOST_PARTS = 6
MOST_SENTENCES = 40
_LONGEST = 120  # characters of a word
_SIDE_WORDS = 4
_MOST_SIDES = 20  # that are read, so that those beyond `MOST_PARTS` are not taken for what is said of all
_CONTEXT_WORDS = 6
_BLANK = "\ue000"  # stands for a blank within a code span, so that the span is one word
_CHUNK = re.compile(r"`[^`\n]{1,120}`|[^\s`]+")
_OPENING, _CLOSING = "([\"'*_", ",;:?!.)]\"'*_"
_PAUSES = frozenset(",;:?!.")
_DOTTED = frozenset({"vs.", "v.", "e.g.", "i.e.", "etc."})
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "—": ",", "–": "-", _BLANK: " "})
_MACHINE = re.compile(r"\s*(?:File \"|Traceback \(|at \S+\(|[\w.]*(?:Error|Exception|Warning)\b:|\$ )")

_COURTESY = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|so|and|but|also|please|pls|then|now|well|basically|actually|just|quick question|question|thanks|sorry"
    r"|can you|could you|would you|will you|i was wondering|i wonder|i am wondering|i'm wondering|do you know|does anyone know|any idea"
    r"|help me(?: to)?|in (?!what |which |how )[^\s,]+) (?:[,:] )?)",
    re.IGNORECASE,
)
_MOST_COURTESIES = 6
_HOW = re.compile(
    r"(?:how (?:(?:do|can|could|should|would|might|must|does) (?:i|we|you|one|someone|people|a user)|to) |how'd (?:i|you) "
    r"|what(?: is|'s) (?:the |a )?(?:best |right |proper |recommended |easiest )?way (?:to |of )"
    r"|(?:tell|show|teach) me how (?:to|i can|i) |explain how (?:to|i can) )(?:(?:best|properly|correctly|actually|go about) )?(?=\S)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"(?:(?:i|we) (?:really |just )?(?:want|need|wish|would like|have|am trying|are trying|'d like)|i'd like|we'd like|i'm trying"
    r"|we're trying"
    r"|want|need|trying) to |(?:let's|let us) ",
    re.IGNORECASE,
)
# What people tell a program to do: enough of the common verbs to see where a clause with one begins.
VERBS = (
    "add align allow append apply assign attach authenticate back batch bind block bring build bundle cache call capture catch change "
    "check clean "
    "clear clone close collect combine commit compare compile compress compute configure connect convert copy count crawl create crop cut "
    "decode define delete deploy describe deserialize detect display divide download draw drop dump embed emit encode encrypt "
    "evaluate exclude "
    "execute expose export extract feed fetch fill filter find fit fix flatten flush forward freeze gather generate get give group "
    "handle hash "
    "hide import include index inject insert install iterate join keep label launch let limit link listen load lock log loop make map "
    "mark mask "
    "match measure merge migrate mirror mock monitor mount move name normalize normalise notify open order override pack package pad "
    "park parse "
    "partition pass patch pause pick plot poll pop post predict prepare print process produce profile publish pull push put query "
    "queue quit "
    "raise read rebuild receive record redirect reduce register reject release reload remove rename render repeat replace report request "
    "resample reset reshape resize resolve restart restore resume retrieve retry return reuse reverse rotate route run sample save "
    "scale scan "
    "schedule scrape search seed select send serialize serve set share shard show shuffle sign skip sleep slice sort split spread "
    "stack start "
    "stitch stop store stream strip submit subscribe swap switch sync tag test throttle time tokenize track train transform translate "
    "trigger "
    "trim truncate turn unpack update upload use validate verify visualize wait walk warn watch weigh wrap write zip mail".split()
)
_ASKS = re.compile(
    rf"(?:{'|'.join(VERBS)}|what|what's|whats|which|how|where|where's|when|why|who|whose|in what|in which|is|are|was|were|do|does|did"
    rf"|can|could|should|would"
    r"|will|must|may|has|have|any|compare|contrast|list|enumerate|name|show|give|tell|explain|describe|walk|implement|build|create|develop"
    r"|write|code|design|prototype|train|fine-tune|finetune|make|deploy|set|port|migrate|summari[sz]e|outline|find|pros|difference"
    r"|differences) ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ask:
    """A sentence that asks. `text` is its words with one blank behind each, marks of punctuation being words of their own; courtesies
    are gone. `task` is what is to be done where it asks how to do something, or wishes to."""

    text: str
    task: str = ""


def asks(question: str) -> list[Ask]:
    """The sentences of a question that ask, in order; all of them where none looks like it."""
    prose = without_code(question).translate(_STRAIGHT)
    spoken = [line for line in prose.split("\n") if not _MACHINE.match(line)]
    sentences = [sentence for line in spoken for sentence in _sentences(line)][-MOST_SENTENCES:]
    asking = [ask for sentence in sentences if _asking(ask := _ask(sentence))]
    return asking or [_ask(sentence) for sentence in sentences]


def _sentences(line: str) -> list[str]:
    found: list[list[str]] = [[]]
    for word in _words(line):
        found[-1].append(word)
        if word in {"?", "!", "."}:
            found.append([])
    return ["".join(f"{word} " for word in words) for words in found if words]


def _words(line: str) -> Iterable[str]:
    """The words of a line; the marks round a word are words of their own, those within it (`f(x)`, `a.b`) are not."""
    for chunk in _CHUNK.findall(line):
        if chunk[0] == "`":
            yield chunk.replace(" ", _BLANK)
            continue
        bare = chunk.lstrip(_OPENING)
        kept = bare if bare.lower() in _DOTTED else bare.rstrip(_CLOSING)
        if ("(" in kept and bare[len(kept) :].startswith(")")) or ("[" in kept and bare[len(kept) :].startswith("]")):
            kept = bare[: len(kept) + 1]
        if kept:
            yield kept[:_LONGEST]
        yield from (mark for mark in dict.fromkeys(bare[len(kept) :]) if mark in _PAUSES)


def _ask(sentence: str) -> Ask:
    for _ in range(_MOST_COURTESIES):
        courtesy = _COURTESY.match(sentence)
        if courtesy is None:
            break
        sentence = sentence[courtesy.end() :]
    wish = _HOW.match(sentence) or _WISH.match(sentence)
    return Ask(sentence, sentence[wish.end() :] if wish else "")


def _asking(ask: Ask) -> bool:
    return bool(ask.task) or ask.text.endswith("? ") or bool(_ASKS.match(ask.text))


# ---- phrases to search for ------------------------------------------------------------------------------------------------------


def telling(text: str, fillers: frozenset[str] = frozenset()) -> list[str]:
    """The words of a sentence that say what it is about, as they are spelled."""
    return [word for word in text.split(" ") if _tells(word, fillers)]


def _tells(word: str, fillers: frozenset[str]) -> bool:
    bare = word.lower()
    return any(map(str.isalnum, bare)) and bare not in STOP_WORDS and bare.split("'")[0] not in STOP_WORDS and bare not in fillers


def phrases(found: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """At most `MOST_PARTS` different phrases of these words."""
    spelled = (" ".join(words).replace(_BLANK, " ") for words in found if words)
    return tuple(dict.fromkeys(spelled))[:MOST_PARTS]


def clauses(text: str, joints: frozenset[str], fillers: frozenset[str] = frozenset()) -> list[list[str]]:
    """The telling words of each piece between joints; pieces without any are left out."""
    pieces: list[list[str]] = [[]]
    for word in text.split(" "):
        if word.lower() in joints or word in _PAUSES:
            pieces.append([])
        elif _tells(word, fillers):
            pieces[-1].append(word)
    return [piece for piece in pieces if piece]


def sides(text: str, at: int, joints: frozenset[str], fillers: frozenset[str]) -> tuple[str, ...]:
    """What the joint at `text[at:]` has on its either side, and what further joints or commas add to them, each with the words that
    are said of all."""
    words = text.split(" ")
    middle = text.count(" ", 0, at)
    left, right = _side(words, middle, -1, fillers), _side(words, middle, 1, fillers)
    spans = [span for span in (left, right) if span is not None]
    while left is not None and len(spans) < _MOST_SIDES:
        before = left[0] - 1
        while before > 0 and words[before].lower() in _ARTICLES:
            before -= 1
        listed = before > 0 and (words[before] == "," or words[before].lower() in joints)
        left = _side(words, before, -1, fillers) if listed else None
        if left is not None and words[before] == "," and words[left[0] - 1].lower() in _ROLES:
            left = None  # "for queues, A or B" chooses between two
        spans = [left, *spans] if left is not None else spans
    while right is not None and len(spans) < _MOST_SIDES:
        behind = right[1]
        comma = words[behind : behind + 1] == [","]
        joint = behind + comma if words[behind + comma : behind + comma + 1] and words[behind + comma].lower() in joints else behind
        listed = joint < len(words) and (words[joint].lower() in joints or (comma and words[middle] == ","))
        right = _side(words, joint, 1, fillers) if listed else None
        spans = [*spans, right] if right is not None else spans
    taken = {n for start, end in spans for n in range(start, end)}
    context = [word for n, word in enumerate(words) if n not in taken and n != middle and _tells(word, fillers)][:_CONTEXT_WORDS]
    return phrases([*words[start:end], *context] for start, end in spans)


_ARTICLES = frozenset({"a", "an", "the", "using"})
_ROLES = frozenset({"for", "in", "on", "with", "to", "under", "at", "when", "of"})


def _side(words: Sequence[str], joint: int, step: int, fillers: frozenset[str]) -> tuple[int, int] | None:
    """The words next to a joint, articles and the like skipped: `words[start:end]`; None where a pause comes first."""
    n = joint + step
    while 0 <= n < len(words) and not _tells(words[n], fillers) and (words[n] not in _PAUSES or n == joint + step):
        n += step
    first = n
    while 0 <= n < len(words) and _tells(words[n], fillers) and abs(n - first) < _SIDE_WORDS:
        n += step
    if n == first:
        return None
    return (first, n) if step > 0 else (n + 1, first + 1)
