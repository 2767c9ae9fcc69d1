"""docutils' tables as lines of a pipe table; spanned cells are repeated, so that columns stay in line."""

from __future__ import annotations

from collections.abc import Callable

from docutils import nodes

from citewell.ingest.extract.html import inline

_MAX_HEAD = 3
_REPEATED = 80  # a longer text stands in the first of the cells that it spans alone
_MOST_CELLS = 100_000


def table(node: nodes.Element, words: Callable[[nodes.Element], str]) -> tuple[list[str], list[str]]:
    """The header lines (with the rule) and the row lines; none where the table is empty. `words` reads a paragraph."""
    head = _grid([row for part in node.findall(nodes.thead) for row in part.children], words)[:_MAX_HEAD]
    rows = _grid([row for part in node.findall(nodes.tbody) for row in part.children], words)
    width = max((len(row) for row in [*head, *rows]), default=0)
    if not any(any(row) for row in [*head, *rows]):
        return [], []
    lines = [["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in part if any(row)] for part in (head, rows)]
    return [*(lines[0] or ["|" + "  |" * width]), "|" + " --- |" * width], lines[1]


def _grid(rows: list[nodes.Node], words: Callable[[nodes.Element], str]) -> list[list[str]]:
    grid: list[list[str]] = []
    reaching: dict[int, tuple[int, str]] = {}
    left = _MOST_CELLS
    for row in rows:
        line: list[str] = []
        for entry in row.children:
            _fill(line, reaching)
            text = _cell(entry, words)
            again = text if len(text) <= _REPEATED else ""
            for n in range(min(int(entry.get("morecols", 0)) + 1, max(left, 1))):
                if entry.get("morerows"):
                    reaching[len(line)] = (int(entry["morerows"]), again)
                line.append(text if n == 0 else again)
                left -= 1
        _fill(line, reaching)
        grid.append(line)
    return grid


def _fill(line: list[str], reaching: dict[int, tuple[int, str]]) -> None:
    """Put the cells that reach down from above where the row has come to them."""
    while len(line) in reaching:
        rows, text = reaching.pop(len(line))
        if rows > 1:
            reaching[len(line)] = (rows - 1, text)
        line.append(text)


def _cell(entry: nodes.Element, words: Callable[[nodes.Element], str]) -> str:
    return inline.squeeze(" ".join(_blocks(entry, words))).replace("|", "\\|")


def _blocks(node: nodes.Element, words: Callable[[nodes.Element], str]) -> list[str]:
    found: list[str] = []
    for child in node.children:
        if isinstance(child, nodes.literal_block | nodes.doctest_block):
            found.append(inline.code_span(child.astext()))
        elif isinstance(child, nodes.TextElement):
            found.append(words(child))
        elif not isinstance(child, nodes.comment | nodes.system_message | nodes.image | nodes.Text):
            found += _blocks(child, words)
    return found
