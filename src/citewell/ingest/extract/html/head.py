"""What an HTML page says of itself: its title, the version of the documentation that it is part of, the address it calls its own."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.extract.base import Place, lifted
from citewell.ingest.extract.html.inline import squeeze

_SEPARATOR = re.compile(r"\s+[—|–·»]\s+|\s+&#8212;\s+")
# Headings that do not say what a page is about.
_GENERIC = re.compile(
    r"(?:\d+(?:\.\d+)*[.)]?\s+)?(?:documentation|overview|introduction|description|synopsis|syntax|summary|contents|table of contents"
    r"|readme|home|name)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"1[.)]?\s+\S")
_COUNTED = re.compile(r"^(?:(?:chapter|section|appendix)\s+)?(?:\d+\.?)*\s*[-–—:]?\s*", re.IGNORECASE)
_OPTIONS = re.compile(
    r"<script\b[^<>]{0,200}>[^{]{0,200}?\bDOCUMENTATION_OPTIONS\s*=\s*\{[^}]{0,2000}?\bVERSION:\s*['\"]([^'\"]{1,40})['\"]"
)
_METAS = ", ".join(
    f"meta[name='{name}' i]"
    for name in ("docsearch:version", "docusaurus_version", "version", "docs-version", "release", "dcterms.hasVersion")
)
_BADGES = (
    ".wy-side-nav-search > .version, .rst-current-version, .theme-doc-version-badge, #projectnumber, .sidebar .version, "
    ".DocSearch-version, .version-switcher__button, .md-version__current"
)
_NUMBER = r"v?(\d+(?:\.[\w+]+)+)"
_TITLE_VERSION = re.compile(rf"\b{_NUMBER} (?:documentation|manual|API)\)?\s*$|\bdocumentation \({_NUMBER}\)\s*$", re.IGNORECASE)
_JAVADOC_VERSION = re.compile(r"\(.*?(\d+(?:\.\d+)*)[^()\d]*\)\s*$")
_BADGE_VERSION = re.compile(r"(?:\D{0,20}\s)?" + _NUMBER + r"(?:[-\w.]*)", re.IGNORECASE)
_LONGEST_ADDRESS = 2000


def titled(root: Place, document: LexborHTMLParser, stem: str) -> tuple[Place, str]:
    """The page's places with its title at their top, and that title; `stem` is the file's name, for a page that has none."""
    head, *site = _SEPARATOR.split(_head_title(document))
    head = head.replace("<no title>", "")
    first = next((place for place in root.places if place.level == 1), None)
    if first is not None and first is root.places[0] and first.heading != head and _names_site(first, head, site):
        _unwrap(root, first)
        first = None
    if first is not None and not head.startswith(first.heading) and not _says_nothing(head) and _is_vague(first, root):
        root.heading = head
        return root, head
    root = lifted(root, head)
    return root, root.heading or (first.heading if first is not None else "") or head or stem


def _unwrap(root: Place, first: Place) -> None:
    """Take the name of the site, which every page of it has, from over the page's own headings."""
    at = next(n for n, item in enumerate(root.content) if item is first)
    root.content[at : at + 1] = first.content
    root.ids |= first.ids


def _head_title(document: LexborHTMLParser) -> str:
    found = document.css_first("head > title")
    return squeeze(found.text()) if found is not None else ""


def _names_site(top: Place, head: str, site: list[str]) -> bool:
    """Whether the first heading is the name of the site, over the page's own heading."""
    below = {_bare(place.heading) for place in top.places}
    return bool(below) and ((_bare(head) in below and not top.blocks) or top.heading.casefold() in {name.casefold() for name in site})


def _bare(heading: str) -> str:
    return _COUNTED.sub("", heading, count=1).casefold()


def _is_vague(first: Place, root: Place) -> bool:
    return _says_nothing(first.heading) or (len(root.places) > 1 and _NUMBERED.match(first.heading) is not None)


def _says_nothing(heading: str) -> bool:
    return not heading or _GENERIC.fullmatch(heading) is not None


def version(document: LexborHTMLParser, text: str) -> str:
    """The version of the documentation where the page says it in one of the places for it; "" where none is certain."""
    options = _OPTIONS.search(text) if "DOCUMENTATION_OPTIONS" in text else None
    if options and re.search(r"\d", options.group(1)):
        return options.group(1)
    for meta in document.css(_METAS):
        found = re.fullmatch(r"v?(\d[\w.+-]{0,38})", (meta.attributes.get("content") or "").strip())
        if found:
            return found.group(1)
    title = _head_title(document)
    named = _TITLE_VERSION.search(title)
    if named:
        return named.group(1) or named.group(2)
    if "javadoc" in _generator(document):
        release = _JAVADOC_VERSION.search(title)
        return release.group(1) if release else ""
    badges = {found.group(1) for badge in document.css(_BADGES) if (found := _BADGE_VERSION.fullmatch(squeeze(badge.text())[:60]))}
    return badges.pop()[:40] if len(badges) == 1 else ""


def _generator(document: LexborHTMLParser) -> str:
    return " ".join((meta.attributes.get("content") or "").lower()[:100] for meta in document.css("meta[name=generator i]"))


def canonical(document: LexborHTMLParser) -> str:
    """The absolute http(s) address that the page calls its own, without a fragment; "" where it names none, several, or a broken one."""
    named = {(link.attributes.get("href") or "").strip() for link in document.css("head link[rel~=canonical i]")}
    address = named.pop() if len(named) == 1 else ""
    if len(address) > _LONGEST_ADDRESS or not address.isprintable() or " " in address or "\\" in address:
        return ""
    try:
        parts = urlsplit(address)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc and (parts.port or 1) > 0
    except ValueError:
        return ""
    return address.partition("#")[0] if whole else ""
