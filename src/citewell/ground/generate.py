"""A model's answer from the evidence: asked once, read, checked, and asked again at most once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import anyio.to_thread

from citewell.ground import markers
from citewell.ground.checks import check_code
from citewell.ground.context import NO_CONTEXT, Context, build_context
from citewell.ground.evidence import Evidence
from citewell.ground.excerpt import excerpt
from citewell.ground.fitting import output_for, room_for, shortener
from citewell.ground.harmless import harmless
from citewell.ground.neutral import restored
from citewell.ground.prompts import PROMPT_VERSION, answer_messages, repair_messages
from citewell.ground.run import Deps, Run
from citewell.llm.base import ChatRequest, Content, Delta, Message, ModelRef
from citewell.llm.dispatch import Ask, Dispatch, Listener, Shorten
from citewell.llm.draft import Unwrapper
from citewell.llm.ledger import Ledger
from citewell.llm.outcomes import Cut, LimitReached, NoModel, Reply
from citewell.llm.structured import ANSWER_SCHEMA, CitationWish, StructuredAnswer, parse_answer
from citewell.types import DraftEvent, Reason, ThinkingEvent

MAX_OUTPUT = 2048
MOST_ANSWER = 24_000  # characters of an answer that are read; so many tokens have fewer
_MOST_SYMBOLS = 200

End = Literal["whole", "length", "cut"]


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote, the numbers of the sections that it was shown, and how its reply ended: whole, at the limit of its length, or
    broken off."""

    answer: StructuredAnswer
    shown: tuple[int, ...]
    end: End = "whole"


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Why no model wrote anything, for the person who asked."""

    reason: Reason
    message: str


async def generate(run: Run, deps: Deps, dispatch: Dispatch) -> Written | Unwritten:
    """The answer of whichever model gives one, within the question's ledger; with at most one repair. Raises bugs only."""
    assert run.ledger is not None
    chosen = await dispatch.next_model(seconds=run.ledger.seconds_left)
    if chosen is None:
        return Unwritten("provider", "No model could answer.")
    task = _Task(run, deps, dispatch, run.ledger)
    request = task.request(chosen[1].window)
    if not task.context.numbers:
        return Unwritten("budget", "What may be spent on this question has no room for a section of the documentation.")
    run.trace(f"writing the answer with {chosen[0]}")
    reading = await task.read(request)
    if not isinstance(reading, _Reading):
        return reading
    faults = await task.faults(reading)
    if faults and reading.end == "whole":
        reading, faults = await task.repaired(request, reading, faults)
    run.warnings += task.context.warnings
    if reading.answer is None:
        return Unwritten("provider", "The model gave no usable answer.")
    run.warnings += faults
    return Written(reading.answer, task.context.numbers, reading.end)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reply as it was read: the answer, or what is wrong with it; `raw` is what the model said."""

    raw: str
    answer: StructuredAnswer | None
    fault: str = ""
    end: End = "whole"


@dataclass(slots=True)
class _Task:
    """One answer being written. `context` is what the model was shown last."""

    run: Run
    deps: Deps
    dispatch: Dispatch
    ledger: Ledger
    context: Context = NO_CONTEXT

    def request(self, window: int | None) -> ChatRequest:
        """The question with as much of the evidence as there is room for, if it can be with as much room left for a repair."""
        left = self.ledger.remaining
        first = self._request(left.tokens // 2 if left.calls > 1 else left.tokens, window)
        return first if self.context.numbers else self._request(left.tokens, window)

    def _request(self, tokens: int, window: int | None) -> ChatRequest:
        output = output_for(window, min(MAX_OUTPUT, tokens // 2))
        bare = ChatRequest(self._messages(NO_CONTEXT), schema=ANSWER_SCHEMA, max_output=output, temperature=0.0)
        self.context = build_context(self.run.evidence, room=room_for(bare, left=tokens, window=window))
        return replace(bare, messages=self._messages(self.context))

    def _messages(self, context: Context) -> tuple[Message, ...]:
        return answer_messages(self.run.question, context, self.deps.profile, structured=True)

    async def read(self, request: ChatRequest) -> _Reading | Unwritten:
        """The reply to a request, as it was read."""
        outcome = await self.dispatch.ask(
            Ask(request, self.ledger, listen=self._listener, shorten=self._shortener(), prompt_version=PROMPT_VERSION)
        )
        if isinstance(outcome, Reply | LimitReached | NoModel):
            self.run.warnings += [f"{trouble.model}: {trouble.message}" for trouble in outcome.troubles]
        if isinstance(outcome, LimitReached):
            return Unwritten("deadline" if outcome.refusal.limit == "seconds" else "budget", outcome.refusal.message)
        if not isinstance(outcome, Reply | Cut):
            return Unwritten("provider", "No model could answer.")
        return await anyio.to_thread.run_sync(_read, outcome, self._known, abandon_on_cancel=True)

    def _known(self, address: str) -> bool:
        """Whether a section that was shown has this address or names it."""
        sections = filter(None, map(self.run.evidence.section, self.context.numbers))
        return bool(address) and any(section.url == address.partition("#")[0] or address in section.text for section in sections)

    def _shortener(self) -> Shorten:
        def told(context: Context) -> None:
            self.context = context

        return shortener(self.run.question, self.run.evidence, self.deps.profile, structured=True, told=told)

    def _listener(self, model: ModelRef) -> Listener:  # noqa: ARG002 - one listener a call, whoever answers it
        draft = Unwrapper()

        def listen(delta: Delta) -> bool:
            if not isinstance(delta, Content):
                self.run.emit(ThinkingEvent(delta.text))
                return False
            piece = draft.feed(delta.text)
            if piece:
                self.run.emit(DraftEvent(piece))
            return bool(piece) and self.run.shows_drafts

        return listen

    async def faults(self, reading: _Reading) -> list[str]:
        """What is wrong with a reply, in words for the model: its form, then its code."""
        faults = [reading.fault] if reading.fault else []
        if reading.answer is None:
            return faults
        named = list(reading.answer.symbols_used)[:_MOST_SYMBOLS]
        known = await self.deps.store.known_symbols([name.lower() for name in named], self.run.filters) if named else set()
        sections = filter(None, map(self.run.evidence.section, self.cited(reading.answer)))
        found = await anyio.to_thread.run_sync(
            partial(
                check_code,
                reading.answer.answer_md,
                symbols_used=named,
                cited_text="\n".join(section.text for section in sections),
                known_symbols=known,
                import_roots=self.deps.profile.answers.import_roots,
            ),
            abandon_on_cancel=True,  # the limit of time holds for the processor too
        )
        return [*faults, *(fault.message for fault in found)]

    def cited(self, answer: StructuredAnswer) -> list[int]:
        """The numbers that an answer's markers name, each once, of sections that were shown."""
        numbers = dict.fromkeys(number for _, _, found in markers.find(answer.answer_md) for number in found)
        return [number for number in numbers if number in self.context.numbers]

    async def repaired(self, request: ChatRequest, first: _Reading, faults: Sequence[str]) -> tuple[_Reading, list[str]]:
        """The second answer with what is still wrong with it, if that is less and it cites no less; else the first."""
        self.run.trace("asking for a repair")
        second = await self.read(replace(request, messages=repair_messages(request.messages, first.raw, faults)))
        if isinstance(second, _Reading) and second.answer is not None:
            left = await self.faults(second)
            cites = first.answer is None or len(self.cited(second.answer)) >= len(self.cited(first.answer))
            if first.answer is None or (len(left) < len(faults) and cites):
                return second, left
        return first, list(faults)


