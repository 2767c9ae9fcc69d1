"""Where pages lead: links in order, frames, neighbours, the base, refreshes, canonical addresses; and pages that are nothing but links."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ingest.discover.links import PageLinks, read_links
from citewell.ingest.discover.llms import read_llms

URL = "https://docs.example/guide/page.html"
HERE = "https://docs.example/guide/"


def links(text: str | bytes, *, media_type: str = "text/html", charset: str = "", url: str = URL) -> PageLinks:
    data = text.encode() if isinstance(text, str) else text
    return read_links(data, url, media_type=media_type, charset=charset)


def test_links_in_order_each_once() -> None:
    page = links(
        """<link rel=next href=n.html><p><a href="b.html#x">b</a> <a href='A.html'>a</a><a href="b.html">again</a>
        <a href="#here">here</a><a href="page.html#there">there</a><a name=x>no link</a><a href>empty</a>
        <a href="mailto:us@docs.example">us</a><a href="javascript:go()">go</a><a href=" ../up&amp;on/?q=1&amp;r ">up</a>
        <map><area href="/map.html"></map><a href="https://other.example">other</a><a href="http://[">broken</a>"""
    )

    assert page.links == (
        f"{HERE}n.html",
        f"{HERE}b.html",
        f"{HERE}A.html",
        "https://docs.example/up&on/?q=1&r",
        "https://docs.example/map.html",
        "https://other.example/",
    )
    assert page.refresh == ""


def test_the_frames_of_an_old_set_are_links_and_an_iframe_is_none() -> None:
    page = links(
        '<frameset cols="20%,80%"><frame src="menu.html"><frame src="main.html"><noframes><a href=x.html>x</a></noframes></frameset>'
    )

    assert page.links[:2] == (f"{HERE}menu.html", f"{HERE}main.html")
    assert links('<p><iframe src="video.html"></iframe>').links == ()


def test_neighbours_are_links_but_styles_translations_and_feeds_are_not() -> None:
    page = links(
        """<link rel="NEXT" href=n><link rel="prev first" href=p><link rel=stylesheet href=s.css><link rel="icon" href=i>
        <link rel=alternate hreflang=de href=de/><link rel=alternate type="application/rss+xml" href=feed><link href=x>"""
    )

    assert page.links == (f"{HERE}n", f"{HERE}p")


def test_the_base_is_honoured() -> None:
    page = links('<base target=_top><base href="/v2/"><base href="/v3/"><a href=a>a</a><meta http-equiv=refresh content="0;url=b">')

    assert (page.links, page.refresh) == (("https://docs.example/v2/a",), "https://docs.example/v2/b")
    assert links('<base href="javascript:x"><a href=a>a</a>').links == (f"{HERE}a",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=new.html", f"{HERE}new.html"),
        ("0;URL='new.html'", f"{HERE}new.html"),
        ('0; URL="new.html"', f"{HERE}new.html"),
        (" 0.5 , uRl =  new.html#part ", f"{HERE}new.html"),
        ("0 new.html", f"{HERE}new.html"),
        ("0; https://other.example/", "https://other.example/"),
        ("url=/", "https://docs.example/"),
        ("300", ""),
        ("0;", ""),
        ("", ""),
        ("0; url=", ""),
        ("0; url=page.html#top", ""),
        ("0; url=javascript:go()", ""),
        ("0; url=data:text/html,x", ""),
        ("0; url=" + "x" * 9000, ""),
        ("0" * 9000, ""),
    ],
)
def test_the_target_of_a_refresh(content: str, expected: str) -> None:
    quoted = content.replace('"', "&quot;")

    assert links(f'<meta http-equiv="Refresh" content="{quoted}"><p>Moved.').refresh == expected


def test_another_meta_element_is_no_refresh() -> None:
    assert links('<meta name=refresh content="0;url=a"><meta http-equiv="content-type" content="0;url=b">').refresh == ""


def test_the_canonical_address_is_no_link() -> None:
    page = links('<link rel="x Canonical" href="../v2/page.html#x"><link rel=canonical href=/second><link rel=canonical href>')

    assert page.links == ()


def test_the_encoding_of_a_page_counts() -> None:
    page = '<meta charset=utf-16><a href="ж.html">жук</a>'

    assert links(page.encode("koi8-r"), charset="KOI8-R").links == (f"{HERE}%D0%B6.html",)
    assert links(page.encode("utf-16")).links == (f"{HERE}%D0%B6.html",)


MARKDOWN = """
[one](a.md) and ![picture](p.png "Title") [two](<b c.md> 'Title') [three](d(e).md) [again](a.md#x)
<https://other.example/x> [ref][r] [mail](mailto:us@docs.example) `[code](no1.md)`

```text
[fenced](no2.md)
```

~~~~
```
[fenced](no3.md)
~~~~

 [r]: f.md "Title"
"""
EXPECTED = (f"{HERE}a.md", f"{HERE}p.png", f"{HERE}b%20c.md", f"{HERE}d(e).md", "https://other.example/x", f"{HERE}f.md")


@pytest.mark.parametrize(
    ("media_type", "url"),
    [("text/markdown", URL), ("text/x-markdown", URL), ("text/plain", f"{HERE}page.md"), ("", f"{HERE}page.markdown?x")],
)
def test_the_links_of_markdown(media_type: str, url: str) -> None:
    assert links(MARKDOWN, media_type=media_type, url=url).links == EXPECTED


def test_an_unclosed_fence_hides_what_follows() -> None:
    assert links("[a](a)\n```\n[b](b)", media_type="text/markdown").links == (f"{HERE}a",)


def test_llms_txt() -> None:
    text = (
        "# Docs\n\n> All of it.\n\n## Pages\n- [One](/one.md): first\n- [Two](two.html)\n- [One](/one.md#x)\n- https://docs.example/bare\n"
    )

    assert read_llms(text, "https://docs.example/llms.txt") == ["https://docs.example/one.md", "https://docs.example/two.html"]
    assert read_llms("", HERE) == []


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02" * 99, b"\x89PNG\r\n\x1a\n\x00"])
def test_what_is_no_text_has_no_links(data: bytes) -> None:
    assert links(data) == PageLinks()


def test_a_page_has_so_many_links() -> None:
    many = "".join(f'<p><a href="{number}.html">x</a>' for number in range(20_001))

    assert len(links(many).links) == 20_000
    assert len(read_llms("".join(f"[x]({number})\n" for number in range(20_001)), HERE)) == 20_000


_HOSTILE = {
    "links": "".join(f'<p><a href="p{number}.html">x</a></p>' for number in range(100_000)),
    "deep": "<div>" * 9_990 + '<a href="x">y</a>',
    "too deep": "<div>" * 200_000 + '<a href="x">y</a>',
    "open links": '<a href="x">' * 100_000,
    "bases": '<base href="x">' * 50_000,
    "refreshes": "<meta http-equiv=refresh content=0>" * 50_000,
    "a long link": f'<a href="{"../" * 500_000}">x</a>',
}
_HOSTILE_MARKDOWN = [piece * 300_000 for piece in ("](", "](a(", "```\n", "` `` ", "](<", "[a]:", "](\t", "<http://a ")]
_PAGES = [pytest.param(text, "text/html", id=name) for name, text in _HOSTILE.items()]
_PAGES += [pytest.param(text, "text/markdown", id=repr(text[:9])) for text in _HOSTILE_MARKDOWN]


@pytest.mark.parametrize(("text", "media_type"), _PAGES)
def test_hostile_pages_take_little_time(text: str, media_type: str) -> None:
    begun = time.process_time()
    found = links(text, media_type=media_type).links

    assert time.process_time() - begun < 5  # far less on a machine that does nothing else; a quadratic one takes minutes
    assert len(found) <= 20_000


@given(st.text(alphabet="<>a href=\"'/link meta base]([)`~\n.#:&;", max_size=80), st.sampled_from(["text/html", "text/markdown"]))
def test_any_text_has_links_or_none(text: str, media_type: str) -> None:
    page = links(text, media_type=media_type)

    assert len(set(page.links)) == len(page.links)
    assert all(address.startswith(("http://", "https://")) for address in page.links)
