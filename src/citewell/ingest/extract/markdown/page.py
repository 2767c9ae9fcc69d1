"""Markdown pages (CommonMark with tables, front matter and what documentation tools add) to places and blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.tree import SyntaxTreeNode

from citewell.ingest.extract.base import Code, NotContent, Page, lifted
from citewell.ingest.extract.html import inline as html_inline
from citewell.ingest.extract.markdown.flavors import common
from citewell.ingest.extract.markdown.mdx import without_components
from citewell.ingest.extract.markdown.reader import MarkdownReader
from citewell.ingest.extract.markdown.text import Slugs, close_fences

_FRONT = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?\n)??\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_NAMED = r"\s*[:=]\s*(?:\"((?:[^\"\\]|\\.)+)\"|'((?:[^']|'')+)'|(.+?))\s*$"
_TITLES = [re.compile(rf"^{key}{_NAMED}", re.MULTILINE) for key in ("title", "linkTitle", "sidebar_label", "sidebarTitle", "nav_title")]
_LONGEST_TITLE = 300


def extract_markdown(text: str, name: str) -> Page:
    """The page of a Markdown text. Raises `NotContent` for a page without text."""
    return extract_pieces([text], name)


def extract_mdx(text: str, name: str) -> Page:
    """The page of an MDX text: components' tags go, indentation is no code. Raises `NotContent` for a page without text."""
    front = _FRONT.match(text)
    before = front.group(0) if front else ""
    return extract_pieces([before + without_components(text[len(before) :])], name, indented_code=False)


def extract_pieces(
    pieces: Sequence[str | Code], name: str, title: str = "", *, slugs: Slugs | None = None, indented_code: bool = True
) -> Page:
    """One page of several texts, each of which ends what it left open, and of blocks of code between them. Raises `NotContent`."""
    reader = MarkdownReader([], slugs=slugs or Slugs())
    for piece in pieces:
        if isinstance(piece, Code):
            reader.add(piece)
            continue
        toml = _TOML.match(piece)
        title = _front_title(toml.group(1) or "") if toml else title
        text, tokens = close_fences(common(piece[toml.end() :] if toml else piece), indented_code=indented_code)
        nodes = SyntaxTreeNode(tokens).children
        title = next((_front_title(node.content) for node in nodes if node.type == "front_matter"), title)
        reader.read((node for node in nodes if node.type != "front_matter"), text)
    root = reader.finish()
    if not root.content:
        raise NotContent("no text")
    top = next((place.heading for place in root.places if place.level == 1), "")
    root = lifted(root, title)
    if title and not root.heading and not (root.places and root.places[0].level == 1):
        root.heading = title
    first = root.heading or top or (root.places[0].heading if len(root.places) == 1 else "")
    return Page(title=title or first or name.rsplit("/", 1)[-1].rsplit(".", 1)[0], root=root)


def _front_title(front: str) -> str:
    found = next((found for key in _TITLES if (found := key.search(front))), None)
    if found is None:
        return ""
    double, single, bare = found.groups()
    title = re.sub(r"\\(.)", r"\1", double) if double else single.replace("''", "'") if single else bare
    return html_inline.squeeze(title)[:_LONGEST_TITLE]
