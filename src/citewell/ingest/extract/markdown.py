"""Markdown pages (CommonMark with tables and front matter) to places and blocks. The author's own lines are kept as they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.front_matter import front_matter_plugin
from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.extract import html_inline
from citewell.ingest.extract.base import Code, NotContent, Page, Place, Table, Text

_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").use(front_matter_plugin)
_EXPLICIT_ANCHOR = re.compile(r"\s*\{:?\s*#([\w:.-]+)[^}]*\}\s*$")
_HTML_ANCHOR = re.compile(r"<[a-z][^>]{0,200}?\b(?:id|name)\s*=\s*[\"']([^\"']{1,200})[\"']", re.IGNORECASE)
_EMPTY_ANCHOR = re.compile(r"<a\s[^>]{0,200}>\s*</a>\s*", re.IGNORECASE)
_HEADING_LINE = re.compile(r"^ {0,3}#{1,6}\s+\S")
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_MAX_REPAIRS = 50  # unclosed fences that a single page may have


def extract_markdown(text: str, name: str) -> Page:
    """The page of a Markdown text. Raises `NotContent` for a page without text."""
    text = _close_fences(text)
    tree = SyntaxTreeNode(_MARKDOWN.parse(text))
    reader = _Reader(text.split("\n"), Place(heading=""))
    title = ""
    for node in tree.children:
        if node.type == "front_matter":
            found = _TITLE.search(node.content)
            title = found.group(1) if found else ""
        else:
            reader.block(node, "")
    root = reader.root
    if not root.content:
        raise NotContent("no text")
    if not root.blocks and len(root.places) == 1:
        root = root.places[0]
    title = title or root.heading or next((place.heading for place in root.places), "") or name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return Page(title=title, root=root)


def _close_fences(text: str) -> str:
    """A fence that is never closed swallows the rest of a page; it is closed before the first heading that follows a blank line."""
    lines = text.split("\n")
    for _ in range(_MAX_REPAIRS):
        at = _unclosed("\n".join(lines))
        heading = None if at is None else _heading_after(lines, at)
        if at is None or heading is None:
            break
        mark = re.match(r"\s*(`{3,}|~{3,})", lines[at])
        lines.insert(heading - 1, mark.group(1) if mark else "```")
    return "\n".join(lines)


def _unclosed(text: str) -> int | None:
    """The line of a top-level fence that runs to the end of the text without a closing line."""
    lines = text.rstrip("\n").split("\n")
    for token in reversed(_MARKDOWN.parse(text)):
        if token.type == "fence" and token.level == 0 and token.map:
            closed = re.match(
                rf"^ {{0,3}}{re.escape(token.markup[0])}{{{len(token.markup)},}}\s*$", lines[min(token.map[1], len(lines)) - 1]
            )
            ends = token.map[1] >= len(lines)
            return token.map[0] if ends and (not closed or token.map[1] - token.map[0] < 2) else None
    return None


def _heading_after(lines: list[str], start: int) -> int | None:
    return next((n for n in range(start + 2, len(lines)) if _HEADING_LINE.match(lines[n]) and not lines[n - 1].strip()), None)


@dataclass(slots=True)
class _Reader:
    lines: list[str]
    root: Place
    stack: list[Place] = field(default_factory=list)
    slugs: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.stack = [self.root]
        self.root.level = 0

    @property
    def place(self) -> Place:
        return self.stack[-1]

    def block(self, node: SyntaxTreeNode, prefix: str, *, tight: bool = False) -> None:
        """Add one block; `prefix` is what its continuation lines begin with inside a list item or a quotation."""
        if node.type == "heading" and not prefix:
            self._heading(node)
        elif node.type == "fence":
            language = re.split(r"[\s{,:]", node.info.strip().lstrip("{.").lower() or "", maxsplit=1)[0].rstrip("}")
            self._emit(Code(node.content.rstrip("\n"), language, prefix))
        elif node.type == "code_block":
            self._emit(Code(node.content.rstrip("\n"), "", prefix))
        elif node.type == "table" and node.map:
            first, last = node.map
            rows = self.lines[first:last]
            self._emit(Table(rows[:2], [row for row in rows[2:] if row.strip()]))
        elif node.type in {"bullet_list", "ordered_list"}:
            self._listing(node, prefix)
        elif node.type == "blockquote":
            for child in node.children:
                self.block(child, prefix + "> ")
        elif node.type == "html_block":
            self._html(node.content)
        elif node.type != "hr":
            self._text(node, tight=tight)

    def _emit(self, block: Text | Code | Table) -> None:
        self.place.content.append(block)

    def _text(self, node: SyntaxTreeNode, *, tight: bool) -> None:
        if node.map:
            text = "\n".join(self.lines[node.map[0] : node.map[1]]).strip("\n")
            self.place.ids.update(_HTML_ANCHOR.findall(text))
            text = _EMPTY_ANCHOR.sub("", re.sub(r"<!--.*?(?:-->|\Z)", "", text, flags=re.DOTALL))
            if text.strip():
                self._emit(Text(text, tight=tight))

    def _listing(self, node: SyntaxTreeNode, prefix: str) -> None:
        loose = any(child.type == "paragraph" and not child.hidden for item in node.children for child in item.children)
        for number, item in enumerate(node.children):
            inner = prefix + " " * _content_indent(self.lines[item.map[0]] if item.map else "", prefix)
            for position, child in enumerate(item.children):
                self.block(child, inner, tight=position == 0 and (number > 0 or not loose) and number > 0)

    def _html(self, content: str) -> None:
        self.place.ids.update(_HTML_ANCHOR.findall(content))
        body = LexborHTMLParser(content).body
        text = html_inline.squeeze(html_inline.render(body)) if body is not None else ""
        if text:
            self._emit(Text(text))

    def _heading(self, node: SyntaxTreeNode) -> None:
        raw = node.children[0].content if node.children else ""
        explicit = _EXPLICIT_ANCHOR.search(raw)
        raw = _EXPLICIT_ANCHOR.sub("", raw)
        inner = _HTML_ANCHOR.findall(raw)
        text = html_inline.squeeze(_plain(raw)) or "Untitled"
        level = int(node.tag[1])
        while len(self.stack) > 1 and self.place.level >= level:
            self.stack.pop()
        anchor = explicit.group(1) if explicit else self._slug(text)
        place = Place(text, anchor, level, ids={anchor, *inner} - {""})
        self.place.content.append(place)
        self.stack.append(place)

    def _slug(self, text: str) -> str:
        """The anchor that hosting sites give a heading: lower case, punctuation dropped, blanks as hyphens, repeats numbered."""
        slug = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") or "section"
        self.slugs[slug] += 1
        return slug if self.slugs[slug] == 1 else f"{slug}-{self.slugs[slug] - 1}"


def _plain(inline: str) -> str:
    """A heading's words: links, emphasis, code marks and HTML tags taken off."""
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", inline)
    text = re.sub(r"<[^>]{0,300}>", "", text)
    text = re.sub(r"(\*{1,3}|_{2,3})(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    return re.sub(r"\\([^\w\s])", r"\1", text).replace("`", "")


def _content_indent(line: str, prefix: str) -> int:
    marker = re.match(r"(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}", line[len(prefix) :].lstrip())
    return len(marker.group(0)) if marker else 2
