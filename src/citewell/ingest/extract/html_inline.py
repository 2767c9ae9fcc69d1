"""The inside of one HTML block: running text with code spans, signatures, cells; and what of a page is never content."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

Attributes = dict[str, str | None]

TAGS = frozenset(
    "a abbr b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math q rp rt ruby s samp small span strike strong "
    "sub sup time tt u var wbr".split()
)
_SKIPPED_TAGS = frozenset("script style nav noscript template svg button form iframe head object embed select input textarea".split())
_SKIPPED_CLASSES = frozenset(
    "headerlink viewcode-link sphinxsidebar sphx-glr-download-link-note sphx-glr-footer prev-next-area bd-breadcrumbs breadcrumb "
    "breadcrumbs related navigation navheader navfooter sr-only visually-hidden contents-local linenos copybtn edit-this-page "
    "pytorch-breadcrumbs-wrapper pytorch-left-menu pytorch-right-menu sphx-glr-signature toc-backref-list hash-link footer".split()
)
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9])"
    r"|(?<![-\w])color\s*:\s*(?:#fff(?:fff)?\b|white\b|rgba?\(\s*255\s*,\s*255\s*,\s*255|transparent)",
    re.IGNORECASE,
)
_LANGUAGES = {
    "default": "",
    "none": "",
    "text": "",
    "python3": "python",
    "ipython3": "python",
    "py": "python",
    "pycon3": "pycon",
    "highlight": "",
}
_SPACE = re.compile(r"\s+")


def squeeze(text: str) -> str:
    """The text with every run of white space as one blank."""
    return _SPACE.sub(" ", text).strip()


def hidden(tag: str | None, attributes: Attributes) -> bool:
    """Whether an element is chrome, or is not shown to a reader: neither is content."""
    if tag is None or tag in _SKIPPED_TAGS or tag.startswith(("-", "!")):
        return True
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("role") in {"navigation", "search", "contentinfo"}:
        return True
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style):
        return True
    classes = attributes.get("class")
    return bool(classes) and not _SKIPPED_CLASSES.isdisjoint(classes.split())  # type: ignore[union-attr]


def ids(node: LexborNode) -> list[str]:
    """The ids and anchor names inside a node, in order."""
    found = []
    for child in node.css("[id], a[name]"):
        attributes = child.attributes
        name = attributes.get("id") or attributes.get("name")
        if name and child != node:
            found.append(name)
    return found


def render(node: LexborNode) -> str:
    """A node's text with code as code spans; emphasis and links keep their words only."""
    if node.tag in {"code", "tt", "kbd", "samp"}:
        return code_span(_visible_text(node))
    if node.tag == "br":
        return "\n"
    if node.tag == "img":
        return _alternative(node)
    return _children(node)


def _children(node: LexborNode) -> str:
    words = []
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            words.append(child.text())
        elif not hidden(child.tag, child.attributes):
            words.append(render(child))
    return "".join(words)


def _visible_text(node: LexborNode) -> str:
    return "".join(
        child.text() if child.tag == "-text" else "" if hidden(child.tag, child.attributes) else _visible_text(child)
        for child in node.iter(include_text=True)
    )


def _alternative(node: LexborNode) -> str:
    """What a picture says in words: only formulas, whose alternative text is the formula itself."""
    attributes = node.attributes
    return f"${attributes.get('alt') or ''}$" if "math" in (attributes.get("class") or "") else ""


def code_span(text: str) -> str:
    """The text as a Markdown code span, fenced by more backticks than it holds."""
    text = squeeze(text)
    if not text:
        return ""
    runs = re.findall(r"`+", text)
    fence = "`" * (max(map(len, runs)) + 1 if runs else 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def language(node: LexborNode) -> str:
    """The language of a `pre`, as its classes or those of the elements around or inside it say; "" if none."""
    around = node.parent.parent if node.parent is not None else None
    inside = node.css_first("code")
    for element in (inside, node, node.parent, around):
        classes = (element.attributes.get("class") or "").split() if element is not None and element.tag != "-document" else []
        for name in classes:
            word = re.match(r"(?:highlight|language|lang|brush:?)-([\w+#.-]{1,30})$", name)
            if word:
                found = word.group(1).lower()
                return _LANGUAGES.get(found, found)
    return ""


def signature(term: LexborNode) -> str:
    """A definition's head as one line of plain text."""
    return squeeze(_visible_text(term)).replace("`", "'")


def definition_name(term: LexborNode, names: list[str]) -> str:
    """What a definition is called: its full symbol when its id is one, else the words of its head."""
    described = term.css(".descname") or term.css(".sig-name")
    words = squeeze(" ".join(_visible_text(part) for part in described)) if described else signature(term)
    last = words.replace(" ", "").lower()
    symbol = next((name for name in names if last and name.lower().endswith(last) and not name.lower().startswith("cmdoption")), "")
    return (symbol or words)[:160]


def table(node: LexborNode) -> tuple[list[str], list[str]]:
    """The header lines (with the rule) and the row lines of a pipe table; spanned cells are repeated so that columns stay in line."""
    grid: list[list[str]] = []
    header = 0
    carried: dict[int, tuple[int, str]] = {}
    for row in node.css("tr"):
        cells = [cell for cell in row.iter() if cell.tag in {"td", "th"}]
        if not cells:
            continue
        grid.append(_row(cells, carried))
        if header == len(grid) - 1 and all(cell.tag == "th" for cell in cells):
            header += 1
    if not grid:
        return [], []
    width = max(map(len, grid))
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in grid]
    rule = "|" + " --- |" * width
    if header == 0:
        return ["|" + "  |" * width, rule], lines
    return [*lines[:header], rule], lines[header:]


def _row(cells: list[LexborNode], carried: dict[int, tuple[int, str]]) -> list[str]:
    """One row of the grid; `carried` holds the cells of rows above that reach down into it: column to (rows left, text)."""
    row: list[str] = []

    def fill() -> None:
        while len(row) in carried:
            left, text = carried.pop(len(row))
            if left > 1:
                carried_next[len(row)] = (left - 1, text)
            row.append(text)

    carried_next: dict[int, tuple[int, str]] = {}
    for cell in cells:
        fill()
        text = squeeze(_cell(cell)).replace("|", "\\|")
        for _ in range(_span(cell, "colspan")):
            if _span(cell, "rowspan") > 1:
                carried_next[len(row)] = (_span(cell, "rowspan") - 1, text)
            row.append(text)
    fill()
    carried.update(carried_next)
    return row


def _cell(cell: LexborNode) -> str:
    """A cell's text; blocks inside it are parted by blanks."""
    words = []
    for child in cell.iter(include_text=True):
        if child.tag == "-text":
            words.append(child.text())
        elif not hidden(child.tag, child.attributes):
            words.append(render(child) if child.tag in TAGS else f" {_cell(child)} ")
    return "".join(words)


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return min(max(int(value), 1), 50) if value.isdigit() else 1
