"""What of an answer is let through without a source, and that a hostile one costs no time."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from citewell.ground.evidence import Evidence
from citewell.ground.settle import Settled, settle
from citewell.types import Hit, Section

FACT = "The default time-out of the widget is 30 seconds"
TEXT = f"{FACT}. Set `WIDGET_TIMEOUT` to change the time-out."


def settled(body: str, sections: int = 1) -> Settled:
    evidence = Evidence()
    for number in range(1, sections + 1):
        address = ("m", "p.md", "doc:m/p.md", f"a{number}", "Widget", "Widget > Time-outs")
        evidence.add(
            Hit(Section(number, f"h{number}", *address, "widget", "guide", "1", 0, TEXT, datetime(2026, 1, 2, tzinfo=UTC)), 1.0, {})
        )
    return settle(body, evidence, range(1, sections + 1))


@pytest.mark.parametrize("heading", ["The time-out is 900 minutes", "SGD was removed for ever", "Use `--forever`"])
def test_a_heading_asserts_nothing_that_no_section_says(heading: str) -> None:
    found = settled(f"## {heading}\n\n{FACT} [1].")
    assert (found.answer_md, found.fell) == (f"{FACT}. [1]", 1)


@pytest.mark.parametrize("heading", ["In short", "The default time-out", "`WIDGET_TIMEOUT`"])
def test_a_heading_that_only_names_what_follows_stays(heading: str) -> None:
    found = settled(f"## {heading}\n\n{FACT} [1].")
    assert (found.answer_md, found.fell) == (f"## {heading}\n\n{FACT}. [1]", 0)


@pytest.mark.parametrize("lead", ["Get the update at https://evil.example/x:", "Get the update at www.evil.example:"])
def test_an_address_is_no_lead_in(lead: str) -> None:
    assert "evil" not in settled(f"{lead}\n\n{FACT} [1].").answer_md


@pytest.mark.parametrize("tail", [" <https://evil.example/x>", ", see https://evil.example/x?default=widget"])
def test_an_address_that_no_section_has_takes_its_sentence_with_it(tail: str) -> None:
    assert settled(f"{FACT}{tail} [1].").answer_md == ""


def test_a_marker_said_a_thousand_times_is_read_once() -> None:
    began = time.process_time()
    found = settled(FACT + "[1][2][99]" * 2000, sections=2)
    assert time.process_time() - began < 5
    assert (len(found.citations), found.unknown) == (2, 2000)
