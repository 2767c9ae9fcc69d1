"""A citation's span is exactly what it quotes, and its link opens the page at those words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citewell.ground.cite import best_span, make_citation, text_link
from citewell.ground.claims import split_claims
from citewell.ground.evidence import Evidence
from citewell.ground.quote import Quoted, compose
from citewell.ground.units import Unit, units
from citewell.types import Hit, Section
from tests.unit.ground.hostile import slow
from tests.unit.ground.texts import MARKDOWN

TEXT = """`class widget.Spinner(speed=3, *, reverse=False)`

🙂👩‍💻 The spinner turns frobs into quuxes. It is *not* thread-safe; see `widget.lock`.

> **Note:** speeds above 9,000 turns
> need a licence.

- Call `spin()` first. Then call `stop()`.

| option | meaning |
|---|---|
| `--jobs` | how many at once |

```python
spinner = Spinner(speed=7)
spinner.spin()
```
"""


def section(text: str = TEXT, url: str = "https://h/spinner.html", anchor: str = "spinner", number: int = 7) -> Section:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Section(number, "hash", "manual", "spinner.html", url, anchor, "Spinner", "API > Spinner", "widget", "api", "1.0", 0, text, now)


def quoted(claim: str, text: str = TEXT) -> str | None:
    span = best_span(claim, text)
    return None if span is None else text[slice(*span)]


class TestSpan:
    @settings(deadline=None)  # a busy machine is no fault
    @given(MARKDOWN, MARKDOWN)
    def test_whatever_the_claim_and_the_text_it_lies_in_the_text(self, claim: str, text: str) -> None:
        span = best_span(claim, text)
        if span is not None:
            start, end = span
            assert 0 <= start < end <= len(text)
            citation = make_citation(1, section(text), start, end)
            assert citation.quote == text[citation.start : citation.end]
            assert citation.quote.strip()

    @settings(deadline=None)  # a busy machine is no fault
    @given(MARKDOWN)
    def test_what_is_quoted_is_found_where_it_first_stands(self, text: str) -> None:
        for unit in units(text):
            piece = text[unit.start : unit.end]
            span = best_span(piece, text)
            if span is not None:
                assert "".join(text[slice(*span)].split()).casefold() in "".join(text.split()).casefold()

    @pytest.mark.parametrize(
        ("claim", "quote"),
        [
            ("The spinner turns frobs into quuxes.", "The spinner turns frobs into quuxes."),
            ("🙂👩‍💻 The spinner turns frobs into quuxes.", "🙂👩‍💻 The spinner turns frobs into quuxes."),
            ("It is not thread-safe; see widget.lock.", "It is *not* thread-safe; see `widget.lock`."),
            ("Note: speeds above 9,000 turns need a licence.", "**Note:** speeds above 9,000 turns\n> need a licence."),
            ("then call stop()", "Then call `stop()`"),
            ("--jobs · how many at once", "| `--jobs` | how many at once |"),
            ("```python\nspinner = Spinner(speed=7)\nspinner.spin()\n```", "```python\nspinner = Spinner(speed=7)\nspinner.spin()\n```"),
            ("`class widget.Spinner(speed=3, *, reverse=False)`", "`class widget.Spinner(speed=3, *, reverse=False)`"),
            ("A licence is needed above 9,000 turns.", "**Note:** speeds above 9,000 turns\n> need a licence."),
            ("To begin, you call spin.", "Call `spin()` first."),
        ],
    )
    def test_it_is_the_place_that_says_it_however_it_is_set(self, claim: str, quote: str) -> None:
        assert quoted(claim) == quote

    @pytest.mark.parametrize(
        ("claim", "quote"),
        [
            ("Read the manual, then go.", "Read [the manual](https://h/a_(b)), then `go`."),
            ("read the manual", "Read [the manual](https://h/a_(b))"),
            ("the manual, then go", "[the manual](https://h/a_(b)), then `go`"),
            ("the manual", "the manual"),
        ],
    )
    def test_a_link_is_its_words_and_is_not_cut(self, claim: str, quote: str) -> None:
        assert quoted(claim, "Before. Read [the manual](https://h/a_(b)), then `go`. `x[0](y)` too.") == quote

    @pytest.mark.parametrize("claim", ["", " ", "Bananas are yellow.", "It is what it is.", "***"])
    def test_what_the_text_says_nothing_about_has_none(self, claim: str) -> None:
        assert quoted(claim) is None

    def test_a_word_inside_another_is_not_it(self) -> None:
        assert best_span("cat", "Use concatenate. A cat sits.") == (19, 22)

    def test_emoji_before_it_do_not_shift_it(self) -> None:
        text = "🙂🇩🇪👨‍👩‍👧 intro.\n\nThe widget spins clockwise."
        start, end = best_span("The widget spins clockwise.", text) or (0, 0)
        assert text[start:end] == "The widget spins clockwise."
        assert start == text.index("The widget")

    def test_of_two_the_first(self) -> None:
        assert best_span("It spins.", "It spins. Then. It spins.") == (0, 9)


class TestRoundTrip:
    @pytest.mark.parametrize("unit", units(TEXT), ids=lambda unit: f"{unit.kind} {unit.start}")
    def test_what_is_composed_of_a_quotation_leads_back_to_it(self, unit: Unit) -> None:
        answer = compose([Quoted(3, unit, TEXT[unit.start : unit.end], 1.0)])
        (claim,) = split_claims(answer)
        assert claim.numbers == (3,)
        assert best_span(claim.text.replace("\\[", "[").replace("\\]", "]"), TEXT) == (unit.start, unit.end)


class TestCitation:
    def test_it_says_where_it_comes_from(self) -> None:
        start = TEXT.index("The spinner")
        citation = make_citation(2, section(), start, start + 11)
        assert (citation.number, citation.section_id, citation.section_hash, citation.quote) == (2, 7, "hash", "The spinner")
        assert (citation.source, citation.path, citation.anchor) == ("manual", "spinner.html", "spinner")
        assert (citation.title, citation.heading_path) == ("Spinner", "API > Spinner")
        assert citation.link == "https://h/spinner.html#spinner:~:text=The%20spinner"


def fragment(quotation: str, *, markdown: bool = True) -> str:
    return text_link("https://h/x", "a", quotation, markdown=markdown).partition(":~:text=")[2]


class TestLink:
    @pytest.mark.parametrize(
        ("quotation", "expected"),
        [
            ("Set it to 3.", "Set%20it%20to%203."),
            ("a well-known, tried & tested way", "a%20well%2Dknown%2C%20tried%20%26%20tested%20way"),
            ("It is *not* **safe**; see `widget.lock`.", "It%20is%20not%20safe%3B%20see%20widget.lock."),
            ("Read [the docs](https://h/a_(b)) and ![image](x.png) now", "Read%20the%20docs%20and%20now"),
            ("**Note:** two\n> lines", "two%20lines"),
            ("**gear**", "gear"),
            ("Call snake_case_name with *args, **kwargs", "Call%20snake_case_name%20with%20%2Aargs%2C%20%2A%2Akwargs"),
            ("Write \\*stars\\* and \\[1\\]", "Write%20%2Astars%2A%20and%20%5B1%5D"),
            ("| `--jobs` | how many | of them all, in one row |", "%2D%2Djobs,them%20all%2C%20in%20one%20row"),
            ("|  | second |", "second"),
            ("| `a\\|b` | item |", "a%7Cb,item"),
            ("It is so,[^1] as said [^2].", "It%20is,as%20said"),
            ("[^1]: Only here.", "Only%20here."),
            ("As [2][3] say", "As%20%5B2%5D%5B3%5D%20say"),
            ("- 1. ```py\n     x = 1\n     ```", "x%20%3D%201"),
            ("````md\n```py\nx\n```\n````", "%60%60%60py"),
            ("```python\n\nx = a[1]\ny\n```", "x%20%3D%20a%5B1%5D"),
            ("> ```\n> x - 1\n> ```", "x%20%2D%201"),
            ("`f(x)`", "f%28x%29"),
            ("50% of 🙂 für", "50%25%20of%20%F0%9F%99%82%20f%C3%BCr"),
        ],
    )
    def test_the_fragment_is_what_the_page_shows_and_encoded(self, quotation: str, expected: str) -> None:
        assert fragment(quotation) == expected

    def test_what_is_no_markdown_is_found_as_it_stands(self) -> None:
        assert fragment("See *x* of [a](b), \\*", markdown=False) == "See%20%2Ax%2A%20of%20%5Ba%5D%28b%29%2C%20%5C%2A"

    def test_a_long_quotation_is_named_by_its_two_ends(self) -> None:
        assert fragment(" ".join(f"w{n}" for n in range(30))) == "w0%20w1%20w2%20w3%20w4,w25%20w26%20w27%20w28%20w29"
        assert fragment(" ".join(f"w{n}" for n in range(5000))) == "w0%20w1%20w2%20w3%20w4,w4995%20w4996%20w4997%20w4998%20w4999"

    @pytest.mark.parametrize(
        ("url", "anchor", "link"),
        [
            ("https://h/x.html", "a.b", "https://h/x.html#a.b:~:text=It"),
            ("https://h/x.html", "", "https://h/x.html#:~:text=It"),
            ("https://h/x.html#old", "new", "https://h/x.html#new:~:text=It"),
            ("doc:guide/Setup (old) notes.html", "a b", "doc:guide/Setup%20%28old%29%20notes.html#a%20b:~:text=It"),
            ("https://h/%28x%29?a=1&b=2", "é", "https://h/%28x%29?a=1&b=2#%C3%A9:~:text=It"),
            ('https://h/a"b<c>`d', "&", "https://h/a%22b%3Cc%3E%60d#%26:~:text=It"),
            ("http://[::1]:8080/x", "", "http://[::1]:8080/x#:~:text=It"),
        ],
    )
    def test_page_anchor_and_fragment(self, url: str, anchor: str, link: str) -> None:
        assert text_link(url, anchor, "It", markdown=True) == link

    def test_without_words_there_is_no_fragment(self) -> None:
        assert text_link("https://h/x", "a", " \n", markdown=True) == "https://h/x#a"
        assert text_link("https://h/x", "", "![image](x.png)", markdown=True) == "https://h/x"

    @given(st.text(max_size=40), st.text(max_size=20), MARKDOWN)
    def test_it_is_one_safe_address_whatever_it_is_made_of(self, path: str, anchor: str, quotation: str) -> None:
        link = text_link(f"https://h/{path}", anchor, quotation, markdown=True)
        assert re.fullmatch(r"[!#-;=?-\[\]_a-z~]+", link), link
        assert "(" not in link
        assert ")" not in link
        (inline,) = MarkdownIt("commonmark").parseInline(f"[x]({link})")
        assert [child.type for child in inline.children or []] == ["link_open", "text", "link_close"]

    @given(MARKDOWN)
    def test_its_fragment_has_only_the_commas_that_part_its_ends(self, quotation: str) -> None:
        found = fragment(quotation)
        ends = found.split(",")
        assert len(ends) <= 2
        assert not re.search(r"[&\-]", found)
        assert all(re.fullmatch(r"(?:[\w.~]|%[0-9A-F]{2})*", end, re.ASCII) for end in ends)
        assert all(unquote(end) == " ".join(unquote(end).split()) for end in ends)


class TestEvidence:
    def test_it_gives_each_section_its_number_once(self) -> None:
        evidence = Evidence()
        first, second = Hit(section(number=10), 1.0, {}), Hit(section(number=20), 0.5, {})
        assert [evidence.add(first), evidence.add(second), evidence.add(first), evidence.add(Hit(section(number=10), 0.1, {}))] == [
            1,
            2,
            1,
            1,
        ]
        assert len(evidence) == 2
        assert [(number, hit.section.id) for number, hit in evidence] == [(1, 10), (2, 20)]

    @pytest.mark.parametrize("number", [0, -1, 3, 10**12])
    def test_a_number_that_was_never_given_is_nobodys(self, number: int) -> None:
        evidence = Evidence()
        evidence.add(Hit(section(number=10), 1.0, {}))
        evidence.add(Hit(section(number=20), 1.0, {}))
        assert evidence.section(number) is None
        assert evidence.section(2) == section(number=20)

    @given(st.lists(st.integers(1, 30)))
    def test_numbers_run_from_one_in_the_order_of_coming(self, ids: list[int]) -> None:
        evidence = Evidence()
        numbers = [evidence.add(Hit(section(number=item), 1.0, {})) for item in ids]
        assert dict(zip(ids, numbers, strict=True)) == {item: place for place, item in enumerate(dict.fromkeys(ids), start=1)}


def test_hostile_claims_and_texts_take_no_time() -> None:
    assert slow(lambda text: best_span(text[: len(text) // 2] + "zqz", text)) == {}


def test_hostile_quotations_take_no_time() -> None:
    assert slow(lambda text: text_link("https://h/", text[:2000], text, markdown=True)) == {}
    assert slow(lambda text: text_link("https://h/", "", text[:3900], markdown=True)) == {}
