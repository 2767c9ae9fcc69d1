"""What the offline answer quotes: how much at most, replies with their questions, and all of it beside the event loop."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from citewell.ground import quote
from citewell.ground.evidence import Evidence
from citewell.ground.quote import MAX_UNITS, Quotations, choose
from citewell.ground.units import units
from citewell.index.store import Store, TermWeight
from citewell.types import Hit
from tests.unit.ground.test_terminus import section

pytestmark = pytest.mark.anyio


class EveryWord:
    """A corpus that holds every word, each telling as much as the others."""

    async def term_weights(self, ids: Sequence[int]) -> dict[int, TermWeight]:
        return {number: cast(TermWeight, SimpleNamespace(idf=1.0)) for number in ids}

    async def known_symbols(self, names: Sequence[str], *_: Any) -> set[str]:
        return set(names)

    async def known_terms(self, ids: Sequence[int], *_: Any) -> set[int]:
        return set(ids)


async def chosen(question: str, *texts: str) -> Quotations:
    evidence = Evidence()
    for number, text in enumerate(texts, start=1):
        evidence.add(Hit(section(number, text), 1.0, {}))
    return await choose(question, evidence, cast(Store, EveryWord()), None)


async def test_six_quotations_besides_the_signature_and_one_of_code() -> None:
    sentences = " ".join(f"The widget spins as said in rule {word}." for word in "abcdefghijkl")
    code = "```python\nspin(widget)\n```"
    found = await chosen("How do I spin the widget?", f"`widget.spin(speed)`\n\n{sentences}\n\n{code}\n\n{code}")
    kinds = [quoted.unit.kind for quoted in found.chosen]
    assert kinds[0] == "signature"
    assert (len(kinds), kinds.count("signature"), kinds.count("code")) == (MAX_UNITS + 1, 1, 1)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Does the widget float on water?\n\nYes.\n\nIt is full of air.", "Yes.\n\nIt is full of air."),
        ("**Does the widget float on water?**\n\nNot yet. It is full of sand.", "Not yet. It is full of sand."),
        ("Does the widget float on water?\n\nYes.", "Yes."),
        ("Does the widget float on water?\n\nYes.\n\nDoes it sink?\n\nNo.", "Yes."),
    ],
)
async def test_a_reply_is_quoted_with_what_follows(text: str, quoted: str) -> None:
    found = await chosen("Does the widget float on water?", text)
    assert [piece.text for piece in found.chosen][:1] == [quoted]


async def test_an_endless_section_is_read_to_a_bound() -> None:
    text = "The widget spins. " * 20_000
    found = await chosen("Does the widget spin?", text)
    assert 0 < max(piece.unit.end for piece in found.chosen) <= 20_000


async def test_scoring_leaves_the_event_loop_free(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def watched(text: str) -> Any:
        threads.add(threading.get_ident())
        return units(text)

    monkeypatch.setattr(quote, "units", watched)
    await chosen("Does the widget spin?", "The widget spins.")
    assert threads
    assert threading.get_ident() not in threads
