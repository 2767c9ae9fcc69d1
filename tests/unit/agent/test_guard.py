"""The guard: three checks in order, a threshold the corpus draws itself, and open doors when nothing can be measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.guard import DEFAULT_DISTANCE, bundled_off_topic, calibrated, guard
from citewell.errors import DatabaseError
from citewell.ground.run import Deps
from citewell.index.embed import Embedder
from citewell.index.store import CorpusInfo, Store
from citewell.profile import GuardTable, Profile
from citewell.settings import Settings
from citewell.types import Filters

pytestmark = pytest.mark.anyio


class Nearby:
    """A store that knows one distance and some symbols; counts what it was asked."""

    def __init__(self, distance: float | Exception | None, symbols: frozenset[str] = frozenset()) -> None:
        self.distance, self.symbols, self.asked = distance, symbols, 0

    async def nearest_distance(self, _vector: str, *, filters: Filters) -> float | None:
        self.asked += 1
        if isinstance(self.distance, Exception):
            raise self.distance
        return self.distance

    async def known_symbols(self, symbols: list[str], _filters: Filters) -> set[str]:
        return self.symbols & set(symbols)


class Constant:
    async def embed_query(self, _text: str) -> str:
        return "[1]"


async def verdict(
    question: str, store: Nearby, *, corpus: float | None = 0.6, profile: Profile | None = None, **settings: Any
) -> tuple[bool, str]:
    deps = Deps(cast(Store, store), cast(Embedder, Constant()), profile or Profile(), Settings(home=Path(), **settings))
    found = await guard(question, deps, CorpusInfo(1, "", 1, corpus))
    assert found.allowed == (found.message == "") == (found.reason == "")
    return found.allowed, found.reason


@pytest.mark.parametrize(("distance", "allowed"), [(0.3, True), (0.6, True), (0.6001, False), (None, True)])
async def test_the_threshold_itself_passes_and_an_empty_index_lets_all_pass(distance: float | None, allowed: bool) -> None:
    assert await verdict("How do I spin the widget?", Nearby(distance)) == (allowed, "" if allowed else "off_topic")


async def test_the_first_check_that_fails_decides_and_nothing_is_measured() -> None:
    store = Nearby(2.0)
    assert await verdict("Wie stelle ich das ein? " * 100, store) == (False, "too_long")
    assert await verdict("Wie stelle ich die Wartezeit ein?", store) == (False, "not_english")
    assert store.asked == 0
    assert await verdict("How do I set it?", store) == (False, "off_topic")


async def test_a_documented_symbol_passes_however_far_the_question_lies() -> None:
    assert await verdict("nn.Linear?!", Nearby(2.0, frozenset({"nn.linear"}))) == (True, "")
    assert await verdict("nn.Lasagne?!", Nearby(2.0, frozenset({"nn.linear"}))) == (False, "off_topic")


async def test_what_cannot_be_measured_passes(caplog: pytest.LogCaptureFixture) -> None:
    assert await verdict("How do I set it?", Nearby(DatabaseError("gone"))) == (True, "")
    assert "could not be measured" in caplog.text


async def test_the_nearest_setting_of_the_threshold_counts() -> None:
    profile = Profile(guard=GuardTable(max_distance=0.9))
    assert await verdict("How do I set it?", Nearby(0.8), corpus=0.6, profile=profile) == (True, "")
    assert await verdict("How do I set it?", Nearby(0.8), corpus=0.6, profile=profile, topicality_max_distance=0.7) == (False, "off_topic")
    assert await verdict("How do I set it?", Nearby(DEFAULT_DISTANCE), corpus=None) == (True, "")


async def test_a_profile_may_speak_other_languages() -> None:
    assert await verdict("Wie stelle ich die Wartezeit ein?", Nearby(0.1), profile=Profile(languages=("en", "de"))) == (True, "")


async def test_length_counts_characters_up_to_the_limit() -> None:
    assert await verdict("x" * 2000, Nearby(0.1)) == (True, "")
    assert await verdict("x" * 2001, Nearby(0.1)) == (False, "too_long")
    assert await verdict("🙂" * 11, Nearby(0.1), max_question_chars=10) == (False, "too_long")


def test_the_line_is_drawn_between_two_clear_groups() -> None:
    found = calibrated([0.1 + n / 100 for n in range(30)], [0.7 + n / 100 for n in range(30)])
    assert 0.39 < found.threshold < 0.7
    assert found.overlap == 0


def test_refusing_what_belongs_here_weighs_more_than_letting_the_rest_pass() -> None:
    near = [0.3] * 90 + [0.65] * 10
    far = [0.6] * 20 + [0.8] * 80
    assert calibrated(near, far).threshold >= 0.65


def test_too_few_phrases_give_the_default() -> None:
    assert calibrated([0.1] * 5, [0.9] * 100).threshold == DEFAULT_DISTANCE
    assert calibrated([0.1] * 50, []).threshold == DEFAULT_DISTANCE


DISTANCES = st.lists(st.floats(0, 2), min_size=1, max_size=60)


@given(DISTANCES, DISTANCES)
def test_no_other_line_is_better(near: list[float], far: list[float]) -> None:
    found = calibrated(near, far, fewest=1)

    def badness(line: float) -> float:
        return 3 * sum(d > line for d in near) / len(near) + sum(d <= line for d in far) / len(far)

    assert 0 <= found.threshold <= 2
    assert badness(found.threshold) == min(map(badness, (*near, *far)))
    assert list(found.on_topic) == sorted(near)


def test_the_bundled_list_is_a_list_of_phrases() -> None:
    phrases = bundled_off_topic()
    assert len(phrases) == len(set(phrases)) > 150
    assert not any(phrase.startswith("#") for phrase in phrases)
