"""What parsing bears: elements with any number of attributes cost no more than their length, and hide nothing after them."""

from __future__ import annotations

import time

import pytest

from tests.unit.ingest.ingest_help import of_html, text_of

MANY = " ".join(f"a{n}" for n in range(200_000))


@pytest.mark.parametrize(
    "start",
    [
        f"<div {MANY}>",
        f'<div x" y=">" {MANY}>',
        f"<div class='it' {MANY} title='>'>",
        "<a b='" * 9_000,
        "<a " + "/" * 300_000 + ">",
        "<a" + " =" * 200_000 + ">",
        f"<script>var found = '<b' + \"{MANY}\";</script>",
    ],
)
def test_attributes_without_end(start: str) -> None:
    started = time.process_time()
    sections = of_html(f"<html><body><h1>Before</h1><p>First.</p>{start}'><p>The last word.</p></body></html>")
    assert time.process_time() - started < 3
    assert "First." in text_of(sections)


def test_what_stands_after_an_element_with_too_many_attributes_is_kept() -> None:
    for start in (f"<div {MANY}>", f"<script>var found = '<b {MANY}';</script>"):
        assert "The last word." in text_of(of_html(f"<body><h1>Before</h1>{start}<p>The last word.</p></body>"))
