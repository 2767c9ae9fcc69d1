"""Progress in a pipe: few lines, each of them new."""

from __future__ import annotations

import itertools

import pytest

from citewell.cli.progress import Lines
from citewell.ingest.progress import of_source


class Clock:
    """Tells the time that it is given."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_phase_has_a_line_every_few_seconds_and_one_at_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Lines(clock) as display:
        for done in range(1, 121):  # a crawl that finds one page after the other, ten a second
            clock.now = done / 10
            display("pages", done, done)
    assert capsys.readouterr().err.splitlines() == [f"reading pages: {n} of {n}" for n in (1, 51, 101, 120)]


def test_a_phase_with_nothing_to_do_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines() as display:
        display("vectors", 0, 0)
    assert capsys.readouterr().err == ""


def test_no_line_is_told_twice(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(Clock()) as display:
        for phase, done in itertools.product(("pages", "vectors"), (1, 1)):
            display(phase, done, 1)
    assert capsys.readouterr().err.splitlines() == ["reading pages: 1 of 1", "embedding sections: 1 of 1"]


def test_a_phase_that_fails_tells_how_far_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        with Lines(Clock()) as display:
            display("pages", 1, 9)
            display("pages", 4, 9)
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        work()
    assert capsys.readouterr().err.splitlines() == ["reading pages: 1 of 9", "reading pages: 4 of 9"]


def test_of_several_sources_each_is_named_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines(Clock()) as display:
        of_source(display, "guide: new\n\x1b[31m")("pages", 2, 2)
        of_source(display, "api")("vectors", 3, 3)
        of_source(display, "api")("unheard of", 1, 1)
    assert capsys.readouterr().err.splitlines() == [
        "reading pages of guide: new [31m: 2 of 2",
        "embedding sections of api: 3 of 3",
        "unheard of of api: 1 of 1",
    ]
