"""Markdown pages (CommonMark with tables, front matter and admonitions) to places and blocks. The author's own lines are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it.tree import SyntaxTreeNode

from citewell.ingest.extract import html_inline
from citewell.ingest.extract.base import Block, Code, NotContent, Page, Place, Table, Text, lifted
from citewell.ingest.extract.html_blocks import HANDLERS
from citewell.ingest.extract.html_parse import parse
from citewell.ingest.extract.html_reader import Reader
from citewell.ingest.extract.markdown_text import Slugs, close_fences, heading_words, is_definitions, language, shown

_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?\n)??\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title\s*[:=]\s*(?:\"((?:[^\"\\]|\\.)+)\"|'((?:[^']|'')+)'|(.+?))\s*$", re.MULTILINE)
_ADMONITION = re.compile(r"\s*[\w-]+(?:\s+[\w-]+)*\s+\"(.*)\"\s*")
_ADMONITION_INDENT = 4
_LONGEST_HEADING = 300
_LONGEST_PREFIX = 40
_LISTS = frozenset(("bullet_list", "ordered_list"))


def extract_markdown(text: str, name: str) -> Page:
    """The page of a Markdown text. Raises `NotContent` for a page without text."""
    toml = _TOML.match(text)
    title = _front_title(toml.group(1) or "") if toml else ""
    text, tokens = close_fences(text[toml.end() :] if toml else text)
    reader = _Reader(text.split("\n"))
    for node in SyntaxTreeNode(tokens).children:
        if node.type == "front_matter":
            title = _front_title(node.content)
        else:
            reader.block(node, "")
    reader.place.ids |= set(reader.waiting)
    if not reader.root.content:
        raise NotContent("no text")
    top = next((place.heading for place in reader.root.places if place.level == 1), "")
    root = lifted(reader.root, title)
    if title and not root.heading:
        root.heading = title
    first = root.heading or top or (root.places[0].heading if len(root.places) == 1 else "")
    return Page(title=title or first or name.rsplit("/", 1)[-1].rsplit(".", 1)[0], root=root)


def _front_title(front: str) -> str:
    found = _TITLE.search(front)
    if not found:
        return ""
    double, single, bare = found.groups()
    title = re.sub(r"\\(.)", r"\1", double) if double else single.replace("''", "'") if single else bare
    return html_inline.squeeze(title)[:_LONGEST_HEADING]


@dataclass(slots=True)
class _Reader:
    """`waiting` holds anchors that stand alone: they are those of the block or the heading after them."""

    lines: list[str]
    root: Place = field(default_factory=lambda: Place(heading="", level=0))
    stack: list[Place] = field(default_factory=list)
    slugs: Slugs = field(default_factory=Slugs)
    waiting: list[str] = field(default_factory=list)
    lead: str = ""
    cut: int = 0  # columns by which the inside of an admonition is indented
    end: int = 0  # the line after the last block

    def __post_init__(self) -> None:
        self.stack = [self.root]

    @property
    def place(self) -> Place:
        return self.stack[-1]

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
            self._add(Table(rows[:2], [row for row in rows[2:] if row.strip()]))
        elif node.type in _LISTS:
            self._listing(node, prefix)
        elif node.type == "blockquote" and node.children:
            for child in node.children:
                self.block(child, prefix + "> ")
        elif node.type == "admonition" and node.children:
            self._admonition(node, prefix)
        elif node.type == "html_block":
            self._html(node, prefix)
        elif node.type != "hr":
            self._text(first, node.map[1] if node.map else first)
        self.end = node.map[1] if node.map else self.end

    def _add(self, block: Block) -> None:
        self.place.ids.update(self.waiting)
        self.waiting.clear()
        self.place.content.append(block)

    def _shown(self, text: str) -> str:
        if self.cut:
            text = re.sub(rf"^ {{1,{self.cut}}}", "", text, flags=re.MULTILINE)
        text, anchors = shown(text)
        self.waiting.extend(anchors)
        return text

    def _tight(self, first: int) -> bool:
        return first > 0 and first == self.end and bool(self.lines[first - 1].strip())

    def _text(self, first: int, last: int) -> None:
        tight = self._tight(first)
        text = self._shown("\n".join(self.lines[first:last]).strip("\n"))
        if text.strip() and not is_definitions(text):
            text, self.lead = (text if not self.lead else self.lead + text.lstrip()), ""
            self._add(Text(text, tight=tight))

    def _code(self, node: SyntaxTreeNode, prefix: str, marker: str) -> None:
        text = node.content.strip("\n") if node.type == "fence" else node.content.rstrip("\n")
        if self.lead or marker.strip():
            self._add(Text((self.lead or marker).rstrip(), tight=self._tight(node.map[0] if node.map else 0)))
            self.lead = ""
        if text.strip():
            self._add(Code(text, language(node.info) if node.type == "fence" else "", prefix[:_LONGEST_PREFIX]))

    def _listing(self, node: SyntaxTreeNode, prefix: str) -> None:
        for item in node.children:
            line = self.lines[item.map[0]] if item.map else ""
            marker = _marker(line, prefix)
            if not item.children and item.map:  # nested more deeply than is parsed, or empty
                self._text(*item.map)
            for position, child in enumerate(item.children):
                beside = position == 0 and child.map and item.map and child.map[0] == item.map[0]
                self.block(child, prefix + " " * len(marker), prefix + marker if beside else "")

    def _admonition(self, node: SyntaxTreeNode, prefix: str) -> None:
        titled = _ADMONITION.fullmatch(node.info)
        words = titled.group(1) if titled else node.info.strip()
        self.lead = f"{prefix}**{words[:1].upper()}{words[1:]}:** " if words else ""
        self.cut += _ADMONITION_INDENT
        for child in node.children:
            if child.type != "admonition_title":
                self.block(child, prefix)
        self.cut -= _ADMONITION_INDENT
        if self.lead:
            self._add(Text(self.lead.rstrip()))
            self.lead = ""

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
                self._add(Text(prefix + item.md, item.tight))
            elif isinstance(item, Code):
                self._add(Code(item.text, item.language, (prefix + item.prefix)[:_LONGEST_PREFIX]))
            else:
                self._add(Table([prefix + line for line in item.head], [prefix + line for line in item.rows]))

    def _heading(self, node: SyntaxTreeNode) -> None:
        raw = " ".join(child.content for child in node.children)
        words, explicit, anchors = heading_words(raw)
        short = words if len(words) <= _LONGEST_HEADING else words[:_LONGEST_HEADING].rsplit(" ", 1)[0] + " …"
        self._open(short, explicit, int(node.tag[1]), anchors)
        if short != words:
            self._add(Text(raw.strip()))

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
