"""A file's bytes to the page that is stored: address, kind, symbols, hash; and every reason for which there is none."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.index.store import NewPage
from citewell.ingest.discover.base import Raw
from citewell.ingest.discover.inventory import Entry
from citewell.ingest.extract import extractor_for
from citewell.ingest.extract.base import NotContent
from citewell.ingest.prepare import Origin, content_hash, made_by, page_url, prepare

ORIGIN = Origin("manual", "https://docs.example/en/", "", "")
NO_ADDRESS = Origin("manual", "", "", "")
API = b"""<html><body><h1 id='top'>API</h1><p>Intro.</p>
<dl class='py function'><dt id='m.spin'><span class='descname'>spin</span>()</dt><dd>Spins.</dd></dl>
<dl class='py function'><dt id='m.get'><span class='descname'>get</span>()</dt>
<dt id='m.set'><span class='descname'>set</span>()</dt><dd>x</dd></dl>
</body></html>"""


def prepared(path: str, data: bytes, entries: tuple[Entry, ...] = (), origin: Origin = ORIGIN) -> NewPage:
    return prepare(Raw(path, lambda: data), data, entries, origin)


# ---- addresses ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("guide/Setup (old) notes.html", "guide/Setup%20%28old%29%20notes.html"),
        ("a#b.html", "a%23b.html"),
        ("a?b=c.html", "a%3Fb%3Dc.html"),
        ("100%.html", "100%25.html"),
        ("100%25.html", "100%2525.html"),
        ("größe/日本.md", "gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC.md"),
        ("a ] b [ c.md", "a%20%5D%20b%20%5B%20c.md"),
        ("~me/a-b_c.html", "~me/a-b_c.html"),
        ("a&b;c,d'e\"f<g>.md", "a%26b%3Bc%2Cd%27e%22f%3Cg%3E.md"),
    ],
)
def test_an_address_is_quoted_and_leads_back_to_its_path(path: str, quoted: str) -> None:
    assert page_url(path, ORIGIN) == f"https://docs.example/en/{quoted}"
    assert page_url(path, NO_ADDRESS) == f"doc:manual/{quoted}"


@pytest.mark.parametrize("path", ["a" * 2000 + ".md", "日" * 230 + ".md"])
def test_a_document_whose_address_no_index_holds_is_refused(path: str) -> None:
    with pytest.raises(NotContent, match="its address is too long"):
        prepared(path, b"# A\n\nText.\n")


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_path_has_an_address_of_its_own(path: str) -> None:
    parts = urlsplit(page_url(path, ORIGIN))
    assert unquote(parts.path.removeprefix("/en/")) == path
    assert not parts.query
    assert not parts.fragment
    assert page_url(path, ORIGIN).isascii()


def test_pages_that_look_alike_have_different_addresses() -> None:
    paths = ["foo.html", "foo/index.html", "foo.htm", "Foo.html", "foo%2Ehtml"]
    assert len({page_url(path, ORIGIN) for path in paths}) == len(paths)


# ---- kinds and versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("generated/frob.html", b"<h1>x</h1><p>y</p>", "api"),
        ("x/api/frob.md", b"# x", "api"),
        ("frob.html", API, "api"),
        ("tutorials/frob.html", API, "tutorial"),
        ("a/howto/frob.md", b"# x", "tutorial"),
        ("Quickstart.md", b"# x", "tutorial"),
        ("frob.md", b"# x", "guide"),
    ],
)
def test_the_kind_of_a_page(path: str, data: bytes, kind: str) -> None:
    assert prepared(path, data).kind == kind
    assert prepared(path, data, origin=replace(ORIGIN, kind="guide")).kind == "guide"


def test_the_version_is_the_sources_else_the_pages() -> None:
    page = b"<title>A - B 2.1.0 documentation</title><p>x</p>"
    assert prepared("a.html", page).version == "2.1.0"
    assert prepared("a.html", page, origin=replace(ORIGIN, version="3.0")).version == "3.0"


# ---- symbols ------------------------------------------------------------------------------------------------------------------


def symbols(page: NewPage) -> dict[str, str]:
    anchors = {section.key: section.anchor for section in page.sections}
    return {symbol.name: anchors[symbol.section_key] for symbol in page.symbols}


def test_the_symbols_of_an_inventory_lead_to_their_sections() -> None:
    entries = (Entry("m.spin", "py:function", "m.spin"), Entry("m", "py:module", "top"), Entry("m.gone", "py:data", "no-such-id"))
    assert symbols(prepared("a.html", API, entries)) == {"m.spin": "m.spin", "m": "top", "m.gone": "top"}


def test_without_an_inventory_definitions_are_the_symbols() -> None:
    page = prepared("a.html", API)
    assert symbols(page) == {"m.spin": "m.spin", "m.get": "m.get", "m.set": "m.get"}
    assert {symbol.role for symbol in page.symbols} == {"definition"}
    assert symbols(prepared("a.md", b"# A\n\ntext")) == {}


def test_a_symbol_of_a_place_without_text_leads_to_what_stands_under_it() -> None:
    page = prepared("a.html", b"<h1 id='module-m'>m</h1><h2 id='use'>Use</h2><p>x</p>", (Entry("m", "py:module", "module-m"),))
    assert symbols(page) == {"m": "use"}


def test_a_symbol_of_a_long_section_leads_to_its_first_part() -> None:
    page = prepared("a.html", b"<h1 id='top'>T</h1>" + b"<p>some words</p>" * 500, (Entry("t", "py:data", "top"),))
    assert len(page.sections) > 1
    assert page.symbols[0].section_key == page.sections[0].key


# ---- what is stored -----------------------------------------------------------------------------------------------------------


def test_a_page_and_its_sections() -> None:
    page = prepared("guide/a.md", b"---\ntitle: Frob\n---\n# Frob it\n\nWords.\n\n## Sub\n\n```sh\nls\n```\n")
    assert (page.title, page.path) == ("Frob", "guide/a.md")
    assert page.text == "# Frob it\n\nWords.\n\n## Sub\n\n```sh\nls\n```\n"
    assert [(s.ordinal, s.anchor, s.heading_path, s.part, s.text) for s in page.sections] == [
        (0, "frob-it", "Frob it", 0, "Words."),
        (1, "sub", "Frob it > Sub", 0, "```sh\nls\n```"),
    ]
    assert len({section.key for section in page.sections}) == 2
    assert all(len(section.key) == 16 for section in page.sections)


def test_a_title_of_any_length_is_stored() -> None:
    assert len(prepared("a.md", b"# " + b"word " * 1000).title) <= 500


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.html", b"", "no text"),
        ("a.md", b"\n", "no text"),
        ("a.html", b"\x89PNG\x00\x00", "binary file"),
        ("a.pdf", b"%PDF", "no extractor"),
        ("a", b"text", "no extractor"),
        ("genindex.html", b"<h1>Index</h1>", "an index page"),
        ("a.html", b"<meta http-equiv=refresh content='0;url=b.html'>", "a redirect"),
    ],
)
def test_what_is_no_content_says_why(path: str, data: bytes, reason: str) -> None:
    with pytest.raises(NotContent, match=reason):
        prepared(path, data)


@pytest.mark.parametrize("name", ["a.html", "b.HTM", "dir.x/c.xhtml", "d.md", "e.MARKDOWN"])
def test_formats(name: str) -> None:
    assert extractor_for(name) is not None


def test_the_hash_is_of_everything_that_the_page_depends_on() -> None:
    entry = Entry("m", "py:module", "top")
    hashes = [
        content_hash(b"a", made_by((), ORIGIN)),
        content_hash(b"b", made_by((), ORIGIN)),
        content_hash(b"a", made_by((entry,), ORIGIN)),
        content_hash(b"a", made_by((replace(entry, anchor="x"),), ORIGIN)),
        content_hash(b"a", made_by((replace(entry, role="py:data"),), ORIGIN)),
        content_hash(b"a", made_by((), replace(ORIGIN, base_url="https://other.example/"))),
        content_hash(b"a", made_by((), replace(ORIGIN, kind="api"))),
        content_hash(b"a", made_by((), replace(ORIGIN, version="2"))),
    ]
    assert len(set(hashes)) == len(hashes)
    assert content_hash(b"a", made_by((entry,), ORIGIN)) == hashes[2]


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.html", "a.md"]))
def test_any_bytes_are_a_page_or_a_reason(data: bytes, path: str) -> None:
    try:
        page = prepared(path, data)
    except NotContent:
        return
    assert page.sections
    for text in (page.text, page.title, *(section.text for section in page.sections), *(section.heading_path for section in page.sections)):
        assert "\x00" not in text
        text.encode()


@pytest.mark.parametrize(
    ("path", "own", "published"),
    [
        ("device_index.html", "http://mirror.example/docs/device_index.html", "https://docs.example/en/device_index.html"),
        ("api/index.html", "http://mirror.example/docs/api/", "https://docs.example/en/api/"),
        ("api/index.html", "http://mirror.example/docs/api/index.html", "https://docs.example/en/api/index.html"),
        ("index.html", "http://mirror.example/docs/", "https://docs.example/en/"),
    ],
)
def test_a_page_of_a_mirror_has_the_address_that_it_has_where_it_is_published(path: str, own: str, published: str) -> None:
    raw = Raw(path, lambda: b"", url=own)
    assert prepare(raw, b"<h1>API</h1><p>Text.</p>", (), ORIGIN).url == published
