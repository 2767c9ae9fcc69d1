"""JSON objects in what a model says: in fences, between prose, in arrays, as a string, with trailing commas. Pure; never raises."""

from __future__ import annotations

import json
import re
from typing import Any

from citewell.llm.thoughts import Thoughts

_MOST_PLACES = 64  # beginnings of an object that are tried; prose about code is full of braces
_MOST_REPAIRS = 6  # of those, how many are looked through for a slip; each reads on to the end of the text
_MOST_OBJECTS = 16

_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
_NAMED = re.compile(r'\{\s*+"')
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z)|\\?[{}\[\]]', re.DOTALL)
_REPAIRED = re.compile(r'("(?:\\.|[^"\\])*+")|,(?=\s*+[}\]])', re.DOTALL)
_NO_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)')


def said_in(text: str) -> str:
    """What a model says without its thoughts; of a text that is one thought without an end, nothing."""
    thoughts = Thoughts()
    thoughts.feed(text)
    thoughts.end()
    return thoughts.said


def objects_in(text: str) -> tuple[dict[str, Any], ...]:
    """The objects that a reply holds, in order; those of a thought that never ended where nothing else was said. Of two members with one
    name the first counts."""
    thoughts = Thoughts()
    thoughts.feed(text)
    thoughts.end()
    return _objects(thoughts.said) or (() if thoughts.said.strip() else _objects(thoughts.unfinished))


def object_of(value: object) -> dict[str, Any] | None:
    """An object given as such, or written as a string, or alone in an array; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return object_of(value[0]) if len(value) == 1 and not isinstance(value[0], list) else None
    found = _objects(value) if isinstance(value, str) else ()
    return found[0] if len(found) == 1 else None


def _objects(text: str) -> tuple[dict[str, Any], ...]:
    text = _unquoted(text.strip())
    found: list[dict[str, Any]] = []
    at = text.find("{")
    repairs = _MOST_REPAIRS
    for _ in range(_MOST_PLACES):
        if at < 0 or len(found) == _MOST_OBJECTS:
            break
        value, end = _object_at(text, at)
        if value is None and repairs and _NAMED.match(text, at):
            repairs -= 1
            value, end = _repaired_at(text, at)
        if value is not None:
            found.append(value)
        at = text.find("{", end)
    return tuple(found)


def _unquoted(text: str) -> str:
    """An object that was written into a JSON string, without the quotes."""
    if not text.startswith('"'):
        return text
    try:
        value, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """The object that begins there and where it ends; None, and where to look next."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at + 1
    return value, end


def _repaired_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """As `_object_at`, of one with slips that can only be meant in one way."""
    end = _end_of(text, at)
    value = _decoded(_REPAIRED.sub(_repair, text[at:end])) if end > at else None
    return (value, end) if isinstance(value, dict) else (None, at + 1)


def _decoded(text: str) -> object:
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value


def _end_of(text: str, at: int) -> int:
    """Where the brackets that open at `at` are closed again; `at` itself where they are not."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return at


def _repair(match: re.Match[str]) -> str:
    """A string with its backslashes in order; nothing for a comma before the end of a list or an object."""
    return _NO_ESCAPE.sub(lambda escape: escape[0] if escape[1] else r"\\", match[1]) if match[1] else ""
