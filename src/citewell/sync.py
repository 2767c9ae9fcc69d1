"""Citewell for callers that are not asynchronous: one event loop in a thread, every method one line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any

from anyio.from_thread import start_blocking_portal

from citewell import app
from citewell.profile import Profile
from citewell.settings import Settings
from citewell.types import Answer, DocumentPage, Hit, IndexReport, RefreshReport, SourceInfo


class Citewell:
    """`with Citewell() as app:` has the methods of `citewell.app.Citewell`, each of which waits for its result."""

    def __init__(self, settings: Settings | None = None, profile: Profile | None = None) -> None:
        self._app = app.Citewell(settings, profile)
        self._stack = ExitStack()

    def __enter__(self) -> Citewell:
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            stack.enter_context(self._portal.wrap_async_context_manager(self._app))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def ask(self, question: str, **options: Any) -> Answer:
        return self._portal.call(partial(self._app.ask, question, **options))

    def search(self, query: str, **options: Any) -> list[Hit]:
        return self._portal.call(partial(self._app.search, query, **options))

    def index(self, origin: str, **options: Any) -> IndexReport:
        return self._portal.call(partial(self._app.index, origin, **options))

    def refresh(self, urls: Sequence[str] = (), **options: Any) -> RefreshReport:
        return self._portal.call(partial(self._app.refresh, urls, **options))

    def remove(self, source: str) -> int:
        return self._portal.call(self._app.remove, source)

    def sources(self) -> list[SourceInfo]:
        return self._portal.call(self._app.sources)

    def read_document(self, name: str, **options: Any) -> DocumentPage:
        return self._portal.call(partial(self._app.read_document, name, **options))
