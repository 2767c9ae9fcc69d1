"""What HTML elements become: headings, paragraphs, admonitions, tabs, code, lists, tables."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from citewell.ingest.extract import html_definitions as definitions
from citewell.ingest.extract import html_inline as inline
from citewell.ingest.extract import html_table
from citewell.ingest.extract.base import Code, Place, Table
from citewell.ingest.extract.html_chrome import hidden
from citewell.ingest.extract.html_reader import Handler, Reader

_LONGEST_HEADING = 300  # a longer one is a broken page's whole text
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ADMONITIONS = frozenset("admonition note tip warning caution important danger hint attention seealso sidebar".split())
_TITLES = frozenset("admonition-title markdown-alert-title".split())
_RUBRICS = frozenset("rubric topic-title sidebar-title".split())


def classes_of(node: LexborNode | None) -> set[str]:
    """An element's classes."""
    return set((node.attributes.get("class") or "").split()) if node is not None and node.tag != "-document" else set()


def container(reader: Reader, node: LexborNode, depth: int) -> None:
    """An element that means something by its classes, or only holds others."""
    classes = classes_of(node)
    if node.tag == "section" or "section" in classes:
        with reader.inside():
            reader.block(node, depth + 1)
    elif classes & _TITLES or any(name.startswith("admonitionHeading") for name in classes):
        _title(reader, node)
    elif classes & _RUBRICS or node.tag == "summary":
        reader.emphasize(inline.squeeze(inline.render(node)))
    elif node.attributes.get("role") == "tabpanel" or "tabbed-block" in classes:
        named = node.attributes.get("aria-labelledby") or ""
        reader.emphasize(reader.tabs.pop(named if named in reader.tabs else next(iter(reader.tabs), ""), ""))
        reader.block(node, depth + 1)
    elif classes & definitions.NOTES and (label := node.css_first(".label")) is not None:
        definitions.footnote(reader, label, [child for child in node.iter(include_text=True) if child.mem_id != label.mem_id], depth)
    else:
        reader.block(node, depth + 1)


def _title(reader: Reader, node: LexborNode) -> None:
    words = inline.squeeze(inline.render(node)).rstrip(":")
    if words:
        reader.put_lead()
        reader.lead = f"{reader.indent}**{words[:1].upper()}{words[1:]}:** "


def paragraph(reader: Reader, node: LexborNode, depth: int) -> None:
    """A paragraph, which is a title in some admonitions."""
    if classes_of(node) & (_TITLES | _RUBRICS):
        container(reader, node, depth)
    else:
        reader.block(node, depth + 1)


def heading(reader: Reader, node: LexborNode, depth: int) -> None:
    """Open the place of a heading, after those of its rank and below are closed."""
    if classes_of(node.parent) & _ADMONITIONS:
        _title(reader, node)
        return
    text, rest = _heading_words(node)
    reader.pending.extend(inline.ids(node))
    if reader.linking:
        reader.emphasize(text)
    elif text:
        _open(reader, node, text)
    for child in rest:
        reader.child(child, depth + 1)


def link(reader: Reader, node: LexborNode, depth: int) -> None:
    """A link around blocks: a card."""
    outer, target = reader.linking, node.attributes.get("href") or ""
    reader.linking = outer or bool(target and not target.startswith("#"))
    reader.block(node, depth + 1)
    reader.linking = outer


def _open(reader: Reader, node: LexborNode, text: str) -> None:
    reader.put_lead()
    level = _HEADINGS[node.tag or "h1"]
    while len(reader.stack) > reader.floor and reader.place.level >= level:
        reader.stack.pop()
    short = text if len(text) <= _LONGEST_HEADING else text[:_LONGEST_HEADING].rsplit(" ", 1)[0] + " …"
    anchor = _anchor(reader, node)
    place = Place(short.replace("`", ""), anchor, level, ids={*reader.pending, *filter(None, [anchor])})
    reader.pending.clear()
    reader.place.content.append(place)
    reader.stack.append(place)
    reader.indent, reader.tight = "", False
    if short != text:
        reader.emit(text)


def _anchor(reader: Reader, node: LexborNode) -> str:
    """A heading's anchor: what its permanent link names, if the page has it; else its own id, or the nearest one before it."""
    link = node.css_first("a.headerlink")
    target = ((link.attributes.get("href") or "") if link is not None else "").partition("#")[2]
    if target and target in reader.known:
        return target
    return node.attributes.get("id") or (reader.pending[-1] if reader.pending else "")


def _heading_words(node: LexborNode) -> tuple[str, list[LexborNode]]:
    """A heading's words, and what a broken page has inside it after them."""
    children = list(node.iter(include_text=True))
    block = next((n for n, child in enumerate(children) if child.tag != "-text" and not inline.is_running(child)), None)
    if block is None:
        return inline.squeeze(inline.render(node)), []
    before = [child for child in children[:block] if child.tag == "-text" or not hidden(child, child.attributes)]
    words = inline.squeeze(inline.joined(child.text_content or "" if child.tag == "-text" else inline.render(child) for child in before))
    if words:
        return words, children[block:]
    first = inline.squeeze(inline.render(children[block]))
    return (first, children[block + 1 :]) if len(first) <= _LONGEST_HEADING else ("", children)


def pre(reader: Reader, node: LexborNode, depth: int) -> None:  # noqa: ARG001 - one signature for all handlers
    """A code block."""
    _code(reader, node, inline.language(node))


def _code(reader: Reader, node: LexborNode, language: str) -> None:
    reader.pending.extend(inline.ids(node))
    text = inline.visible_text(node).strip("\n")
    if text.strip():
        reader.put_lead()
        reader.add(Code(text, language, reader.indent))


def listing(reader: Reader, node: LexborNode, depth: int) -> None:
    """A list; what stands in it outside of its items is kept between them."""
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
    else:
        reader.put_lead()
        reader.emphasize(html_table.caption(node))
        if html_table.is_layout(node):
            for row, _ in html_table.rows(node):
                for cell in html_table.cells(row):
                    reader.child(cell, depth + 1)
        else:
            _data(reader, node)


def _data(reader: Reader, node: LexborNode) -> None:
    reader.pending.extend(inline.ids(node))
    head, rows = html_table.table(node)
    if head:
        reader.add(Table([reader.indent + line for line in head], [reader.indent + line for line in rows]))


HANDLERS: dict[str, Handler] = {
    "": container,
    **dict.fromkeys(_HEADINGS, heading),
    "a": link,
    "p": paragraph,
    **dict.fromkeys(("pre", "listing", "xmp"), pre),
    **dict.fromkeys(("ul", "ol", "menu", "dir"), listing),
    "table": table,
    "dl": definitions.definitions,
}
