"""What holds for the sections of pages in which everything lies in everything: nothing lost, nothing doubled, nothing out of its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.markdown.page import extract_markdown
from tests.unit.ingest.generated_markdown import LONG, TOKEN, Draft, nested_pages
from tests.unit.ingest.ingest_help import fences, headings, keys

SIZES = st.sampled_from([400, 2000])
REPEATED = ("Col", "r")  # a table's header and the first cell of a row that is cut


def sections_of(text: str, size: int = 2000) -> list[Chunk]:
    return chunk(extract_markdown(decode(text.encode()), "p.md"), size)


def once(tokens: list[str]) -> list[str]:
    """The tokens, those that may be repeated only where they stand first."""
    first = {token: n for n, token in reversed(list(enumerate(tokens)))}
    return [token for n, token in enumerate(tokens) if not token.startswith(REPEATED) or first[token] == n]


def hold(page: Draft, sections: list[Chunk], size: int) -> None:
    """Every part is short and whole; every word is there once, in its order, and code is code to the letter."""
    assert all(0 < len(section.text) <= size for section in sections)
    assert all(headings(section.text) == [] for section in sections)
    assert len(set(keys(sections))) == len(sections)
    assert {name for section in sections for name in section.heading_path.split(" > ")} <= set(page.headings)

    text = "\n\n".join(section.text for section in sections)
    found = once(TOKEN.findall(text))
    assert [token for token in found if token[0] != "t"] == [token for token in page.tokens if token[0] != "t"]
    assert sorted(found) == sorted(page.tokens)  # the cells of a row that is cut take turns
    assert text.count(LONG) == page.text.count(LONG)

    code = [fence for section in sections for fence in fences(section.text)]
    written = [line for _, lines in page.fences for line in lines if line.strip()]
    read = [line for _, content in code for line in content.split("\n") if line.strip()]
    assert "".join(read) == "".join(written)
    assert size < 2000 or set(read) >= {line for line in written if len(line) < 1500}
    language = {token: named for named, lines in page.fences for token in TOKEN.findall("\n".join(lines))}
    assert all(language[token] == named for named, content in code for token in TOKEN.findall(content))


@settings(max_examples=50, deadline=None)
@given(nested_pages(), SIZES)
def test_whatever_lies_in_whatever_else(page: Draft, size: int) -> None:
    hold(page, sections_of(page.text, size), size)


@settings(max_examples=20, deadline=None)
@given(nested_pages(), st.sampled_from(["\r\n", "\r"]))
def test_line_ends_change_nothing(page: Draft, end: str) -> None:
    assert sections_of(page.text.replace("\n", end)) == sections_of(page.text)


LONG_CODE = "\n".join(f"c{n} = {n}  # comment" for n in range(300))


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("- ", "  "),
        ("10) ", "    "),
        ("-   ", "    "),
        ("- - ", "    "),
        ("10) 10) ", "        "),
        ("> ", "> "),
        ("> - ", ">   "),
        ("> 10) ", ">     "),
        ("- > ", "  > "),
        ("10) > ", "    > "),
        ("- > 10) ", "  >     "),
        ("> > - ", "> >   "),
        (">>> - ", ">>>   "),
        ("> - x\n>   - ", ">     "),
    ],
)
def test_a_fence_longer_than_a_part_wherever_it_lies(first: str, rest: str) -> None:
    words = " ".join(f"w{n}" for n in range(900))
    for body in (f"~~~py\n{LONG_CODE}\n~~~", f"{words}\n\n~~~py\n{LONG_CODE}\n~~~\n\nw900"):
        sections = sections_of("# T\n\n" + "\n".join((rest if n else first) + line for n, line in enumerate(body.split("\n"))))
        code = [fence for section in sections for fence in fences(section.text)]
        assert {info for info, _ in code} == {"py"}
        assert "".join(content for _, content in code) == LONG_CODE + "\n"
        assert all(len(section.text) <= 2000 for section in sections)
