"""Where to look beyond the documentation: addresses made of the profile and the question's telling words."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ground.referrals import referrals
from citewell.profile import Profile, load_profile
from tests.unit.ground.hostile import slow

PROFILE = load_profile(
    tables={
        "referrals": {
            "repositories": ["widget/widget", "widget/extra"],
            "docs_search": "https://docs.widget.example/search?q={query}",
            "forum": "https://forum.widget.example/search?q={query}",
        }
    }
)


def words(url: str) -> list[str]:
    return parse_qs(urlsplit(url).query)["q"][0].split()


def test_the_documentation_each_repository_twice_and_the_forum() -> None:
    found = referrals("How do I spin the widget?", PROFILE)
    assert [referral.url for referral in found] == [
        "https://docs.widget.example/search?q=spin+widget",
        "https://deepwiki.com/widget/widget",
        "https://github.com/search?type=code&q=repo%3Awidget%2Fwidget+spin+widget",
        "https://deepwiki.com/widget/extra",
        "https://github.com/search?type=code&q=repo%3Awidget%2Fextra+spin+widget",
        "https://forum.widget.example/search?q=spin+widget",
    ]
    assert all(referral.reason for referral in found)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where is torch.cat implemented, and std::move?", ["torch.cat", "implemented", "std::move"]),
        ("What does --no-cache-dir do?", ["no-cache-dir"]),
        ("What is it?", ["What", "is", "it"]),
        ("spin... widget!!! (fast)", ["spin", "widget", "fast"]),
        ("dreht für 🙂 schnell", ["dreht", "für", "schnell"]),
    ],
)
def test_the_words_that_say_something(question: str, expected: list[str]) -> None:
    assert words(referrals(question, PROFILE)[0].url) == expected


def test_at_most_twelve() -> None:
    assert len(words(referrals(" ".join(f"word{n}" for n in range(40)), PROFILE)[0].url)) == 12


def test_a_profile_without_any_refers_nowhere() -> None:
    assert referrals("spin", Profile()) == []


@given(st.text())
def test_whatever_is_asked_the_addresses_are_addresses(question: str) -> None:
    for referral in referrals(question, PROFILE):
        assert referral.url.isascii()
        assert referral.url.isprintable()
        assert not set(referral.url) & set(" \"<>\\'()[]")
        assert urlsplit(referral.url).hostname in {"docs.widget.example", "forum.widget.example", "deepwiki.com", "github.com"}


def test_hostile_questions_take_no_time() -> None:
    assert slow(lambda text: referrals(text, PROFILE)) == {}
