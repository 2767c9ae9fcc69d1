"""The wire format of OpenAI's `/embeddings`: what is asked, what an answer or a refusal means. Pure; nothing a server sends is trusted."""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from citewell.index.embed.base import MAX_WIDTH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from citewell.index.embed.base import Vectors

_NUMBER_BYTES = 40  # a number in JSON, generously
_SHOWN = 300
_TOO_LONG = re.compile(
    r"too (?:long|large|many)|context (?:length|window|size)|(?:token|length|size|input|batch)[\w ]{0,30} limit|exceed|maximum",
    re.IGNORECASE,
)


class Malformed(ValueError):
    """An answer that does not hold what was asked for; says what is wrong with it."""


def request_body(model: str, texts: Sequence[str], dimensions: int | None) -> dict[str, Any]:
    """A text of nothing is sent as a blank: servers refuse empty ones."""
    body: dict[str, Any] = {"model": model, "input": [text if text.strip() else " " for text in texts], "encoding_format": "float"}
    return body if dimensions is None else body | {"dimensions": dimensions}


def longest_answer(count: int) -> int:
    """How many bytes an answer with so many vectors can need."""
    return 2**16 + count * (MAX_WIDTH * _NUMBER_BYTES + 1000)


def read_vectors(body: bytes, count: int) -> Vectors:
    """As many unit vectors as texts were sent, in their order, all of one width. Raises `Malformed`."""
    import numpy as np

    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed("no JSON") from error
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Malformed("no list of vectors")
    if len(items) != count:
        raise Malformed(f"{len(items)} vectors for {count} texts")
    rows = [_numbers(item.get("embedding")) for item in _in_order(items)]
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise Malformed("vectors of several widths" if rows and len(rows[0]) else "empty vectors")
    vectors = np.stack(rows).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise Malformed("vectors with numbers that are not finite, or all zero")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def _in_order(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By `index`; servers that leave it out everywhere answer in order."""
    if not any("index" in item for item in items):
        return items
    places = [item.get("index") for item in items]
    if any(type(place) is not int for place in places) or set(places) != set(range(len(items))):
        raise Malformed("vectors whose indices are not those of the texts")
    return sorted(items, key=lambda item: int(item["index"]))


def _numbers(value: Any) -> NDArray[np.float32]:
    """A vector written as a list of numbers, or as base64 of little-endian floats."""
    import numpy as np

    if isinstance(value, str):
        try:
            return np.frombuffer(b64decode(value, validate=True), dtype="<f4")
        except (binascii.Error, ValueError) as error:
            raise Malformed("a vector in broken base64") from error
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        raise Malformed("a vector that is no list of numbers")
    try:
        with np.errstate(over="ignore"):  # what is beyond a float is infinite, and refused as such
            return np.array(value, dtype=np.float32)
    except OverflowError as error:
        raise Malformed("a vector with a number beyond all bounds") from error


def is_too_long(status: int, said: str) -> bool:
    """Whether a refusal means that fewer or shorter texts would be taken."""
    return status == 413 or (status in (400, 422) and bool(_TOO_LONG.search(said)))


def what_it_said(body: bytes) -> str:
    """The message of an error answer, on one line and shortened; "" when there is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = body.decode("utf-8", "replace")
    for key in ("error", "message", "detail"):
        found = found.get(key, found) if isinstance(found, dict) else found
    text = " ".join((found if isinstance(found, str) else json.dumps(found)).split())
    return "" if text.startswith("<") else text[:_SHOWN]
