"""One question, one pass: guard → driver → ground."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

import anyio

from citewell.agent.guard import guard
from citewell.agent.single import single
from citewell.ground.run import Deps, Run, Sink
from citewell.ground.terminus import ground, late, refuse
from citewell.types import Answer, AnswerEvent, Budget, DoneEvent, Filters, RouteEvent, SourcesEvent


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the limits and the filters it runs under."""

    text: str
    budget: Budget
    filters: Filters = field(default_factory=Filters)
    guarded: bool = True


async def answer(question: Question, deps: Deps, sink: Sink | None = None) -> Answer:
    """The answer, whatever happens: refusals, empty hands and a lack of time are answers too. Raises `DatabaseError` when the store
    fails."""
    started = deps.clock()
    corpus = await deps.store.corpus()
    run = Run(question.text, question.budget, corpus, started, uuid.uuid4().hex, question.filters, sink=sink)
    with anyio.move_on_after(question.budget.max_seconds):
        return _finish(run, await _answer(run, question, deps))
    return _finish(run, await late(run, deps))


async def _answer(run: Run, question: Question, deps: Deps) -> Answer:
    if question.guarded and deps.settings.guard:
        run.trace("checking the question")
        verdict = await guard(question.text, deps, run.corpus, run.filters)
        if not verdict.allowed:
            return refuse(run, deps, verdict)
    run.emit(RouteEvent("single", "rules"))
    return await ground(run, deps, await single(run, deps))


def _finish(run: Run, result: Answer) -> Answer:
    read = tuple(dict.fromkeys(hit.section.url for _, hit in run.evidence))
    cited = tuple(dict.fromkeys(citation.url for citation in result.citations))
    run.emit(SourcesEvent(read, cited))
    run.emit(AnswerEvent(result))
    run.emit(DoneEvent(result.usage.tool_calls, result.usage.seconds))
    return result
