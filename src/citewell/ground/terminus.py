"""The one maker of an `Answer`: from a draft, a refusal or a failure. Order: write → cite → verify → assemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import anyio
import anyio.to_thread

from citewell.ground.generate import End, Written, generate, wished_numbers
from citewell.ground.quote import Quotations, choose, compose
from citewell.ground.referrals import referrals
from citewell.ground.run import Deps, Run
from citewell.ground.settle import Settled, settle
from citewell.llm.dispatch import Dispatch
from citewell.types import Answer, Claim, Draft, GuardVerdict, Reason, Section, Status

# Below these, what was found only resembles the question: the answer is that the documentation does not say.
MIN_COVERAGE = 0.4
MIN_CLOSENESS = 0.3

_NOT_FOUND = "The documentation does not answer this."
_GRACE_SECONDS = 0.5  # beyond the limit, within which what was found is still put together
_EMPTY = "Nothing is indexed yet, so there is nothing to answer from. Index a folder of documentation first: `citewell index FOLDER`."
_QUOTED = "What the documentation says nearest to the question:"
_LATE = "There was no time left to answer."
_REMOVED = "{count} citation marker(s) named no section that was shown and were removed."


async def ground(run: Run, deps: Deps, draft: Draft) -> Answer:
    """The answer to a question whose evidence is gathered. Never raises for what a draft holds."""
    if not len(run.evidence):
        message = _NOT_FOUND if run.corpus.sections else _EMPTY
        return assemble(run, deps, draft, status="not_found", reason="no_sections", answer_md=message)
    if draft.answer_md is not None:
        return await _cited(run, deps, draft, draft.answer_md, status="answered")
    if run.dispatch is None:
        return await _by_quotation(run, deps, draft)
    return await _by_model(run, deps, draft, run.dispatch)


async def _by_model(run: Run, deps: Deps, draft: Draft, dispatch: Dispatch) -> Answer:
    """What a model writes, checked and cited. Where none could write, the evidence is quoted all the same."""
    written = await generate(run, deps, dispatch)
    if isinstance(written, Written):
        status, reason = _ends(written.end)
        return await _cited(run, deps, draft, written.answer.answer_md, status=status, reason=reason, written=written)
    answer = await _by_quotation(run, deps, replace(draft, protocol="rules"))
    note = f"{written.message}\n\n" + (f"{_QUOTED}\n\n" if answer.citations else "")
    status = "failed" if written.reason == "provider" else "partial" if answer.citations else "not_found"
    found = referrals(run.question, deps.profile)
    return replace(answer, status=status, reason=written.reason, answer_md=note + answer.answer_md, referrals=tuple(found))


def _ends(end: End) -> tuple[Status, Reason]:
    """What it means for the answer how the model's reply ended."""
    if end == "whole":
        return "answered", ""
    return "partial", "budget" if end == "length" else "provider"


async def _by_quotation(run: Run, deps: Deps, draft: Draft) -> Answer:
    run.trace("choosing quotations")
    quotations = await choose(run.question, run.evidence, deps.store, deps.embedder, run.filters)
    if not quotations.chosen or _only_resembles(quotations):
        return assemble(run, deps, draft, status="not_found", reason="unsupported", answer_md=_NOT_FOUND)
    body = compose(quotations.chosen)
    if quotations.unknown:
        names = ", ".join(f"`{name}`" for name in quotations.unknown)
        answer = await _cited(run, deps, draft, body, status="partial", reason="unsupported")
        note = f"The documentation does not mention {names}. The nearest it has:\n\n"
        return replace(answer, answer_md=note + answer.answer_md) if answer.citations else answer
    return await _cited(run, deps, draft, body, status="answered")


def _only_resembles(quotations: Quotations) -> bool:
    return quotations.coverage < MIN_COVERAGE and quotations.closeness < MIN_CLOSENESS


async def late(run: Run, deps: Deps) -> Answer:
    """The answer to a question whose time ran out: what was found so far, quoted by words alone, which takes milliseconds."""
    draft = replace(run.draft, protocol="rules")
    with anyio.move_on_after(_GRACE_SECONDS):
        quotations = await choose(run.question, run.evidence, deps.store, None, run.filters)
        if quotations.chosen:
            return await _cited(run, deps, draft, compose(quotations.chosen), status="partial", reason="deadline")
    return assemble(run, deps, draft, status="not_found", reason="deadline", answer_md=_LATE)


def refuse(run: Run, deps: Deps, verdict: GuardVerdict) -> Answer:
    """The answer to a question that the guard stopped: an outcome, not an error, and at no cost."""
    assert not verdict.allowed
    return assemble(run, deps, Draft("none", "none"), status="refused", reason=verdict.reason, answer_md=verdict.message, refer=False)


async def _cited(
    run: Run, deps: Deps, draft: Draft, body: str, *, status: Status, reason: Reason = "", written: Written | None = None
) -> Answer:
    """Checked and cited in a thread: it is work for the processor alone. `written` is what a model wrote besides the text."""
    shown = written.shown if written else tuple(number for number, _ in run.evidence)
    wished = wished_numbers(written.answer.citations, run.evidence) if written else ()
    settled = await anyio.to_thread.run_sync(settle, body, run.evidence, shown, wished, abandon_on_cancel=True)
    if settled.unknown:
        run.warnings.append(_REMOVED.format(count=settled.unknown))
    if not settled.citations:
        return assemble(run, deps, draft, status="not_found", reason="unsupported", answer_md=_NOT_FOUND, claims=settled.claims)
    if settled.fell:
        status, reason = "partial", reason or "unsupported"
        run.warnings.append(f"{settled.fell} sentence(s) that the cited text does not support were removed.")
    symbols = [name for name in written.answer.symbols_used if name in settled.answer_md] if written else []
    made = assemble(run, deps, draft, status=status, reason=reason, answer_md=settled.answer_md, settled=settled)
    return replace(made, symbols_used=tuple(dict.fromkeys(symbols)))


def assemble(
    run: Run,
    deps: Deps,
    draft: Draft,
    *,
    status: Status,
    reason: Reason,
    answer_md: str,
    settled: Settled | None = None,
    claims: Sequence[Claim] = (),
    refer: bool = True,
) -> Answer:
    """An `Answer` of these parts and of what the run knows. Referrals go with everything that is not a full answer."""
    citations = settled.citations if settled else ()
    cited = {citation.section_id for citation in citations}
    sections = [hit.section for _, hit in run.evidence if hit.section.id in cited]
    return Answer(
        status=status,
        reason=reason,
        question=run.question,
        answer_md=answer_md,
        budget=run.budget,
        usage=replace(run.spent(), seconds=round(deps.clock() - run.started, 3)),
        citations=citations,
        claims=settled.claims if settled else tuple(claims),
        referrals=tuple(referrals(run.question, deps.profile)) if refer and status != "answered" else (),
        docs_version=_version(sections) or deps.profile.version,
        route=draft.route,
        protocol=draft.protocol,
        escalated=draft.escalated,
        warnings=tuple(run.warnings),
        index_version=run.corpus.index_version,
        crawled_at=_oldest(sections),
        trace_id=run.trace_id,
    )


def _version(sections: Sequence[Section]) -> str:
    return ", ".join(dict.fromkeys(section.version for section in sections if section.version))


def _oldest(sections: Sequence[Section]) -> datetime | None:
    return min((section.fetched_at for section in sections), default=None)
