"""The answer while it is being written: pieces of a reply in, pieces of `answer_md` out. Pure; how the reply is split changes nothing.

What is shown early is a draft. The answer is what `parse_answer` makes of the whole reply.
"""

from __future__ import annotations

import re
from typing import Literal

from citewell.llm.json_stream import MemberStream
from citewell.llm.structured import StructuredAnswer, parse_answer
from citewell.llm.thoughts import Thoughts

_HOLD = 240  # characters of prose after which no object is expected any more

_OBJECT_LEADS = re.compile(r"\s*(?:(?:```+|~~~+)[ \t]*\w{0,20}[ \t]*\n\s*)?(?:\[\s*)?\{")
_OBJECT = re.compile(r"\{\s{0,64}\"")
_MARKER = re.compile(r"\[\d{1,4}\]")
_FENCE = re.compile(r"\s*```+(?:markdown|md)[ \t]*\n", re.IGNORECASE)

_Mode = Literal["undecided", "markdown", "object", "between", "done"]


class Unwrapper:
    """`feed` gives the next piece of the draft, `end` its last; after that `content` is what the model said, without thoughts."""

    def __init__(self) -> None:
        self.content = ""
        self._thoughts = Thoughts()
        self._raw: list[str] = []
        self._held = ""
        self._mode: _Mode = "undecided"
        self._object = MemberStream("answer_md")
        self._shown = False

    def feed(self, text: str) -> str:
        self._raw.append(text)
        return self._note("".join(map(self._take, self._thoughts.feed(text))))

    def end(self) -> str:
        last = self._note("".join(map(self._take, self._thoughts.end())))
        self.content = self._thoughts.said
        if self._shown:
            return last
        answer = parse_answer("".join(self._raw))
        return self._note(answer.answer_md if isinstance(answer, StructuredAnswer) else answer.text)

    def _note(self, piece: str) -> str:
        self._shown = self._shown or bool(piece)
        return piece

    def _take(self, text: str | None) -> str:
        if text is None:  # all before was thought
            self._held, self._mode = "", "undecided"
            return ""
        if self._mode == "undecided":
            return self._decide(self._held + text)
        if self._mode == "markdown":
            return text
        return self._from_objects(text)

    def _decide(self, text: str) -> str:
        """Whichever of the signs comes first in the text decides, so that it may come in any pieces."""
        leads, inside, marker = _OBJECT_LEADS.match(text), _OBJECT.search(text), _MARKER.search(text)
        objects = [(found.end(), found.end() - 1 if found is leads else found.start()) for found in (leads, inside) if found]
        at_object, brace = min(objects, default=(_HOLD + 1, 0))
        at_markdown = min(marker.end() if marker else _HOLD, _HOLD)
        if min(at_object, at_markdown) > len(text):
            self._held = text
            return ""
        self._held = ""
        if at_object <= at_markdown:
            self._mode = "between"
            return self._from_objects(text[brace:])
        self._mode = "markdown"
        fence = _FENCE.match(text)
        return text[fence.end() :] if fence else text

    def _from_objects(self, text: str) -> str:
        out: list[str] = []
        at = 0
        while self._mode != "done":
            if self._mode == "between":
                at = text.find("{", at)
                if at < 0:
                    break
                self._mode, self._object = "object", MemberStream("answer_md")
            piece, at = self._object.feed(text, at)
            out.append(piece)
            if self._object.found:
                self._mode = "done"
            elif self._object.closed:
                self._mode = "between"
            else:
                break
        return "".join(out)
