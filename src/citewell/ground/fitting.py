"""How much context a request has room for, and the same request with less. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from citewell.ground.context import NO_CONTEXT, Context, build_context
from citewell.ground.evidence import Evidence
from citewell.ground.prompts import answer_messages
from citewell.llm.base import ChatRequest, Message
from citewell.llm.tokens import estimate_input
from citewell.profile import Profile

_OUTPUT_SHARE = 4  # a quarter of a window is enough for an answer


def output_for(window: int | None, most: int) -> int:
    """The tokens that a model may write: `most`, but no more than a quarter of its window."""
    return most if window is None else min(most, max(window, 0) // _OUTPUT_SHARE)


def room_for(bare: ChatRequest, *, left: int, window: int | None) -> int:
    """The tokens that the context of a request may have, given the request with `NO_CONTEXT`; never below 0.

    `left` is what the account still allows, `window` what the model reads and writes, None where that is not known.
    """
    most = left if window is None else min(left, window)
    return max(0, most - bare.max_output - estimate_input(bare))


def shortener(
    question: str,
    evidence: Evidence,
    profile: Profile,
    *,
    structured: bool,
    whole: Collection[int] = (),
    told: Callable[[Context], object] | None = None,
) -> Callable[[ChatRequest, int | None], ChatRequest | None]:
    """What `Ask.shorten` takes: makes of a request with `answer_messages` of these, which a model found too long, one with less context.

    It gets a request and the model's window, None where that is not known. It keeps the rules, the question, the best sections and every
    later turn, and leaves at least a quarter of the window to the answer or what the request asked for. It returns None where not a single
    section would fit. `told` is given each context that it makes, with what that leaves out.
    """

    def asking(context: Context) -> tuple[Message, ...]:
        return answer_messages(question, context, profile, structured=structured)

    def shorten(request: ChatRequest, window: int | None) -> ChatRequest | None:
        output = output_for(window, request.max_output)
        bare = replace(request, messages=(*asking(NO_CONTEXT), *request.messages[2:]), max_output=output)
        context = build_context(evidence, room=_less_than(request, window, output) - estimate_input(bare), whole=whole)
        if not context.numbers:
            return None
        if told is not None:
            told(context)
        return replace(bare, messages=(*asking(context), *request.messages[2:]))

    return shorten


def _less_than(request: ChatRequest, window: int | None, output: int) -> int:
    """The tokens that the input may have: what the window leaves, but half of what it had where that is no less."""
    asked = estimate_input(request)
    return asked // 2 if window is None or window - output >= asked else window - output
