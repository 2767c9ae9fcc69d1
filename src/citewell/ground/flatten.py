"""Text without what typesetting adds, so that the same words are found again however they were set. Pure."""

from __future__ import annotations

import re

from citewell.ground.inline import all_links, hide
from citewell.index.reading import lines

_DROPPED = frozenset("\\*`")
_APART = frozenset("|·")
_SAME = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-"}
_LINE_MARKS = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-+][ \t]+)?")


def flatten(text: str) -> tuple[str, list[int]]:
    """The words of a Markdown text in one line and lower case, and for each character the place in the text that it comes from.

    Emphasis, code marks, escapes, pictures, the targets of links, cell borders, marks of quotations and lists go; quotation marks and
    dashes take their plain forms.
    """
    hidden = bytearray(len(text) + 1)
    for link in all_links(text):
        hide(hidden, link)
    shown: list[str] = []
    places: list[int] = []
    for start, line in lines(text):
        marks = _LINE_MARKS.match(line)
        for place in range(start + (marks.end() if marks else 0), start + len(line) + 1):
            char = text[place : place + 1] or "\n"
            if char in _DROPPED or hidden[place]:
                continue
            if char.isspace() or char in _APART:
                if shown and shown[-1] != " ":
                    shown.append(" ")
                    places.append(place)
                continue
            lower = char.lower()
            shown.append(_SAME.get(char, lower if len(lower) == 1 else char))
            places.append(place)
    if shown and shown[-1] == " ":
        shown.pop()
        places.pop()
    return "".join(shown), places


def find_words(wanted: str, text: str) -> int:
    """Where flattened words stand in a flattened text as whole words; -1 when they do not."""
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        inside = (at > 0 and _joined(text[at - 1], text[at])) or (end < len(text) and _joined(text[end - 1], text[end]))
        if not inside:
            return at
        at = text.find(wanted, at + 1)
    return -1


def _joined(left: str, right: str) -> bool:
    """Whether a word runs across this place; scripts that write without blanks have no such places."""
    return (left.isalnum() or left == "_") and (right.isalnum() or right == "_") and (left.isascii() or right.isascii())
