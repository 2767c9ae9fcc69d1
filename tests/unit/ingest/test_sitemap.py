"""Sitemaps of all forms, and what pretends to be one."""

from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ingest.discover.sitemap import Sitemap, read_sitemap

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc> https://docs.example/a?x=1&amp;y=2 </loc>
    <lastmod>2024-01-02</lastmod>
    <image:image><image:loc>https://docs.example/a.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="https://docs.example/de/a"/>
  </url>
  <url><loc><![CDATA[https://docs.example/ü]]></loc></url>
  <url><lastmod>2024-01-02</lastmod></url>
  <url><loc></loc></url>
  <loc>https://docs.example/stray</loc>
</urlset>"""
EXPECTED = Sitemap((("https://docs.example/a?x=1&y=2", "2024-01-02"), ("https://docs.example/ü", "")))


@pytest.mark.parametrize(
    "data",
    [
        PAGES.encode(),
        PAGES.replace(NAMESPACE, "").encode(),
        PAGES.replace(NAMESPACE, 'xmlns="http://www.google.com/schemas/sitemap/0.84"').encode(),
        PAGES.replace("UTF-8", "ISO-8859-1").encode("latin-1"),
        PAGES.replace("UTF-8", "UTF-16").encode("utf-16"),
        b"\xef\xbb\xbf" + PAGES.encode(),
        gzip.compress(PAGES.encode()),
    ],
)
def test_pages(data: bytes) -> None:
    assert read_sitemap(data) == EXPECTED


def test_an_index() -> None:
    data = f"<sitemapindex {NAMESPACE}><sitemap><loc>/a.xml</loc><lastmod>2024</lastmod></sitemap><sitemap><loc>/b.xml.gz</loc></sitemap>"

    assert read_sitemap(f"{data}</sitemapindex>".encode()) == Sitemap(sitemaps=("/a.xml", "/b.xml.gz"))


def test_plain_text() -> None:
    data = "\ufeffhttps://docs.example/a\r\n\r\nHTTP://docs.example/b\nnonsense\n".encode()

    assert read_sitemap(data) == Sitemap((("https://docs.example/a", ""), ("HTTP://docs.example/b", "")))
    assert read_sitemap(gzip.compress(data)) == read_sitemap(data)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><urlset><url><loc>&a;</loc></url></urlset>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it lists no addresses"),
        (b"hello", "it lists no addresses"),
        (b"\x89PNG\xff\xfe", "it is neither XML nor text"),
        (b"<!DOCTYPE html><html><p>Not found</html>", "a document type or entities"),
        (b"<html><p>Not found</p></html>", "it is XML, but no sitemap"),
        (b"<rss><channel/></rss>", "it is XML, but no sitemap"),
        (b"<urlset><url><loc>https://docs.example/a?x=1&y=2</loc></url></urlset>", "no well-formed XML"),
        (b"<urlset><url><loc>https://docs.example/", "no well-formed XML"),
        (b'<?xml version="1.0" encoding="nonsense"?><urlset/>', "no well-formed XML"),
        (BOMB.encode(), "a document type or entities"),
        (EXTERNAL.encode(), "a document type or entities"),
        (b'<!DOCTYPE urlset SYSTEM "http://127.0.0.2/x.dtd"><urlset/>', "a document type or entities"),
        (b"\x1f\x8bgarbage that is long enough", "its compression is damaged"),
        (gzip.compress(b"https://docs.example/a")[:-9], "its compression is cut short"),
        (gzip.compress(bytes(51 * 2**20)), "it is larger than 50 MiB"),
        (b" " * (50 * 2**20 + 1), "it is larger than 50 MiB"),
        (b"<urlset>" + b"<a>" * 100 + b"</a>" * 100 + b"</urlset>", "it is XML, but no sitemap"),
    ],
)
def test_what_is_no_sitemap(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_sitemap(data)


@pytest.mark.parametrize("count", [49_999, 50_000, 50_001])
def test_so_many_entries_are_read(count: int) -> None:
    urls = "".join(f"<url><loc>/{number}</loc></url>" for number in range(count))
    text = "\n".join(f"http://x/{number}" for number in range(count))

    for sitemap in (read_sitemap(f"<urlset>{urls}</urlset>".encode()), read_sitemap(text.encode())):
        assert len(sitemap.pages) == min(count, 50_000)
        assert sitemap.complete is (count <= 50_000)


def test_an_address_has_an_end() -> None:
    urls = f"<url><loc>http://x/{'a' * 3000}</loc></url><url><loc>http://x/{'&#97;' * 3000}</loc></url><url><loc>http://x/</loc></url>"

    assert read_sitemap(f"<urlset>{urls}</urlset>".encode()).pages == (("http://x/", ""),)


@pytest.mark.parametrize(
    "data",
    [
        b"<urlset>" + b"<a/>" * 4_000_000,
        b"<urlset>" + b"<url>" + b"<b></b>" * 2_000_000,
        b"<a>" * 5_000_000,
        b"<urlset><url><loc>" + b"a" * 20_000_000,
        b"<urlset><url><loc>" + b"&#97;" * 4_000_000,
        b"<urlset " + b" ".join(b'a%d=""' % number for number in range(1_000_000)) + b"/>",
        b"<" + b"a" * 20_000_000,
        b"<!--" + b"-a" * 10_000_000,
        b"<" * 20_000_000,
        b"<urlset><![CDATA[" + b"]" * 20_000_000,
    ],
    ids=lambda data: data[:20].decode(),
)
def test_hostile_xml_takes_bounded_time(data: bytes) -> None:
    begun = time.process_time()
    outcome = _outcome(data)

    assert time.process_time() - begun < 15  # a few seconds at most; a quadratic one takes many minutes
    assert outcome == Sitemap(complete=False) or "XML" in str(outcome)


def test_hostile_xml_takes_bounded_memory() -> None:
    data = b"<urlset><url>" + b"<b c='d'></b>" * 100_000

    tracemalloc.start()
    outcome = _outcome(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert outcome == "it is no well-formed XML"
    assert peak < 4 * 2**20


def _outcome(data: bytes) -> Sitemap | str:
    """The sitemap, or why it is none."""
    try:
        return read_sitemap(data)
    except ValueError as error:
        return str(error)


@given(st.binary(max_size=200) | st.text(alphabet="<>/urlsetloc &;#\n\"'!-[]", max_size=80).map(lambda text: f"<urlset>{text}".encode()))
def test_any_bytes_are_a_sitemap_or_none(data: bytes) -> None:
    outcome = _outcome(data)

    assert outcome
    assert isinstance(outcome, str) or len(outcome.pages) <= len(data)
