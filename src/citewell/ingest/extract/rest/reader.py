"""docutils' tree to places and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from docutils import nodes

from citewell.index.visible import clean
from citewell.ingest.extract.base import Code, Place, Table
from citewell.ingest.extract.html import inline
from citewell.ingest.extract.html.reader import Reader
from citewell.ingest.extract.rest import fields
from citewell.ingest.extract.rest import table as rest_table
from citewell.ingest.extract.rest.describe import Definition
from citewell.ingest.extract.rest.inline import Words

_LONGEST_HEADING = 300
_METADATA = (nodes.field_list, nodes.comment, nodes.substitution_definition)
_SILENT = (nodes.comment, nodes.substitution_definition, nodes.transition, nodes.image, nodes.raw, nodes.title, nodes.label, nodes.pending)


class TreeReader:
    """One walk over a document: sections and definitions open places, everything else fills them."""

    def __init__(self, document: nodes.document) -> None:
        self.document = document
        self.reader = Reader({}, frozenset())
        self.words = Words(document)
        self.describing = False

    def read(self) -> Place:
        """The tree of the document's places."""
        children = list(self.document.children)
        while children and isinstance(children[0], _METADATA):  # fields before everything else say how Sphinx treats the page
            children.pop(0)
        self._blocks(children)
        self.reader.settle()
        return self.reader.root

    def _blocks(self, children: Iterable[nodes.Node]) -> None:
        for node in children:
            self.block(node)

    def block(self, node: nodes.Node) -> None:
        """Add what one block says."""
        if isinstance(node, _SILENT):
            return
        handler = next((_HANDLERS[kind] for kind in type(node).__mro__ if kind in _HANDLERS), None)
        if isinstance(node, nodes.Text | nodes.Inline):
            self._emit(self.words.of([node]))
        elif handler is not None:
            handler(self, node)
        else:
            self._note(node)
            self._blocks(node.children)

    def text(self, node: nodes.Element) -> str:
        """The running text of an element; the anchors inside it are noted."""
        text = inline.squeeze(self.words.of(node.children))
        self.reader.pending.extend(self.words.taken_ids())
        return text

    def _emit(self, text: str) -> None:
        if text:
            self.reader.emit(text)

    def _note(self, node: nodes.Element) -> None:
        self.reader.pending.extend(node.get("ids", []))

    # ---- places -------------------------------------------------------------------------------------------------------------

    def _section(self, node: nodes.section) -> None:
        reader = self.reader
        title = next((child for child in node.children if isinstance(child, nodes.title)), None)
        words = self.text(title) if title is not None else ""
        short = words if len(words) <= _LONGEST_HEADING else words[:_LONGEST_HEADING].rsplit(" ", 1)[0] + " …"
        ids = list(node.get("ids", []))
        # A label of the same words takes the section's own id, which becomes a number.
        own = nodes.make_id(title.astext()) if title is not None else ""
        anchor = own if own in reader.pending else ids[0] if ids else ""
        place = Place(short.replace("`", "") or "Untitled", anchor, len(reader.stack), ids={*ids, *reader.pending})
        reader.pending.clear()
        reader.place.content.append(place)
        with reader.inside(place):
            if short != words:
                reader.emit(words)
            self._blocks(node.children)
            ahead = list(reader.pending)  # a label at the end of a section is that of the next one
            reader.pending.clear()
        reader.pending.extend(ahead)

    def _definition(self, node: Definition) -> None:
        reader = self.reader
        ids = [name for one in node.described for name in one.ids]
        signature = "\n".join(filter(None, (clean(one.signature).replace("`", "'") for one in node.described)))
        names = tuple(dict.fromkeys(clean(one.name)[:160] for one in node.described))
        reader.put_lead()
        reader.settle()
        if not names:
            self._blocks(node.children)
            return
        place = Place(names[0], ids[0] if ids else "", signature=signature, names=names, ids=set(ids))
        reader.place.content.append(place)
        outer, self.describing = self.describing, True
        with reader.inside(place):
            self._blocks(node.children)
        self.describing = outer

    # ---- blocks -------------------------------------------------------------------------------------------------------------

    def _paragraph(self, node: nodes.Element) -> None:
        self._note(node)
        self._emit(self.text(node))

    def _rubric(self, node: nodes.Element) -> None:
        self._note(node)
        self.reader.put_lead()
        self.reader.emphasize(self.text(node))

    def _code(self, node: nodes.Element) -> None:
        self._note(node)
        text = clean(node.astext() if "language" in node else self.words.plain(node)).strip("\n")
        language = node.get("language", "pycon" if text.startswith(">>> ") else "")
        if text.strip():
            self.reader.put_lead()
            self.reader.add(Code(text, language, self.reader.indent))

    def _math(self, node: nodes.Element) -> None:
        self._emit(f"${inline.squeeze(node.astext())}$")

    def _admonition(self, node: nodes.Element) -> None:
        reader = self.reader
        title = next((child for child in node.children if isinstance(child, nodes.title)), None)
        words = (self.text(title) if title is not None else type(node).__name__).rstrip(":")
        reader.put_lead()
        reader.lead = f"{reader.indent}**{words[:1].upper()}{words[1:]}:** " if words else ""
        self._blocks(node.children)
        reader.put_lead()

    def _bullets(self, node: nodes.Element) -> None:
        numbered = isinstance(node, nodes.enumerated_list)
        self.reader.put_lead()
        for position, item in enumerate(node.children):
            if isinstance(item, nodes.list_item):
                self.item(f"{int(node.get('start', 1)) + position}. " if numbered else "- ", item.children, first=position == 0)

    def item(self, marker: str, children: Iterable[nodes.Node], *, first: bool) -> None:
        """One item of a list."""
        reader, outer = self.reader, self.reader.indent
        with reader.indented(len(marker)):
            reader.lead, reader.tight = outer + marker, not first
            self._blocks(children)

    def labelled(self, label: str, children: Iterable[nodes.Node]) -> None:
        """A term or the name of a field, with what is said of it below."""
        reader = self.reader
        reader.put_lead()
        if label:
            reader.emit(f"**{label.rstrip(':')}:**")
        with reader.indented(2):
            reader.tight = bool(label)
            self._blocks(children)

    def _definition_list(self, node: nodes.Element) -> None:
        for item in node.children:
            terms = [self.text(child) for child in item.children if isinstance(child, nodes.term | nodes.classifier)]
            for child in item.children:
                if isinstance(child, nodes.definition):
                    self.labelled(" : ".join(terms), child.children)

    def _option_list(self, node: nodes.Element) -> None:
        for item in node.findall(nodes.option_list_item):
            options = [inline.code_span(option.astext()) for option in item.findall(nodes.option)]
            self.labelled(", ".join(options), [child for part in item.findall(nodes.description) for child in part.children])

    def _field_list(self, node: nodes.Element) -> None:
        for entry in fields.grouped(node, described=self.describing):
            if isinstance(entry, fields.Field):
                self.labelled(clean(entry.name), entry.body)
            else:
                self.reader.put_lead()
                self.reader.emit(f"**{entry.title}:**")
                for child in entry.entries:
                    self.item("- ", child, first=False)

    def _lines(self, node: nodes.Element, depth: int = 0) -> None:
        for child in node.children:
            if isinstance(child, nodes.line_block):
                self._lines(child, depth + 1)
            elif isinstance(child, nodes.line) and (text := self.text(child)):
                self._emit(text)
                self.reader.tight = True
        if depth == 0:
            self.reader.tight = False

    def _table(self, node: nodes.Element) -> None:
        reader = self.reader
        reader.put_lead()
        for child in node.children:
            if isinstance(child, nodes.title):
                reader.emphasize(self.text(child))
        head, rows = rest_table.table(node, self.text)
        if head:
            reader.add(Table([reader.indent + line for line in head], [reader.indent + line for line in rows]))

    def _footnote(self, node: nodes.Element) -> None:
        reader = self.reader
        reader.put_lead()
        self._note(node)
        mark = self.words.mark(node)
        noted = inline.note_mark(mark)
        reader.lead = f"{reader.indent}{noted}: " if noted != mark else f"{reader.indent}[{mark}] "
        self._blocks(node.children)
        reader.lead = ""

    def _attribution(self, node: nodes.Element) -> None:
        self._emit(f"— {self.text(node)}")

    def _message(self, node: nodes.Element) -> None:
        """Of what docutils says about a fault in the page, only the page's own text."""
        self._blocks(child for child in node.children if isinstance(child, nodes.literal_block))


_HANDLERS: dict[type, Callable[[TreeReader, nodes.Element], None]] = {
    nodes.section: TreeReader._section,
    Definition: TreeReader._definition,
    **dict.fromkeys((nodes.paragraph, nodes.caption), TreeReader._paragraph),
    nodes.rubric: TreeReader._rubric,
    **dict.fromkeys((nodes.literal_block, nodes.doctest_block), TreeReader._code),
    nodes.math_block: TreeReader._math,
    nodes.Admonition: TreeReader._admonition,
    **dict.fromkeys((nodes.bullet_list, nodes.enumerated_list), TreeReader._bullets),
    nodes.definition_list: TreeReader._definition_list,
    nodes.option_list: TreeReader._option_list,
    nodes.field_list: TreeReader._field_list,
    nodes.line_block: TreeReader._lines,
    nodes.table: TreeReader._table,
    **dict.fromkeys((nodes.footnote, nodes.citation), TreeReader._footnote),
    nodes.attribution: TreeReader._attribution,
    nodes.system_message: TreeReader._message,
}
