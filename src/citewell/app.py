"""Citewell, the composition root: settings, profile, database, embedder and store joined, and the work each of them does together."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TypedDict, Unpack

import anyio

from citewell.agent.engine import Driver, Question, answer
from citewell.agent.guard import Calibration, calibrate_corpus, calibrate_questions
from citewell.errors import EmbedderMissing, UsageError, ungrouped
from citewell.ground.run import Deps, Sink
from citewell.index.connect import database_url
from citewell.index.db import Database
from citewell.index.embed import Embedder, check_embedder, chosen, mismatch
from citewell.index.pg import PgStore
from citewell.index.reading import next_offset, normal_name
from citewell.index.retrieve import retrieve, with_snippets
from citewell.index.store import Listed
from citewell.ingest.indexer import Indexer, IndexOptions
from citewell.ingest.progress import Progress, no_progress
from citewell.llm.models import Models
from citewell.profile import Profile, load_profile
from citewell.settings import Settings, load_settings, profile_tables
from citewell.types import (
    KINDS,
    NO_FILTERS,
    Answer,
    Budget,
    Check,
    DocumentPage,
    Event,
    Filters,
    Hit,
    IndexReport,
    RefreshReport,
    SourceInfo,
)

_logger = logging.getLogger(__name__)

_EVENTS_AHEAD = 10_000  # more than any question has: the work never waits for who watches
_RECALIBRATE_SHARE = 0.1  # of a source's pages: after smaller changes the guard's threshold still holds


class AskOptions(TypedDict, total=False):
    """How a question is asked; see `agent.engine.Question`. Without a budget the limits of the settings hold."""

    budget: Budget
    filters: Filters
    guarded: bool
    driver: Driver
    provider: str | None
    model: str | None
    shows_drafts: bool


class Citewell:
    """`async with Citewell() as app:` opens the database (starting the embedded one if need be) and closes it again.

    Raises `SettingsError` and `DatabaseError` on entering. Methods raise the errors of `citewell.errors`; an answer that could not be
    given is an `Answer`.
    """

    def __init__(self, settings: Settings | None = None, profile: Profile | None = None) -> None:
        self.settings = settings or load_settings()
        self.profile = profile or load_profile(tables=profile_tables())
        self.embedder: Embedder | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Citewell:
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(database_url(self.settings))
            self.db = Database(url)
            stack.push_async_callback(self.db.close)
            await self.db.open()
            self.store = PgStore(self.db)
            self.embedder = await self._embedder(stack)
            self.models = Models.of(self.settings)
            stack.push_async_callback(self.models.aclose)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stack.aclose()

    async def _embedder(self, stack: AsyncExitStack) -> Embedder | None:
        """The embedder of the settings; None, so that keywords alone serve, when its weights are missing or the vectors are another's."""
        held = (await self.store.corpus()).embedder
        try:
            embedder = chosen(self.settings, held)
        except EmbedderMissing:
            return None
        stack.push_async_callback(embedder.aclose)
        if held in {"", embedder.name}:
            return embedder
        _logger.warning(" ".join(mismatch(held, embedder.name)))
        return None

    @property
    def _deps(self) -> Deps:
        return Deps(self.store, self.embedder, self.profile, self.settings, self.models)

    # ---- asking -------------------------------------------------------------------------------------------------------------

    async def ask(self, question: str, *, sink: Sink | None = None, **options: Unpack[AskOptions]) -> Answer:
        """The answer to a question. Raises `UsageError` for an empty one and for a library that is not there, `SettingsError` for a model
        that cannot be asked."""
        question = _storable(question)
        if not question:
            raise UsageError("The question is empty.", hint="Ask something: citewell ask 'How do I …?'")
        await self._check_filters(options.get("filters", NO_FILTERS))
        given: AskOptions = {"budget": self.budget(), **options}
        return await answer(Question(question, **given), self._deps, sink)

    @asynccontextmanager
    async def ask_stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncIterator[AsyncIterable[Event]]:
        """`async with app.ask_stream(question) as events:` gives the events of answering it, the answer among them. Leaving the block
        early ends the work."""
        send, receive = anyio.create_memory_object_stream[Event](_EVENTS_AHEAD)

        async def work() -> None:
            async with send:
                await self.ask(question, sink=send.send_nowait, **options)

        with ungrouped():
            async with receive, anyio.create_task_group() as tasks:
                tasks.start_soon(work)
                yield receive
                tasks.cancel_scope.cancel()

    def budget(self) -> Budget:
        """The limits of the settings."""
        settings = self.settings
        return Budget(settings.max_calls, settings.max_tokens, settings.max_seconds, settings.max_usd)

    async def search(self, query: str, *, k: int = 8, filters: Filters = NO_FILTERS) -> list[Hit]:
        """The k best sections. Raises `UsageError` for an empty query and for filters that nothing can match."""
        query = _storable(query)
        if not query:
            raise UsageError("The query is empty.", hint="Name what to look for: citewell search 'QUERY'.")
        await self._check_filters(filters)
        return with_snippets(await retrieve(self.store, self.embedder, query, k=k, filters=filters), query)

    async def _check_filters(self, filters: Filters) -> None:
        if filters == NO_FILTERS:
            return
        for kind in filters.kinds:
            if kind not in KINDS:
                raise UsageError(f"There is no kind {kind!r}.", hint=f"There is: {', '.join(KINDS)}.")
        sources = await self.store.sources()
        known = {"library": {info.library for info in sources}, "source": {info.source for info in sources}}
        for name, wanted in (("library", filters.libraries), ("source", filters.sources)):
            for value in wanted:
                if value not in known[name]:
                    shown = ", ".join(sorted(known[name])) or "none yet"
                    raise UsageError(f"There is no {name} {value!r}.", hint=f"There is: {shown}.")

    # ---- indexing -----------------------------------------------------------------------------------------------------------

    async def index(
        self,
        origin: str,
        *,
        source: str = "",
        library: str = "",
        kind: str = "",
        base_url: str = "",
        prune: bool | None = None,
        progress: Progress = no_progress,
    ) -> IndexReport:
        """Bring the source of a folder, a file, an archive or a site up to date, then calibrate the guard if the corpus has changed."""
        await self._claim_corpus()
        report = await self._indexer.index(origin, IndexOptions(source, library, kind, base_url, prune), progress)
        await self._recalibrate([report], progress)
        return report

    async def refresh(self, urls: Sequence[str] = (), progress: Progress = no_progress) -> RefreshReport:
        """Look again at the pages with these addresses, or at all sources: what has changed is indexed. Raises `NotFound`."""
        await self._claim_corpus()
        report = await self._indexer.refresh(urls, progress)
        await self._recalibrate(report.sources, progress)
        return report

    @property
    def _indexer(self) -> Indexer:
        return Indexer(self.store, self.embedder, self.profile, self.settings)

    async def _claim_corpus(self) -> None:
        if self.embedder is None:
            return
        await self.embedder.open()
        if await self.store.claim_embedder(self.embedder.name, self.embedder.width) != self.embedder.name:
            self.embedder = None  # somebody else's vectors came first; they are never mixed

    async def _recalibrate(self, reports: Sequence[IndexReport], progress: Progress) -> None:
        """Fit the guard to the corpus again where much of a source has changed."""
        changed = any(
            report.pages and report.added + report.updated + report.deleted >= _RECALIBRATE_SHARE * report.pages for report in reports
        )
        pages = any(report.pages for report in reports)
        if self.embedder is not None and pages and (changed or (await self.store.corpus()).max_distance is None):
            progress("calibration", 0, 1)
            await self.store.set_threshold((await calibrate_corpus(self.store, self.embedder)).threshold)
            progress("calibration", 1, 1)

    async def remove(self, source: str) -> int:
        """Forget a source; the number of pages that went. Raises `NotFound`."""
        return await self.store.remove_source(source)

    async def sources(self) -> list[SourceInfo]:
        return await self.store.sources()

    async def calibrate(self, on_topic: Sequence[str] = (), off_topic: Sequence[str] = ()) -> Calibration:
        """The guard's threshold measured on these questions (or on the corpus itself), and stored."""
        if self.embedder is None:
            held = (await self.store.corpus()).embedder
            message, hint = mismatch(held, chosen(self.settings, held).name)
            raise EmbedderMissing(message, hint=hint)
        if on_topic or off_topic:
            found = await calibrate_questions(self.store, self.embedder, on_topic, off_topic)
        else:
            found = await calibrate_corpus(self.store, self.embedder)
        await self.store.set_threshold(found.threshold)
        return found

    # ---- reading ------------------------------------------------------------------------------------------------------------

    async def list_documents(self, prefix: str = "", *, limit: int = 200, offset: int = 0) -> Listed:
        return await self.store.list_documents(prefix, limit=limit, offset=offset)

    async def read_document(self, name: str, *, offset: int = 0) -> DocumentPage:
        """A page of the stored document `SOURCE/PATH`, from `offset` on.

        Raises `NotFound` that names near misses, and `UsageError` for an offset beyond the end.
        """
        document = await self.store.read_document(normal_name(name))
        if offset >= max(len(document.text), 1):
            raise UsageError(
                f"There is nothing at character {offset} of {document.source}/{document.path}.",
                hint=f"It has {len(document.text)} characters, counted from 0.",
            )
        end = next_offset(document.text, offset)
        text = document.text[offset:end]
        return DocumentPage(document.source, document.path, document.title, document.url, text, offset, end)

    # ---- health -------------------------------------------------------------------------------------------------------------

    async def checks(self) -> list[Check]:
        """The health of what is open: embedder, corpus, vectors."""
        found = [await check_embedder(self.settings, (await self.store.corpus()).embedder)]
        sources = await self.store.sources()
        pending = sum(info.vectors_pending for info in sources)
        sections = sum(info.sections for info in sources)
        found.append(
            Check(
                "index",
                bool(sections),
                f"{len(sources)} sources, {sections} sections",
                "" if sections else "Index something: citewell index FOLDER.",
            )
        )
        remedy = "" if not pending else "Run citewell index on the source again; it goes on where it stopped."
        found.append(Check("vectors", not pending, f"{pending} sections wait for their vector" if pending else "complete", remedy))
        return found


def _storable(text: str) -> str:
    """What a person typed, without what no database and no tokenizer takes: lone surrogates (bytes that were no UTF-8) and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "").strip()
