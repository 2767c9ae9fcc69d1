"""What holds for the sections of every page, over generated ones."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.base import Block, Code, Page, Place, Table, Text, page_markdown
from citewell.ingest.extract.markdown.page import extract_markdown
from citewell.ingest.split import pack
from tests.unit.ingest.generated_pages import Written, html_pages, markdown_pages
from tests.unit.ingest.ingest_help import fences, headings, keys, of_html, of_markdown, words, words_of

LIMIT = 2000
WORD = re.compile(r"\b(?:w|c|t|Col|Head|Title|Note|def)\d+\b")


def hold(page: Written, sections: list[Chunk]) -> None:
    for section in sections:
        assert section.text.strip()
        assert len(section.text) <= LIMIT
        fences(section.text)
        assert headings(section.text) == []
    assert words_of(sections) >= set(WORD.findall(page.text))
    assert len(set(keys(sections))) == len(sections)
    ids = [name for section in sections for name in section.ids]
    assert len(set(ids)) == len(ids)
    for section in sections:
        for cell in re.findall(r"\bt\d+\b", section.text):
            header = section.text[: section.text.index(cell)]
            assert re.search(r"^[ >]*\|.*\bCol\d+.*\|\n[ >]*\|(?: --- \|)+$", header, re.MULTILINE), section.text


@settings(max_examples=60, deadline=None)
@given(markdown_pages())
def test_sections_of_markdown(page: Written) -> None:
    hold(page, of_markdown(page.text))


@settings(max_examples=60, deadline=None)
@given(html_pages())
def test_sections_of_html(page: Written) -> None:
    sections = of_html(page.text)
    hold(page, sections)
    assert {section.anchor for section in sections} <= {"top", *re.findall(r"id='(id\d+)'", page.text)}
    assert set().union(*(section.ids for section in sections)) == {"top", *re.findall(r"id='(id\d+)'", page.text)}


@settings(max_examples=30, deadline=None)
@given(markdown_pages())
def test_no_heading_is_invented_and_none_is_lost(page: Written) -> None:
    sections = of_markdown(page.text)
    assert {name for section in sections for name in section.heading_path.split(" > ")} == set(page.headings)
    assert headings(page_markdown(extract_markdown(page.text, "p.md"))) == page.headings


@settings(max_examples=30, deadline=None)
@given(markdown_pages())
def test_the_code_of_all_parts_is_the_code_of_the_page(page: Written) -> None:
    in_parts = "".join(code for section in of_markdown(page.text) for _, code in fences(section.text))
    assert re.findall(r"c\d+", in_parts) == re.findall(r"\bc\d+\b", page.text)


@settings(max_examples=30, deadline=None)
@given(markdown_pages(), st.sampled_from(["\r\n", "\r"]))
def test_line_ends_change_nothing(page: Written, end: str) -> None:
    assert of_markdown(page.text.replace("\n", end)) == of_markdown(page.text)


@settings(max_examples=30, deadline=None)
@given(html_pages(), st.sampled_from(["\r\n", "\r"]))
def test_line_ends_change_nothing_in_html(page: Written, end: str) -> None:
    assert of_html(page.text.replace("\n", end)) == of_html(page.text)


@settings(max_examples=30, deadline=None)
@given(markdown_pages())
def test_the_same_page_gives_the_same_sections(page: Written) -> None:
    assert of_markdown(page.text) == of_markdown(page.text)


def keys_of_text(sections: list[Chunk]) -> list[tuple[str, str, int, int]]:
    """The keys of all sections but those of headings that nothing stands under: such a heading is no section once another follows it."""
    return keys([section for section in sections if not section.heading_path.endswith(section.text)])


@settings(max_examples=50, deadline=None)
@given(markdown_pages(), st.data())
def test_an_inserted_heading_changes_the_key_of_no_other(page: Written, data: st.DataObject) -> None:
    before = keys_of_text(of_markdown(page.text))
    places = [n for n, line in enumerate(page.lines) if re.match(r"#{2,4} Head", line)] + [len(page.lines)]
    lines = list(page.lines)
    lines[(at := data.draw(st.sampled_from(places))) : at] = ["", "###### Inserted heading", "", "Its text.", ""]
    after = keys_of_text(of_markdown("\n".join(lines)))
    assert [key for key in after if "Inserted heading" not in key[1]] == before
    assert len(after) == len(before) + 1


@settings(max_examples=50, deadline=None)
@given(html_pages(), st.data())
def test_an_inserted_heading_changes_the_key_of_no_other_in_html(page: Written, data: st.DataObject) -> None:
    before = keys_of_text(of_html(page.text))
    places = [n for n, line in enumerate(page.lines) if line.startswith(("<h2", "<h3", "<h4"))] + [len(page.lines)]
    lines = list(page.lines)
    lines.insert(data.draw(st.sampled_from(places)), "<h6 id='ins'>Inserted heading</h6><p>Its text.</p>")
    after = keys_of_text(of_html("\n".join(lines)))
    assert [key for key in after if "Inserted heading" not in key[1]] == before


@settings(max_examples=30, deadline=None)
@given(markdown_pages(), st.sampled_from(["```", "~~~~", "```python", "~~~sh"]))
def test_an_unclosed_fence_hides_no_heading_after_it(page: Written, mark: str) -> None:
    if mark[:3] in page.text:  # it would be closed by a fence of the page
        return
    head, *rest = page.lines
    sections = of_markdown("\n".join([head, "", mark, "code", "", "## Vital", "", "text", *rest]))
    assert [section.heading_path.split(" > ")[1] for section in sections if section.text.startswith("text")][:1] == ["Vital"]
    assert words_of(sections) >= set(WORD.findall(page.text))


# ---- blocks of any text -------------------------------------------------------------------------------------------------------

PROSE = st.text(alphabet="ab `~#>-|*.\\\n1é😀", min_size=1, max_size=400)
LINES = st.lists(st.text(alphabet="ab `~#|\\ é😀", max_size=120), min_size=1, max_size=40)
PREFIX = st.sampled_from(["", "  ", "   ", "> ", "  > ", "        "])
CODE = st.builds(lambda lines, language, prefix: Code("\n".join(lines), language, prefix), LINES, st.sampled_from(["", "python"]), PREFIX)
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, PROSE, st.booleans()),
    CODE,
    st.builds(
        lambda cells, many: Table(["| a | b |", "| --- | --- |"], [f"| {cell} | x |" for cell in cells] * many),
        st.lists(st.text(alphabet="ab \\é", max_size=300), max_size=5),
        st.integers(1, 9),
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(BLOCKS, min_size=1, max_size=6), st.sampled_from([400, 2000]))
def test_packing_any_blocks(blocks: list[Block], limit: int) -> None:
    parts = pack(blocks, limit)
    assert all(0 < len(part) <= limit for part in parts)
    given_words = words("\n".join(page_markdown(Page("", Place("", content=[block]))) for block in blocks))
    cut = {word for word in given_words if len(word) > 40}  # what is longer than a line's second half may be cut anywhere
    assert words("\n".join(parts)) >= given_words - cut


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(CODE, st.just(Text("words"))), min_size=1, max_size=5))
def test_code_of_any_text_is_fenced_in_every_part(blocks: list[Block]) -> None:
    for section in chunk(Page("T", Place("T", content=blocks)), 500):  # type: ignore[arg-type]
        fences(section.text)
        assert headings(section.text) == []
