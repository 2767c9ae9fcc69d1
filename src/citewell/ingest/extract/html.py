"""HTML pages (Sphinx of any age, DocBook, MkDocs, Docusaurus, plain ones) to places and blocks: the content without its chrome."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.ingest.extract import html_inline as inline
from citewell.ingest.extract.base import NotContent, Page, Place, lifted
from citewell.ingest.extract.html_blocks import HANDLERS
from citewell.ingest.extract.html_reader import Reader

# Where content is, the surest first. Of several equals none holds all of it, so that the next wider one is taken.
_ROOTS = (
    "article.bd-article",
    "div[itemprop=articleBody]",
    "div.body[role=main]",
    "[role=main]",
    "main article",
    "main",
    "article",
    "div.body",
    "#docs-body",
    "div.document",
    "body",
)
_INDEX_PAGE = re.compile(r"genindex(-.*)?|404|(py-|.*-)?modindex|sg_execution_times", re.IGNORECASE)
_SEARCH_TEXT = 400  # a page named "search" with less text than this, or with a place for results, has no content of its own
_STUB_TEXT = 1000  # a page that leads elsewhere and says less than this is only a stub
_DEEPEST = 20_000  # parsing takes time that grows with the square of the depth
_TAG = re.compile(
    r"<(/?)(?:div|span|section|article|ul|ol|dl|table|blockquote|b|i|em|strong|font|a|details|main|[a-z]+-[a-z-]+)\b", re.IGNORECASE
)
_SELF_CLOSED = re.compile(r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([A-Za-z][\w:-]*)([^<>]*)/>")
_VERSION = re.compile(r"""\bVERSION:\s*['"]([^'"]{1,40})['"]""")
_TITLE_VERSION = re.compile(r"\bv?(\d+(?:\.[\w+]+)+) documentation\s*$")


def extract_html(text: str, name: str) -> Page:
    """The page of an HTML text. Raises `NotContent` for redirect stubs, index and search pages, and pages without text."""
    names = [part.rsplit(".", 1)[0] for part in name.split("/")[-2:]]
    stem = names[-1] if names[-1] != "index" or len(names) == 1 else names[0]  # `genindex/index.html` is the index, too
    if _INDEX_PAGE.fullmatch(stem):
        raise NotContent("an index page, no content")
    if text.count("<") > _DEEPEST and _depth(text) > _DEEPEST:
        raise NotContent("nested too deeply")
    if name.lower().endswith(".xhtml") or text.startswith("<?xml"):
        text = _SELF_CLOSED.sub(r"<\1\2></\1>", text)
    document = LexborHTMLParser(text)
    if _leads_elsewhere(document):
        raise NotContent("a redirect to another page")
    if stem.lower() == "search" and _is_search(document):
        raise NotContent("a search page, no content")
    for root in _roots(document):
        place = Reader(HANDLERS, frozenset(inline.ids(root))).read(root)
        if place.content:
            return _page(place, document, text, name)
    raise NotContent("no text")


def _roots(document: LexborHTMLParser) -> list[LexborNode]:
    found = [document.css(selector) for selector in _ROOTS]
    return [nodes[0] for nodes in found if len(nodes) == 1]


def _depth(text: str) -> int:
    """How deep the elements of a text can nest, at most."""
    deepest = depth = 0
    for tag in _TAG.finditer(text):
        depth = max(depth - 1, 0) if tag.group(1) else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _leads_elsewhere(document: LexborHTMLParser) -> bool:
    """Whether a page is a stub that sends its reader on. One that only reloads itself is not, nor one that has much to say."""
    for meta in document.css("meta[http-equiv=refresh i]"):
        parent = meta.parent
        if "url" in (meta.attributes.get("content") or "").lower() and (parent is None or parent.tag != "noscript"):
            return document.body is None or len(inline.squeeze(inline.visible_text(document.body))) < _STUB_TEXT
    return False


def _is_search(document: LexborHTMLParser) -> bool:
    if document.css_first("[id*=search-results], [id*=searchbox], [class*=search-results]") is not None:
        return True
    return document.body is None or len(inline.squeeze(inline.visible_text(document.body))) < _SEARCH_TEXT


def _page(root: Place, document: LexborHTMLParser, text: str, name: str) -> Page:
    head = document.css_first("head > title")
    head_title = inline.squeeze(head.text()) if head is not None else ""
    titled = re.split(r"\s+[—|–]\s+|\s+&#8212;\s+", head_title)[0].replace("<no title>", "")
    first = next((place.heading for place in root.places if place.level == 1), "")
    root = lifted(root, titled)
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    version = _VERSION.search(text[:20_000]) or _TITLE_VERSION.search(head_title)
    return Page(title=root.heading or first or titled or stem, root=root, version=version.group(1) if version else "")
