"""Definition lists: documented symbols, options and terms become places of their own; fields, plain terms and footnotes do not."""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from citewell.ingest.extract.base import Place
from citewell.ingest.extract.html import inline
from citewell.ingest.extract.html import names as html_names
from citewell.ingest.extract.html.reader import MAX_DEPTH, Reader

NOTES = frozenset(("footnote", "citation"))
_NO_DEFINITIONS = NOTES | {"field-list", "option-list"}


def definitions(reader: Reader, node: LexborNode, depth: int) -> None:
    """A `dl`. Its terms with ids are definitions unless its class says that they are fields or notes."""
    reader.put_lead()
    classes = set((node.attributes.get("class") or "").split())
    terms: list[LexborNode] = []
    opened: Place | None = None
    for child in node.iter(include_text=True):
        if child.tag == "dt":
            terms.append(child)
        elif child.tag == "dd" and not terms and opened is not None:
            with reader.inside(opened):
                reader.child(child, depth + 1)
        elif child.tag == "dd":
            opened = _define(reader, terms, child, depth, classes)
            terms = []
        elif child.tag == "div" and depth <= MAX_DEPTH:  # HTML allows groups of dt and dd inside a div
            definitions(reader, child, depth + 1)
        else:
            reader.child(child, depth + 1)
    if terms:
        _define(reader, terms, None, depth, classes)


def _define(reader: Reader, terms: list[LexborNode], body: LexborNode | None, depth: int, classes: set[str]) -> Place | None:
    """The place of a definition, read; None where the terms are none."""
    reader.flush()
    ids = [] if classes & _NO_DEFINITIONS or depth > MAX_DEPTH else [name for term in terms for name in inline.definition_ids(term)]
    if not ids:
        _term(reader, terms, body, depth, classes)
        return None
    reader.settle()
    signature = "\n".join(filter(None, map(inline.signature, terms)))
    called = [name for term in terms if (name := inline.definition_name(term, ids))]
    names = tuple(dict.fromkeys(name for head in called for name in html_names.options(head) or [head]))
    place = Place(called[0] if called else "", ids[0], signature=signature, names=names, ids=set(ids))
    reader.place.content.append(place)
    with reader.inside(place):
        if body is not None:
            reader.child(body, depth + 1)
    return place


def declared(reader: Reader, node: LexborNode, head: LexborNode, depth: int) -> None:
    """A declaration that is a paragraph with the name's id inside (Haddock's), with all that its element holds."""
    reader.settle()
    ids = inline.ids(head)
    called = [inline.squeeze(inline.visible_text(name)) for name in head.css(".def")]
    names = tuple(dict.fromkeys(name for word in called for name in html_names.member(word, None, code=True)))
    place = Place(called[0], ids[0], signature=inline.signature(head), names=names, ids=set(ids))
    reader.place.content.append(place)
    with reader.inside(place):
        for child in node.iter(include_text=True):
            if child.mem_id != head.mem_id:
                reader.child(child, depth + 1)


def _term(reader: Reader, terms: list[LexborNode], body: LexborNode | None, depth: int, classes: set[str]) -> None:
    if classes & NOTES and terms:
        footnote(reader, terms[0], [body] if body is not None else [], depth)
        return
    for term in terms:
        reader.note_ids(term, term.attributes)
    words = [inline.squeeze(inline.render(term)) for term in terms]
    if body is None or "toc" in classes:  # terms that nothing is said about are a list
        for number, word in enumerate(filter(None, words)):
            reader.lead, reader.tight = f"{reader.indent}- ", number > 0
            reader.emit(word)
    elif any(words):
        reader.emit(f"**{' '.join(words).rstrip(':')}:**")
    if body is not None:
        with reader.indented(2):
            reader.tight = any(words)
            reader.child(body, depth + 1)


def footnote(reader: Reader, label: LexborNode, body: Sequence[LexborNode], depth: int) -> None:
    """A note with its mark before it, as Markdown writes footnotes: `[^1]: …`."""
    reader.flush()
    reader.put_lead()
    reader.note_ids(label, label.attributes)
    words = inline.squeeze(inline.visible_text(label)).strip("[] ")
    mark = inline.note_mark(words)
    reader.lead = f"{reader.indent}{mark}: " if mark != words else f"{reader.indent}[{words}] "
    for child in body:
        reader.child(child, depth + 1)
    reader.flush()
    reader.lead = ""
