"""Vectors that follow the text: made while pages are still being read, driven by the store's own list of what has none yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from citewell.index.embed import Embedder, embedding_input, input_hash, vector_literal
from citewell.index.store import Pending, Store
from citewell.ingest.progress import Progress
from citewell.types import Source

_BATCH = 256  # sections that are embedded together: sorted by length inside, so that little is padded


@dataclass(slots=True)
class Vectors:
    """Gives every section of a source its vector; without an embedder, none. `fault` is what ended it before its time: the text is
    indexed all the same, and the next run goes on where this one ended."""

    store: Store
    embedder: Embedder | None
    source: Source
    progress: Progress
    embedded: int = 0
    reused: int = 0
    fault: Exception | None = None
    _fresh: int = 0
    _expected: int = 0
    _ended: bool = False
    _wake: anyio.Event = field(default_factory=anyio.Event)
    _before: list[Pending] = field(default_factory=list)

    def stored(self, sections: int) -> None:
        """Note that so many sections have been published."""
        self._fresh += sections
        self._expected += sections
        if self._fresh >= _BATCH:
            self._wake.set()

    def end(self) -> None:
        """Note that no more will be."""
        self._ended = True
        self._wake.set()

    async def follow(self) -> None:
        """Embed whatever is published, in batches, until `end` was called and nothing is left."""
        if self.embedder is None:
            return
        try:
            while not self._ended:
                await self._wake.wait()
                self._wake = anyio.Event()
                while self._fresh >= _BATCH and not self._ended:
                    self._fresh -= max(await self._batch(self.embedder), _BATCH)
            while await self._batch(self.embedder):
                pass
            done = self.embedded + self.reused
            self.progress("vectors", done, done)
        except Exception as error:  # noqa: BLE001 - whatever happens to vectors, the text goes on; the pipeline raises it at its end
            self.fault = error

    async def _batch(self, embedder: Embedder) -> int:
        """Embed the next batch; how many sections were in it."""
        batch = await self.store.pending(self.source, _BATCH)
        if not batch or batch == self._before:
            return 0
        self._before = batch
        texts = [embedding_input(item.heading_path, item.text) for item in batch]
        hashes = [input_hash(text) for text in texts]
        known = await self.store.known_vectors(hashes)
        fresh = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
        if fresh:
            vectors = await embedder.embed(list(fresh.values()))
            known |= {key: vector_literal(vector) for key, vector in zip(fresh, vectors, strict=True)}
        await self.store.put_vectors(self.source, [(item.section_id, key, known[key]) for item, key in zip(batch, hashes, strict=True)])
        self.embedded += len(fresh)
        self.reused += len(batch) - len(fresh)
        done = self.embedded + self.reused
        self.progress("vectors", done, max(done, self._expected))
        return len(batch)
