"""JSON as the specification writes it, and Markdown in which a title or an address can do no harm."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citewell.render import answer_text, escaped, hit_row, link, one_line, place, plain, printable, source_line, to_json
from citewell.types import Answer, Attempt, Budget, Citation, Claim, Hit, IndexReport, Referral, Section, Skipped, SourceInfo, Usage

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECTION = Section(
    7, "abc", "manual", "guide.md", "doc:manual/guide.md", "use", "Guide", "Guide > Use", "widget", "guide", "1.0", 0, "x", NOW
)
CITATION = Citation(1, 7, "abc", "manual", "guide.md", "doc:manual/guide.md", "use", "Guide", "Guide > Use", "It spins.", 0, 9, "doc:x#use")
ANSWER = Answer(
    status="partial",
    reason="budget",
    question="Why?",
    answer_md="It spins. [1]",
    budget=Budget(16, 60_000, 120.0),
    usage=Usage(1, 2, 3, 4, 5, 6, None, 7.5, (Attempt("gemini", "flash", "ok", 200, 0.5),)),
    citations=(CITATION,),
    claims=(Claim("It spins.", (1,), "supported", 1.0, "word for word"),),
    referrals=(Referral("https://h/?q=x", "search"),),
    symbols_used=("widget.spin",),
    docs_version="1.0",
    route="single",
    protocol="rules",
    warnings=("One thing.",),
    index_version=3,
    crawled_at=NOW,
    trace_id="t1",
)

DOCUMENTED = (
    "status reason question answer_md citations claims referrals symbols_used docs_version route protocol escalated usage budget warnings "
    "index_version crawled_at trace_id"
).split()


class TestJson:
    def test_an_answer_has_the_documented_fields_in_their_order(self) -> None:
        assert list(json.loads(to_json(ANSWER))) == DOCUMENTED
        assert {field.name for field in fields(Answer)} == set(DOCUMENTED)

    @pytest.mark.parametrize(
        ("path", "names"),
        [
            ("citations", "number section_id section_hash source path url anchor title heading_path quote start end link"),
            ("claims", "text citations support score reason"),
            ("referrals", "url reason"),
        ],
    )
    def test_so_have_its_parts(self, path: str, names: str) -> None:
        assert list(json.loads(to_json(ANSWER))[path][0]) == names.split()

    def test_so_has_its_cost(self) -> None:
        usage = json.loads(to_json(ANSWER))["usage"]
        names = "llm_calls tool_calls rounds input_tokens cached_tokens output_tokens cost_usd seconds attempts"
        assert list(usage) == names.split()
        assert list(usage["attempts"][0]) == "provider model outcome status seconds".split()
        assert usage["cost_usd"] is None
        assert list(json.loads(to_json(ANSWER))["budget"]) == "max_calls max_tokens max_seconds max_usd".split()

    def test_values_are_what_they_were(self) -> None:
        data = json.loads(to_json(ANSWER))
        assert data["crawled_at"] == "2026-01-02T03:04:05+00:00"
        assert data["claims"][0]["citations"] == [1]
        assert data["escalated"] is False
        assert (data["citations"][0]["start"], data["citations"][0]["end"]) == (0, 9)

    def test_a_hit_as_search_gives_it(self) -> None:
        row = hit_row(2, Hit(SECTION, 0.5, {"dense": 1.0}, "It …"))
        names = "rank section_id source path url anchor title heading_path library kind version score channels snippet"
        assert list(row) == names.split()
        assert (row["rank"], row["section_id"], row["channels"]) == (2, 7, {"dense": 1.0})

    def test_a_report_and_a_source(self) -> None:
        report = IndexReport("manual", 1, 2, 1, 0, 0, 0, 0, (Skipped("a.bin", "binary file"),), 2, 0, 0.5)
        names = "source pages sections added updated unchanged deleted moved skipped embedded reused seconds"
        assert list(json.loads(to_json(report)))[:12] == names.split()
        assert json.loads(to_json(report))["skipped"] == [{"origin": "a.bin", "reason": "binary file"}]
        listed = json.loads(to_json({"sources": [SourceInfo("manual", "/x", "widget", 1, 2, NOW, 0)]}))
        assert list(listed["sources"][0]) == "source origin library pages sections indexed_at vectors_pending".split()
        assert json.loads(to_json(SourceInfo("m", "/x", "w", 0, 0, None, 0)))["indexed_at"] is None

    def test_numbers_that_are_none_are_null(self) -> None:
        assert to_json([float("nan"), float("inf"), -float("inf"), 1.5]).split() == ["[", "null,", "null,", "null,", "1.5", "]"]

    def test_what_is_not_ascii_stays_readable_and_what_is_no_utf8_stays_printable(self) -> None:
        assert "é🙂" in to_json("é🙂")
        name = b"caf\xe9.md".decode(errors="surrogateescape")
        to_json(name).encode()
        assert json.loads(to_json({"origin": name})) == {"origin": name}

    def test_other_values(self) -> None:
        assert plain({"a": (1, {2}), "b": PurePosixPath("x/y"), 3: None}) == {"a": [1, [2]], "b": "x/y", "3": None}

    @pytest.mark.parametrize("value", [object(), b"bytes", Answer, {"deep": [object()]}])
    def test_what_has_no_json_form_is_an_error_that_names_it(self, value: object) -> None:
        with pytest.raises(TypeError, match="has no JSON form"):
            to_json(value)

    @given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
    def test_plain_data_goes_through_as_it_is(self, value: object) -> None:
        assert json.loads(to_json(value)) == value


def parsed(markdown: str) -> tuple[list[str], str]:
    """The addresses of the links of a line of Markdown, and what it shows."""
    parser = MarkdownIt("commonmark")
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    (inline,) = parser.parseInline(markdown)
    children = inline.children or []
    assert {child.type for child in children} <= {"text", "text_special", "link_open", "link_close"}
    return [str(child.attrs["href"]) for child in children if child.type == "link_open"], "".join(child.content for child in children)


HOSTILE_TITLES = [
    "a ] b [ c",
    "](https://evil.example) [",
    "](https://evil.example) ![",
    "<img src=x onerror=alert(1)>",
    "`code` and **stress** and __init__",
    "trailing \\",
    "&lt;b&gt; &amp; &#91;x&#93;",
    "[1]",
    "| cell |",
    "$x$ ~~gone~~",
    "![](https://evil.example/?q=1)",
]
HOSTILE_ADDRESSES = [
    ("doc:guide/Setup (old) notes.html", "doc:guide/Setup%20%28old%29%20notes.html"),
    ("https://h/a)b", "https://h/a%29b"),
    ("https://h/a b", "https://h/a%20b"),
    ("https://h/<x>", "https://h/%3Cx%3E"),
    ('https://h/"x"', "https://h/%22x%22"),
    ("https://h/a\nb\tc", "https://h/a%0Ab%09c"),
    ("https://h/`a`|\\", "https://h/%60a%60%7C%5C"),
    ("https://h/?a=1&copy;=2&b=3", "https://h/?a=1&copy;=2&b=3"),
    ("https://h/a_b*c*~d#e-f.g", "https://h/a_b*c*~d#e-f.g"),
]


class TestLinks:
    @pytest.mark.parametrize("title", HOSTILE_TITLES)
    @pytest.mark.parametrize(("address", "opened"), HOSTILE_ADDRESSES)
    def test_one_safe_link_whatever_the_title_and_the_address_hold(self, title: str, address: str, opened: str) -> None:
        links, shown = parsed(f"[1] {link(title, address)}")
        assert shown == f"[1] {title}"
        assert [unencoded(url) for url in links] == [unencoded(opened)]

    @given(st.text(max_size=60), st.text(max_size=60))
    def test_for_any_title_and_any_address(self, title: str, address: str) -> None:
        links, shown = parsed(f"x {link(title, f'https://h/{address}')} x")
        assert len(links) == 1
        assert links[0].startswith("https://h/")
        assert shown.split()[0] == shown.split()[-1] == "x"

    @pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.example", "", "x"])
    def test_what_is_no_web_address_is_not_linked(self, address: str) -> None:
        assert link("a [b]", address) == "a \\[b\\]"

    def test_an_address_in_capitals_is_one(self) -> None:
        assert parsed(link("x", "HTTPS://h/")) == (["HTTPS://h/"], "x")

    def test_a_title_of_nothing_still_has_something_to_press(self) -> None:
        assert link(" \x1b ", "https://h/") == "[source](https://h/)"

    def test_a_source_line_has_its_number_and_its_place(self) -> None:
        assert source_line(CITATION) == "[1] [Guide \\> Use](doc:manual/guide.md#use)"


def unencoded(url: str) -> str:
    """An address as a browser compares it."""
    return url.replace("%7C", "|").replace("%60", "`").replace("%5C", "\\")


class TestText:
    def test_the_answer_its_sources_and_where_else_to_look(self) -> None:
        assert answer_text(ANSWER) == (
            "It spins. [1]\n\n"
            "Sources:\n[1] [Guide \\> Use](doc:manual/guide.md#use)\n\n"
            "Beyond the documentation:\n- search: https://h/?q=x\n\n"
            "Note: One thing."
        )

    def test_an_answer_alone(self) -> None:
        assert answer_text(Answer("refused", "off_topic", "q", "Ask about widgets.", Budget(1, 1, 1.0), Usage())) == "Ask about widgets."

    def test_nobody_can_write_to_the_terminal_but_in_plain_text(self) -> None:
        hostile = Answer(
            "answered",
            "",
            "q",
            "\x1b[31mred\x07\x9b2J \u202egnp.exe",
            Budget(1, 1, 1.0),
            Usage(),
            referrals=(Referral("https://h/\x1b]0;x", "two\nlines"),),
        )
        told = answer_text(hostile)
        assert told == "[31mred2J gnp.exe\n\nBeyond the documentation:\n- two lines: https://h/]0;x"

    def test_names_command_no_terminal(self) -> None:
        assert printable("a\x1b[2Jb\x07\r\u202ec\td\ne\x9bf") == "a[2Jbc\td\nef"
        assert one_line("a\nb\tc\u2028d\x1b[0m\x00") == "a b c d[0m"


class TestPlaces:
    @pytest.mark.parametrize(
        ("anchor", "shown"),
        [
            ("", "doc:manual/guide.md"),
            ("sec one", "doc:manual/guide.md#sec%20one"),
            ("ünicode-é", "doc:manual/guide.md#%C3%BCnicode-%C3%A9"),
            ("a)[b](c", "doc:manual/guide.md#a%29%5Bb%5D%28c"),
            ("torch.nn.Linear", "doc:manual/guide.md#torch.nn.Linear"),
            ("\ud800", "doc:manual/guide.md#?"),
        ],
    )
    def test_an_anchor_is_encoded(self, anchor: str, shown: str) -> None:
        assert place("doc:manual/guide.md", anchor) == shown

    @given(st.text(min_size=1))
    def test_the_link_of_a_source_leads_to_its_anchor_whatever_that_is(self, anchor: str) -> None:
        (inline,) = MarkdownIt().parseInline(source_line(replace(CITATION, anchor=anchor)))
        (target,) = [token.attrs["href"] for token in inline.children or () if token.type == "link_open"]
        assert str(target).isascii()
        page, _, fragment = str(target).partition("#")
        assert (page, unquote(fragment, errors="replace")) == (CITATION.url, anchor.encode("utf-8", "replace").decode())

    def test_what_could_command_a_terminal_is_escaped_in_one_line(self) -> None:
        assert escaped("a\nb\t\x1b[1m\u202eé") == "a\\nb\\t\\x1b[1m\\u202eé"
