"""An origin into the store: read, prepare, publish page by page, while vectors follow. The only place where these are joined."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from citewell.errors import CitewellError, IngestError, ungrouped
from citewell.index.embed import Embedder
from citewell.index.store import NewPage, SourceSpec, Store, Visit
from citewell.ingest import prepare
from citewell.ingest.discover.base import Alias, Gone, Item, Known, Origin, Raw, Reading, Refused
from citewell.ingest.extract.base import NotContent
from citewell.ingest.progress import Progress, no_progress
from citewell.ingest.vectors import Vectors
from citewell.profile import ProfileSource
from citewell.types import IndexReport, Skipped, Source, SourceInfo

_AHEAD = 4  # documents that may wait between two steps; each may have 20 MiB
_FIRST_COUNT = 200  # pages after which a first indexing counts its terms, and again at each doubling
_VISITS_AHEAD = 100  # visits that may wait to be noted: what is lost of them is asked for again
_FEW = 20  # so few pages may all vanish
_NO_VECTORS = "No vectors were made: only keywords find these pages. citewell doctor says why."


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """One run of `index` over an origin. `prune` None: what an origin says is gone is deleted, unless that is likelier an outage.
    With `partial`, only some pages of the origin are looked at."""

    origin: Origin
    spec: SourceSpec
    rules: ProfileSource = field(default_factory=ProfileSource)
    prune: bool | None = None
    partial: bool = False


@dataclass(slots=True)
class _Tally:
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


async def index_source(store: Store, embedder: Embedder | None, request: IndexRequest, progress: Progress = no_progress) -> IndexReport:
    """Bring a source up to date. Keyword search finds a page as soon as it is published; vectors follow.

    Raises `IngestError` for an origin that cannot be read or holds nothing for us, `SourceConflict`, `SourceBusy`, `DatabaseError`, and
    the embedder's own once all text is published. Killed at any point, the next run completes what is missing.
    """
    started = time.monotonic()
    async with store.indexing(request.spec.name), request.origin.open() as reading:
        new = await store.find_source(request.spec.name) is None
        source = await store.bind_source(request.spec)
        run = _Run(store, source, request, reading, Vectors(store, embedder, source, progress), progress)
        with ungrouped():
            await run.publish()
        deleted = await run.delete()
        await store.count_terms()
        await store.finish_source(source, complete=reading.complete and not request.partial)
        info = next(info for info in await store.sources() if info.source == source.name)
    if new and not info.pages:
        await store.remove_source(source.name)
        raise _nothing(request.spec.origin, run.tally.skipped)
    if isinstance(run.vectors.fault, CitewellError):
        message = f"{run.vectors.fault} The text of {source.name} is indexed all the same; its vectors wait for the next run."
        raise type(run.vectors.fault)(message, hint=run.vectors.fault.hint) from run.vectors.fault
    if run.vectors.fault is not None:
        raise run.vectors.fault
    return _report(run, info, deleted, time.monotonic() - started)


def _nothing(origin: str, skipped: list[Skipped]) -> IngestError:
    reasons = "; ".join(f"{skip.origin}: {skip.reason}" for skip in skipped[:3])
    hint = f"Skipped: {reasons}." if reasons else "Name other documentation."
    return IngestError(f"{origin} holds nothing that can be indexed.", hint=hint)


def _report(run: _Run, info: SourceInfo, deleted: int, seconds: float) -> IndexReport:
    tally, vectors = run.tally, run.vectors
    return IndexReport(
        source=info.source,
        pages=info.pages,
        sections=info.sections,
        added=tally.added,
        updated=tally.updated,
        unchanged=tally.unchanged,
        deleted=deleted,
        moved=tally.moved,
        skipped=tuple(tally.skipped),
        embedded=vectors.embedded,
        reused=vectors.reused,
        seconds=round(seconds, 3),
        warnings=(*run.reading.warnings, *tally.warnings, *([_NO_VECTORS] if vectors.embedder is None else [])),
        complete=run.reading.complete,
    )


_Result = NewPage | None  # the page to publish; None for one that is stored as it is


@dataclass(slots=True)
class _Run:
    store: Store
    source: Source
    request: IndexRequest
    reading: Reading
    vectors: Vectors
    progress: Progress
    tally: _Tally = field(default_factory=_Tally)
    stored: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)  # path to content hash
    present: set[str] = field(default_factory=set)  # paths of the documents that this run has seen
    visited: list[Visit] = field(default_factory=list)

    # ---- what a page is made by ---------------------------------------------------------------------------------------------

    def _origin(self, path: str) -> prepare.Origin:
        kind = self.source.kind or self.request.rules.kind_of(path) or ""
        return prepare.Origin(self.source.name, self.source.base_url, kind, self.source.version or self.reading.inventory.version)

    def _made_by(self, path: str) -> str:
        return prepare.made_by(self.reading.inventory.pages.get(path, ()), self._origin(path))

    # ---- the steps, each a task of its own ----------------------------------------------------------------------------------

    async def publish(self) -> None:
        """Read documents, prepare them in a thread and store them as they come; a bounded number waits in between."""
        self.stored = await self.store.page_hashes(self.source)
        visits = await (self.store.visits if self.request.partial else self.store.begin_crawl)(self.source)
        known = Known(self.stored, visits, self._made_by, self.request.prune)
        send_items, items = anyio.create_memory_object_stream[Item](_AHEAD)
        send_results, results = anyio.create_memory_object_stream[tuple[Item, _Result]](_AHEAD)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, known, send_items)
            tasks.start_soon(self._prepare_all, items, send_results)
            tasks.start_soon(self._store_all, results)
            tasks.start_soon(self.vectors.follow)

    async def _read(self, known: Known, send: MemoryObjectSendStream[Item]) -> None:
        async with send:
            async for item in self.reading.items(known):
                await send.send(item)

    async def _prepare_all(self, items: MemoryObjectReceiveStream[Item], send: MemoryObjectSendStream[tuple[Item, _Result]]) -> None:
        async with items, send:
            async for item in items:
                if isinstance(item, Raw):
                    await send.send(await anyio.to_thread.run_sync(self._prepare, item))
                else:
                    await send.send((item, None))

    def _prepare(self, raw: Raw) -> tuple[Item, _Result]:
        """The page if it is new or changed. A broken document never stops the others."""
        try:
            data = raw.read()
            if self.stored.get(raw.path) == prepare.content_hash(data, self._made_by(raw.path)):
                return raw, None
            entries = self.reading.inventory.pages.get(raw.path, ())
            return raw, prepare.prepare(raw, data, entries, self._origin(raw.path))
        except NotContent as error:
            return Refused(raw.path, str(error), raw.visit, withdrawn=True), None
        except OSError as error:
            return Refused(raw.path, f"cannot be read: {error.strerror}", raw.visit), None
        except Exception as error:  # noqa: BLE001 - whatever a hostile or broken file does to a parser, the rest is indexed
            return Refused(raw.path, f"cannot be extracted: {type(error).__name__}", raw.visit), None

    async def _store_all(self, results: MemoryObjectReceiveStream[tuple[Item, _Result]]) -> None:
        count_at, done = _FIRST_COUNT, 0
        async with results:
            async for item, page in results:
                await self._settle(item, page)
                done += not isinstance(item, Alias | Gone)
                self.progress("pages", done, max(self.reading.total, done))
                if not self.stored and done == count_at:
                    await self.store.count_terms()
                    await self.store.mark_repeated(self.source)
                    count_at *= 2
        if self.reading.complete:
            self.progress("pages", done, done)  # addresses that led to others are no documents
        await self._note_visits()
        await self.store.mark_repeated(self.source)
        self.vectors.end()

    async def _settle(self, item: Item, page: NewPage | None) -> None:
        reason = ""
        if isinstance(item, Gone):
            if not item.instead or item.instead in self.present:
                self._lose(item.path)
        elif isinstance(item, Refused):
            self.tally.skipped.append(Skipped(item.path, item.reason))
            reason = item.reason
            if item.withdrawn:
                self._lose(item.path)
        elif not isinstance(item, Alias):
            self.gone.pop(item.path, None)  # one address of it may be gone, but it is here
            self.present.add(item.path)
            if page is None:
                self.tally.unchanged += 1
            else:
                await self._put(page, item.moved_from if isinstance(item, Raw) else "")
        if item.visit is not None:
            made_by = self._made_by(item.visit.path) if item.visit.path else ""
            self.visited.append(replace(item.visit, reason=item.visit.reason or reason, made_by=made_by))
            if len(self.visited) >= _VISITS_AHEAD:
                await self._note_visits()

    async def _put(self, page: NewPage, moved_from: str) -> None:
        if page.path not in self.stored:
            same = (path for path, content_hash in self.gone.items() if content_hash == page.content_hash)
            old = moved_from if moved_from in self.stored else next(same, "")
            page = replace(page, moved_from=old)
            self.gone.pop(old, None)
            self.stored.pop(old, None)
        added = await self.store.put_page(self.source, page)
        self.vectors.stored(len(page.sections))
        self.tally.moved += bool(page.moved_from)
        self.tally.added += added
        self.tally.updated += not added and not page.moved_from

    def _lose(self, path: str) -> None:
        if path in self.stored:
            self.gone[path] = self.stored[path]

    async def _note_visits(self) -> None:
        if self.visited:
            await self.store.put_visits(self.source, self.visited)
            self.visited.clear()

    # ---- afterwards ---------------------------------------------------------------------------------------------------------

    async def delete(self) -> int:
        """Delete the pages that are no more; how many. None if the user forbade it, or if it is likelier that the origin is ill."""
        if self.request.prune is False:
            return 0
        if self.reading.cautious and self.request.prune is None and len(self.gone) > max(_FEW, len(self.stored) // 2):
            lost = f"{len(self.gone)} of {len(self.stored)} pages are not found any more; they were kept."
            self.tally.warnings.append(f"{lost} If they are gone for good, add --prune.")
            return 0
        return await self.store.delete_pages(self.source, sorted(self.gone))
