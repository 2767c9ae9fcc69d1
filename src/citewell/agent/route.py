"""Whether a question is answered from one place or from several, by its shape alone. No model call; pure.

Four shapes go to the loop: a catalogue ("what kinds are there"), a comparison ("A or B"), a recipe (several steps, or several things in
one), and internals ("where is it implemented"). A wrong decision costs money or a second try, not the answer.
"""

from __future__ import annotations

import re

from citewell.agent.phrases import Ask, asks, clauses, phrases, sides, telling
from citewell.agent.shapes import RULES, Rule
from citewell.types import RouteDecision

_LISTED = frozenset({"and", "or", "vs", "vs.", "versus", "v", "v."})
_STEPS = frozenset({"and", "then", "with", "using", "that", "which", "or", "afterwards", "finally"})
_HEAD_WORDS = 4  # of what an enumeration is of, said again with each of its items
_FILLERS = {
    "comparison": frozenset(
        "compare compared compares comparison contrast difference differences differ differs different distinction distinguish better best "
        "choose pick prefer go take versus vs vs. v v. explain trade-off trade-offs tradeoff tradeoffs pros cons advantage advantages "
        "disadvantages benefits drawbacks relationship relation relate relates related instead rather against among main key exactly "
        "recommended good worse please describe summarize btw b/w diff doesn't don't can't cannot lack lacks".split()
    ),
    "catalogue": frozenset(
        "list enumerate name give overview rundown catalogue catalog inventory survey summary kinds kind types sorts available exist "
        "exists "
        "different various possible built-in offer offers provide provides include includes ship ships support supports come comes "
        "describe "
        "besides apart aside existing every many".split()
    ),
    "recipe": frozenset(
        "step step-by-step end-to-end scratch walk guide example complete full whole write make create want please how many much "
        "also".split()
    ),
    "internals": frozenset(
        "implemented implementation implements defined defines declared coded source code file files module contains holds hood scenes "
        "internally internals inner workings actually happens exactly behind look work works responsible".split()
    ),
}


def route(question: str) -> RouteDecision:
    """The loop for a question of several sources, with what to search for to cover them; single-shot for everything else."""
    asked = asks(question)
    for rule in RULES:
        for ask in asked:
            found = _found(rule, ask)
            if found is not None:
                return RouteDecision("loop", rule.shape, f"a question of the shape {rule.shape}: it {rule.reason}", _parts(rule, found))
    return RouteDecision("single", "single", "no sign of several sources")


def _found(rule: Rule, ask: Ask) -> re.Match[str] | None:
    if rule.place == "about" and ask.task:
        return None
    text = ask.task if rule.place == "done" and ask.task else ask.text
    found = rule.found.search(text)
    return None if found is None or (rule.unless is not None and rule.unless.search(text)) else found


def _parts(rule: Rule, found: re.Match[str]) -> tuple[str, ...]:
    """What to search for: the sides of a comparison, the steps of a recipe, what a catalogue is of, what is to be seen from inside."""
    fillers, text, groups = _FILLERS[rule.shape], found.string, found.groupdict()
    parts = sides(text, found.start("joint"), _LISTED, fillers) if groups.get("joint") else ()
    if len(parts) > 1:
        return parts
    if rule.shape in {"recipe", "comparison"}:
        return phrases(clauses(text, _STEPS, fillers))
    subject = telling(text, fillers)
    if rule.shape == "internals":
        return phrases([subject])
    noun = telling(groups.get("noun") or "", fillers)
    head, colon, items = text.partition(": ")
    if not colon:
        return phrases([noun, subject])
    about = telling(head, fillers)[:_HEAD_WORDS]
    return phrases([noun or about, *([*item, *about] for item in clauses(items, _LISTED, fillers))])
