"""What an embedder is, and what all of them share: the text that stands for a section, and vectors as PostgreSQL reads them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_WIDTH = 4000  # numbers in a vector: what pgvector can index as halfvec
_QUERIES = 256


class Embedder(Protocol):
    """Texts to vectors of unit length, all of one width.

    `name` identifies model and recipe: vectors of different names are never compared. `name` and `width` (numbers in a vector) are final
    once `open` has returned; before, a width that is not known is 0.
    """

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int: ...

    async def open(self) -> None:
        """Learn `width`, if need be by embedding a word. Raises as `embed` does."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text in the order given, shape (len(texts), width). Raises `EmbedderMissing` or `EmbedderFailed`."""
        ...

    async def embed_query(self, text: str) -> str:
        """The vector of a question as pgvector reads it. Raises as `embed` does."""
        ...

    async def check(self) -> str:
        """How it was found to be in order, in a few words for a report. Raises as `embed` does when it is not."""
        ...

    async def aclose(self) -> None:
        """Let go of connections; it may be used again afterwards."""
        ...


class QueryCache:
    """The vectors of the last questions, as pgvector reads them: guard and retrieval ask for the same."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, str] = OrderedDict()

    def get(self, text: str) -> str | None:
        return self._known.get(text)

    def put(self, text: str, vector: Vectors) -> str:
        literal = self._known[text] = vector_literal(vector)
        while len(self._known) > _QUERIES:
            self._known.popitem(last=False)
        return literal


def embedding_input(heading_path: str, text: str) -> str:
    """What of a section is embedded: where it stands, then what it says."""
    return f"{heading_path}\n{text}"


def input_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def vector_literal(vector: Vectors) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"
