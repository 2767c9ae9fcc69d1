"""An origin into the store: discover, prepare, publish page by page, then let vectors follow. The only place where these are joined."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from citewell.errors import ungrouped
from citewell.index.embed import Embedder, embedding_input, input_hash, vector_literal
from citewell.index.store import NewPage, Pending, SourceSpec, Store
from citewell.ingest.discover.folder import Found, Listing, list_folder
from citewell.ingest.discover.inventory import Inventory, read_inventory
from citewell.ingest.extract.base import NotContent
from citewell.ingest.prepare import Origin, content_hash, prepare
from citewell.profile import ProfileSource
from citewell.types import IndexReport, Skipped, Source

_AHEAD = 16  # prepared pages that may wait to be stored
_EMBED_BATCH = 256
_FIRST_COUNT = 200  # pages after which a first indexing counts its terms, and again at each doubling


class Progress(Protocol):
    """Told how far a phase ("pages", "vectors") is. Must not raise."""

    def __call__(self, phase: str, done: int, total: int) -> None: ...


def no_progress(phase: str, done: int, total: int) -> None:
    """For callers that do not want to know."""


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """One run of `index` over a folder or a file. `prune` None: pages that are gone are deleted after a complete listing."""

    origin: Path
    spec: SourceSpec
    rules: ProfileSource = field(default_factory=ProfileSource)
    prune: bool | None = None


@dataclass(slots=True)
class _Tally:
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)  # pages that still exist but are content no more


async def index_source(store: Store, embedder: Embedder | None, request: IndexRequest, progress: Progress = no_progress) -> IndexReport:
    """Bring a source up to date. Keyword search finds a page as soon as it is published; vectors follow.

    Raises `IngestError` for an unreadable origin, `SourceConflict`, `SourceBusy`, `DatabaseError`. Killed at any point, the next run
    completes what is missing.
    """
    started = time.monotonic()
    listing = await anyio.to_thread.run_sync(list_folder, request.origin)
    folder = request.origin if request.origin.is_dir() else request.origin.parent
    inventory, faults = await anyio.to_thread.run_sync(read_inventory, folder / "objects.inv")
    async with store.indexing(request.spec.name):
        source = await store.bind_source(request.spec)
        tally = _Tally(skipped=[*listing.skipped, *faults])
        stored = await store.page_hashes(source)
        run = _Run(store, source, request, inventory, stored, _gone(stored, listing, request), tally, progress)
        with ungrouped():
            await run.publish(listing)
        deleted = await store.delete_pages(source, [*run.gone, *tally.withdrawn])
        await store.count_terms()
        embedded, reused = await embed_pending(store, embedder, source, progress)
        await store.finish_source(source)
        info = next(info for info in await store.sources() if info.source == source.name)
    return IndexReport(
        source=source.name,
        pages=info.pages,
        sections=info.sections,
        added=tally.added,
        updated=tally.updated,
        unchanged=tally.unchanged,
        deleted=deleted,
        moved=tally.moved,
        skipped=tuple(tally.skipped),
        embedded=embedded,
        reused=reused,
        seconds=round(time.monotonic() - started, 3),
        warnings=() if embedder is not None else ("No vectors were made: only keywords find these pages. citewell doctor says why.",),
    )


def _gone(stored: Mapping[str, str], listing: Listing, request: IndexRequest) -> list[str]:
    """The stored pages that are to be deleted: those that a complete listing (or any, if told so) no longer has. What it has but could
    not read is still there."""
    if not (listing.complete if request.prune is None else request.prune):
        return []
    return sorted(set(stored) - {found.path for found in listing.found} - {skipped.origin for skipped in listing.skipped})


@dataclass(slots=True)
class _Run:
    store: Store
    source: Source
    request: IndexRequest
    inventory: Inventory
    stored: dict[str, str]
    gone: list[str]
    tally: _Tally
    progress: Progress

    @property
    def origin(self) -> Origin:
        return Origin(self.source.name, self.source.base_url, self.source.kind, self.source.version or self.inventory.version)

    async def publish(self, listing: Listing) -> None:
        """Prepare pages in a thread and store them as they come; a bounded number waits in between."""
        send, receive = anyio.create_memory_object_stream[NewPage | None](_AHEAD)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._prepare_all, listing.found, send)
            tasks.start_soon(self._store_all, receive, len(listing.found))

    async def _prepare_all(self, found: Sequence[Found], send: MemoryObjectSendStream[NewPage | None]) -> None:
        async with send:
            for item in found:
                await send.send(await anyio.to_thread.run_sync(self._prepare, item))

    def _prepare(self, item: Found) -> NewPage | None:
        """The page if it is new or changed; None with the reason tallied otherwise. A broken page never stops the others."""
        entries = self.inventory.pages.get(item.path, ())
        try:
            data = item.file.read_bytes()
            origin = replace(self.origin, kind=self.origin.kind or self.request.rules.kind_of(item.path) or "")
            if self.stored.get(item.path) == content_hash(data, entries, origin):
                self.tally.unchanged += 1
                return None
            return prepare(item.path, data, entries, origin)
        except NotContent as reason:
            self.tally.skipped.append(Skipped(item.path, str(reason)))
            if item.path in self.stored:
                self.tally.withdrawn.append(item.path)
        except OSError as error:
            self.tally.skipped.append(Skipped(item.path, f"cannot be read: {error.strerror}"))
        except Exception as error:  # noqa: BLE001 - whatever a hostile or broken file does to a parser, the rest is indexed
            self.tally.skipped.append(Skipped(item.path, f"cannot be extracted: {type(error).__name__}"))
        return None

    async def _store_all(self, receive: MemoryObjectReceiveStream[NewPage | None], total: int) -> None:
        count_at, done = _FIRST_COUNT, 0
        moves = {self.stored[path]: path for path in self.gone}
        async with receive:
            async for page in receive:
                done += 1
                self.progress("pages", done, total)
                if page is None:
                    continue
                await self._store_one(page, moves)
                if not self.stored and done == count_at:
                    await self.store.count_terms()
                    count_at *= 2

    async def _store_one(self, page: NewPage, moves: dict[str, str]) -> None:
        old = moves.pop(page.content_hash, None) if page.path not in self.stored else None
        if old is not None:
            page = replace(page, moved_from=old)
            self.gone.remove(old)
        added = await self.store.put_page(self.source, page)
        self.tally.moved += old is not None
        self.tally.added += added
        self.tally.updated += not added and old is None


async def embed_pending(store: Store, embedder: Embedder | None, source: Source, progress: Progress = no_progress) -> tuple[int, int]:
    """Give every section of a source its vector: how many were embedded, how many found theirs by an equal text.

    The store's own list of what is missing drives it, so it goes on wherever an earlier run ended.
    """
    if embedder is None:
        return 0, 0
    missing = next((info.vectors_pending for info in await store.sources() if info.source == source.name), 0)
    embedded = reused = 0
    before: list[Pending] = []
    while (batch := await store.pending(source, _EMBED_BATCH)) and batch != before:
        before = batch
        texts = [embedding_input(item.heading_path, item.text) for item in batch]
        hashes = [input_hash(text) for text in texts]
        known = await store.known_vectors(hashes)
        fresh = {key: text for key, text in zip(hashes, texts, strict=True) if key not in known}
        if fresh:
            vectors = await embedder.embed(list(fresh.values()))
            known |= {key: vector_literal(vector) for key, vector in zip(fresh, vectors, strict=True)}
        await store.put_vectors(source, [(item.section_id, key, known[key]) for item, key in zip(batch, hashes, strict=True)])
        embedded += len(fresh)
        reused += len(batch) - len(fresh)
        progress("vectors", embedded + reused, max(missing, embedded + reused))
    return embedded, reused
