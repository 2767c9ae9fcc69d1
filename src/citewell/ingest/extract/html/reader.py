"""One walk over HTML markup. The reader keeps what is open; what each element means is in its handlers.

Headings and definitions open places, everything else fills them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from citewell.ingest.extract.base import Block, Place, Text
from citewell.ingest.extract.html import inline
from citewell.ingest.extract.html.chrome import Attributes, hidden

MAX_DEPTH = 100  # markup nested deeper is taken as plain text: no page nests so deep, but a hostile one may
_MAX_INDENT = 40
# Lines of little else than links before the first heading are a menu: so many links, with at most so many words to each.
_MENU_LINKS = 3
_WORDS_A_LINK = 8
# A line of nothing but the ways to the pages around.
_LEAST_WAYS = 2
_WAY = re.compile(r"[\W_]*(?:prev(?:ious)?|next|up|top|home|(?:table of )?contents|index)?[\W_]*", re.IGNORECASE)
# Prose that Markdown would take for a heading or a fence.
_MISREAD = re.compile(r"#{1,6}(?:\s|$)|`{3}[^`]*$|~{3}")


@dataclass(slots=True)
class Reader:
    """`stack` holds the open places, outermost first; a heading closes none of the first `floor`."""

    handlers: Mapping[str, Handler]  # by tag; "" is the one for elements that only hold others
    known: frozenset[str]  # the ids of the page
    stem: str = ""  # the name of its file
    root: Place = field(default_factory=lambda: Place(heading="", level=0))
    stack: list[Place] = field(default_factory=list)
    floor: int = 1
    words: list[str] = field(default_factory=list)  # the paragraph being read
    links: list[str] = field(default_factory=list)  # the words of its links
    lead: str = ""  # what the next paragraph begins with: a list marker, an admonition's title
    indent: str = ""
    tight: bool = False
    pending: list[str] = field(default_factory=list)  # ids since the last block; a heading that follows at once is what they name
    menus: list[tuple[Text, int]] = field(default_factory=list)  # what may be a menu, with how many links it has
    tabs: dict[str, str] = field(default_factory=dict)  # labels of tabs that wait for their panels
    linking: bool = False  # inside a link around blocks: its headings are those of the page that it leads to

    def __post_init__(self) -> None:
        self.stack = [self.root]

    def read(self, node: LexborNode) -> Place:
        """The places of everything inside a node."""
        self.block(node, 0)
        self.settle()
        if self.root.places and sum(links for _, links in self.menus) >= _MENU_LINKS:
            menus = {id(menu) for menu, _ in self.menus}
            self.root.content = [item for item in self.root.content if id(item) not in menus]
        return self.root

    @property
    def place(self) -> Place:
        return self.stack[-1]

    # ---- paragraphs ---------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """End the paragraph being read."""
        if not self.words:
            return
        text = inline.squeeze(inline.joined(self.words))
        ways_out = [link.strip() for link in self.links]
        links, linked = len(self.links), sum(len(link.split()) for link in self.links)
        self.words.clear()
        self.links.clear()
        ways = links >= _LEAST_WAYS and linked >= len(text.split()) and all(map(_WAY.fullmatch, ways_out))
        if text and not ways:
            block = self.emit(text)
            total = len(text.split())
            if self.place is self.root and links and (linked >= total or (links >= _MENU_LINKS and links * _WORDS_A_LINK > total)):
                self.menus.append((block, links))

    def settle(self) -> None:
        """End the paragraph, and leave the ids before it to the place it is in."""
        self.flush()
        self.place.ids.update(self.pending)
        self.pending.clear()

    def emit(self, text: str) -> Text:
        """Add a paragraph, with the marker or title that waits for one."""
        block = Text((self.lead or self.indent) + ("\\" if _MISREAD.match(text) else "") + text, tight=self.tight)
        self.lead, self.tight = "", False
        self.add(block)
        return block

    def emphasize(self, words: str) -> None:
        """Add a paragraph that works as a heading without being one."""
        if words:
            self.emit(f"**{words}**")

    def add(self, block: Block) -> None:
        self.place.ids.update(self.pending)
        self.pending.clear()
        self.place.content.append(block)

    def put_lead(self) -> None:
        """A marker or title whose first block is no paragraph stands alone."""
        if self.lead.strip():
            lead = self.lead.rstrip()
            self.lead = ""
            self.add(Text(lead, tight=self.tight))
            self.tight = False

    @contextmanager
    def indented(self, width: int) -> Iterator[None]:
        """Deeper by so many blanks, as Markdown wants the inside of a list item."""
        outer, self.indent = self.indent, (self.indent + " " * width)[:_MAX_INDENT]
        yield
        self.indent, self.lead, self.tight = outer, "", False

    @contextmanager
    def inside(self, place: Place | None = None) -> Iterator[None]:
        """Within a section, or a definition's place: headings there close nothing around it, and it ends where its element ends."""
        stack, floor, indent = self.stack, self.floor, self.indent
        if place is not None:
            self.stack, self.indent = [*stack, place], ""
        else:
            self.stack = [*stack]
        self.floor = len(self.stack)
        yield
        self.settle()
        self.stack, self.floor, self.indent = stack, floor, indent

    # ---- elements -----------------------------------------------------------------------------------------------------------

    def block(self, node: LexborNode, depth: int) -> None:
        """Everything inside a node that is laid out as a block."""
        for child in node.iter(include_text=True):
            self.child(child, depth)

    def child(self, node: LexborNode, depth: int) -> None:
        """One node of a block: text, running text, or a block inside it."""
        if node.tag == "-text":
            self.words.append(node.text_content or "")
            return
        attributes = node.attributes
        if (attributes.get("role") == "tablist" or "tabbed-labels" in (attributes.get("class") or "")) and depth <= MAX_DEPTH:
            self._read_tabs(node)
        elif hidden(node, attributes):
            self._note_hidden(node, attributes)
        elif depth > MAX_DEPTH:
            self.note_ids(node, attributes)
            self.words.append(f" {inline.visible_text(node)} ")
        elif inline.is_running(node):
            self.note_ids(node, attributes)
            text = inline.render(node)
            self.words.append(text)
            if node.tag == "a" and attributes.get("href"):
                self.links.append(text)
        else:
            self.flush()
            self._note_id(node.tag, attributes)
            self.handlers.get(node.tag or "", self.handlers[""])(self, node, depth)
            self.flush()

    def note_ids(self, node: LexborNode, attributes: Attributes) -> None:
        """Note the ids of an element and of everything inside it."""
        if not (node.tag or "-").startswith(("-", "!")):
            self._note_id(node.tag, attributes)
            inner = node.first_child
            if inner is not None and (inner.tag != "-text" or inner.next is not None):
                self.pending.extend(inline.ids(node))

    def _note_hidden(self, node: LexborNode, attributes: Attributes) -> None:
        """What is no content may still be a place that others link to; only an empty one can be the anchor of what follows."""
        before = len(self.pending)
        self.note_ids(node, attributes)
        if len(self.pending) > before and node.text(strip=True):
            self.place.ids.update(self.pending[before:])
            del self.pending[before:]

    def _note_id(self, tag: str | None, attributes: Attributes) -> None:
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name:
            self.pending.append(name)

    def _read_tabs(self, node: LexborNode) -> None:
        """The labels of tabs stand before all panels: kept by the id that a panel names, else by their order."""
        self.flush()
        self.note_ids(node, node.attributes)
        found = node.css("[role=tab]") or list(node.iter())
        self.tabs = {tab.attributes.get("id") or f" {n}": inline.squeeze(inline.visible_text(tab)) for n, tab in enumerate(found)}


Handler = Callable[[Reader, LexborNode, int], None]
