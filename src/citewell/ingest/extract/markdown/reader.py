"""The blocks of Markdown to places: the author's own lines, under the headings and definitions that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from markdown_it.tree import SyntaxTreeNode

from citewell.ingest.extract.base import Block, Code, NotContent, Place, Table, Text
from citewell.ingest.extract.html import inline as html_inline
from citewell.ingest.extract.html.blocks import HANDLERS
from citewell.ingest.extract.html.parse import parse
from citewell.ingest.extract.html.reader import Reader
from citewell.ingest.extract.markdown.directives import head
from citewell.ingest.extract.markdown.text import Slugs, heading_words, is_definitions, label_ids, language, shown
from citewell.ingest.extract.rest.objects import Context
from citewell.ingest.extract.rest.page import extract_rest

_ADMONITION = re.compile(r"\s*[\w-]+(?:\s+[\w-]+)*\s+\"(.*)\"\s*")
_ALERT = re.compile(r"(?:[ \t]*>)+[ \t]*\[!([\w-]{1,20})\][+-]?[ \t]*(.*)")
_QUOTE_MARK = re.compile(r"^[ \t]*> ?", re.MULTILINE)
_ADMONITION_INDENT = 4
_LONGEST_HEADING = 300
_LONGEST_PREFIX = 40
_LISTS = frozenset(("bullet_list", "ordered_list"))
_DEFINITION_LEVEL = 7  # below every heading: each of them ends it


@dataclass(slots=True)
class MarkdownReader:
    """`waiting` holds anchors that stand alone: they are those of the block or the heading after them."""

    lines: list[str]
    root: Place = field(default_factory=lambda: Place(heading="", level=0))
    stack: list[Place] = field(default_factory=list)
    slugs: Slugs = field(default_factory=Slugs)
    waiting: list[str] = field(default_factory=list)
    lead: str = ""
    cut: int = 0  # columns by which the inside of an admonition is indented
    quotes: int = 0  # marks of quotations before the lines of an alert
    context: Context = field(default_factory=Context)
    end: int = 0  # the line after the last block

    def __post_init__(self) -> None:
        self.stack = [self.root]

    @property
    def place(self) -> Place:
        return self.stack[-1]

    def read(self, nodes: Iterable[SyntaxTreeNode], text: str) -> None:
        """Add the blocks of one text; what it leaves open ends with it."""
        self.lines, self.end = text.split("\n"), 0
        for node in nodes:
            self.block(node, "")
        self._put_lead()

    def finish(self) -> Place:
        """The tree of everything that was read."""
        self.place.ids |= set(self.waiting)
        return self.root

    def block(self, node: SyntaxTreeNode, prefix: str, marker: str = "") -> None:
        """Add one block. `prefix` is what its continuation lines begin with inside a list item or a quotation, `marker` the list
        marker before it on its first line."""
        first = node.map[0] if node.map else 0
        if node.type == "heading" and not prefix and not self.cut:
            self._heading(node)
        elif node.type in {"fence", "code_block"}:
            self._code(node, prefix, marker)
        elif node.type == "table" and node.map:
            rows = [self._shown(line) for line in self.lines[first : node.map[1]]]
            self.add(Table(rows[:2], [row for row in rows[2:] if row.strip()]))
        elif node.type in _LISTS:
            self._listing(node, prefix, marker)
        elif node.type == "blockquote" and node.children:
            self._quotation(node, prefix, marker)
        elif node.type == "colons":
            self._named(str(node.meta["info"]))
        elif node.type == "admonition" and node.children:
            self._admonition(node, prefix)
        elif node.type == "html_block":
            self._html(node, prefix)
        elif node.type != "hr":
            self._text(first, node.map[1] if node.map else first)
        self.end = -1 if node.type == "colons" else node.map[1] if node.map else self.end

    def add(self, block: Block) -> None:
        """Add a block; the anchors before it are its place's."""
        self.place.ids.update(self.waiting)
        self.waiting.clear()
        self.place.content.append(block)

    def _own(self, text: str) -> str:
        """Lines without what stands before them for the sake of an alert or an admonition around them."""
        for _ in range(self.quotes):
            text = _QUOTE_MARK.sub("", text)
        if self.cut:
            text = re.sub(rf"^ {{1,{self.cut}}}", "", text, flags=re.MULTILINE)
        return text

    def _shown(self, text: str) -> str:
        text, anchors = shown(self._own(text))
        self.waiting.extend(anchors)
        return text

    def _tight(self, first: int) -> bool:
        return first > 0 and first == self.end and bool(self.lines[first - 1].strip())

    def _text(self, first: int, last: int) -> None:
        tight = self._tight(first)
        text, labels = label_ids("\n".join(self.lines[first:last]).strip("\n"))
        self.waiting.extend(labels)
        text = self._shown(text)
        if text.strip() and not is_definitions(text):
            text, self.lead = (text if not self.lead else self.lead + text.lstrip()), ""
            self.add(Text(text, tight=tight))

    def _code(self, node: SyntaxTreeNode, prefix: str, marker: str) -> None:
        if node.type == "fence" and node.info.strip() == "{eval-rst}":
            self._embedded(node.content, prefix)
            return
        text = node.content.strip("\n") if node.type == "fence" else node.content.rstrip("\n")
        if self.lead or marker.strip():
            self.add(Text((self.lead or marker).rstrip(), tight=self._tight(node.map[0] if node.map else 0)))
            self.lead = ""
        if text.strip():
            self.add(Code(text, language(node.info) if node.type == "fence" else "", prefix[:_LONGEST_PREFIX]))

    def _listing(self, node: SyntaxTreeNode, prefix: str, outer: str) -> None:
        self._put_lead()
        for number, item in enumerate(node.children):
            line = self.lines[item.map[0]] if item.map else ""
            marker = _marker(self._own(line), prefix)
            if not item.children and item.map:  # nested more deeply than is parsed, or empty
                self._text(*item.map)
            for position, child in enumerate(item.children):
                beside = position == 0 and child.map and item.map and child.map[0] == item.map[0]
                before = outer if outer and number == 0 else prefix
                self.block(child, prefix + " " * len(marker), before + marker if beside else "")

    def _admonition(self, node: SyntaxTreeNode, prefix: str) -> None:
        titled = _ADMONITION.fullmatch(node.info)
        words = titled.group(1) if titled else node.info.strip()
        self._put_lead()
        self.lead = f"{prefix}**{words[:1].upper()}{words[1:]}:** " if words else ""
        self.cut += _ADMONITION_INDENT
        for child in node.children:
            if child.type != "admonition_title":
                self.block(child, prefix)
        self.cut -= _ADMONITION_INDENT
        self._put_lead()

    def _put_lead(self) -> None:
        """A title that nothing follows stands alone."""
        if self.lead.strip():
            self.add(Text(self.lead.rstrip()))
        self.lead = ""

    def _quotation(self, node: SyntaxTreeNode, prefix: str, marker: str) -> None:
        """A quotation, or an alert: `> [!NOTE]` and what follows it."""
        first = node.map[0] if node.map else 0
        alert = _ALERT.fullmatch(self._own(self.lines[first])) if node.map else None
        if alert is None:
            for child in node.children:
                beside = marker and child.map and child.map[0] == first
                self.block(child, prefix + "> ", f"{marker}> " if beside else "")
            return
        words = alert.group(2).strip() or alert.group(1).capitalize()
        self._put_lead()
        self.lead = f"{prefix}**{words}:** "
        self.quotes += 1
        for child in node.children:
            if child.map and child.map[0] == first and child.type == "paragraph":
                self._text(first + 1, child.map[1])
            else:
                self.block(child, prefix)
        self.quotes -= 1
        self._put_lead()

    def _named(self, info: str) -> None:
        """The first or the last line of a named block."""
        self._put_lead()
        if not info:
            if self.place.level == _DEFINITION_LEVEL:
                self.stack.pop()
                self.context.scopes[-1:] = []
            return
        said = head(info, self.context)
        self.lead = f"**{said.title[:1].upper()}{said.title[1:]}:** " if said.title else ""
        if said.label:
            self.add(Text(said.label))
        if said.described is not None:
            one = said.described
            place = Place(
                one.name, one.ids[0] if one.ids else "", _DEFINITION_LEVEL, one.signature, (one.name,), ids={*one.ids, *self.waiting}
            )
            self.waiting.clear()
            self.place.content.append(place)
            self.stack.append(place)
            self.context.scopes.append(one.name)

    def _embedded(self, text: str, prefix: str) -> None:
        """reStructuredText inside Markdown."""
        with suppress(NotContent):
            root = extract_rest(text, "").root
            self._adopt(Place("", content=[root]) if root.heading else root, prefix)

    def _html(self, node: SyntaxTreeNode, prefix: str) -> None:
        """A stretch of HTML: its blocks are read as those of an HTML page, its headings are headings of this one."""
        body = parse(node.content).body
        if body is not None:
            self._adopt(Reader(HANDLERS, frozenset(html_inline.ids(body))).read(body), prefix)

    def _adopt(self, place: Place, prefix: str) -> None:
        self.waiting.extend(sorted(place.ids))
        for item in place.content:
            if isinstance(item, Place) and item.signature:
                self.place.content.append(item)
            elif isinstance(item, Place):
                self._open(item.heading, item.anchor, item.level, [])
                self._adopt(item, "")
            elif isinstance(item, Text):
                self.add(Text(prefix + item.md, item.tight))
            elif isinstance(item, Code):
                self.add(Code(item.text, item.language, (prefix + item.prefix)[:_LONGEST_PREFIX]))
            else:
                self.add(Table([prefix + line for line in item.head], [prefix + line for line in item.rows]))

    def _heading(self, node: SyntaxTreeNode) -> None:
        raw = " ".join(child.content for child in node.children)
        words, explicit, anchors = heading_words(raw)
        short = words if len(words) <= _LONGEST_HEADING else words[:_LONGEST_HEADING].rsplit(" ", 1)[0] + " …"
        self._open(short, explicit, int(node.tag[1]), anchors)
        if short != words:
            self.add(Text(raw.strip()))

    def _open(self, words: str, anchor: str, level: int, anchors: list[str]) -> None:
        while len(self.stack) > 1 and self.place.level >= level:
            self.stack.pop()
        anchor = anchor or self.slugs.anchor(words)
        place = Place(words or "Untitled", anchor, level, ids={anchor, *anchors, *self.waiting})
        self.waiting.clear()
        self.place.content.append(place)
        self.stack.append(place)


def _marker(line: str, prefix: str) -> str:
    """A list item's marker with the blanks around it: as wide as its text is indented, beyond `prefix`."""
    found = re.match(r" *(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}(?=\S)|[ \t]|$)", line[len(prefix) :])
    return found.group(0).expandtabs(4) if found else "  "
