"""Headers are read for what they say, and never trusted: not in length, not in form, not in value."""

from __future__ import annotations

import math

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citewell.ingest.crawl.headers import LONGEST_PAUSE, content_type, retry_after, validator

VALUES = st.text(max_size=60) | st.binary(max_size=60).map(lambda value: value.decode("latin-1"))


@given(VALUES)
@example("Mon, 01 Jan 0001 00:00:00 +2359")
@example("Fri, 31 Dec 9999 23:59:59 -2359")
@example("1e999")
@example("-0")
def test_a_server_is_waited_for_at_most_so_long(value: str) -> None:
    for headers in ({"Retry-After": value}, {"Retry-After": "Fri, 31 Dec 2027 23:59:59 GMT", "Date": value}):
        wait = retry_after(httpx2.Headers({name: text.encode("utf-8", "surrogateescape") for name, text in headers.items()}), 1.8e9)

        assert wait is None or (math.isfinite(wait) and 0 <= wait <= LONGEST_PAUSE)


@given(VALUES)
def test_only_what_can_be_sent_is_sent_back(value: str) -> None:
    mark = validator(value)

    assert mark in ("", value.strip())
    assert httpx2.Headers({"If-None-Match": mark}).raw[0][1].decode("ascii").isprintable()


@given(VALUES | st.sampled_from(["text/html", "Text/HTML; charset=UTF-8"]))
def test_a_content_type_is_a_media_type_and_a_charset(value: str) -> None:
    media_type, charset = content_type(value)

    assert media_type == media_type.lower()
    assert not media_type or media_type.count("/") == 1
    assert len(charset) <= 40


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html", ("text/html", "")),
        (" Text/HTML ;charset=utf-8", ("text/html", "utf-8")),
        ("text/html; charset='koi8-r'", ("text/html", "koi8-r")),
        ("text/html, text/plain", ("", "")),
        ("text/html text", ("", "")),
        ("html; charset=utf-8", ("", "utf-8")),
        ("application/ld+json; profile=x", ("application/ld+json", "")),
    ],
)
def test_content_types(value: str, expected: tuple[str, str]) -> None:
    assert content_type(value) == expected
