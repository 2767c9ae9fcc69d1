"""What every extractor must hold to, whatever its format: the same document gives the same places and blocks, nothing is lost or shown
that must not be, and no input makes it fail, hang, or claim an anchor that the page does not have."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.chunk import MAX_CHARS, Chunk, chunk
from citewell.ingest.extract import EXTRACTORS, extractor_for
from citewell.ingest.extract.base import Code, NotContent, Page, Place, Table, Text, page_markdown
from citewell.ingest.extract.decode import decode
from tests.conformance.extractor_documents import FORMATS, Format
from tests.unit.ingest.ingest_help import fences

_HEADINGS = ["Widgets", "Widgets > Install", "Widgets > Options", "Widgets > Options > Limits", "Widgets > End"]
_SECONDS = 10  # of the processor, for 60 kB of the worst

every_format = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
every_marked_format = pytest.mark.parametrize("form", [form for form in FORMATS if form.marks], ids=lambda form: form.name)


def read(data: bytes, name: str) -> Page:
    extractor = extractor_for(name)
    assert extractor is not None
    return extractor(decode(data), name)


def page_of(form: Format) -> Page:
    return read(form.document.encode(), form.name)


def places(place: Place) -> Iterator[Place]:
    yield place
    for below in place.places:
        yield from places(below)


def text_of(page: Page) -> str:
    return page_markdown(page)


def sections(page: Page) -> list[Chunk]:
    return chunk(page)


def test_every_format_has_a_document_here() -> None:
    assert {extractor_for(form.name) for form in FORMATS} == set(EXTRACTORS.values())


@every_format
def test_title_and_headings(form: Format) -> None:
    page = page_of(form)
    assert page.title == "Widgets"
    assert [section.heading_path for section in sections(page)] == _HEADINGS


@every_format
def test_code_keeps_its_lines_and_its_language(form: Format) -> None:
    blocks = [block for place in places(page_of(form).root) for block in place.blocks if isinstance(block, Code)]
    assert (blocks[0].text, blocks[0].language) == ("pip install widgets\n# no heading", "sh" if form.marks else "")


@every_marked_format
def test_a_table_has_its_header_and_its_rows(form: Format) -> None:
    (table,) = [block for place in places(page_of(form).root) for block in place.blocks if isinstance(block, Table)]
    assert table.head == ["| Name | Default |", "| --- | --- |"]
    assert table.rows == ["| speed | fast |", "| depth | 7 |"]


@every_format
def test_a_list_is_a_list(form: Format) -> None:
    (limits,) = [section for section in sections(page_of(form)) if section.heading_path.endswith("Limits")]
    assert limits.text.startswith("- first limit\n- second limit")


@every_format
def test_an_admonition_begins_with_its_title(form: Format) -> None:
    title = "**Warning:**" if form.marks else "Warning:"
    assert f"{title} Never turn it twice." in text_of(page_of(form))


@every_format
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_make_no_difference(form: Format, end: str) -> None:
    assert read(form.document.replace("\n", end).encode(), form.name) == page_of(form)


@every_format
def test_an_encoding_makes_no_difference(form: Format) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert read(form.document.encode(encoding), form.name) == page_of(form)


@pytest.mark.parametrize(
    ("form", "construct"),
    [(form, construct) for form in FORMATS for construct in form.unclosed],
    ids=lambda value: getattr(value, "name", repr(value)),
)
def test_what_is_never_closed_loses_nothing(form: Format, construct: str) -> None:
    text = text_of(read(form.with_unclosed(construct).encode(), form.name))
    assert set(re.findall(r"\w+", text)) >= {"Widgets", "Install", "Limits", "twice", "End", "last", "words"}


@every_format
@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2063", "\U000e0041", "\u00ad"])
def test_what_no_reader_sees_is_dropped(form: Format, hidden: str) -> None:
    plain = page_of(form)
    for escaped in (hidden, form.escape(hidden)):
        assert read(form.document.replace("words", f"wo{escaped}rds").encode(), form.name) == plain


@every_format
def test_every_anchor_that_is_claimed_is_one_of_the_page(form: Format) -> None:
    page = page_of(form)
    for place in places(page.root):
        assert place.anchor in place.ids | {""}
    anchors = [place.anchor for place in places(page.root)]
    expected = ["widgets", "install", "options", "limits", "end"] if form.marks else [""] * 5
    assert anchors == ([anchor.capitalize() for anchor in expected] if form.name == "page.ipynb" else expected)
    if form.name == "page.html":
        assert all(f'id="{anchor}"' in form.document for anchor in anchors)


@every_format
def test_blocks_are_of_the_known_kinds(form: Format) -> None:
    for place in places(page_of(form).root):
        assert all(isinstance(item, Text | Code | Table | Place) for item in place.content)


@every_format
@pytest.mark.parametrize("data", [b"", b"\n\n \t\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_no_content(form: Format, data: bytes) -> None:
    with pytest.raises(NotContent):
        read(data, form.name)


@every_format
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_beginning_of_a_document_is_read(form: Format, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(form.document)))
    check(form.document[:end].encode(), form.name)


@every_format
@settings(deadline=None, max_examples=80)
@given(data=st.data())
def test_any_shuffling_of_its_lines_is_read(form: Format, data: st.DataObject) -> None:
    lines = [*form.document.split("\n"), *(line for construct in form.unclosed for line in construct.split("\n"))]
    check("\n".join(data.draw(st.lists(st.sampled_from(lines), max_size=40))).encode(), form.name)


@every_format
@settings(deadline=None, max_examples=60)
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_read_or_refused(form: Format, data: bytes) -> None:
    check(data, form.name)


@every_format
@pytest.mark.parametrize(
    "piece",
    [
        *("[", "*a ", "`a ", "|a", "> ", "- ", "<a ", "<div>", "![](", "{", ":::x\n", "```x\n", ".. a::\n", "=\n", "a\n=\n", "  ", "\\"),
        *("a_ ", "[a]_ ", "::\n", "+-", "+--+\n", ":a:`", "&#", '"', "\n", "x", "1. ", "a\tb", "$$", "<!--", "|x| ", "__ ", "[^1]", "{{<"),
        *("<A {a", "![](data:", "{/*", "[1;", "a.", "* \n", "{% a ", "/// a\n", "> [!A]\n"),
        *("(a)=\n", ".. |x| replace:: |x|\n\n", "!!! a\n", "{x}`", '=== "a"\n', "a\n  b\n"),
    ],
)
def test_any_repetition_ends_in_time(form: Format, piece: str) -> None:
    start = time.process_time()
    check((piece * (60_000 // len(piece))).encode(), form.name)
    assert time.process_time() - start < _SECONDS


@every_format
@pytest.mark.parametrize("start", ["{: .a", "{{< a", '=== "a', "<A ", "-8<-", "`", "# a {", "> [!A", "!!! a ", "(", ":a", "$ "])
def test_any_long_line_ends_in_time(form: Format, start: str) -> None:
    begun = time.process_time()
    for filling in (" ", "-", "a.", '"', "[", "{"):
        check((start + filling * (60_000 // len(filling)) + "!").encode(), form.name)
    assert time.process_time() - begun < _SECONDS


@every_format
@pytest.mark.parametrize("step", [" ", "  ", "> ", "- "])
def test_any_nesting_ends_in_time(form: Format, step: str) -> None:
    start = time.process_time()
    check("\n\n".join(f"{step * n}- x{n}" for n in range(300)).encode(), form.name)
    assert time.process_time() - start < _SECONDS


def check(data: bytes, name: str) -> None:
    """A page whose sections can be stored, none too long or with an open fence; or `NotContent`."""
    try:
        page = read(data, name)
    except NotContent:
        return
    for section in chunk(page):
        section.text.encode()
        section.heading_path.encode()
        assert section.text.strip()
        assert len(section.text) <= MAX_CHARS
        fences(section.text)
    page_markdown(page).encode()
