"""The running text of docutils' tree: code spans, footnote marks, substitutions, the titles of what is referred to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from docutils import nodes

from citewell.index.visible import clean
from citewell.ingest.extract.html import inline

_MAX_DEPTH = 20  # of substitutions inside substitutions, and of inline markup
_MOST_SUBSTITUTIONS = 10_000  # in one page: a few lines can ask for millions
_SYMBOLS = "*†‡§"


class Words:
    """What inline nodes of one document say. `ids` are the anchors that stood in them."""

    def __init__(self, document: nodes.document) -> None:
        self._document = document
        self._ids: list[str] = []
        self._left = _MOST_SUBSTITUTIONS
        self._titles = _titles(document)
        self._marks = _marks(document)

    def of(self, children: Iterable[nodes.Node], depth: int = 0) -> str:
        """The text of some nodes as Markdown."""
        return inline.joined(clean(self._one(child, depth)) for child in children)

    def plain(self, node: nodes.Element) -> str:
        """The text of a literal block with markup inside, as it is."""
        return "".join(self._plain(node, 0))

    def taken_ids(self) -> list[str]:
        """The anchors met since the last call."""
        taken, self._ids = self._ids, []
        return taken

    def mark(self, note: nodes.Element) -> str:
        """The mark of a footnote or a citation."""
        label = next((child.astext() for child in note.children if isinstance(child, nodes.label)), "")
        return label or self._marks.get(id(note), "")

    def _one(self, node: nodes.Node, depth: int) -> str:
        if isinstance(node, nodes.Text):
            return str(node.astext())
        if isinstance(node, nodes.system_message | nodes.image | nodes.raw | nodes.comment | nodes.pending):
            return ""
        self._ids.extend(node.get("ids", []))
        if isinstance(node, nodes.literal):
            return inline.code_span(node.astext())
        if isinstance(node, nodes.math):
            return f"${inline.squeeze(node.astext())}$"
        if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
            return self._reference(node)
        if isinstance(node, nodes.substitution_reference):
            return self._substitution(node, depth)
        if "label" in node and isinstance(node, nodes.inline):
            return self._titles.get(node["label"]) or str(node.astext())
        if depth > _MAX_DEPTH:
            return str(node.astext())
        text = self.of(node.children, depth + 1)
        return inline.raised(text) if isinstance(node, nodes.superscript) else text

    def _plain(self, node: nodes.Node, depth: int) -> Iterator[str]:
        for child in node.children:
            if isinstance(child, nodes.substitution_reference):
                yield self._substitution(child, depth)
            elif isinstance(child, nodes.Text) or depth > _MAX_DEPTH:
                yield child.astext()
            else:
                self._ids.extend(child.get("ids", []))
                yield from self._plain(child, depth + 1)

    def _substitution(self, node: nodes.Element, depth: int) -> str:
        name = node.get("refname", node.astext())
        definitions = self._document.substitution_defs
        found = definitions.get(name) or definitions.get(self._document.substitution_names.get(name.lower(), ""))
        if found is None or depth > _MAX_DEPTH or self._left <= 0:
            return f"|{node.astext()}|"
        self._left -= 1
        text = self.of(found.children, depth + 1)
        text = text.rstrip() if found.get("rtrim") or found.get("trim") else text
        return text.lstrip() if found.get("ltrim") or found.get("trim") else text

    def _reference(self, node: nodes.Element) -> str:
        text = node.astext() or self._marks.get(id(node), "")
        return inline.note_mark(text) if isinstance(node, nodes.footnote_reference) else f"[{text}]"


def _titles(document: nodes.document) -> dict[str, str]:
    """The titles of what stands after each label: what a reference without words of its own shows."""
    found: dict[str, str] = {}
    for target in document.findall(nodes.target):
        following = target.next_node(descend=False, siblings=True, ascend=True)
        while isinstance(following, nodes.target | nodes.comment):
            following = following.next_node(descend=False, siblings=True, ascend=True)
        title = following.next_node(nodes.title) if isinstance(following, nodes.section) else None
        if title is not None:
            found.update(dict.fromkeys(target["names"], inline.squeeze(title.astext())))
    return found


def _marks(document: nodes.document) -> dict[int, str]:
    """Numbers and symbols of the footnotes that leave them to the builder, by the identity of notes and references."""
    taken = {name for note in document.footnotes for name in note["names"]}
    numbers = (str(number) for number in range(1, 10**6) if str(number) not in taken)
    marks: dict[int, str] = {}
    by_name: dict[str, str] = {}
    unnamed: list[str] = []
    for note in document.autofootnotes:
        marks[id(note)] = number = next(numbers, "")
        by_name.update(dict.fromkeys(note["names"], number))
        unnamed += [] if note["names"] else [number]
    waiting = iter(unnamed)
    for reference in document.autofootnote_refs:
        named = reference.get("refname")
        marks[id(reference)] = by_name.get(named, named) if named else next(waiting, "#")
    for noted in (document.symbol_footnotes, document.symbol_footnote_refs):
        marks.update({id(note): _SYMBOLS[n % 4] * (n // 4 + 1) for n, note in enumerate(noted[:100])})
    return marks
