"""One string member of a JSON object, decoded while the object is being written. Pure; a malformed object gives less, never an error."""

from __future__ import annotations

import re

_PLAIN = re.compile(r'[^"\\]+')
_BETWEEN = re.compile(r'[^"{}\[\],:]+')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_HEX = frozenset("0123456789abcdefABCDEF")
_MOST_DEPTH = 1000
_LONGEST_KEY = 200


class StringDecoder:
    """The text of a JSON string from after its opening quote on. `closed` once the closing quote was read."""

    def __init__(self) -> None:
        self.closed = False
        self._escape = ""  # a backslash and what has come after it
        self._high = ""  # the first half of a character beyond the basic plane

    def feed(self, text: str, at: int) -> tuple[str, int]:
        """What the text says from `at` on, and where reading ended."""
        out: list[str] = []
        while at < len(text) and not self.closed:
            if self._escape:
                at += self._escaped(text[at], out)
            elif text[at] == "\\":
                self._escape = "\\"
                at += 1
            elif text[at] == '"':
                self.closed = True
                at += 1
            else:
                plain = _PLAIN.match(text, at)
                piece = plain[0] if plain else text[at]
                self._say(piece, out)
                at += len(piece)
        if self.closed:
            self._say("", out)
        return "".join(out).replace("\0", ""), at

    def _escaped(self, char: str, out: list[str]) -> int:
        """Take a character of an escape; 0 when it is not one of its own and has to be read again."""
        if self._escape == "\\":
            if char == "u":
                self._escape = "\\u"
                return 1
            self._escape = ""
            self._say(_ESCAPES.get(char, "\\" + char), out)
            return 1
        if char not in _HEX:
            self._say(self._escape, out)
            self._escape = ""
            return 0
        self._escape += char
        if len(self._escape) == 6:
            code, self._escape = chr(int(self._escape[2:], 16)), ""
            self._unit(code, out)
        return 1

    def _unit(self, unit: str, out: list[str]) -> None:
        """A code unit of UTF-16: half a character waits for its other half."""
        if self._high and "\udc00" <= unit <= "\udfff":
            out.append((self._high + unit).encode("utf-16-le", "surrogatepass").decode("utf-16-le"))
            self._high = ""
            return
        self._say("", out)
        if "\ud800" <= unit <= "\udbff":
            self._high = unit
        else:
            out.append("\ufffd" if "\udc00" <= unit <= "\udfff" else unit)

    def _say(self, text: str, out: list[str]) -> None:
        if self._high:
            out.append("\ufffd")
            self._high = ""
        out.append(text)


class MemberStream:
    """Reads an object from its opening brace on and gives the string of the member `name`, of this object alone: not of one within it.
    Without a name it only finds the end.

    `found` once that string was read to its end; `closed` once the object was.
    """

    def __init__(self, name: str | None = None) -> None:
        self.found = False
        self.closed = False
        self._name = name
        self._open: list[str] = []
        self._string: StringDecoder | None = None
        self._key = ""  # the one of this object that is being read, or was read last
        self._is_key = False

    def feed(self, text: str, at: int = 0) -> tuple[str, int]:
        """What the text says of the member from `at` on, and where reading ended."""
        out: list[str] = []
        while at < len(text) and not self.found and not self.closed:
            if self._string is not None:
                at = self._read(self._string, text, at, out)
                continue
            skipped = _BETWEEN.match(text, at)
            if skipped:
                at = skipped.end()
                continue
            self._sign(text[at])
            at += 1
        return "".join(out), at

    def _read(self, string: StringDecoder, text: str, at: int, out: list[str]) -> int:
        said, at = string.feed(text, at)
        if self._is_key and len(self._open) == 1:
            self._key = (self._key + said)[:_LONGEST_KEY]
        elif self._wanted():
            out.append(said)
        if string.closed:
            self.found = self._wanted()
            self._string = None
        return at

    def _wanted(self) -> bool:
        return not self._is_key and len(self._open) == 1 and self._key == self._name

    def _sign(self, sign: str) -> None:
        if sign == '"':
            self._string = StringDecoder()
            if self._is_key and len(self._open) == 1:
                self._key = ""
        elif sign in "{[":
            self._open.append(sign)
            self._is_key = sign == "{"
            self.closed = len(self._open) > _MOST_DEPTH
        elif sign in "}]":
            self._open.pop()
            self._is_key = False
            self.closed = not self._open
        elif sign == ",":
            self._is_key = self._open[-1] == "{"
        else:
            self._is_key = False
