"""One question, one pass: guard → route → evidence → ground, and once more with more evidence where a model found no source."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import anyio

from citewell.agent.gather import SECTIONS, search, search_parts
from citewell.agent.guard import guard
from citewell.agent.route import route
from citewell.errors import DatabaseError, ungrouped
from citewell.ground.run import Deps, Run, Sink
from citewell.ground.terminus import ground, late, refuse
from citewell.index.retrieve import look_up
from citewell.index.store import LoggedQuery
from citewell.redact import Redactor
from citewell.types import (
    Answer,
    AnswerEvent,
    Budget,
    DoneEvent,
    Draft,
    Filters,
    GuardVerdict,
    Hit,
    Protocol,
    Route,
    RouteEvent,
    SourcesEvent,
)

_log = logging.getLogger(__name__)

Driver = Literal["auto", "single", "loop"]

_LOG_SECONDS = 2.0  # that an answer waits for the log at most
_LOG_LEAST_SECONDS = 0.1
_BEYOND_SECONDS = 0.9  # that an answer with its entry in the log may take beyond the question's limit
_THOROUGH = 24  # sections of the question's own search when eight held no answer


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the limits and the filters it runs under. `provider` pins one, `model` is asked instead of those of the settings;
    "offline" asks none."""

    text: str
    budget: Budget
    filters: Filters = field(default_factory=Filters)
    guarded: bool = True
    driver: Driver = "auto"
    provider: str | None = None
    model: str | None = None
    shows_drafts: bool = False


async def answer(question: Question, deps: Deps, sink: Sink | None = None) -> Answer:
    """The answer, whatever happens: refusals, empty hands and a lack of time are answers too. Raises `DatabaseError` when the store
    fails, `SettingsError` for a model that cannot be asked."""
    started = deps.clock()
    dispatch = deps.models.dispatch(question.budget, provider=question.provider, model=question.model) if deps.models else None
    run = Run(
        question.text,
        question.budget,
        await deps.store.corpus(),
        started,
        uuid.uuid4().hex,
        question.filters,
        sink=sink,
        shows_drafts=question.shows_drafts,
        ledger=deps.models.ledger(question.budget, started) if deps.models else None,
        dispatch=dispatch,
    )
    with anyio.move_on_after(question.budget.max_seconds):
        return await _finish(run, deps, await _answer(run, question, deps))
    return await _finish(run, deps, await late(run, deps))


async def _answer(run: Run, question: Question, deps: Deps) -> Answer:
    seed = _Seed(run, deps)
    with ungrouped():
        async with anyio.create_task_group() as tasks:  # the guard needs what the search measures; neither costs more than milliseconds
            tasks.start_soon(seed.search)
            verdict = await _checked(run, question, deps, seed)
            if not verdict.allowed:
                tasks.cancel_scope.cancel()
    if not verdict.allowed:
        return refuse(run, deps, verdict)
    decision = route(question.text)
    taken: Route = decision.route if question.driver == "auto" else question.driver
    protocol: Protocol = "planner" if run.dispatch else "rules"
    run.emit(RouteEvent(taken, protocol))
    for hit in seed.hits:
        run.evidence.add(hit)
    if taken == "loop":
        await search_parts(run, deps, decision.parts)
    _found(run)
    run.draft = Draft(taken, protocol)
    first = await ground(run, deps, run.draft)
    if run.dispatch is None or first.status != "not_found" or first.reason != "unsupported" or not len(run.evidence):
        return first
    return await _escalated(run, deps, decision.parts) or first


@dataclass(slots=True)
class _Seed:
    """The search for the question itself. Its hits are evidence only once the guard has let the question pass."""

    run: Run
    deps: Deps
    hits: Sequence[Hit] = ()
    _nearest: float | None = None
    _done: anyio.Event = field(default_factory=anyio.Event)

    async def search(self) -> None:
        found = await look_up(self.deps.store, self.deps.embedder, self.run.question, k=SECTIONS, filters=self.run.filters)
        self.hits, self._nearest = found.hits, found.nearest
        self._done.set()

    async def nearest(self) -> float | None:
        """The question's distance to the nearest section, once it is known."""
        await self._done.wait()
        return self._nearest


async def _checked(run: Run, question: Question, deps: Deps, seed: _Seed) -> GuardVerdict:
    if not question.guarded or not deps.settings.guard:
        return GuardVerdict(allowed=True)
    run.trace("checking the question and searching the documentation")
    return await guard(question.text, deps, run.corpus, run.filters, seed.nearest)


async def _escalated(run: Run, deps: Deps, parts: tuple[str, ...]) -> Answer | None:
    """The answer from more evidence, once; None where a deeper search finds nothing more."""
    run.trace("no sources yet, searching more thoroughly")
    new = await search(run, deps, run.question, _THOROUGH) + await search_parts(run, deps, parts)
    if not new:
        return None
    _found(run)
    run.draft = replace(run.draft, escalated=True)
    return await ground(run, deps, run.draft)


def _found(run: Run) -> None:
    pages = len({hit.section.url for _, hit in run.evidence})
    run.trace(f"found {len(run.evidence)} sections on {pages} pages")


async def _finish(run: Run, deps: Deps, result: Answer) -> Answer:
    read = tuple(dict.fromkeys(hit.section.url for _, hit in run.evidence))
    cited = tuple(dict.fromkeys(citation.url for citation in result.citations))
    run.emit(SourcesEvent(read, cited))
    run.emit(AnswerEvent(result))
    run.emit(DoneEvent(result.usage.tool_calls, result.usage.seconds))
    if deps.settings.query_log:
        masked = Redactor(deps.settings.secrets)
        warnings = [masked(warning) for warning in result.warnings]
        entry = LoggedQuery(masked(run.question), result, run.filters.libraries, read, cited, warnings)
        left = run.budget.max_seconds + _BEYOND_SECONDS - (deps.clock() - run.started)
        try:
            with anyio.move_on_after(min(_LOG_SECONDS, max(left, _LOG_LEAST_SECONDS)), shield=True) as limited:
                await deps.store.log_query(entry, keep_days=deps.settings.query_log_days)
        except DatabaseError as error:
            _log.warning("the question could not be logged: %s", error)
        else:
            if limited.cancelled_caught:
                _log.warning("the question could not be logged in time")
    return result
