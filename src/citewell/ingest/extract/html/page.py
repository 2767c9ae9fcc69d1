"""HTML pages (Sphinx of any age, DocBook, MkDocs, Docusaurus, plain ones) to places and blocks: the content without its chrome."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.ingest.extract.base import NotContent, Page, Place, page_markdown
from citewell.ingest.extract.html import head as html_head
from citewell.ingest.extract.html import inline
from citewell.ingest.extract.html.blocks import HANDLERS
from citewell.ingest.extract.html.parse import parse
from citewell.ingest.extract.html.reader import Reader

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
_STUB_TEXT = 500  # a page that leads elsewhere, or is for searching, and says less than this has no content of its own
_RESULTS = "[id*=search-results], [id*=searchbox], [class*=search-results]"
_SELF_CLOSED = re.compile(r"(?i)<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([A-Za-z][\w:-]*)([^<>]*)/>")


def extract_html(text: str, name: str) -> Page:
    """The page of an HTML text. Raises `NotContent` for redirect stubs, index and search pages, and pages without text."""
    names = [part.rsplit(".", 1)[0] for part in name.split("/")[-2:]]
    stem = names[-1] if names[-1] != "index" or len(names) == 1 else names[0]  # `genindex/index.html` is the index, too
    if _INDEX_PAGE.fullmatch(stem):
        raise NotContent("an index page, no content")
    if name.lower().endswith(".xhtml") or text.startswith("<?xml"):
        text = _SELF_CLOSED.sub(r"<\1\2></\1>", text)
    document = parse(text)
    for root in _roots(document):
        place = Reader(HANDLERS, frozenset(inline.ids(root)), names[-1]).read(root)
        if place.content:
            page = _page(place, document, text, name)
            _refuse_stubs(page, document, stem)
            return page
    raise NotContent("a redirect to another page" if _leads_elsewhere(document) else "no text")


def _refuse_stubs(page: Page, document: LexborHTMLParser, stem: str) -> None:
    if _leads_elsewhere(document) and len(page_markdown(page)) < _STUB_TEXT:
        raise NotContent("a redirect to another page")
    if stem.lower() == "search" and (document.css_first(_RESULTS) is not None or len(page_markdown(page)) < _STUB_TEXT):
        raise NotContent("a search page, no content")


def _roots(document: LexborHTMLParser) -> Iterator[LexborNode]:
    for selector in _ROOTS:
        found = document.css(selector)
        if len(found) == 1:
            yield found[0]


def _leads_elsewhere(document: LexborHTMLParser) -> bool:
    """Whether a page sends its reader on. One that only reloads itself, or does so without scripts, does not."""
    return any(
        "url" in (meta.attributes.get("content") or "").lower() and (meta.parent is None or meta.parent.tag != "noscript")
        for meta in document.css("meta[http-equiv=refresh i]")
    )


def _page(root: Place, document: LexborHTMLParser, text: str, name: str) -> Page:
    root, title = html_head.titled(root, document, name.rsplit("/", 1)[-1].rsplit(".", 1)[0])
    return Page(title=title, root=root, version=html_head.version(document, text), canonical=html_head.canonical(document))
