"""What an extractor makes of a file: a `Page`, a tree of citable places with typed blocks of Markdown.

Blocks are typed so that whoever splits them never has to parse Markdown again: a comment in a code block cannot become a heading,
a table keeps its header, a fence is always closed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from charset_normalizer import from_bytes


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
    set for definitions, one line for each form.
    """

    heading: str
    anchor: str = ""
    level: int = 1
    signature: str = ""
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
    title: str
    root: Place
    version: str = ""


Extractor = Callable[[str, str], Page]
"""`(text, name)` to a page, where `name` is the file's own, for pages without a title. Raises `NotContent`."""

# Invisible characters by which a page can say one thing to a reader and another to a machine: zero-width ones, bidirectional
# controls, tag characters. Joiners stay between non-ASCII characters, where emoji and several scripts need them.
_INVISIBLE = re.compile(
    "[\u200b\u2060\ufeff\u00ad\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def decode(data: bytes) -> str:
    """The text of a file: UTF-8 if it is, else detected; line ends as LF; no invisible and no control characters.

    Raises `NotContent` for binary data.
    """
    if b"\x00" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotContent("binary file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        best = from_bytes(data[:200_000]).best()
        text = data.decode(best.encoding if best else "latin-1", errors="replace")
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


def clean(text: str) -> str:
    """The text without invisible and control characters."""
    return _CONTROL.sub("", _INVISIBLE.sub("", text.replace("\x0c", "\n")))


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
        separator = "" if not text else "\n" if isinstance(block, Text) and block.tight else "\n\n"
        text += separator + render(block)
    return text


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
