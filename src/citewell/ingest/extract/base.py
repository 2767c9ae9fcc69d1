"""What an extractor makes of a file: a `Page`, a tree of citable places with typed blocks of Markdown.

Blocks are typed so that whoever splits them never has to parse Markdown again: a comment in a code block cannot become a heading,
a table keeps its header, a fence is always closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


class NotContent(Exception):
    """The file is readable but holds nothing to index; `str()` is the reason a report shows."""


@dataclass(slots=True)
class Text:
    """Markdown prose: a paragraph, a list item, a term. `tight` joins it to the block before it without a blank line."""

    md: str
    tight: bool = False


@dataclass(slots=True)
class Code:
    """A code block. `prefix` stands before each of its lines when it lies in a list item or a quotation."""

    text: str
    language: str = ""
    prefix: str = ""


@dataclass(slots=True)
class Table:
    """A pipe table as lines of Markdown; `head` is the header with its rule, repeated wherever the rows are split."""

    head: list[str]
    rows: list[str]


Block = Text | Code | Table


@dataclass(slots=True)
class Place:
    """A heading or a documented definition with what stands under it, in page order.

    `anchor` exists in the page ("" is its top). `ids` are all ids that lie in it, so that a symbol finds its place. `signature` is
    set for definitions, one line for each form; `names` are the symbols that they define.
    """

    heading: str
    anchor: str = ""
    level: int = 1
    signature: str = ""
    names: tuple[str, ...] = ()
    content: list[Block | Place] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    @property
    def blocks(self) -> list[Block]:
        """What belongs to this place itself."""
        return [item for item in self.content if not isinstance(item, Place)]

    @property
    def places(self) -> list[Place]:
        """The places below this one."""
        return [item for item in self.content if isinstance(item, Place)]


@dataclass(slots=True)
class Page:
    """A page with its title, the version of the documentation if it is certain, and the address that the page itself calls its own."""

    title: str
    root: Place
    version: str = ""
    canonical: str = ""


Extractor = Callable[[str, str], Page]
"""`(text, name)` to a page, where `name` is the file's own, for pages without a title. Raises `NotContent`."""


def lifted(root: Place, title: str) -> Place:
    """The tree with its title at the top: the only heading of the first rank, or the one that the page itself names as its title."""
    top = root.places[0] if root.places and not root.blocks else None
    if top is None or (len(root.places) > 1 and top.heading != title):
        return root
    top.content.extend(root.places[1:])
    top.ids |= root.ids
    return top


# A line that would make a heading of the one right before it: also an empty list item's.
_UNDERLINE = re.compile(r"[ \t]*(?:-+|=+)[ \t]*(?:\n|$)")
# A list item's marker without any text, in a quotation or before one, too.
_MARKER = re.compile(r"(?:[ >]*(?:[-*+]|\d{1,9}[.)]))+[ \t>]*")
# The margin of what lies in a list that is quoted: a blank line without the mark would end both.
_QUOTED_ITEM = re.compile(r"([ >]*>) {2,}")


def render_code(code: Code) -> str:
    """The block between fences that are longer than any run of backticks inside it."""
    runs = re.findall(r"`{3,}", code.text)
    fence = "`" * (max(map(len, runs)) + 1 if runs else 3)
    lines = [f"{fence}{code.language}", *code.text.split("\n"), fence]
    return "\n".join((code.prefix + line).rstrip() if not line.strip() else code.prefix + line for line in lines)


def render(block: Block) -> str:
    """The block as Markdown."""
    if isinstance(block, Text):
        return block.md
    if isinstance(block, Code):
        return render_code(block)
    return "\n".join([*block.head, *block.rows])


def join(blocks: list[Block]) -> str:
    """The blocks as one Markdown text."""
    text = ""
    for block in blocks:
        text += separator(text, block) + render(block) if text else render(block)
    return text


def separator(text: str, block: Block) -> str:
    """What stands between a text and the block after it."""
    if isinstance(block, Text):
        tight = block.tight and not _UNDERLINE.match(block.md)
    else:  # behind a blank line it would not be the list item's
        tight = _MARKER.fullmatch(text, text.rfind("\n") + 1) is not None
    quoted = _QUOTED_ITEM.match(block.prefix if isinstance(block, Code) else render(block))
    return "\n" if tight else f"\n{quoted.group(1)}\n" if quoted else "\n\n"


def page_markdown(page: Page) -> str:
    """The whole page as Markdown, in page order: what reading a document returns."""
    return "\n\n".join(part for part in _parts(page.root, 1) if part) + "\n"


def _parts(place: Place, depth: int) -> Iterator[str]:
    yield f"{'#' * min(depth, 6)} {place.heading}" if place.heading else ""
    yield place_signature(place)
    run: list[Block] = []
    for item in place.content:
        if isinstance(item, Place):
            yield join(run)
            run = []
            yield from _parts(item, depth + 1)
        else:
            run.append(item)
    yield join(run)


def place_signature(place: Place) -> str:
    """A definition's signature as code, one line a form; "" for a heading."""
    return "\n".join(f"`{line}`" for line in place.signature.split("\n")) if place.signature else ""
