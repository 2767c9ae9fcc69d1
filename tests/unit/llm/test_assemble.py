"""Replies put together from pieces."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.llm.assemble import Assembly, clean, count_of, parse_arguments
from citewell.llm.base import Content, ModelRef, ProviderFault, Thinking

MODEL = ModelRef("p", "m")
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=2) | st.just({"a": 1})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3),
)
OBJECTS = st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES, max_size=4)


@given(st.lists(OBJECTS, min_size=1, max_size=5), st.lists(st.integers(1, 6), min_size=1, max_size=5), st.randoms())
def test_calls_interleaved_in_pieces_of_any_size(objects: list[dict[str, object]], sizes: list[int], random: object) -> None:
    assembly = Assembly(MODEL)
    texts = [json.dumps(value) for value in objects]
    for index in range(len(texts)):
        assembly.call(index=index, name=f"tool{index}")
    while any(texts):
        for index, text in enumerate(texts):
            size = sizes[index % len(sizes)]
            assembly.call(index=index, arguments=text[:size])
            texts[index] = text[size:]
    calls = assembly.result().tool_calls
    assert [call.arguments for call in calls] == objects
    assert len({call.id for call in calls}) == len(objects)


@given(st.lists(st.tuples(ANYTHING, ANYTHING, ANYTHING, ANYTHING), min_size=1, max_size=20))
def test_pieces_of_any_kind_make_a_sound_result(pieces: list[tuple[object, object, object, object]]) -> None:
    assembly = Assembly(MODEL, earlier=frozenset({"call-1"}))
    for index, call_id, name, arguments in pieces:
        assembly.call(index=index, call_id=call_id, name=name, arguments=arguments)
    calls = assembly.result().tool_calls
    assert 0 < len(calls) <= len(pieces)
    assert len({call.id for call in calls}) == len(calls)
    for call in calls:
        assert call.id
        assert call.name or call.parse_error
        assert not (call.parse_error and call.arguments)
        json.dumps(call.arguments, ensure_ascii=False).encode()
        call.raw.encode()


@given(st.lists(ANYTHING, max_size=8))
def test_what_is_passed_on_is_what_the_result_holds(values: list[object]) -> None:
    assembly = Assembly(MODEL)
    said = [piece.text for value in values for piece in assembly.say(value)]
    thought = [piece.text for value in values for piece in assembly.think(value)]
    assembly.say("end")
    result = assembly.result()
    assert (result.content, result.thinking) == ("".join(said) + "end", "".join(thought))
    result.content.encode()


def test_pieces_are_told_apart() -> None:
    assembly = Assembly(MODEL)
    assert assembly.think("hm") + assembly.say("ok") + assembly.say("") + assembly.say(None) == [Thinking("hm"), Content("ok")]


@pytest.mark.parametrize("raw", ["", "  ", "{}", '""', '"{}"', '" "'])
def test_nothing_is_an_empty_object(raw: str) -> None:
    assert parse_arguments(raw) == ({}, "")


@pytest.mark.parametrize(
    "raw", ["[" * 100_000, '{"a":' * 100_000, '{"a": Infinity}', "{'a': 1}", '{"a": 1}{"b": 2}', "9" * 5000, '"\\"x\\""']
)
def test_what_is_no_object_is_an_error_in_words(raw: str) -> None:
    arguments, error = parse_arguments(raw)
    assert arguments == {}
    assert 0 < len(error) < 200


def test_halves_of_characters_do_not_get_through() -> None:
    assert parse_arguments('{"a\\ud800": "\\udfff \\ud83e\\udd94"}') == ({"a\ufffd": "\ufffd 🦔"}, "")
    assert clean("a\ud83d\ude00") == "a😀"


@given(ANYTHING)
def test_a_count_is_a_sane_number(value: object) -> None:
    assert 0 <= count_of(value) <= 10**9


def test_more_calls_than_anybody_makes_are_refused() -> None:
    assembly = Assembly(MODEL)
    for index in range(128):
        assembly.call(index=index, name="x")
    with pytest.raises(ProviderFault, match="more than 128 tools"):
        assembly.call(index=128, name="x")


def test_a_call_in_very_many_pieces_takes_no_longer_than_they_are_long() -> None:
    assembly = Assembly(MODEL)
    started = time.perf_counter()
    for _ in range(200_000):
        assembly.call(call_id="a", name="x", arguments=" ")
    assembly.call(call_id="a", arguments="{}")
    assert assembly.result().tool_calls[-1].arguments == {}
    assert time.perf_counter() - started < 10


def test_made_ids_are_new_in_the_reply_and_in_the_conversation() -> None:
    assembly = Assembly(MODEL, earlier=frozenset({"call-1"}))
    for index, call_id in enumerate(["", "call-2", "call-2", ""]):
        assembly.call(index=index, call_id=call_id, name="x")
    assert [call.id for call in assembly.result().tool_calls] == ["call-3", "call-2", "call-4", "call-5"]
