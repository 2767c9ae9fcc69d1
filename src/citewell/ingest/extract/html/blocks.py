"""What HTML elements become: paragraphs, sections, admonitions, tabs, code, lists, tables."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from citewell.ingest.extract.base import Code, Table
from citewell.ingest.extract.html import definitions, inline
from citewell.ingest.extract.html import table as html_table
from citewell.ingest.extract.html.chrome import hidden
from citewell.ingest.extract.html.headings import ADMONITIONS, HEADINGS, admonition_title, classes_of, heading
from citewell.ingest.extract.html.reader import MAX_DEPTH, Handler, Reader

_TITLES = frozenset("admonition-title markdown-alert-title custom-block-title alert-heading".split())
_SIGNATURES = frozenset("memproto member-signature type-signature".split())  # of doxygen and javadoc
_HEADED = ", ".join(HEADINGS)
_MENUS = frozenset("nav navbar navbar-nav menu sidebar-menu".split())
_CURRENT = "a.active, a.current, [aria-current=page], li.current > a, li.active > a"
_PROSE = "p, pre, dl, table, h1, h2, h3, h4, h5, h6"
_MENU_LINKS = 3
_RUBRICS = frozenset("rubric topic-title sidebar-title".split())


def container(reader: Reader, node: LexborNode, depth: int) -> None:
    """An element that means something by its classes, or only holds others."""
    classes = classes_of(node)
    if node.tag == "details" or (_is_section(node, classes) and (node.parent is None or node.parent.tag != "summary")):
        with reader.inside():
            _section(reader, node, depth)
    elif node.tag == "section":
        _section(reader, node, depth)
    elif "headertitle" in classes and (title := node.css_first("div.title")) is not None:
        heading(reader, title, depth)
    elif classes & _TITLES or any(name.startswith("admonitionHeading") for name in classes):
        admonition_title(reader, node)
    elif node.tag == "summary" and node.css_first(_HEADED) is not None:  # what opens and closes what stands under a heading
        reader.block(node, depth + 1)
    elif classes & _RUBRICS or node.tag == "summary":
        reader.note_ids(node, node.attributes)
        reader.emphasize(inline.squeeze(inline.render(node)))
    elif classes & _SIGNATURES:
        reader.note_ids(node, node.attributes)
        labels = ", ".join(inline.visible_text(label) for label in node.css(".mlabel"))
        reader.emit(inline.code_span(inline.visible_text(node) + (f" [{labels}]" if labels else "")))
    elif (columns := html_table.columns_of_grid(node, classes)) > 1:
        reader.note_ids(node, node.attributes)
        _put_table(reader, *html_table.grid(node, columns))
    elif "top" in classes and depth < MAX_DEPTH and (name := node.css_first("p.src > .def[id]")) is not None and name.parent is not None:
        definitions.declared(reader, node, name.parent, depth)
    elif "fragment" in classes and (lines := node.css("div.line")):
        reader.note_ids(node, node.attributes)
        _put_code(reader, "\n".join(map(inline.visible_text, lines)), inline.language(node))
    elif node.attributes.get("role") == "tabpanel" or "tabbed-block" in classes:
        named = node.attributes.get("aria-labelledby") or ""
        reader.emphasize(reader.tabs.pop(named if named in reader.tabs else next(iter(reader.tabs), ""), ""))
        reader.block(node, depth + 1)
    elif classes & definitions.NOTES and (label := node.css_first(".label")) is not None:
        definitions.footnote(reader, label, [child for child in node.iter(include_text=True) if child.mem_id != label.mem_id], depth)
    else:
        reader.block(node, depth + 1)


def _is_section(node: LexborNode, classes: set[str]) -> bool:
    return node.tag == "section" or "section" in classes


def _section(reader: Reader, node: LexborNode, depth: int) -> None:
    """A section. What stands beside the heading of a declaration (since when it is there) comes after it, as the place begins with it."""
    title = next((child for child in node.iter() if child.tag in HEADINGS and "code-header" in classes_of(child)), None)
    if title is None:
        reader.block(node, depth + 1)
        return
    beside = [child for child in node.iter() if child.mem_id != title.mem_id and not hidden(child, child.attributes)]
    for child in beside:
        reader.note_ids(child, child.attributes)
    heading(reader, title, depth)
    words = inline.squeeze(" ".join(map(inline.render, beside))).strip("· ")
    if words:
        reader.emit(words)


def paragraph(reader: Reader, node: LexborNode, depth: int) -> None:
    """A paragraph, which is a title in some admonitions."""
    if classes_of(node) & (_TITLES | _RUBRICS):
        container(reader, node, depth)
    else:
        reader.block(node, depth + 1)


def link(reader: Reader, node: LexborNode, depth: int) -> None:
    """A link around blocks: a card."""
    outer, target = reader.linking, node.attributes.get("href") or ""
    reader.linking = outer or bool(target and not target.startswith("#"))
    reader.block(node, depth + 1)
    reader.linking = outer


def pre(reader: Reader, node: LexborNode, depth: int) -> None:  # noqa: ARG001 - one signature for all handlers
    """A code block."""
    _code(reader, node, inline.language(node))


def _code(reader: Reader, node: LexborNode, language: str) -> None:
    reader.pending.extend(inline.ids(node))
    _put_code(reader, inline.visible_text(node), language)


def _put_code(reader: Reader, text: str, language: str) -> None:
    if text.strip():
        reader.put_lead()
        reader.add(Code(text.strip("\n"), language, reader.indent))


def listing(reader: Reader, node: LexborNode, depth: int) -> None:
    """A list; what stands in it outside of its items is kept between them."""
    if _is_menu(node):
        reader.note_ids(node, node.attributes)
        return
    reader.put_lead()
    start = node.attributes.get("start") or "1"
    number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
    first = True
    for child in node.iter(include_text=True):
        marker = f"{number}. " if node.tag == "ol" else "- "
        if child.tag != "li":
            with reader.indented(len(marker)):
                reader.child(child, depth + 1)
                reader.flush()
        elif not hidden(child, child.attributes):
            outer = reader.indent
            with reader.indented(len(marker)):
                reader.lead, reader.tight = outer + marker, not first
                reader.child(child, depth + 1)
            first, number = False, number + 1


def _is_menu(node: LexborNode) -> bool:
    """Whether a list leads through the site: by its class, or as one of its links is marked as the page that is being read."""
    if not classes_of(node) & _MENUS and node.css_first(_CURRENT) is None:
        return False
    links = [(link.attributes.get("href") or "#").startswith("#") for link in node.css("a")]
    return len(links) >= _MENU_LINKS and not any(links) and node.css_first(_PROSE) is None


def table(reader: Reader, node: LexborNode, depth: int) -> None:
    """A table of data; a table that lays out code or a page is what it holds."""
    code = html_table.listing(node)
    if code is not None:
        reader.emphasize(inline.squeeze(" ".join(inline.visible_text(cell) for cell in node.css("th"))))
        _code(reader, code, inline.language(code) or inline.language(node))
    elif classes_of(node) & definitions.NOTES:
        for row, _ in html_table.rows(node):
            label_and_body = html_table.cells(row)
            if label_and_body:
                definitions.footnote(reader, label_and_body[0], label_and_body[1:], depth)
    elif (title := _title_cell(node)) is not None:
        admonition_title(reader, title)
        for cell in node.css("td"):
            reader.child(cell, depth + 1)
    else:
        reader.put_lead()
        reader.emphasize(html_table.caption(node))
        if html_table.is_layout(node):
            _layout(reader, node, depth)
        else:
            _data(reader, node)


def _title_cell(node: LexborNode) -> LexborNode | None:
    """The title of an admonition that is laid out as a table: a picture, the title, the text."""
    titles = node.css("th") if classes_of(node.parent) & ADMONITIONS and node.css_first("img") is not None else []
    return titles[0] if len(titles) == 1 and node.css_first("table table") is None else None


def _layout(reader: Reader, node: LexborNode, depth: int) -> None:
    """What a table that arranges a page holds; a row of short texts under a heading is one line."""
    for row, _ in html_table.rows(node):
        cells = html_table.cells(row)
        line = html_table.line(cells) if reader.place is not reader.root else ""
        if line:
            reader.note_ids(row, row.attributes)
            reader.emit(line)
            continue
        reader.pending.extend(filter(None, [row.attributes.get("id")]))
        for cell in cells:
            reader.child(cell, depth + 1)


def _data(reader: Reader, node: LexborNode) -> None:
    reader.pending.extend(inline.ids(node))
    _put_table(reader, *html_table.table(node))


def _put_table(reader: Reader, head: list[str], rows: list[str]) -> None:
    if head and not (len(rows) == 1 and html_table.leads_elsewhere(rows[0])):
        reader.add(Table([reader.indent + line for line in head], [reader.indent + line for line in rows]))


HANDLERS: dict[str, Handler] = {
    "": container,
    **dict.fromkeys(HEADINGS, heading),
    "a": link,
    "p": paragraph,
    **dict.fromkeys(("pre", "listing", "xmp"), pre),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), listing),
    "table": table,
    "dl": definitions.definitions,
}
