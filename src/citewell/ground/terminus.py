"""The one maker of an `Answer`: from a draft, a refusal or a failure. Order: write → cite → verify → assemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import anyio
import anyio.to_thread

from citewell.ground.cite import best_span, make_citation
from citewell.ground.claims import ClaimText, split_claims
from citewell.ground.prose import unescaped
from citewell.ground.quote import Quotations, choose, compose
from citewell.ground.referrals import referrals
from citewell.ground.run import Deps, Run
from citewell.ground.verify import verify
from citewell.types import Answer, Citation, Claim, Draft, GuardVerdict, Reason, Section, Status

# Below these, what was found only resembles the question: the answer is that the documentation does not say.
MIN_COVERAGE = 0.4
MIN_CLOSENESS = 0.3

_NOT_FOUND = "The documentation does not answer this."
_GRACE_SECONDS = 0.5  # beyond the limit, within which what was found is still put together
_EMPTY = "Nothing is indexed yet, so there is nothing to answer from. Index a folder of documentation first: `citewell index FOLDER`."
_LATE = "There was no time left to answer."
_REMOVED = "{count} citation marker(s) named no section that was shown and were removed."


async def ground(run: Run, deps: Deps, draft: Draft) -> Answer:
    """The answer to a question whose evidence is gathered. Never raises for what a draft holds."""
    if not len(run.evidence):
        message = _NOT_FOUND if run.corpus.sections else _EMPTY
        return assemble(run, deps, draft, status="not_found", reason="no_sections", answer_md=message)
    if draft.answer_md is None:
        return await _by_quotation(run, deps, draft)
    return await _cited(run, deps, draft, draft.answer_md, status="answered")


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
    draft = Draft("single", "rules")
    with anyio.move_on_after(_GRACE_SECONDS):
        quotations = await choose(run.question, run.evidence, deps.store, None, run.filters)
        if quotations.chosen:
            return await _cited(run, deps, draft, compose(quotations.chosen), status="partial", reason="deadline")
    return assemble(run, deps, draft, status="not_found", reason="deadline", answer_md=_LATE)


def refuse(run: Run, deps: Deps, verdict: GuardVerdict) -> Answer:
    """The answer to a question that the guard stopped: an outcome, not an error, and at no cost."""
    assert not verdict.allowed
    return assemble(run, deps, Draft("none", "none"), status="refused", reason=verdict.reason, answer_md=verdict.message, refer=False)


async def _cited(run: Run, deps: Deps, draft: Draft, body: str, *, status: Status, reason: Reason = "") -> Answer:
    """Checked and cited in a thread: it is work for the processor alone."""
    return await anyio.to_thread.run_sync(partial(_check, run, deps, draft, body, status=status, reason=reason))


def _check(run: Run, deps: Deps, draft: Draft, body: str, *, status: Status, reason: Reason) -> Answer:
    """Resolve every marker to a span, verify every claim, drop what does not stand, number what is left in reading order."""
    resolved = [(claim, *_resolve(claim, run)) for claim in split_claims(body)]
    unknown = sum(len(claim.numbers) for claim, _, _ in resolved) - sum(named for _, _, named in resolved)
    if unknown:
        run.warnings.append(_REMOVED.format(count=unknown))
    numbers: dict[tuple[int, int, int], int] = {}
    citations: list[Citation] = []
    claims: list[Claim] = []
    pieces: list[str] = []
    at = 0
    fell = 0
    for claim, spans, _ in resolved:
        pieces.append(body[at : claim.start])
        at = claim.end
        passage = "\n".join(f"{section.heading_path}\n{section.text}" for section, _, _ in spans)
        verdict = verify(unescaped(claim.text), passage) if spans else None
        if verdict is None or verdict.support == "unsupported":
            fell += 1
            claims.append(
                Claim(claim.text, (), "unsupported", verdict.score if verdict else 0.0, verdict.reason if verdict else "it cites nothing")
            )
            continue
        mine = []
        for section, start, end in spans:
            key = (section.id, start, end)
            if key not in numbers:
                numbers[key] = len(numbers) + 1
                citations.append(make_citation(numbers[key], section, start, end))
            mine.append(numbers[key])
        pieces.append(_marked(claim, mine))
        claims.append(Claim(claim.text, tuple(mine), verdict.support, round(verdict.score, 4), verdict.reason))
    answer_md = _tidy("".join([*pieces, body[at:]]))
    if not citations:
        return assemble(run, deps, draft, status="not_found", reason="unsupported", answer_md=_NOT_FOUND, claims=claims)
    if fell:
        status, reason = "partial", reason or "unsupported"
        run.warnings.append(f"{fell} sentence(s) that the cited text does not support were removed.")
    return assemble(run, deps, draft, status=status, reason=reason, answer_md=answer_md, citations=citations, claims=claims)


def _resolve(claim: ClaimText, run: Run) -> tuple[list[tuple[Section, int, int]], int]:
    """The spans that a claim's markers lead to, and how many of its markers name a section that was shown."""
    spans = []
    named = 0
    for number in claim.numbers:
        section = run.evidence.section(number)
        if section is None:
            continue
        named += 1
        span = best_span(unescaped(claim.text), section.text)
        if span is not None:
            spans.append((section, *span))
    return list(dict.fromkeys(spans)), named


def _marked(claim: ClaimText, numbers: Sequence[int]) -> str:
    tail = "".join(f"[{number}]" for number in numbers)
    if claim.kind == "code":
        return f"{claim.text}\n{tail}"
    if claim.kind == "row" and claim.text.endswith("|"):  # behind the last border a table hides it
        return f"{claim.text[:-1].rstrip()} {tail} |"
    return f"{claim.text} {tail}"


def _tidy(text: str) -> str:
    """No gaps where a claim was taken out."""
    lines = [line.rstrip() for line in text.split("\n")]
    kept: list[str] = []
    for line in lines:
        if line in {"-", "*", ">"} or (not line and kept and not kept[-1]):
            continue
        kept.append(line)
    return "\n".join(kept).strip()


def assemble(
    run: Run,
    deps: Deps,
    draft: Draft,
    *,
    status: Status,
    reason: Reason,
    answer_md: str,
    citations: Sequence[Citation] = (),
    claims: Sequence[Claim] = (),
    refer: bool = True,
) -> Answer:
    """An `Answer` of these parts and of what the run knows. Referrals go with everything that is not a full answer."""
    cited = {citation.section_id for citation in citations}
    sections = [hit.section for _, hit in run.evidence if hit.section.id in cited]
    return Answer(
        status=status,
        reason=reason,
        question=run.question,
        answer_md=answer_md,
        budget=run.budget,
        usage=replace(run.usage, seconds=round(deps.clock() - run.started, 3)),
        citations=tuple(citations),
        claims=tuple(claims),
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
