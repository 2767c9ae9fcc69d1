"""Whatever a model writes: an answer, a fault, never a crash, and never a thought in what is shown."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citewell.llm.objects import object_of, objects_in, said_in
from citewell.llm.structured import ANSWER_SCHEMA, SchemaFault, StructuredAnswer, parse_answer

ANSWER = {"answer_md": "Use `dump`. [1]", "symbols_used": ["dump"], "docs_version": "2.1"}
WRITTEN = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "reply",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"~~~\n{WRITTEN}\n~~~",
        f"Here is the answer:\n\n{WRITTEN}\n\nI hope that helps {{really}}.",
        f"<think>{{maybe}}</think>{WRITTEN}",
        f'<think>{{"answer_md": "no"}}</think>\n\n{WRITTEN}',
        f"<THINKING>a<think>b</think>c</THINKING>{WRITTEN}",
        f"<think>the tag <think> opens</think>{WRITTEN}",
        f'the prompt began the thought {{"answer_md": "no"}}</think>{WRITTEN}',
        f"<think>it never ends, but: {WRITTEN}",
        f'{{"note": "first"}}\n{WRITTEN}',
        f"{WRITTEN}\n{WRITTEN}",
        f"[{WRITTEN}]",
        json.dumps(WRITTEN),
        WRITTEN.replace("}", ",}").replace('["dump"]', '["dump", ]'),
        json.dumps({"name": "submit_answer", "arguments": WRITTEN}),
        json.dumps({"name": "submit_answer", "parameters": ANSWER}),
        '{"answer_md": "Use `dump`. [1]", "symbols_used": "dump", "docs_version": 2.1, "citations": null, "referrals": [{"url": 1}, "x"]}',
        '{"answer_md": "Use `dump`. [1]", "symbols_used": [null, "dump", {}], "docs_version": "2.1", "answer_md": "no"}',
    ],
)
def test_an_answer_is_read_in_every_wrapping(reply: str) -> None:
    answer = parse_answer(reply)
    assert isinstance(answer, StructuredAnswer), answer
    assert (answer.answer_md, answer.symbols_used, answer.docs_version) == ("Use `dump`. [1]", ("dump",), "2.1")
    assert not answer.referrals
    assert not answer.citations


@pytest.mark.parametrize(
    ("reply", "markdown"),
    [
        ("Use `dump`. [1]", "Use `dump`. [1]"),
        ("```markdown\nUse `dump`. [1]\n\n```python\ndump()\n```\n```", "Use `dump`. [1]\n\n```python\ndump()\n```"),
        ("<think>hm</think>\nUse it. [1, 2]", "Use it. [1, 2]"),
        ("Wrap it in `<think>` tags. [1]", "Wrap it in `<think>` tags. [1]"),
        ('```json\n{"a": 1}\n```\nThis is the form. [3]', '```json\n{"a": 1}\n```\nThis is the form. [3]'),
        ('Write {"a": 1} there. [1]', 'Write {"a": 1} there. [1]'),
    ],
)
def test_markdown_with_markers_is_an_answer(reply: str, markdown: str) -> None:
    assert parse_answer(reply) == StructuredAnswer(answer_md=markdown)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("", "empty"),
        ("<think>only a thought", "empty"),
        ("<think>a</think>", "empty"),
        ('{"answer_md": 5}', "answer_md: "),
        ('{"answer_md": " \\n"}', "answer_md: it is empty"),
        ('{"answer": "x"}', "not one complete JSON object"),
        ('{"answer_md": "Use it. [1] And th', "not one complete JSON object"),
        ("I do not know.", "neither"),
    ],
)
def test_a_reply_that_is_no_answer_says_what_it_lacks(reply: str, message: str) -> None:
    fault = parse_answer(reply)
    assert isinstance(fault, SchemaFault)
    assert message in fault.message


def test_wishes_keep_what_is_well_formed() -> None:
    answer = parse_answer(
        json.dumps(
            {
                "answer_md": "A\0. [1]\ud800",
                "referrals": [{"url": " https://x.example ", "reason": None}, {"url": "  "}, 7],
                "citations": {"url": "u", "anchor": 3},
            }
        )
    )
    assert isinstance(answer, StructuredAnswer)
    assert answer.answer_md == "A. [1]\ufffd"
    assert [(referral.url, referral.reason) for referral in answer.referrals] == [("https://x.example", "")]
    assert [(citation.url, citation.anchor, citation.title) for citation in answer.citations] == [("u", "3", "")]


def test_lists_are_bounded() -> None:
    answer = parse_answer(json.dumps({"answer_md": "A [1]", "symbols_used": ["x" * 5000] * 5000}))
    assert isinstance(answer, StructuredAnswer)
    assert len(answer.symbols_used) == 100
    assert len(answer.symbols_used[0]) == 2000


def test_the_schema_asks_for_what_is_read() -> None:
    assert set(ANSWER_SCHEMA.schema["properties"]) == set(StructuredAnswer.model_fields)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"action":"search_docs","query":null}', [{"action": "search_docs", "query": None}]),
        ('{"action":["search_docs"]}', [{"action": ["search_docs"]}]),
        ('[{"action":"a"},{"action":"b"}]', [{"action": "a"}, {"action": "b"}]),
        ('{"a":1}{"b":2}', [{"a": 1}, {"b": 2}]),
        ('{"a": NaN, "b": "\\d"}', [{"a": None, "b": "\\d"}]),
        ('{"a": "one\ntwo"}', [{"a": "one\ntwo"}]),
        ('f() { return {"a": 1,}; }', [{"a": 1}]),
        ("{" * 100_000, []),
        ('{"a":' * 50_000, []),
        ('{"a": ' + "9" * 5000 + "}", []),
        ('{"a":"' + '\\"' * 50_000, []),
    ],
)
def test_objects_are_found_in_any_text(text: str, found: list[dict[str, object]]) -> None:
    assert list(objects_in(text)) == found


@pytest.mark.parametrize("piece", ["{", '"', "<think>", "</think>", '{"a":', '{"a":1,', '{"a":1}', '\\"', "[", "`<think>", "```json\n{"])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (90_000 // len(piece))
    started = time.process_time()
    parse_answer(text)
    parse_answer('{"a":"' + text)
    assert time.process_time() - started < 10  # each takes a fraction of a second; with time in the square of the length, minutes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ([{"a": 1}], {"a": 1}),
        ([], None),
        ([[]], None),
        ([{}, {}], None),
        ("no", None),
        (None, None),
        (7, None),
    ],
)
def test_an_object_may_be_written_as_a_string_or_an_array(value: object, expected: object) -> None:
    assert object_of(value) == expected


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<",
        "think>",
        "{",
        "}",
        '"',
        "\\",
        "\\u",
        "d83d",
        '{"answer_md": "',
        "[1]",
        "`",
        "```json\n",
        ",",
        ":",
        "[",
        "]",
        "x",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=5))).map("".join))
@example('{"answer_md": "\\ud83d')
@example('"' * 100)
def test_no_text_crashes(text: str) -> None:
    answer = parse_answer(text)
    assert answer.answer_md.strip() if isinstance(answer, StructuredAnswer) else answer.message
    objects_in(text)


@given(st.text().filter(lambda text: "<" not in text), st.text().filter(lambda text: "<" not in text))
def test_no_thought_is_said(thought: str, said: str) -> None:
    assert said_in(f"<think>{thought}</think>{said}") == said
    assert said_in(f"<think>{thought}") == ""
