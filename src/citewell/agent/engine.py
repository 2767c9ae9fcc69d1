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
    """The answer, whatever happens: refusals and empty hands are answers too. Raises `DatabaseError` when the store fails."""
    corpus = await deps.store.corpus()
    run = Run(question.text, question.budget, corpus, deps.clock(), uuid.uuid4().hex, question.filters, sink=sink)
    if question.guarded and deps.settings.guard:
        run.trace("checking the question")
        verdict = await guard(question.text, deps, corpus)
        if not verdict.allowed:
            return _finish(run, refuse(run, deps, verdict))
    run.emit(RouteEvent("single", "rules"))
    with anyio.move_on_after(question.budget.max_seconds):
        return _finish(run, await ground(run, deps, await single(run, deps)))
    return _finish(run, late(run, deps))


def _finish(run: Run, result: Answer) -> Answer:
    read = tuple(dict.fromkeys(hit.section.url for _, hit in run.evidence))
    cited = tuple(dict.fromkeys(citation.url for citation in result.citations))
    run.emit(SourcesEvent(read, cited))
    run.emit(AnswerEvent(result))
    run.emit(DoneEvent(result.usage.tool_calls, result.usage.seconds))
    return result
