"""Nothing that a model writes loads anything, runs anything, or leads where no section leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ground.harmless import harmless
from citewell.ground.inline import all_links
from tests.unit.ground.hostile import slow
from tests.unit.ground.texts import MARKDOWN

KNOWN = "https://widget.example/manual"


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("It spins ![](https://x.example/?q=secret) [1].", "It spins  [1]."),
        ("It spins ![a][l].\n\n[l]: https://x.example/", "It spins .\n\n[l]: https://x.example/"),
        ("[![b](https://x.example/)](https://y.example/) It spins.", " It spins."),
        ("It [spins](javascript:alert(1)).", "It spins."),
        ("It [spins](https://evil.example/).", "It spins."),
        ("It [spins](../../etc/passwd).", "It spins."),
        (f"It [spins]({KNOWN}), see <{KNOWN}>.", f"It [spins]({KNOWN}), see <{KNOWN}>."),
        ("See <https://evil.example/>.", "See https://evil.example/."),
        ("It <img src=x onerror=alert(1)> spins.", "It \\<img src=x onerror=alert(1)> spins."),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("`<b>` and `![](x)`: 1 < 2\n\n```html\n<img src=x>\n```", "`<b>` and `![](x)`: 1 < 2\n\n```html\n<img src=x>\n```"),
        ("It spins [1](https://evil.example/).", "It spins 1."),
    ],
)
def test_what_acts_goes_and_what_is_said_stays(written: str, left: str) -> None:
    assert harmless(written, lambda address: address == KNOWN) == left


@given(MARKDOWN | st.text(alphabet="![]()<>a`\\: \n"))
def test_no_picture_and_no_unknown_link_is_left(text: str) -> None:
    for _ in range(2):
        text = harmless(text, lambda _: False)
    assert not [link for link in all_links(text) if link.picture]


def test_it_takes_no_time() -> None:
    assert slow(lambda text: harmless(text, lambda _: False)) == {}
