"""Where a page leads: its links, and where it sends the reader at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.ingest.crawl.address import resolve
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.html.parse import parse

_MOST_LINKS = 20_000
_MOST_LOOKED_AT = 200_000  # elements of a page
_MARKDOWN = frozenset(("text/markdown", "text/x-markdown"))
# Frames of old documentation sets hold its pages; an iframe holds somebody's video.
_LINKING = "a[href], area[href], frame[src], link[rel][href]"
_NEIGHBOURS = frozenset("next prev previous first last start home up top contents toc chapter section index".split())
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))", re.IGNORECASE | re.DOTALL)
_LONGEST_REFRESH = 3_000
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
_MARKDOWN_LINK = re.compile(
    r"\]\(\s{0,9}(?:<([^<>\n]{1,2000})>|((?:[^\s()<>]|\([^\s()<>]{0,500}\)){1,2000}))"  # [text](address "title")
    r"|<(https?://[^\s<>]{1,2000})>"
    r"|^ {0,3}\[[^\]\n]{1,500}\]:[ \t]{0,9}<?([^\s<>]{1,2000})",  # [label]: address
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Absolute addresses without fragments: at most 20,000 links in the page's order, each once and none to itself; the address that a
    refresh leads to at once, "" where there is none."""

    links: tuple[str, ...] = ()
    refresh: str = ""


def read_links(data: bytes, url: str, *, media_type: str, charset: str) -> PageLinks:
    """The links of a page at an address, which is HTML unless the media type or the address say Markdown. None for what is no text."""
    try:
        text = decode(data, charset=charset)
        if media_type in _MARKDOWN or (media_type in ("", "text/plain") and url.partition("?")[0].endswith((".md", ".markdown"))):
            return PageLinks(tuple(absolute(markdown_links(text), url)))
        return _html_links(parse(text), url)
    except NotContent:
        return PageLinks()


def absolute(hrefs: Iterable[str], base: str, *, but: str = "") -> list[str]:
    """The web addresses that links lead to, in order, each once, at most 20,000; `but` is left out."""
    found: dict[str, None] = {}
    for href in dict.fromkeys(href.partition("#")[0] for href in hrefs):
        address = resolve(base, href)
        if address is not None and address != but:
            found[address] = None
            if len(found) == _MOST_LINKS:
                break
    return list(found)


def markdown_links(text: str) -> Iterator[str]:
    """The links of a Markdown text as they stand there, but those in code."""
    text = _CODE.sub("", _FENCE.sub("", text))
    return (next(filter(None, found.groups()), "") for found in _MARKDOWN_LINK.finditer(text))


def _html_links(page: LexborHTMLParser, url: str) -> PageLinks:
    base = url
    for node in page.css("base[href]")[:1]:
        base = resolve(url, node.attributes.get("href") or "") or url
    links: list[str] = []
    for node in page.css(_LINKING)[:_MOST_LOOKED_AT]:
        href = node.attributes.get("src" if node.tag == "frame" else "href") or ""
        if node.tag != "link":
            links.append(href)
            continue
        if _NEIGHBOURS.intersection((node.attributes.get("rel") or "").lower().split()):
            links.append(href)
    return PageLinks(tuple(absolute(links, base, but=url)), _refresh(page.css("meta[http-equiv][content]"), base, url))


def _refresh(metas: list[LexborNode], base: str, url: str) -> str:
    """Where a page sends its reader; "" for one that only loads itself again."""
    for node in metas:
        if (node.attributes.get("http-equiv") or "").strip().lower() == "refresh":
            found = _REFRESH.match((node.attributes.get("content") or "")[:_LONGEST_REFRESH])
            target = next(filter(None, found.groups()), "").strip() if found else ""
            address = resolve(base, target) if target else None
            if address is not None and address != url:
                return address
    return ""
