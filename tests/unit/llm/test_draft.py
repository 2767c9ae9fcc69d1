"""The growing answer: what is shown is the answer's own text, whatever the pieces in which the reply comes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citewell.llm.draft import Unwrapper
from citewell.llm.json_stream import MemberStream
from citewell.llm.structured import StructuredAnswer, parse_answer


def shown(pieces: Sequence[str]) -> tuple[list[str], str]:
    """The pieces of the draft, and the clean content."""
    unwrapper = Unwrapper()
    drafts = [*map(unwrapper.feed, pieces), unwrapper.end()]
    return drafts, unwrapper.content


def pieces_of(text: str, cuts: Sequence[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


def draft_of(text: str) -> str:
    return "".join(shown([text])[0])


CUTS = st.lists(st.integers(0, 500), max_size=40)
SIGNS = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<thi",
        "nk>",
        "`",
        "```json\n",
        "{",
        "}",
        '"',
        "\\",
        "\\u",
        "d83d",
        "de00",
        '"answer_md"',
        ": ",
        '{"answer_md": "',
        *("[1]", "[", "]", ",", "\n", " ", "a" * 100),
    ]
)
TEXTS = st.lists(st.one_of(SIGNS, st.text(max_size=4)), max_size=30).map("".join)


@given(TEXTS, CUTS)
@example('Prose [1] before {"answer_md": "x"}', list(range(60)))
@example("a<think>b</think>c</think>d", list(range(60)))
@example('{"answer_md": "\\ud83d\\ude00 \\ud83dx \\u12"}', list(range(60)))
@example("{" + " " * 70 + '"a": 1}', list(range(100)))
def test_no_splitting_changes_what_is_shown(text: str, cuts: list[int]) -> None:
    drafts, content = shown(pieces_of(text, cuts))
    whole, whole_content = shown([text])
    assert ("".join(drafts), content) == ("".join(whole), whole_content)


MEMBERS = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("answer_md"), inner),
        max_leaves=5,
    ),
    max_size=4,
)


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    MEMBERS,
    st.data(),
    st.booleans(),
    st.sampled_from([None, 1]),
    CUTS,
)
def test_the_draft_is_the_answer(
    answer: str, members: dict[str, object], data: st.DataObject, ascii_only: bool, indent: int | None, cuts: list[int]
) -> None:
    names = data.draw(st.permutations([*(name for name in members if name != "answer_md"), "answer_md"]))
    text = json.dumps({name: answer if name == "answer_md" else members[name] for name in names}, ensure_ascii=ascii_only, indent=indent)
    pieces, content = shown(pieces_of(text, cuts))
    assert "".join(pieces) == answer
    assert content == text
    read = parse_answer(text)
    assert not answer.strip() or (isinstance(read, StructuredAnswer) and read.answer_md == answer)


def test_a_draft_comes_while_it_is_written() -> None:
    drafts, _ = shown(['{"symbols_used": ["answer_md"], "answer_md"', ': "Use ', "`du", "mp`.\\", 'n[1]"', "}"])
    assert drafts == ["", "Use ", "`du", "mp`.", "\n[1]", "", ""]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('Sure, here it is:\n```json\n{"answer_md": "A. [1]"}\n```', "A. [1]"),
        ('<think>{"answer_md": "no"} [1]</think>{"answer_md": "A. [1]"}', "A. [1]"),
        ('{"thought": {"answer_md": "no"}}{"answer_md": "A. [1]"}', "A. [1]"),
        ('[{"answer_md": "A. [1]"}]', "A. [1]"),
        ('{"name": "submit_answer", "arguments": {"answer_md": "A. [1]"}}', "A. [1]"),
        ('{"answer_md": "A. [1]", "answer_md": "no"}', "A. [1]"),
        ('{"answer_md": "<think> is a tag [1]"}', "<think> is a tag [1]"),
        ('{"answer_md": "cut of', "cut of"),
        ("Plain. [1] More.", "Plain. [1] More."),
        ("```markdown\nPlain. [1]", "Plain. [1]"),
        ('The form is {"a": 1}. [1]', 'The form is {"a": 1}. [1]'),
        ('{"action": "search_docs"}', ""),
        ("<think>never ends [1]", ""),
        ("", ""),
    ],
)
def test_what_is_shown(reply: str, expected: str) -> None:
    assert draft_of(reply) == expected
    assert "".join(shown(list(reply))[0]) == expected


def test_plain_markdown_is_shown_as_it_comes() -> None:
    assert shown(["The timeout is 30 s. [1", "] And", " more."])[0] == ["", "The timeout is 30 s. [1] And", " more.", ""]
    assert shown(["x" * 239, "y", "z"])[0] == ["", "x" * 239 + "y", "z", ""]


def test_nesting_beyond_reason_ends_the_reading() -> None:
    member = MemberStream("answer_md")
    said, end = member.feed('{"a":' * 100_000)
    assert (said, end, member.closed, member.found) == ("", 5001, True, False)
