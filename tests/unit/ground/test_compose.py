"""Quotations as Markdown: every sentence ends in a marker, and nothing of a page can pass for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ground.claims import split_claims
from citewell.ground.quote import Quoted, compose
from citewell.ground.units import units


def quoted(text: str, number: int = 1) -> list[Quoted]:
    return [Quoted(number, unit, text[unit.start : unit.end], 1.0, markdown=True) for unit in units(text)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The widget spins. It stops.", "The widget spins. [1]\n\nIt stops. [1]"),
        ("- one thing\n- another", "- one thing [1]\n\n- another [1]"),
        ("| a | b |\n|---|---|\n| Spins. Stops. | | fast |", "- Spins. [1] Stops. [1] · fast [1]"),
        ("`spin(speed=3)`", "`spin(speed=3)` [1]"),
        ("```python\nspin(3)\n```", "```python\nspin(3)\n```\n[1]"),
        ("  ```python\n  spin(3)\n  ```", "```python\nspin(3)\n```\n[1]"),
        ("See [the guide](guide.md) and [7].", "See the guide and \\[7\\]. [1]"),
        ("See ![a picture](x.png) this.", "See this. [1]"),
        ("[^1]: The widget has internal support.", "The widget has internal support. [1]"),
        ("| `retries` | int \\| None |", "- `retries` · int | None [1]"),
        ("> Wrapped in a\n> quotation.", "Wrapped in a quotation. [1]"),
        ("Wrapped\nover lines.", "Wrapped over lines. [1]"),
    ],
)
def test_each_kind_of_unit(text: str, shown: str) -> None:
    assert compose(quoted(text)) == shown


@given(
    st.lists(
        st.sampled_from(["The widget spins.", "See [2] there.", "[9]", "`x[3]`", "- item [4]", "| a. b | [5] |", "e.g. this", "\n", " "]),
        max_size=8,
    )
)
def test_only_our_own_markers_are_markers(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    claims = split_claims(compose(quoted(text)))
    assert {number for claim in claims for number in claim.numbers} <= {1}
    assert all(claim.numbers for claim in claims)
