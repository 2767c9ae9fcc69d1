"""The inside of one HTML block: running text with code spans, signatures and their names, the language of code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborNode

from citewell.index.visible import clean
from citewell.ingest.extract.html.chrome import hidden, offers

# What is laid out as a block of its own. Everything else, unknown elements too, is part of the running text.
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu ol optgroup option p pre search section summary "
    "table tbody td tfoot th thead tr ul xmp".split()
)
_CODE = frozenset("code kbd samp tt".split())
_MAX_DEPTH = 60  # running text nested deeper is taken as its plain words
_SEPARATORS = frozenset(("sep", "separator"))  # empty elements whose style draws what parts the words around them
_LOOK = 40  # descendants that are looked at to find a block inside running text
_LANGUAGES = {
    **dict.fromkeys("default none text plain plaintext txt highlight nohighlight no-highlight".split(), ""),
    **dict.fromkeys("python3 ipython3 ipython py py3".split(), "python"),
    "pycon3": "pycon",
}
_LANGUAGE = re.compile(r"(?:highlight|language|lang|src|brush:?)-(?:source-|text-)?([\w+#.-]{1,30})$")
_NOTE_MARK = re.compile(r"[\w*†‡#]{1,12}")
_POWER = re.compile(r"[-+−]?\d+(?:\.\d+)?|[a-zA-Z]")
_AUTOMATIC_ID = re.compile(r"(?:id|index-)\d+$")
_SPAN = re.compile(r"`[^`]+`")
_LONGEST_NAME = 160


def squeeze(text: str) -> str:
    """The text with every run of white space as one blank."""
    text = " ".join(text.split())
    return text if text.isascii() and text.isprintable() else " ".join(clean(text).split())


def ids(node: LexborNode) -> list[str]:
    """The ids and anchor names inside a node, in order."""
    found = []
    for child in node.css("[id], a[name]"):
        attributes = child.attributes
        name = attributes.get("id") or attributes.get("name")
        if name and child.mem_id != node.mem_id:
            found.append(name)
    return found


def is_running(node: LexborNode) -> bool:
    """Whether an element is part of the running text: inline, and without a block inside."""
    if node.tag in BLOCKS:
        return False
    looked = [node]
    for inner in looked:
        for child in inner.iter():
            if child.tag in BLOCKS:
                return False
            if len(looked) < _LOOK:
                looked.append(child)
    return True


def render(node: LexborNode, depth: int = 0) -> str:
    """A node's text with code as code spans; emphasis and links keep their words only."""
    tag = node.tag
    if tag in _CODE:
        return _code(visible_text(node))
    if tag == "br":
        return "\n"
    if tag == "img":
        return _alternative(node)
    if tag == "math":
        return _formula(node)
    if depth > _MAX_DEPTH:
        return visible_text(node)
    text = joined(_children(node, depth))
    if tag == "a":
        return _link(node, text)
    if not text and not _SEPARATORS.isdisjoint((node.attributes.get("class") or "").split()):
        return " "
    return raised(text) if tag == "sup" else text


def joined(pieces: Iterable[str]) -> str:
    """Rendered pieces as one text; code spans that touch are one, as two would end each other."""
    text: list[str] = []
    for piece in pieces:
        if text and _SPAN.fullmatch(piece) and _SPAN.fullmatch(text[-1]):
            text[-1] = text[-1][:-1] + piece[1:]
        elif piece:
            text.append(piece)
    return "".join(text)


def _children(node: LexborNode, depth: int) -> Iterator[str]:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            yield child.text_content or ""
        elif not hidden(child, child.attributes):
            # Blocks inside running text are parted, so that their words do not run into each other.
            yield f" {render(child, depth + 1)} " if child.tag in BLOCKS else render(child, depth + 1)


def visible_text(node: LexborNode) -> str:
    """A node's plain text as it is shown, with the line ends of code and around blocks. Nesting costs no stack."""
    found: list[str] = []
    open_ = [(node.iter(include_text=True), False)]
    while open_:
        children, is_block = open_[-1]
        child = next(children, None)
        if child is None:
            open_.pop()
            if is_block:
                _end_line(found)
        elif child.tag == "-text":
            found.append(child.text_content or "")
        elif child.tag == "br":
            found.append("\n")
        elif not hidden(child, child.attributes, code=True, look=len(open_) < _MAX_DEPTH):
            is_block = child.tag in BLOCKS
            if is_block:
                _end_line(found)
            open_.append((child.iter(include_text=True), is_block))
    return clean("".join(found).replace("\r\n", "\n").replace("\r", "\n"))


def _end_line(found: list[str]) -> None:
    if found and not found[-1].endswith("\n"):
        found.append("\n")


