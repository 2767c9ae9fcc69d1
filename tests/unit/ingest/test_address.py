"""One spelling for an address, and one path for a document: nothing collides, nothing climbs."""

from __future__ import annotations

import httpx2
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from citewell.ingest.crawl.address import base_of, is_document, normal, path_of, resolve, within

BASE = "https://docs.example/guide/"
# What makes addresses hard: separators, dots, percent signs and their halves, what looks like another character.
_PIECES = st.sampled_from(
    [*"/.?#%&=;:@\\ ab\"'<>[]|^`{}+~-_ü", "..", "%2e", "%2F", "%5C", "%25", "%3F", "%41", "%E4", "é", "\u202e", "index.html"]
)
TAILS = st.lists(_PIECES | st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("HTTPS://Docs.Example", "https://docs.example/"),
        ("https://docs.example.:443/a", "https://docs.example/a"),
        ("http://docs.example:80", "http://docs.example/"),
        ("http://docs.example:8080/", "http://docs.example:8080/"),
        ("http://docs.example:/a", "http://docs.example/a"),
        ("https://docs.example/a/./b/../c", "https://docs.example/a/c"),
        ("https://docs.example/../../a/..", "https://docs.example/"),
        ("https://docs.example/a/%2e%2E/b/", "https://docs.example/b/"),
        ("https://docs.example//a//b", "https://docs.example/a/b"),
        ("https://docs.example/a#part?x", "https://docs.example/a"),
        ("https://docs.example/%7euser/%c3%a4", "https://docs.example/~user/%C3%A4"),
        ("https://docs.example/ä b?q=ü&r=%zz", "https://docs.example/%C3%A4%20b?q=%C3%BC&r=%25zz"),
        ("https://docs.example/%2%35", "https://docs.example/%2525"),
        ("https://docs.example?q", "https://docs.example/?q"),
        ("https://docs.example/a?", "https://docs.example/a"),
        ("https://docs.example/a?b=/../c", "https://docs.example/a?b=/../c"),
        ("https://docs.example/a\\b", "https://docs.example/a/b"),
        (" https://docs.example/a ", "https://docs.example/a"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        ("http://under_score.example/", "http://under_score.example/"),
    ],
)
def test_the_one_spelling(given_: str, expected: str) -> None:
    assert normal(given_) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "docs.example",
        "/a",
        "//docs.example/a",
        "ftp://docs.example/",
        "file:///etc/passwd",
        "http:docs.example",
        "http://",
        "http:///a",
        "http://user@docs.example/",
        "http://user:password@docs.example/",
        "http://docs.example:0/",
        "http://docs.example:65536/",
        "http://docs.example:x/",
        "http://docs.example:-1/",
        "http://docs example/",
        "http://docs..example/",
        "http://-docs.example/",
        f"http://{'a' * 64}.example/",
        f"http://{'a.' * 130}example/",
        "http://docs%2eexample/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://1.2.3.4.5/",
        "http://[::1",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[zz]/",
        "http://docs.example/a\nb",
        "http://docs.example/a\tb",
        "http://docs.example/\x00",
        "http://docs.example/\x7f",
        "http://docs.example/\ud800",
        "http://\u202edocs.example/",
        "http://docs.example/" + "a" * 2000,
        "http://docs.example/" + "ä" * 400,
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        normal(url)


@given(TAILS)
@example("%2%35")
@example("%%34%31")
@example("?a-b<c")
def test_the_spelling_is_the_last_one(tail: str) -> None:
    """What is checked is what is asked: neither we nor the client change it again."""
    address = normal(f"https://docs.example/{tail}")

    assert normal(address) == address
    assert address.isascii()
    assert address.isprintable()
    asked = httpx2.URL(address)
    assert asked.raw_path.decode() == address.removeprefix("https://docs.example")
    assert (asked.host, asked.port) == ("docs.example", None)


@given(st.text(max_size=40))
@example("https://docs.example:٣/")
def test_any_text_is_an_address_or_none(text: str) -> None:
    for url in (text, f"http://{text}", f"http://{text}/"):
        try:
            address = normal(url)
        except ValueError:
            continue
        assert httpx2.URL(address).host


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("b.html", "https://docs.example/guide/b.html"),
        ("./b", "https://docs.example/guide/b"),
        ("../b", "https://docs.example/b"),
        ("/b", "https://docs.example/b"),
        ("//other.example/b", "https://other.example/b"),
        ("?q=1", "https://docs.example/guide/a?q=1"),
        ("", "https://docs.example/guide/a?x"),
        ("#part", "https://docs.example/guide/a?x"),
        (" \n b\n.html \t", "https://docs.example/guide/b.html"),
        ("b\\c", "https://docs.example/guide/b/c"),
        ("\\\\other.example\\b", "https://other.example/b"),
        ("b:c", None),
        ("./b:c", "https://docs.example/guide/b:c"),
        ("HTTP://other.example", "http://other.example/"),
        ("mailto:us@docs.example", None),
        ("javascript:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("\x01javascript:alert(1)", None),
        ("data:text/html," + "x" * 100_000, None),
        ("tel:+1", None),
        ("https://", None),
        ("https:b", None),
        ("https://user@other.example/", None),
        ("x" * 3000, None),
        ("http://[", None),
    ],
)
def test_links_lead_where_a_browser_goes(href: str, expected: str | None) -> None:
    assert resolve("https://docs.example/guide/a?x", href) == expected


