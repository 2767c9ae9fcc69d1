"""Text from elsewhere as it may stand in a prompt: nothing in it is taken for a delimiter, a number of a section, or a turn of the model's
chat format. Pure, and the same text always comes out the same, so that providers' prompt caches hit.

A delimiter loses its meaning by a backslash behind its first bracket. What already has backslashes there gets one more, so that
`restored` gives every text back exactly.
"""

from __future__ import annotations

import re
from urllib.parse import quote as percent

from citewell.ground.blocks import blocks, code_spans
from citewell.ground.inline import outside
from citewell.ground.markers import MARKER

SECTION, CUT, QUESTION = "docs-section", "docs-cut", "user-question"

_OURS = rf"(?i:\s{{0,8}}/?\s{{0,8}}(?:{SECTION}|{CUT}|{QUESTION}))"
# What servers of open models turn into control tokens even inside a message: <|im_start|>, <start_of_turn>, [INST], <<SYS>>, </s>.
_CONTROL = (
    r"[|｜]\w[\w▁./ -]{0,60}[|｜]>|(?:start|end)_of_turn>|/?s>|[be]os>|</?SYS>>|/?(?:INST|[A-Z]{4,9}_(?:PROMPT|TOOLS|RESULTS|CALLS))\]"
)
_MEANT = re.compile(rf"([<＜\[])(\\*)(?={_OURS}|{_CONTROL})")
_NEUTRAL = re.compile(rf"([<＜\[])\\(\\*)(?={_OURS}|{_CONTROL})")
_NUMBERS = re.compile(rf"(?<!\\)(\\*)({MARKER})")
_DIGIT = re.compile(r"\[\d")  # finds sooner than the whole pattern that there is none
_UNSAFE = re.compile(rf"[\s<>＜]|{MARKER}|\[(?=/?[A-Z])")


def neutral(text: str) -> str:
    """The text without delimiters of ours and of chat formats."""
    return _MEANT.sub(r"\1\\\2", text)


def restored(text: str) -> str:
    """What `neutral` was given; in an answer, what a model copied from it."""
    return _NEUTRAL.sub(r"\1\2", text)


def quotation(text: str) -> str:
    r"""The Markdown of a page, neutral, and with `[3]` as `\[3]` outside its code, which models are to copy as it is.

    n backslashes before such a number become 2n + 1: always an odd number, so that the bracket is always escaped.
    """
    pieces, at = [], 0
    for block in blocks(text) if _DIGIT.search(text) else ():
        if block.kind == "fence" or not _DIGIT.search(text, block.start, block.end):
            continue
        for match in outside(_NUMBERS, text, block.start, block.end, code_spans(text, block.start, block.end)):
            pieces += [text[at : match.start()], _escaped(match)]
            at = match.end()
    return neutral("".join([*pieces, text[at:]]))


def one_line(text: str, most: int) -> str:
    """The text in one line of at most so many characters, neutral, and with no number of a section in it."""
    line = " ".join(text[: 4 * most].split())
    line = line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
    return neutral(_NUMBERS.sub(_escaped, line))


def _escaped(number: re.Match[str]) -> str:
    return "\\" * (2 * len(number[1]) + 1) + number[2]


def percent_encoded(address: str) -> str:
    """The address without what could end its line, open a delimiter or be a number of a section; all else stays as it is stored."""
    return _UNSAFE.sub(lambda match: percent(match[0], safe=""), address)