def _read(outcome: Reply | Cut, known: Callable[[str], bool]) -> _Reading:
    result = outcome.result
    end: End = "cut" if isinstance(outcome, Cut) else "length" if result.finish == "length" else "whole"
    parsed = parse_answer(result.content)
    written = parsed.answer_md if isinstance(parsed, StructuredAnswer) else parsed.text
    if len(written) > MOST_ANSWER:
        written, end = excerpt(written, MOST_ANSWER)[0], "length"
    written = harmless(restored(written), known)
    if isinstance(parsed, StructuredAnswer):
        return _Reading(result.content, parsed.model_copy(update={"answer_md": written}), end=end)
    return _Reading(result.content, StructuredAnswer(answer_md=written) if written.strip() else None, parsed.message, end)


def wished_numbers(wishes: Sequence[CitationWish], evidence: Evidence) -> tuple[int, ...]:
    """The sections that a model named by address: that of a page's anchor, or all of a page named without one."""
    places = [_place(wish.url, wish.anchor) for wish in wishes]
    shown = [(number, _place(hit.section.url, hit.section.anchor)) for number, hit in evidence]
    found = [number for url, anchor in places for number, (page, at) in shown if page == url and anchor in ("", at)]
    return tuple(dict.fromkeys(found))


def _place(url: str, anchor: str) -> tuple[str, str]:
    """A page and an anchor in the one form by which two are compared: `url#anchor` in the address, and http for https, are the same."""
    page, _, fragment = url.strip().partition("#")
    page = page.removeprefix("https://").removeprefix("http://").removesuffix("/index.html").rstrip("/")
    return page, (anchor.strip().lstrip("#") or fragment.partition(":~:")[0])