def _alternative(node: LexborNode) -> str:
    """What a picture says in words: only formulas, whose alternative text is the formula itself."""
    attributes = node.attributes
    return f"${attributes.get('alt') or ''}$" if "math" in (attributes.get("class") or "") else ""


def _formula(node: LexborNode) -> str:
    """A formula by its TeX where it carries it, else by its symbols."""
    source = node.css_first("annotation[encoding='application/x-tex']")
    tex = source.text() if source is not None else node.attributes.get("alttext")
    return f"${squeeze(tex)}$" if tex else visible_text(node)


def _link(node: LexborNode, text: str) -> str:
    attributes = node.attributes
    classes = (attributes.get("class") or "").split()
    if {"footnote-reference", "footnote-ref"} & set(classes) or attributes.get("role") == "doc-noteref":
        return note_mark(text)
    return "" if offers(text, attributes.get("href") or "") else text


def note_mark(text: str) -> str:
    """A footnote's mark as Markdown writes it, so that nobody takes it for a citation of ours."""
    mark = text.strip(" []^\n")
    return f"[^{mark}]" if _NOTE_MARK.fullmatch(mark) else text


def raised(text: str) -> str:
    """A superscript: a power keeps its sign, as `10^-3` is another number than `10-3`."""
    return f"^{text.strip()}" if _POWER.fullmatch(text.strip()) else text


def code_span(text: str) -> str:
    """The text as a Markdown code span, fenced by more backticks than it holds."""
    text = squeeze(text)
    if not text:
        return ""
    runs = re.findall(r"`+", text)
    fence = "`" * (max(map(len, runs)) + 1 if runs else 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _code(text: str) -> str:
    """A code span, with the blanks at its ends outside of it."""
    return " " * text[:1].isspace() + code_span(text) + " " * text[-1:].isspace()


def language(node: LexborNode) -> str:
    """The language of a `pre`, as its attributes or those of the elements around or inside it say; "" if none."""
    around = node.parent.parent if node.parent is not None else None
    for element in (node.css_first("code"), node, node.parent, around):
        if element is None or element.tag in {"-document", "html", "body", "main"}:  # those may name the language of the text
            continue
        attributes = element.attributes
        found = _named_language((attributes.get("class") or "").split()) or attributes.get("data-lang") or attributes.get("data-language")
        if found:
            found = found.lower().rstrip(";")[:30]
            return _LANGUAGES.get(found, found) if re.fullmatch(r"[\w+#.-]+", found) else ""
    return ""


def _named_language(classes: list[str]) -> str:
    for n, name in enumerate(classes):
        word = _LANGUAGE.match(name)
        if word:
            return word.group(1)
        if name in {"sourceCode", "brush:"} and n + 1 < len(classes):
            return classes[n + 1]
    return ""


def signature(term: LexborNode) -> str:
    """A definition's head as one line of plain text."""
    return squeeze("".join(_plain(term))).replace("`", "'")


def _plain(node: LexborNode, depth: int = 0) -> Iterator[str]:
    """The words of a head without its tools (`[source]`, permanent links)."""
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            yield child.text_content or ""
        elif child.tag == "br":
            yield " "
        elif not hidden(child, child.attributes, code=True):
            text = "".join(_plain(child, depth + 1)) if depth < _MAX_DEPTH else visible_text(child)
            yield "" if child.tag == "a" and offers(text, child.attributes.get("href") or "") else text


def definition_ids(term: LexborNode) -> list[str]:
    """The ids by which a term is documented: its own and those inside it, but for the numbers that builders give to references."""
    own = term.attributes.get("id")
    inner = ids(term)
    if own:
        return [own, *inner]
    named = [name for name in inner if not _AUTOMATIC_ID.match(name)]
    return [*named, *(name for name in inner if name not in named)] if named else []


def definition_name(term: LexborNode, names: list[str]) -> str:
    """What a definition is called: its full symbol when an id is one, else the words of its head."""
    described = term.css(".descname") or term.css(".sig-name")
    head = signature(term)
    words = squeeze(" ".join(visible_text(part) for part in described)) if described else head
    last = words.replace(" ", "").lower()
    for name in names:
        before = name[: len(name) - len(last)]
        if last and name.lower().endswith(last) and (not before or before.endswith((".", "::"))):
            # Sphinx puts a domain before the names of C: `c.PyList_New`.
            return (name[2:] if name.startswith("c.") and "c." not in head else name)[:_LONGEST_NAME]
    scope = term.css_first(".descclassname")
    if described and scope is not None and "::" in scope.text():
        words = squeeze(visible_text(scope)) + words
    return words[:_LONGEST_NAME]
