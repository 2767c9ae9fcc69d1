"""What a page says of itself: its title among several, the version of its documentation, its canonical address."""

from __future__ import annotations

import pytest

from citewell.ingest.chunk import chunk
from citewell.ingest.extract.base import Page
from citewell.ingest.extract.html.page import extract_html
from tests.unit.ingest.ingest_help import html_page


def read(body: str, head: str, name: str = "dir/page.html") -> Page:
    return extract_html(html_page(body, head), name)


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("Frobs in Depth", "<h1>1. Overview</h1><p>x</p><h1>2. Use</h1><p>y</p>", "Frobs in Depth"),
        ("Frobs in Depth", "<h1>1. Temporary frobs</h1><p>x</p><h1>2. Use</h1><p>y</p>", "Frobs in Depth"),
        ("Data.Frob", "<h1>Documentation</h1><p>x</p>", "Data.Frob"),
        ("Frob | Nodes v18.1 Documentation", "<h1>Nodes v18.1 documentation</h1><h2>Frob</h2><p>x</p>", "Frob"),
        ("5. The frob", "<h1><a href='http://f.example'>The Frobber</a></h1><h2>Chapter 5 - The frob</h2><p>x</p>", "Chapter 5 - The frob"),
        ("Introduction - The Frob Book", "<h1>Introduction</h1><p>x</p>", "Introduction"),
        ("Introduction — Frob 1.0", "<h1>Introduction</h1><p>x</p>", "Introduction"),
        ("Overview", "<h1>Introduction</h1><p>x</p>", "Introduction"),
        ("The Frob Site", "<h1>Installing</h1><p>x</p>", "Installing"),
    ],
)
def test_the_title_says_what_the_page_is_about(head: str, body: str, title: str) -> None:
    assert read(body, f"<title>{head}</title>").title == title


def test_sections_stand_under_the_title_that_a_vague_heading_does_not_give() -> None:
    page = read("<h1 id='o'>1. Overview</h1><p>x</p><h1 id='u'>2. Use</h1><p>y</p>", "<title>Frobs</title>")
    assert [(part.anchor, part.heading_path) for part in chunk(page)] == [("o", "Frobs > 1. Overview"), ("u", "Frobs > 2. Use")]


def test_the_name_of_the_site_is_no_part_of_the_way_to_a_section() -> None:
    page = read("<h1 id='site'>Frobs</h1><h2 id='a'>Assert</h2><p>x</p><h3>Modes</h3><p>y</p>", "<title>Assert | Frobs</title>")
    assert [(part.heading_path, "site" in part.ids) for part in chunk(page)] == [("Assert", True), ("Assert > Modes", False)]


OPTIONS = "<script>{start}var DOCUMENTATION_OPTIONS = {{ URL_ROOT: './', VERSION: '{version}' }};</script>"


@pytest.mark.parametrize(
    ("head", "body", "version"),
    [
        (OPTIONS.format(start="", version="1.4.46"), "", "1.4.46"),
        (OPTIONS.format(start="//<![CDATA[\n", version="0.6"), "", "0.6"),
        (OPTIONS.format(start="", version=""), "", ""),
        (OPTIONS.format(start="", version="latest"), "", ""),
        ("", "x" * 30_000 + OPTIONS.format(start="", version="1.4.46"), "1.4.46"),
        ("", "<pre>VERSION: '1.2.3' &lt;script>var DOCUMENTATION_OPTIONS = { VERSION: '1.2.3' }</pre>", ""),
        ("<meta name='docsearch:version' content='2.4.1'>", "", "2.4.1"),
        ("<meta name='docusaurus_version' content='current'>", "", ""),
        ("<title>Frob — Flasks Documentation (2.2.x)</title>", "", "2.2.x"),
        ("<title>Assert | Nodes v18.20.4 Documentation</title>", "", "18.20.4"),
        ("<title>Frob (Commons Lang 3.12.0 API)</title>", "", "3.12.0"),
        ("<meta name='generator' content='javadoc/17'><title>Frob (Platform SE 17 &amp; Kit 17)</title>", "", "17"),
        ("<title>Frob (Section 17)</title>", "", ""),
        ("<title>Migrating to 3.1.2</title>", "", ""),
        ("", "<nav><div class='wy-side-nav-search'><div class='version'>9.0.2</div></div></nav>", "9.0.2"),
        ("", "<div id='titlearea'><span id='projectnumber'>3.4.0</span></div>", "3.4.0"),
        ("", "<div class='theme-doc-version-badge'>Version: 1.9.0</div>", "1.9.0"),
        ("", "<div class='theme-doc-version-badge'>Version: Next</div>", ""),
        ("", "<i class='rst-current-version'>v: 1.0.1</i><i id='projectnumber'>2.0.0</i>", ""),
        ("", "<p>Version 1.2.3</p>", ""),
    ],
)
def test_the_version_is_told_where_it_is_certain(head: str, body: str, version: str) -> None:
    assert read(f"<h1>T</h1><p>x</p>{body}", head).version == version


@pytest.mark.parametrize(
    ("links", "address"),
    [
        ("<link rel='canonical' href='https://f.example/a/b.html'>", "https://f.example/a/b.html"),
        ("<link rel='Canonical' href=' http://f.example/a#part '>", "http://f.example/a"),
        ("<link rel='canonical' href='/a/b.html'>", ""),
        ("<link rel='canonical' href='//f.example/b.html'>", ""),
        ("<link rel='canonical' href='javascript:alert(1)'>", ""),
        ("<link rel='canonical' href='https://'>", ""),
        ("<link rel='canonical' href='https://[half/'>", ""),
        ("<link rel='canonical' href='https://f.example:port/'>", ""),
        ("<link rel='canonical' href='https://user:word@f.example/'>", ""),
        ("<link rel='canonical' href='https://f.example/a b'>", ""),
        ("<link rel='canonical' href='https://f.example/&#10;x'>", ""),
        (f"<link rel='canonical' href='https://f.example/{'a' * 3000}'>", ""),
        ("<link rel='canonical' href='https://a.example/'><link rel='canonical' href='https://b.example/'>", ""),
        ("<link rel='alternate' href='https://f.example/'>", ""),
    ],
)
def test_the_canonical_address_is_a_whole_and_single_one(links: str, address: str) -> None:
    assert read("<p>x</p>", links).canonical == address


def test_a_canonical_link_in_the_text_is_not_the_pages_own() -> None:
    assert read("<div><link rel='canonical' href='https://evil.example/'></div><p>x</p>", "").canonical == ""
