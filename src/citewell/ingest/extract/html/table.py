"""HTML tables as grids of text: spanned cells are repeated so that columns stay in line, within bounds that no page can lift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from citewell.ingest.extract.html.chrome import hidden
from citewell.ingest.extract.html.inline import BLOCKS, code_span, is_running, joined, render, squeeze, visible_text

_MAX_HEAD = 3  # header rows that are repeated wherever a table is split
_MAX_COLUMNS = 50  # that one cell spans
_MAX_ROWS = 1000
_SPARE_CELLS = 5_000  # cells that spans may add to one table
_REPEATED = 80  # a longer text stands in the first of the cells that it spans alone
_MAX_DEPTH = 60
_LEAST_CELLS = 2
_LEAST_WAYS = 3
_LONGEST_LINE = 300
_CODE_CELLS = "td.code pre, td.rouge-code pre"


def rows(node: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """The rows of a table itself, not those of tables inside it, each with whether it lies in a `thead`."""
    for child in node.iter():
        if child.tag == "tr":
            yield child, False
        elif child.tag in {"thead", "tbody", "tfoot"}:
            for row in child.iter():
                if row.tag == "tr":
                    yield row, child.tag == "thead"


def cells(row: LexborNode) -> list[LexborNode]:
    """The cells of a row that are shown."""
    return [cell for cell in row.iter() if cell.tag in {"td", "th"} and not hidden(cell, cell.attributes)]


def caption(node: LexborNode) -> str:
    """A table's caption; "" where it has none."""
    found = next((child for child in node.iter() if child.tag == "caption"), None)
    return squeeze(render(found)) if found is not None and not hidden(found, found.attributes) else ""


def listing(node: LexborNode) -> LexborNode | None:
    """The code of a table that only puts line numbers beside it."""
    numbered = "highlighttable" in (node.attributes.get("class") or "")
    code = node.css(_CODE_CELLS) if numbered or node.css_first("td.gutter, td.linenos, td.rouge-gutter") is not None else []
    return code[0] if code else None


def is_layout(node: LexborNode) -> bool:
    """Whether a table arranges a page (headings, other tables, one single cell) rather than showing data."""
    if (node.attributes.get("role") or "") in {"presentation", "none"} or any(inner.mem_id != node.mem_id for inner in node.css("table")):
        return True
    if node.css_first("h1, h2, h3, h4, h5, h6") is not None:
        return True
    own = [cell for row, _ in rows(node) for cell in cells(row)]
    return len(own) == 1


def line(row_cells: list[LexborNode]) -> str:
    """The text of a row of several cells that hold short running text only; "" for any other."""
    if len(row_cells) < _LEAST_CELLS or not all(is_running(child) for cell in row_cells for child in cell.iter()):
        return ""
    text = squeeze(" ".join(joined(_words(cell)) for cell in row_cells))
    return text if len(text) <= _LONGEST_LINE else ""


def leads_elsewhere(row: str) -> bool:
    """Whether a row is the way to the pages around: `| [ << ] | [Contents] |`."""
    filled = [cell.strip() for cell in row.strip("| ").split("|") if cell.strip()]
    return len(filled) >= _LEAST_WAYS and all(cell.startswith("[") and cell.endswith("]") for cell in filled)


def columns_of_grid(node: LexborNode, classes: set[str]) -> int:
    """How many columns a table has that is made of one element a cell, its header first, laid out by its style; 0 for what is none."""
    if not any("table" in name for name in classes):
        return 0
    return sum("table-header" in (child.attributes.get("class") or "").split() for child in node.iter())


def grid(node: LexborNode, columns: int) -> tuple[list[str], list[str]]:
    """The header lines and the row lines of such a table."""
    texts = [squeeze(joined(_words(cell))).replace("|", "\\|") for cell in node.iter() if not hidden(cell, cell.attributes)]
    lines = ["| " + " | ".join(texts[n : n + columns]) + " |" for n in range(0, len(texts), columns)]
    return [lines[0], "|" + " --- |" * columns], lines[1:]


@dataclass(slots=True)
class _Grid:
    """Rows of text. `reaching` holds the cells that reach down into the next row: column to (rows left, text)."""

    rows: list[list[str]] = field(default_factory=list)
    reaching: dict[int, tuple[int, str]] = field(default_factory=dict)
    spare: int = _SPARE_CELLS

    def add(self, row_cells: list[LexborNode]) -> None:
        above, self.reaching = self.reaching, {}
        row: list[str] = []
        for cell in row_cells:
            self._fill(row, above)
            text = squeeze(joined(_words(cell))).replace("|", "\\|")
            high = self._span(cell, "rowspan")
            for n in range(self._span(cell, "colspan")):
                self._put(row, text if n == 0 or len(text) <= _REPEATED else "", high - 1)
        while above:
            self._fill(row, above)
            above = {column: value for column, value in above.items() if column > len(row)}
            if above:
                row.append("")
        self.rows.append(row)

    def skip(self) -> None:
        """Pass a row without cells, into which those above may reach all the same."""
        self.reaching = {column: (left - 1, text) for column, (left, text) in self.reaching.items() if left > 1}

    def _fill(self, row: list[str], above: dict[int, tuple[int, str]]) -> None:
        while len(row) in above:
            left, text = above.pop(len(row))
            self._put(row, text, left - 1)

    def _put(self, row: list[str], text: str, left: int) -> None:
        if left > 0 and self.spare > 0:
            self.spare -= 1
            self.reaching[len(row)] = (left, text if len(text) <= _REPEATED else "")
        row.append(text)

    def _span(self, cell: LexborNode, name: str) -> int:
        value = (cell.attributes.get(name) or "1").strip()
        span = max(int(value), 1) if value.isascii() and value.isdigit() and len(value) < 6 else 1
        if name == "rowspan":
            return min(span, _MAX_ROWS)
        wide = min(span, _MAX_COLUMNS, self.spare + 1)
        self.spare -= wide - 1
        return wide


def table(node: LexborNode) -> tuple[list[str], list[str]]:
    """The header lines (with the rule) and the row lines of a pipe table; none where the table is empty."""
    grid, header = _Grid(), 0
    for row, in_head in rows(node):
        row_cells = [] if hidden(row, row.attributes) else cells(row)
        if not row_cells:
            grid.skip()
        else:
            grid.add(row_cells)
            if header == len(grid.rows) - 1 < _MAX_HEAD and (in_head or all(cell.tag == "th" for cell in row_cells)):
                header += 1
    filled = [row for row in grid.rows if any(row)]
    if not filled:
        return [], []
    header -= sum(not any(row) for row in grid.rows[:header])
    width = max(map(len, filled))
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in filled]
    rule = "|" + " --- |" * width
    if header == 0:
        return ["|" + "  |" * width, rule], lines
    return [*lines[:header], rule], lines[header:]


def _words(cell: LexborNode, depth: int = 0) -> Iterator[str]:
    """A cell's text; blocks inside it are parted by blanks."""
    for child in cell.iter(include_text=True):
        if child.tag == "-text":
            yield child.text_content or ""
        elif hidden(child, child.attributes):
            continue
        elif child.tag == "pre":
            yield f" {code_span(visible_text(child))} "
        elif child.tag not in BLOCKS:
            yield render(child)
        elif depth < _MAX_DEPTH:
            yield " "
            yield from _words(child, depth + 1)
            yield " "
        else:
            yield f" {visible_text(child)} "
