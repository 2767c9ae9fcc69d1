"""What the answers of an embedding server mean, whatever they hold."""

from __future__ import annotations

import json
from base64 import b64encode
from struct import pack
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.index.embed.base import MAX_WIDTH
from citewell.index.embed.wire import Malformed, is_too_long, longest_answer, read_vectors, request_body, what_it_said

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda x: st.lists(x) | st.dictionaries(st.text(max_size=9), x),
)


def answer(*vectors: Any, indexed: bool = True) -> bytes:
    return json.dumps({"data": [{"embedding": vector, **({"index": n} if indexed else {})} for n, vector in enumerate(vectors)]}).encode()


def test_a_request_names_model_and_texts_and_sends_no_empty_one() -> None:
    assert request_body("m", ["a", "", " \n"], None) == {"model": "m", "input": ["a", " ", " "], "encoding_format": "float"}
    assert request_body("m", ["a"], 256)["dimensions"] == 256


def test_vectors_are_brought_to_unit_length() -> None:
    assert np.allclose(read_vectors(answer([3, 4], [0, -2.5]), 2), [[0.6, 0.8], [0, -1]])


def test_vectors_are_put_in_the_order_of_the_texts() -> None:
    body = json.dumps({"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}).encode()
    assert read_vectors(body, 2).tolist() == [[1, 0], [0, 1]]
    assert read_vectors(answer([1, 0], [0, 1], indexed=False), 2).tolist() == [[1, 0], [0, 1]]


def test_vectors_may_be_base64() -> None:
    assert np.allclose(read_vectors(answer(b64encode(pack("<2f", 3, 4)).decode()), 1), [[0.6, 0.8]])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "no JSON"),
        (b"<html>busy</html>", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no list of vectors"),
        (b'{"data": null}', "no list of vectors"),
        (b'{"data": [1, 2]}', "no list of vectors"),
        (answer([1.0]), "1 vectors for 2 texts"),
        (answer([1.0], [1.0], [1.0]), "3 vectors for 2 texts"),
        (answer([1.0], [1.0, 2.0]), "several widths"),
        (answer([], []), "empty"),
        (answer([1.0], ["1.0"]), "no list of numbers"),
        (answer([1.0], [True]), "no list of numbers"),
        (answer([1.0], [[1.0]]), "no list of numbers"),
        (answer([1.0], None), "no list of numbers"),
        (answer([1.0], "AAA"), "broken base64"),
        (answer([1.0], b64encode(b"12345").decode()), "broken base64"),
        (answer([1.0], [0.0]), "all zero"),
        (answer([1.0], [float("nan")]), "not finite"),
        (answer([1.0], [float("inf")]), "not finite"),
        (answer([1.0], [1e300]), "not finite"),
        (answer([1.0], [10**400]), "beyond all bounds"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}', "indices"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"embedding": [2]}]}', "indices"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": true, "embedding": [2]}]}', "indices"),
    ],
)
def test_what_holds_no_vectors_is_refused_with_the_reason(body: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        read_vectors(body, 2)


@given(JSON, st.integers(1, 3))
def test_no_answer_breaks_the_reader(value: Any, count: int) -> None:
    for body in (value, {"data": value}, {"data": [{"embedding": value}] * count}):
        try:
            vectors = read_vectors(json.dumps(body).encode(), count)
        except Malformed:
            continue
        assert vectors.shape[0] == count
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@given(JSON)
def test_no_refusal_breaks_its_reader(value: Any) -> None:
    said = what_it_said(json.dumps({"error": value}).encode())
    assert len(said) <= 300
    assert "\n" not in said


def test_an_answer_as_long_as_the_widest_vectors_is_within_the_limit() -> None:
    assert len(answer(*[[-0.12345678901234567e-10] * MAX_WIDTH] * 4)) < longest_answer(4)


def test_the_message_of_a_refusal_is_found_wherever_servers_put_it() -> None:
    assert what_it_said(b'{"error": {"message": "bad\\nkey", "code": 1}}') == "bad key"
    assert what_it_said(b'{"detail": "no such model"}') == "no such model"
    assert what_it_said(b"plain words") == "plain words"
    assert what_it_said(b"<html><body>502</body></html>") == what_it_said(b"") == ""


@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (413, "", True),
        (400, "This model's maximum context length is 8192 tokens", True),
        (422, "inputs must have less than 512 tokens. The input is too long", True),
        (400, "batch size 64 exceeds the limit", True),
        (400, "model not found", False),
        (401, "too many wrong keys", False),
        (500, "too long", False),
    ],
)
def test_texts_are_too_long_only_where_the_server_says_so(status: int, said: str, expected: bool) -> None:
    assert is_too_long(status, said) is expected
