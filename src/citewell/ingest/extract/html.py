"""HTML pages (Sphinx of any age, and plain ones) to places and blocks: the content without its chrome."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.ingest.extract import html_inline as inline
from citewell.ingest.extract.base import Code, NotContent, Page, Place, Table, Text

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
_MAX_DEPTH = 150  # deeper markup is taken as plain text: no page nests so deep, but a hostile one may
_INDEX_PAGE = re.compile(r"^(genindex(-.*)?|search|404|py-modindex|modindex|.*-modindex)$", re.IGNORECASE)
_DEFINITION_LESS = {"field-list", "footnote", "citation", "option-list"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# A line of little else than links before the first heading is a menu: so many links, with at most so many words to each.
_MENU_LINKS = 3
_WORDS_A_LINK = 8
_BOUNDARY = 100  # the level of a definition: headings inside it never close it


def extract_html(text: str, name: str) -> Page:
    """The page of an HTML text. Raises `NotContent` for redirect stubs, index and search pages, and pages without text."""
    if _INDEX_PAGE.match(name.rsplit("/", 1)[-1].rsplit(".", 1)[0]):
        raise NotContent("an index or search page, no content")
    parser = LexborHTMLParser(text)
    if parser.css_first("meta[http-equiv=refresh i]") is not None:
        raise NotContent("a redirect to another page")
    root = next((node for node in map(parser.css_first, _ROOTS) if node is not None), None)
    if root is None:
        raise NotContent("no text")
    reader = _Reader(Place(heading=""))
    reader.block(root, 0)
    reader.flush()
    return _page(reader.root, parser, name)


def _page(root: Place, parser: LexborHTMLParser, name: str) -> Page:
    """The tree with its first heading lifted to the top when all else lies under it."""
    head = parser.css_first("head > title")
    head_title = re.split(r"\s+[—|]\s+|\s+&#8212;\s+", inline.squeeze(head.text()))[0] if head is not None else ""
    if not root.blocks and len(root.places) == 1:
        ids = root.ids
        root = root.places[0]
        root.ids |= ids
    if not root.content and not root.heading:
        raise NotContent("no text")
    first = next((place.heading for place in root.places if place.level == 1), "")
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    title = root.heading or first or ("" if head_title == "<no title>" else head_title) or stem
    version = re.search(r"""\bVERSION:\s*['"]([^'"]{1,40})['"]""", parser.html[:20_000] if parser.html else "")
    return Page(title=title, root=root, version=version.group(1) if version else "")


@dataclass(slots=True)
class _Reader:
    """Walks the markup once. `stack` holds the open places, outermost first; `words` is the paragraph being read."""

    root: Place
    stack: list[Place] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    lead: str = ""  # what the next paragraph begins with: a list marker, an admonition's title
    indent: str = ""
    tight: bool = False
    linked: int = 0  # links in the paragraph being read

    def __post_init__(self) -> None:
        self.stack = [self.root]

    @property
    def place(self) -> Place:
        return self.stack[-1]

    def flush(self) -> None:
        """End the paragraph being read."""
        text = inline.squeeze("".join(self.words))
        self.words.clear()
        links, self.linked = self.linked, 0
        if text and not (self.place is self.root and links >= _MENU_LINKS and links * _WORDS_A_LINK > len(text.split())):
            self.emit(text)

    def emit(self, text: str) -> None:
        lead, self.lead = self.lead or self.indent, ""
        self.place.content.append(Text(lead + text, tight=self.tight))
        self.tight = False

    def block(self, node: LexborNode, depth: int) -> None:
        """Everything inside a node that is laid out as a block."""
        if depth > _MAX_DEPTH:
            self.words.append(node.text(separator=" "))
            return
        for child in node.iter(include_text=True):
            if child.tag == "-text":
                self.words.append(child.text())
            else:
                self._element(child, depth)

    def _element(self, node: LexborNode, depth: int) -> None:
        attributes = node.attributes
        if inline.hidden(node.tag, attributes):
            return
        self._note_id(attributes)
        tag = node.tag or ""
        if tag in inline.TAGS:
            self.place.ids.update(inline.ids(node))
            self.words.append(inline.render(node))
            self.linked += tag == "a"
            return
        self.flush()
        handler = _HANDLERS.get(tag)
        if handler is not None:
            handler(self, node, depth)
        else:
            self._container(node, attributes, depth)
        self.flush()

    def _note_id(self, attributes: dict[str, str | None]) -> None:
        for name in (attributes.get("id"), attributes.get("name")):
            if name:
                self.place.ids.add(name)

    def _container(self, node: LexborNode, attributes: dict[str, str | None], depth: int) -> None:
        classes = (attributes.get("class") or "").split()
        if node.tag == "section" or "section" in classes:
            self._section(node, attributes.get("id") or "", depth)
        elif "admonition-title" in classes:
            self.lead = f"{self.lead or self.indent}**{inline.squeeze(inline.render(node)).rstrip(':')}:** "
        elif "rubric" in classes:
            self.emit(f"**{inline.squeeze(inline.render(node))}**")
        else:
            self.block(node, depth + 1)

    def _section(self, node: LexborNode, anchor: str, depth: int) -> None:
        """A section's id belongs to the heading that it begins with, so it is noted there, not in the place before."""
        if anchor:
            self.place.ids.discard(anchor)
        before = len(self.stack), self.place
        waiting = Place(heading="", anchor=anchor, level=_BOUNDARY)
        self.stack.append(waiting)
        self.block(node, depth + 1)
        self.flush()
        while self.stack[-1] is not waiting:
            self.stack.pop()
        self.stack.pop()
        _adopt(before[1], waiting, anchor)

    def heading(self, node: LexborNode, depth: int) -> None:  # noqa: ARG002 - one signature for all handlers
        link = node.css_first("a.headerlink")
        target = ((link.attributes.get("href") or "") if link is not None else "").partition("#")[2]
        own = [node.attributes.get("id") or "", *inline.ids(node)]
        text = inline.squeeze(inline.render(node))
        if not text:
            return
        level = _HEADINGS[node.tag or "h1"]
        while self.place.level != _BOUNDARY and self.place.level >= level and len(self.stack) > 1:
            self.stack.pop()
        self.place.ids.difference_update(own)
        place = Place(heading=text.replace("`", ""), anchor=target or next(filter(None, own), ""), level=level)
        place.ids.update(filter(None, [*own, target]))
        self.place.content.append(place)
        self.stack.append(place)

    def paragraph(self, node: LexborNode, depth: int) -> None:
        classes = (node.attributes.get("class") or "").split()
        if {"admonition-title", "rubric"} & set(classes):
            self._container(node, node.attributes, depth)
        else:
            self.block(node, depth + 1)

    def pre(self, node: LexborNode, depth: int) -> None:  # noqa: ARG002
        self.place.ids.update(inline.ids(node))
        text = node.text().strip("\n")
        if text.strip():
            self.place.content.append(Code(text, inline.language(node), self.indent))

    def listing(self, node: LexborNode, depth: int) -> None:
        ordered, outer = node.tag == "ol", (self.indent, self.lead)
        indent = self.indent
        for number, item in enumerate((child for child in node.iter() if child.tag == "li"), start=1):
            marker = f"{number}. " if ordered else "- "
            self._note_id(item.attributes)
            self.lead, self.indent, self.tight = indent + marker, indent + " " * len(marker), number > 1
            self.block(item, depth + 1)
            self.flush()
            self.lead = ""
        self.indent, self.lead = outer[0], ""
        self.tight = False

    def table(self, node: LexborNode, depth: int) -> None:
        if "highlighttable" in (node.attributes.get("class") or ""):
            code = node.css_first("td.code pre")
            if code is not None:
                self.pre(code, depth)
            return
        self.place.ids.update(inline.ids(node))
        head, rows = inline.table(node)
        if rows or head:
            self.place.content.append(Table(head, rows))

    def definitions(self, node: LexborNode, depth: int) -> None:
        terms: list[LexborNode] = []
        plain = bool(_DEFINITION_LESS & set((node.attributes.get("class") or "").split()))
        for child in node.iter():
            if child.tag == "div":  # HTML allows groups of dt and dd inside a div
                self.definitions(child, depth + 1)
            elif child.tag == "dt":
                terms.append(child)
            elif child.tag == "dd":
                self._definition(terms, child, depth, plain=plain)
                terms = []
        if terms:
            self._definition(terms, None, depth, plain=plain)

    def _definition(self, terms: list[LexborNode], body: LexborNode | None, depth: int, *, plain: bool) -> None:
        ids = [name for term in terms for name in [term.attributes.get("id") or "", *inline.ids(term)] if name]
        if not ids or plain or depth > _MAX_DEPTH:
            self._term(terms, body, depth, ids)
            return
        place = Place(inline.definition_name(terms[0], ids), ids[0], _BOUNDARY, "\n".join(map(inline.signature, terms)), ids=set(ids))
        self.place.content.append(place)
        outer, self.stack, self.indent = (self.stack, self.indent), [*self.stack, place], ""
        if body is not None:
            self.block(body, depth + 1)
            self.flush()
        self.stack, self.indent = outer

    def _term(self, terms: list[LexborNode], body: LexborNode | None, depth: int, ids: list[str]) -> None:
        self.place.ids.update(ids)
        words = " ".join(inline.squeeze(inline.render(term)) for term in terms).rstrip(":")
        if words:
            self.emit(f"**{words}:**")
        if body is not None:
            outer, self.indent = self.indent, self.indent + "  "
            self.tight = bool(words)
            self.block(body, depth + 1)
            self.flush()
            self.indent, self.tight = outer, False


def _adopt(outer: Place, waiting: Place, anchor: str) -> None:
    """Put what a section held into the place around it; its first heading takes the section's id when it has none that is nearer."""
    first = next((place for place in waiting.places), None)
    if first is not None and anchor:
        first.ids.add(anchor)
        first.anchor = first.anchor or anchor
    elif anchor:
        outer.ids.add(anchor)
    (first or outer).ids.update(waiting.ids)
    outer.content.extend(waiting.content)


_HANDLERS = {
    **dict.fromkeys(_HEADINGS, _Reader.heading),
    "p": _Reader.paragraph,
    "pre": _Reader.pre,
    "ul": _Reader.listing,
    "ol": _Reader.listing,
    "table": _Reader.table,
    "dl": _Reader.definitions,
}
