"""What a model says, without what it thinks aloud: `<think>…</think>` taken out of a stream of pieces, however it is split. Pure.

What is said inside an object or after a backtick is said of the tag, and stays. A text that only closes a thought had its beginning in
the prompt: all before it was thought.
"""

from __future__ import annotations

import re

from citewell.llm.json_stream import MemberStream

_MARK = re.compile(r"<(/?)think(?:ing)?>|\{\s{0,64}\"", re.IGNORECASE)
_BEGUN = re.compile(r"<(?:/?(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?\Z|\{\s{0,64}\Z", re.IGNORECASE)
_LONGEST_MARK = 80


class Thoughts:
    """`feed` and `end` give what is said, piece by piece, with None where all before turns out to have been thought. After `end`, `said`
    is all that stands, and `unfinished` a thought without an end."""

    def __init__(self) -> None:
        self.unfinished = ""
        self._said: list[str] = []
        self._thought: list[str] = []
        self._held = ""
        self._depth = 0
        self._closed = False  # whether the thought that is open has been closed at some depth
        self._object: MemberStream | None = None
        self._last = ""

    @property
    def said(self) -> str:
        return "".join(self._said)

    def feed(self, text: str) -> list[str | None]:
        text, self._held = self._held + text, ""
        out: list[str | None] = []
        at = 0
        while at < len(text):
            if self._object is not None:
                _, end = self._object.feed(text, at)
                out.append(self._pass(text[at:end]))
                at = end
                self._object = None if self._object.closed else self._object
                continue
            mark = _MARK.search(text, at)
            if mark is None:
                begun = _BEGUN.search(text, max(at, len(text) - _LONGEST_MARK))
                end = begun.start() if begun else len(text)
                self._held = text[end:]
                return [*out, self._pass(text[at:end])]
            out += [self._pass(text[at : mark.start()]), self._mark(mark)]
            at = mark.start() if self._object else mark.end()
        return out

    def end(self) -> list[str | None]:
        out: list[str | None] = [self._pass(self._held)]
        self._held = ""
        if self._depth:
            thought = "".join(self._thought)
            if self._closed:  # it spoke of the tag within a thought: what stands after the last end is no thought
                self._said.append(thought)
                out.append(thought)
            else:
                self.unfinished = thought
        return out

    def _mark(self, mark: re.Match[str]) -> str | None:
        if mark[0].startswith("{"):
            if self._depth:
                return self._pass(mark[0])
            self._object = MemberStream()
            return ""
        if self._depth == 0 and self._last == "`":
            return self._pass(mark[0])
        if mark[1]:
            return self._close()
        self._depth += 1
        if self._depth == 1:
            self._closed = False
            self._thought.clear()
        return ""

    def _close(self) -> str | None:
        if self._depth == 0:  # it began before the text did
            self._said.clear()
            self._last = ""
            return None
        self._depth -= 1
        self._closed = True
        self._thought.clear()
        return ""

    def _pass(self, text: str) -> str:
        if not text:
            return ""
        if self._depth:
            self._thought.append(text)
            return ""
        self._last = text[-1]
        self._said.append(text)
        return text
