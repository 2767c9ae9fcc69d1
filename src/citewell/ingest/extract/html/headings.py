"""Headings of HTML, which open places: their anchors, their words, the symbols that they document."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from citewell.ingest.extract.base import Place
from citewell.ingest.extract.html import inline
from citewell.ingest.extract.html import names as html_names
from citewell.ingest.extract.html.chrome import hidden
from citewell.ingest.extract.html.reader import Reader

HEADINGS = {f"h{level}": level for level in range(1, 7)}
ADMONITIONS = frozenset("admonition note tip warning caution important danger hint attention seealso sidebar".split())
_LONGEST_HEADING = 300  # a longer one is a broken page's whole text
_CODE_HEADINGS = frozenset("code-header memtitle doc-heading signature fn".split())


def classes_of(node: LexborNode | None) -> set[str]:
    """An element's classes."""
    return set((node.attributes.get("class") or "").split()) if node is not None and node.tag != "-document" else set()


def admonition_title(reader: Reader, node: LexborNode) -> None:
    """Take a title that the next paragraph begins with."""
    words = inline.squeeze(inline.render(node)).rstrip(":")
    if words:
        reader.put_lead()
        reader.lead = f"{reader.indent}**{words[:1].upper()}{words[1:]}:** "


def heading(reader: Reader, node: LexborNode, depth: int) -> None:
    """Open the place of a heading, after those of its rank and below are closed."""
    if classes_of(node.parent) & ADMONITIONS:
        admonition_title(reader, node)
        return
    text, rest = _heading_words(node)
    reader.pending.extend(inline.ids(node))
    if reader.linking:
        reader.emphasize(text)
    elif text:
        _open(reader, node, text)
    for child in rest:
        reader.child(child, depth + 1)


def _open(reader: Reader, node: LexborNode, text: str) -> None:
    text = _numbered(reader, text)
    level = HEADINGS.get(node.tag or "", 1)
    while len(reader.stack) > reader.floor and reader.place.level >= level:
        reader.stack.pop()
    short = text if len(text) <= _LONGEST_HEADING else text[:_LONGEST_HEADING].rsplit(" ", 1)[0] + " …"
    anchor = _anchor(reader, node)
    place = Place(short.replace("`", ""), anchor, level, ids={*reader.pending, *filter(None, [anchor])})
    place.names = _names(reader, node, short, place)
    reader.pending.clear()
    reader.place.content.append(place)
    reader.stack.append(place)
    reader.indent, reader.tight = "", False
    if short != text:
        reader.emit(text)


def _numbered(reader: Reader, text: str) -> str:
    """A heading's text with the number of the list item that it begins; a bullet before it says nothing."""
    marker = reader.lead.strip()
    if marker != "-" and not marker.endswith("."):
        reader.put_lead()
        marker = ""
    reader.lead = ""
    return f"{marker} {text}" if marker.endswith(".") else text


def _names(reader: Reader, node: LexborNode, text: str, place: Place) -> tuple[str, ...]:
    """The symbols that a heading documents."""
    found = html_names.subject(place.heading, reader.stem) if place.level == 1 else ()
    if found or not place.anchor:
        return found
    code = text.startswith("`") and text.endswith("`") and text.count("`") == 2
    owner = next((above for above in reader.stack if above.level == 1), None)
    detail = node.parent is not None and node.tag != "h2" and "detail" in classes_of(node.parent)
    return html_names.member(place.heading, owner, code=code or detail or bool(classes_of(node) & _CODE_HEADINGS))


def _anchor(reader: Reader, node: LexborNode) -> str:
    """A heading's anchor: what its permanent link names, if the page has it; else its own id, or the nearest one before it."""
    link = node.css_first("a.headerlink")
    target = ((link.attributes.get("href") or "") if link is not None else "").partition("#")[2]
    if target and target in reader.known:
        return target
    own = node.attributes.get("id")
    if own:
        return own
    tools = {tool.attributes.get("id") for tool in node.css("button[id], input[id]")}
    return next((name for name in reversed(reader.pending) if name not in tools), "")


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
