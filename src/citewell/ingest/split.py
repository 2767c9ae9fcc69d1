"""Blocks that are too long for one section, cut where a reader would cut them: at lines, rows and sentences. Pure.

Every piece stands for itself: its fence is closed, its table has the header, and what lay deep in a list begins at the margin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from citewell.ingest.extract.base import Block, Code, Table, Text, join, render, separator

_LONGEST_RUN = 100  # backticks in a row that a fence is made longer for
_MOST_TICKS = 200  # in a line with more, no code span is looked for
_LEAST_ROOM = 200
_INTRODUCTION = 120  # a longer line is a text of its own
_NAME = 60  # the first cell of a row, if no longer, is repeated wherever the row is cut
_LEAST_CELL = 20
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_SENTENCE = re.compile(r"[.!?…][)\"'”’]*\s")
_LEAD = re.compile(r"(?:[ >]|(?:[-*+]|\d{1,9}[.)])[ \t]+)*")  # what stands before the text of a line in lists and quotations
_ITEM = re.compile(r"[ >]*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_MARGIN = re.compile(r"[ >]*")
_WIDEST_HANG = 40
_FENCE_LIKE = re.compile(r"^([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?=`{3,}[^`\n]*$|~{3,})", re.MULTILINE)
_CELL_END = re.compile(r"(?<!\\)\|")


def pack(blocks: Iterable[Block], limit: int) -> list[str]:
    """The blocks as texts of at most `limit` characters, filled in order."""
    parts: list[list[Block]] = []
    open_: list[Block] = []
    size = 0
    for whole in blocks:
        # What little stands before a block that must be cut goes with its first piece.
        before = size + _gap_length(whole) if open_ and size <= _INTRODUCTION and len(render(whole)) > limit else 0
        for block in pieces(whole, limit - before):
            if open_ and size + _gap_length(block) + len(render(block)) > limit:
                parts.append(open_)
                open_ = _taken_along(open_, block, limit)
                size = sum(len(render(kept)) for kept in open_)
            size += len(render(block)) + (_gap_length(block) if open_ else 0)
            open_.append(block)
    texts = (join(_outdented(part)) for part in [*parts, open_])
    return [text for text in texts if text.strip()]


def _gap_length(block: Block) -> int:
    """The characters between a block and the one before it, at most."""
    return len(separator("", block))


def _taken_along(full: list[Block], following: Block, limit: int) -> list[Block]:
    """What a full part ends with and gives to the next one: a line that introduces the block that follows."""
    last = full[-1]
    if len(full) < 2 or not _introduces(last, following) or len(render(last)) + _gap_length(following) + len(render(following)) > limit:
        return []
    return [full.pop()]


def pieces(block: Block, limit: int) -> Iterator[Block]:
    """The block, or blocks of the same kind that are short enough and hold all of it."""
    if isinstance(block, Text):
        block = Text(_defused(block.md), block.tight)
    if len(render(block)) <= limit:
        yield block
    elif isinstance(block, Code):
        yield from _code(block, limit)
    elif isinstance(block, Table):
        yield from _table(block, limit)
    else:
        room = limit - 4  # a cut can make a line look like a fence, and that costs a character
        for number, lines in enumerate(_groups((piece for line in block.md.split("\n") for piece in _hanging(line, room)), room, 1)):
            yield Text(_defused("\n".join(lines)), tight=block.tight or number > 0)


def _code(block: Code, limit: int) -> Iterator[Code]:
    text = re.sub(rf"`{{{_LONGEST_RUN}}}(?=`)", "\\g<0>\n", block.text)
    fences = len(render(Code(max(re.findall(r"`{3,}", text), default=""), block.language, block.prefix)))
    room = max(limit - fences, _LEAST_ROOM)
    extra = len(block.prefix) + 1
    lines = (piece for line in text.split("\n") for piece in _cut(line, room - extra))
    for group in _groups(lines, room, extra, at_gaps=True):
        if any(line.strip() for line in group):
            yield Code("\n".join(group), block.language, block.prefix)


def _table(block: Table, limit: int) -> Iterator[Table]:
    head, rows = block.head, block.rows
    if len("\n".join(head)) > limit // 2:  # a header that would fill every part stands in the first alone
        head, rows = [], [*head, *rows]
    room = limit - len("\n".join(head)) - 1
    lines = (piece for row in rows for piece in ([row] if len(row) < room else _cut_row(row, room - 1)))
    for group in _groups(lines, room, 1):
        yield Table(head, group)


def _groups(lines: Iterable[str], room: int, extra: int, *, at_gaps: bool = False) -> Iterator[list[str]]:
    """Runs of lines that fit into `room`, each line counted with `extra`; with `at_gaps` they end before a blank line if they can."""
    group: list[str] = []
    size = 0
    for line in lines:
        if group and size + len(line) + extra > room:
            end = _gap(group) if at_gaps else len(group)
            yield group[:end]
            group = group[end:]
            size = sum(len(kept) + extra for kept in group)
            if group and size + len(line) + extra > room:
                yield group
                group, size = [], 0
        group.append(line)
        size += len(line) + extra
    if group:
        yield group


def _gap(lines: list[str]) -> int:
    """The last blank line of the second half; the end if there is none."""
    return next((n for n in range(len(lines) - 1, len(lines) // 2, -1) if not lines[n].strip()), len(lines))


def _cut(line: str, room: int) -> Iterator[str]:
    """The line in pieces: after a sentence if one ends in the second half of the room, else at a blank, else anywhere."""
    while len(line) > room:
        window = line[:room]
        if window.count("`") <= _MOST_TICKS:
            window = _SPAN.sub(lambda span: "x" * len(span.group(0)), window)
        open_span = window.find("`")  # of a code span that goes on after the window
        limit = open_span if open_span > room // 2 else room
        ends = [stop.end() for stop in _SENTENCE.finditer(window, room // 2, limit)]
        blank = window.rfind(" ", room // 2, limit)
        blank = blank if blank > 0 else line.rfind(" ", room // 2, room)
        end = ends[-1] if ends else blank + 1 if blank > 0 else room
        if line[end - 1] == "\\" and end > 1:  # an escape and what it escapes stay together
            end -= 1
        yield line[:end]
        line = line[end:]
    yield line


def _hanging(line: str, room: int) -> Iterator[str]:
    """The pieces of a line of prose, the later ones indented and quoted as its text is."""
    lead = _LEAD.match(line)
    hang = re.sub(r"[^ >]", " ", lead.group(0).expandtabs(4)) if lead else ""
    hang = hang if len(hang) <= _WIDEST_HANG else ""
    for number, piece in enumerate(_cut(line, room - len(hang) - 1)):
        yield piece.rstrip() if number == 0 else hang + piece.strip()


def _cut_row(row: str, room: int) -> Iterator[str]:
    """A row as several, each with the next stretch of its long cells; the first cell names them all."""
    indent = _margin(row)
    cells = [cell.strip() for cell in _CELL_END.split(row[len(indent) :].rstrip().removeprefix("|").removesuffix("|"))]
    frame = len(indent) + 3 * len(cells) + 1
    share = (room - frame) // len(cells)
    if share < _LEAST_CELL:
        yield from _cut(row, room)
        return
    long = [cell for cell in cells if len(cell) > share]
    width = (room - frame - sum(len(cell) for cell in cells if len(cell) <= share)) // max(len(long), 1)
    columns = [list(_cut(cell, width)) if len(cell) > share else [cell] for cell in cells]
    name = cells[0] if len(cells[0]) <= min(share, _NAME) else ""
    for n in range(max(map(len, columns))):
        stretch = [column[n].strip() if n < len(column) else "" for column in columns]
        if n:
            stretch[0] = stretch[0] or name
        yield f"{indent}| {' | '.join(stretch)} |"


def _introduces(block: Block, following: Block) -> bool:
    """Whether a block belongs to the one after it: a bare list marker, a label, the caption of a table or of code."""
    if not isinstance(block, Text) or len(block.md) > _INTRODUCTION:
        return False
    words = block.md.strip()
    if words.endswith((":", "–", "—")) or (words.startswith("**") and words.endswith("**")) or len(words) <= len("10."):
        return True
    return not isinstance(following, Text) and not words.endswith(".")


def _defused(md: str) -> str:
    """Prose in which no line can be taken for the beginning of a fence."""
    return _FENCE_LIKE.sub(r"\1\\", md) if "```" in md or "~~~" in md else md


def _outdented(blocks: list[Block]) -> list[Block]:
    """The blocks of a part that begins inside of lists, moved to the margin as far as what follows allows. Quotations stay such."""
    base: str | None = None
    listed, moved = False, list[Block]()
    for block in blocks:
        first = block.prefix if isinstance(block, Code) else render(block)
        base = _margin(first) if base is None else _common(base, _margin(first))
        block = _moved(block, base) if " " in base.replace("> ", "") else block
        item = _ITEM.match(first) is not None
        if isinstance(block, Text) and item and not listed:  # not every item may stand right behind a paragraph
            block = Text(block.md)
        listed = listed or item
        moved.append(block)
    return moved


def _margin(line: str) -> str:
    found = _MARGIN.match(line)
    return found.group(0) if found else ""


def _moved(block: Block, base: str) -> Block:
    if isinstance(block, Code):
        return Code(block.text, block.language, _without(block.prefix, base))
    if isinstance(block, Text):
        return Text("\n".join(_without(line, base) for line in block.md.split("\n")), block.tight)
    return Table([_without(line, base) for line in block.head], [_without(line, base) for line in block.rows])


def _without(line: str, base: str) -> str:
    """The line without a margin, or without as much of it as it has; the marks of quotations are kept."""
    margin = _common(base, line)
    return re.sub(" +", " ", margin).lstrip() + line[len(margin) :]


def _common(one: str, other: str) -> str:
    """What both begin with."""
    end = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:end]
