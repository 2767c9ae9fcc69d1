"""The room of a context, and the request that a model found too long made shorter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ground.context import NO_CONTEXT, Context, build_context
from citewell.ground.evidence import Evidence
from citewell.ground.fitting import output_for, room_for, shortener
from citewell.ground.prompts import answer_messages, repair_messages
from citewell.llm.base import ChatRequest
from citewell.llm.structured import ANSWER_SCHEMA
from citewell.llm.tokens import estimate_input
from citewell.profile import Profile
from tests.unit.ground.shown import HOSTILE, evidence, read_back

PROFILE = Profile()
QUESTION = "How often does the widget spin?"
PARAGRAPH = "The widget spins three times and stops by itself, as it says in the manual.\n\n"


def request(context: Context, *, question: str = QUESTION, max_output: int = 500) -> ChatRequest:
    return ChatRequest(answer_messages(question, context, PROFILE, structured=True), schema=ANSWER_SCHEMA, max_output=max_output)


def shorten(ledger: Evidence, question: str = QUESTION, **more: Any) -> Callable[[ChatRequest, int | None], ChatRequest | None]:
    return shortener(question, ledger, PROFILE, structured=True, **more)


def full(ledger: Evidence) -> ChatRequest:
    return request(build_context(ledger, room=100_000))


class TestRoom:
    @given(
        st.lists(HOSTILE.map(lambda text: text * 20), max_size=5),
        HOSTILE,
        st.integers(0, 8000),
        st.none() | st.integers(0, 8000),
        st.integers(1, 900),
    )
    def test_what_fills_it_fits_into_the_account_and_the_window(
        self, texts: list[str], question: str, left: int, window: int | None, max_output: int
    ) -> None:
        bare = request(NO_CONTEXT, question=question, max_output=max_output)
        room = room_for(bare, left=left, window=window)
        whole = request(build_context(evidence(*texts), room=room), question=question, max_output=max_output)
        if room:
            assert estimate_input(whole) + max_output <= min(left, left if window is None else window)
        else:
            assert whole == bare

    def test_the_schema_and_the_answer_have_their_share(self) -> None:
        bare = request(NO_CONTEXT, max_output=700)
        assert room_for(bare, left=60_000, window=None) == 60_000 - 700 - estimate_input(bare)
        assert room_for(bare, left=60_000, window=8192) == 8192 - 700 - estimate_input(bare)

    @pytest.mark.parametrize(("window", "tokens"), [(None, 2048), (128_000, 2048), (4096, 1024), (0, 0), (-5, 0)])
    def test_an_answer_takes_at_most_a_quarter_of_the_window(self, window: int | None, tokens: int) -> None:
        assert output_for(window, 2048) == tokens


class TestShorten:
    LEDGER = evidence(*(f"Section {n}. " + PARAGRAPH * 20 for n in range(1, 9)))

    @pytest.mark.parametrize("window", [None, 2500, 3000, 4096, 8192, 100_000])
    def test_it_fits_and_keeps_the_question_and_the_best_sections(self, window: int | None) -> None:
        long = full(self.LEDGER)
        short = shorten(self.LEDGER)(long, window)
        assert short is not None
        assert estimate_input(short) < estimate_input(long)
        assert estimate_input(short) + short.max_output <= (window or estimate_input(long))
        sections, around = read_back(short.messages[1].content)
        numbers = [read.number for read in sections]
        assert numbers == list(range(1, len(numbers) + 1))
        assert f"<user-question>\n{QUESTION}\n</user-question>" in around
        assert "left out" in around
        assert short.messages[0] == long.messages[0]
        assert short.schema == long.schema

    def test_without_a_window_it_is_half(self) -> None:
        long = full(self.LEDGER)
        short = shorten(self.LEDGER)(long, None)
        assert short is not None
        assert 0.4 * estimate_input(long) < estimate_input(short) <= 0.5 * estimate_input(long)
        assert short.max_output == long.max_output

    def test_a_window_that_should_have_been_enough_is_not_believed(self) -> None:
        long = full(self.LEDGER)
        short = shorten(self.LEDGER)(long, 1_000_000)
        assert short is not None
        assert estimate_input(short) <= 0.5 * estimate_input(long)

    def test_a_repair_keeps_its_turns(self) -> None:
        first = full(self.LEDGER)
        again = ChatRequest(repair_messages(first.messages, "It spons.", ["`spon` is in no section."]), schema=ANSWER_SCHEMA)
        short = shorten(self.LEDGER)(again, 4096)
        assert short is not None
        assert short.messages[2:] == again.messages[2:]
        assert len(short.messages[1].content) < len(again.messages[1].content)

    def test_whoever_asks_is_told_what_was_left_out(self) -> None:
        told: list[Context] = []
        short = shorten(self.LEDGER, told=told.append)(full(self.LEDGER), 4096)
        assert short is not None
        (context,) = told
        assert context.left_out
        assert short == request(context)
        assert "did not fit" in context.warnings[-1]

    @pytest.mark.parametrize("window", [-1, 0, 100, 1200])
    def test_where_no_section_fits_there_is_none(self, window: int) -> None:
        told: list[Context] = []
        assert shorten(self.LEDGER, told=told.append)(full(self.LEDGER), window) is None
        assert told == []

    def test_what_was_asked_for_by_name_is_kept_first(self) -> None:
        short = shorten(self.LEDGER, whole={7})(full(self.LEDGER), 2500)
        assert short is not None
        sections = {read.number: read for read in read_back(short.messages[1].content)[0]}
        assert set(sections) == {1, 7}
        assert sections[7].hidden == 0 < sections[1].hidden
