"""Plain text to places and blocks, on clear signs only: what could be a heading or code, but need not be, stays a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from citewell.ingest.extract.base import Code, NotContent, Page, Place, Text, lifted

_CODE_INDENT = 4
_LONGEST_HEADING = 80
_RULE = re.compile(r"\s*([=\-~^*_#+\"'`.:])\1{2,}\s*")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]{1,4}(?=[^\W\d_])\S.*")
_ITEM = re.compile(r"\s*(?:[-*+•o]|\d{1,3}[.)]|\(?[a-z]\))\s+\S")
_SENTENCE_END = re.compile(r".*[.,;:!?]")
_COLUMNS = re.compile(r"\S(?: {3,}|\t+)\S")
_PROSE = re.compile(r"[^\W\d_].*[.:!?]", re.DOTALL)
_MISREAD = re.compile(r"^([ \t]*)(?=#{1,6}(?:\s|$)|>|=+[ \t]*$|-+[ \t]*$|(?:\*[ \t]*){3,}$)", re.MULTILINE)


@dataclass(slots=True)
class _Block:
    """Lines without a blank one between them; `indent` is the least of theirs."""

    lines: list[str]
    indent: int = field(init=False)

    def __post_init__(self) -> None:
        self.indent = min(len(line) - len(line.lstrip()) for line in self.lines)

    def text(self, indent: int) -> str:
        return "\n".join(line[indent:].rstrip() for line in self.lines)


@dataclass(frozen=True, slots=True)
class _Heading:
    words: str
    level: int


def extract_plain(text: str, name: str) -> Page:
    """The page of a plain text; all its places are its top. Raises `NotContent` for a page without text."""
    items = list(_items(list(_blocks(text.expandtabs(8)))))
    if not items:
        raise NotContent("no text")
    root = Place("", level=0)
    stack = [root]
    run: list[_Block] = []
    for item in items:
        if isinstance(item, _Block):
            run.append(item)
            continue
        _fill(stack[-1], run)
        run = []
        while len(stack) > 1 and stack[-1].level >= item.level:
            stack.pop()
        place = Place(item.words, level=item.level)
        stack[-1].content.append(place)
        stack.append(place)
    _fill(stack[-1], run)
    first = root.places[0].heading if root.places else ""
    root = lifted(root, "")
    return Page(title=root.heading or first or name.rsplit("/", 1)[-1].rsplit(".", 1)[0], root=root)


def _blocks(text: str) -> Iterator[_Block]:
    lines: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            lines.append(line)
        elif lines:
            yield _Block(lines)
            lines = []


def _items(blocks: list[_Block]) -> Iterator[_Heading | _Block]:
    """Headings and what stands between them. Levels follow the order in which the kinds of headings first appear."""
    kinds: list[str] = []
    numbered = _numbered(blocks)
    for position, block in enumerate(blocks):
        words, kind, rest = _underlined(block.lines)
        follows = position + 1 < len(blocks)
        if not words and position in numbered:
            words, kind, rest = block.lines[0].strip(), f"1{'.1' * numbered[position]}", block.lines[1:]
        elif (not words and follows and _is_capitals(block.lines[0]) and (len(block.lines) == 1 or _indented(block.lines[1:]))) or (
            not words and len(block.lines) > 1 and _is_capitals(block.lines[0]) and _indented(block.lines[1:])
        ):
            words, kind, rest = block.lines[0].strip(), "A", block.lines[1:]
        if words:
            if kind not in kinds:
                kinds.append(kind)
            yield _Heading(words, kinds.index(kind) + 1)
        if any(not _RULE.fullmatch(line) for line in rest):
            yield _Block(rest)


def _underlined(lines: list[str]) -> tuple[str, str, list[str]]:
    """A heading with a rule below it, maybe one above it, too; its kind; the lines after it."""
    above = len(lines) > 2 and _RULE.fullmatch(lines[0]) is not None and _RULE.fullmatch(lines[2]) is not None
    title, below = (lines[1:3] if above else lines[:2]) if len(lines) > 1 else ("", "")
    rule = _RULE.fullmatch(below)
    words = title.strip()
    fits = (
        rule is not None and len(words) <= _LONGEST_HEADING and len(words) - 2 <= len(below.strip()) <= max(2 * len(words), len(words) + 60)
    )
    fits = fits and not (above and len(lines[0].strip()) > 2 * len(words) + 10)  # such rules stand around code
    if not fits or rule is None or _RULE.fullmatch(title) or not re.match(r"[\w\"'(<`*]", words) or _COLUMNS.search(words):
        return "", "", lines
    return words, rule.group(1) * (2 if above else 1), lines[3 if above else 2 :]


def _numbered(blocks: list[_Block]) -> dict[int, int]:
    """Blocks that are numbered headings, with how deep their numbers go: two or more that count upward, with text between them."""
    found: dict[int, int] = {}
    last: tuple[int, ...] = ()
    for position, block in enumerate(blocks):
        line = block.lines[0]
        number = _NUMBERED.fullmatch(line)
        if number is None or len(block.lines) > 1 or len(line) > _LONGEST_HEADING or _SENTENCE_END.fullmatch(line):
            continue
        parts = tuple(map(int, number.group(1).split(".")))
        following = blocks[position + 1].lines[0] if position + 1 < len(blocks) else ""
        if parts <= last or not following or (len(parts) == 1 and _NUMBERED.fullmatch(following)):
            continue
        found[position], last = len(parts) - 1, parts
    return found if len(found) > 1 else {}


def _is_capitals(line: str) -> bool:
    letters = sum(char.isalpha() for char in line)
    words = line.strip()
    return letters >= 3 and line == line.lstrip() and words == words.upper() and len(words) <= 60 and not _SENTENCE_END.fullmatch(words)


def _indented(lines: list[str]) -> bool:
    return all(line.startswith("  ") for line in lines)


def _fill(place: Place, blocks: list[_Block]) -> None:
    """The blocks of one place, moved to the margin by as much as all of them are indented."""
    base = min((block.indent for block in blocks), default=0)
    item = False  # whether the text before is a list item, whose further paragraphs are indented
    for block in blocks:
        deeper = block.indent - base
        lists = _ITEM.match(block.lines[0]) is not None
        text = block.text(block.indent)
        if not lists and ((deeper >= _CODE_INDENT and not item and not _is_prose(text)) or _is_tabular(block)):
            place.content.append(Code(text))
        elif text.strip():
            item = lists or (item and deeper > 0)
            shown = block.text(base if item else block.indent)
            place.content.append(Text(_MISREAD.sub(r"\1\\", shown)))


def _is_prose(text: str) -> bool:
    words = text.split()
    wordlike = sum(word.strip("\"'(),.;:!?-").isalpha() for word in words)
    return len(words) > 5 and _PROSE.fullmatch(text) is not None and wordlike > 0.8 * len(words)


def _is_tabular(block: _Block) -> bool:
    """Whether lines stand in columns, which running text would lose: tables, drawings."""
    columns = sum(_COLUMNS.search(line.strip()) is not None or _RULE.fullmatch(line) is not None for line in block.lines)
    return len(block.lines) > 1 and 2 * columns > len(block.lines)