@given(st.text(max_size=30) | TAILS)
def test_any_link_leads_to_a_normal_address_or_nowhere(href: str) -> None:
    address = resolve(f"{BASE}a", href)

    assert address is None or normal(address) == address


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.example/guide/", True),
        ("https://docs.example/guide/a/b?c", True),
        ("http://docs.example/guide/a", True),
        ("https://docs.example/guide", True),
        ("https://docs.example/guide?a=b", True),
        ("https://docs.example/guidebook/", False),
        ("https://docs.example/", False),
        ("https://docs.example.evil/guide/", False),
        ("https://evil.docs.example/guide/", False),
        ("https://docs.example:8443/guide/", False),
        ("http://docs.example:443/guide/", False),
        ("https://docs.example/guide/../other", False),
        ("https://docs.example/guide/%2e%2e/other", False),
        ("https://docs.example\\.evil.example/guide/", False),
    ],
)
def test_what_is_within_a_base(url: str, expected: bool) -> None:
    assert within(normal(url), BASE) is expected
    assert within(normal(url), f"{BASE}start.html") is expected


def test_ports_make_places() -> None:
    assert within("http://localhost:8000/a", "http://localhost:8000/")
    assert not within("https://localhost:8000/a", "http://localhost:8000/")


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("", "index.html"),
        ("foo", "foo"),
        ("foo.html", "foo.html"),
        ("foo/", "foo/index.html"),
        ("?a=b", "index.html?a=b"),
        ("foo?a=b&c=%20", "foo?a=b&c=%20"),
        ("a%20b/%C3%BC.html", "a b/ü.html"),
        ("torch.Tensor.%5F_add__.html", "torch.Tensor.__add__.html"),
        ("a%2Fb", "a%2Fb"),
        ("a%5Cb", "a%5Cb"),
        ("a%3Fb", "a%3Fb"),
        ("a%253Fb", "a%253Fb"),
        ("a%23b", "a%23b"),
        ("%2E%2E%2Fa", "..%2Fa"),
        ("%E4", "%E4"),
        ("a%00b", "a%00b"),
        ("a%E2%80%AEb", "a%E2%80%AEb"),
    ],
)
def test_the_path_of_a_document(tail: str, expected: str) -> None:
    assert path_of(normal(BASE + tail), BASE) == expected


def test_no_path_for_another_place() -> None:
    with pytest.raises(ValueError, match="is not within"):
        path_of("https://docs.example/other", BASE)


def _same_document(url: str) -> str:
    head, mark, query = url.partition("?")
    return head.removesuffix("index.html") + mark + query if head.endswith("/index.html") else url


@given(TAILS, TAILS)
@example("a?b", "a%3Fb")
@example("%3F", "%253F")
@example("%2541", "%41")
@example("a/", "a")
@example("ü", "%C3%BC")
def test_two_documents_never_share_a_path(one: str, other: str) -> None:
    """But for a folder and its `index.html`, which are the same document."""
    first, second = normal(BASE + one), normal(BASE + other)
    assume(within(first, BASE) and within(second, BASE))

    assert (path_of(first, BASE) == path_of(second, BASE)) == (_same_document(first) == _same_document(second))


@given(TAILS)
def test_no_path_climbs_or_deceives(tail: str) -> None:
    address = normal(BASE + tail)
    assume(within(address, BASE))
    path = path_of(address, BASE)

    assert path
    assert not path.startswith("/")
    assert path.isprintable()
    name = path.partition("?")[0]
    assert not {"", ".", ".."} & set(name.split("/"))
    assert "\\" not in name


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("", True),
        ("a", True),
        ("a.html", True),
        ("a.md?x=y.png", True),
        ("torch.nn.functional.relu", True),
        ("api/flask.json", True),
        ("a.pdf", True),
        ("a.PNG", False),
        ("a.tar.gz", False),
        ("logo.svg?v=1", False),
        ("_static/page.html", False),
        ("x/_sources/a.txt", False),
        ("_modules/torch/nn.html", False),
        ("static/a.html", True),
        ("_static", True),
    ],
)
def test_what_may_be_a_document(tail: str, expected: bool) -> None:
    assert is_document(BASE + tail) is expected


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://w.example/", "https://w.example/"),
        ("https://w.example/docs", "https://w.example/docs/"),
        ("https://w.example/docs/", "https://w.example/docs/"),
        ("https://w.example/docs/v1.2", "https://w.example/docs/v1.2/"),
        ("https://w.example/docs/index.html?a=b", "https://w.example/docs/"),
        ("https://w.example:8080/a/b.PHP", "https://w.example:8080/a/"),
    ],
)
def test_a_site_lies_below_the_folder_of_its_address(url: str, base: str) -> None:
    assert base_of(url) == base
    assert within(url, base) or url + "/" == base
