"""The inside of Markdown blocks: what of their lines is shown, the words and anchors of headings, fences that were left open. Pure."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator

from docutils.nodes import make_id
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from selectolax.lexbor import LexborHTMLParser

from citewell.index.visible import clean
from citewell.ingest.extract.html.chrome import TAGS, hidden
from citewell.ingest.extract.rest import roles as rest_roles


# Lines are kept as their author wrote them, so that nothing inside of them is parsed. Without `reference`, footnotes stay paragraphs.
def _parser(*disabled: str) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").use(front_matter_plugin).use(admon_plugin)
    parser.block.ruler.before("fence", "colons", _colons, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser.disable(["reference", "inline", "text_join", *disabled])


def _colons(state: StateBlock, first: int, last: int, silent: bool) -> bool:  # noqa: ARG001 - the signature of a rule
    """The first or last line of a named block, as a block of its own."""
    start = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith(":::", start):
        return False
    if not silent:
        token = state.push("colons", "", 0)
        token.map, token.meta = [first, first + 1], {"info": state.src[start : state.eMarks[first]].lstrip(":").strip()}
        state.line = first + 1
    return True


_PARSERS = {True: _parser(), False: _parser("code")}

_MAX_REPAIRS = 50  # unclosed fences that a single page may have
_LONGEST_HEADING = 300
_LONGEST_PARAGRAPH = 20_000
_HEADING_LINE = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
# Languages in which a line after a blank one that begins with a single # is likelier a comment than a page's heading.
_HASH_COMMENTS = frozenset(
    "bash cfg cmake conf console csh docker dockerfile elixir fish gitignore ini ipython julia ksh make makefile nginx nim nix perl pl "
    "powershell ps1 py pycon python python3 r rb ruby sh shell shell-session tcl toml yaml yml zsh".split()
)
_CODE = r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
_CODE_SPAN = re.compile(_CODE, re.DOTALL)
_MARKUP = re.compile(
    r"(?P<role>\{(?P<role_name>[a-z][\w:.+-]{0,60})\}`(?P<target>[^`\n]+)`)|"
    + _CODE
    + r"|(?P<comment><!--(?:-?>|.*?-->))|(?P<empty><(?P<anchor>a|span)\s[^<>]*>\s*</(?P=anchor)>\s*)"
    r"|(?P<attributes>\{:\s*[.#\w][^{}\n]{0,300}\}|(?<=[)\]*_])\{\s*[.#][\w-][^{}\n]{0,300}\})"
    r"|(?P<icon>:(?:material|octicons|fontawesome|simple)-[a-z0-9-]{1,80}:[ \t]?)"
    r"|(?P<open><(?P<name>[A-Za-z][\w-]*)(?:\s[^<>]*)?>)"
    r"|(?P<entity>&\#(?:\d{1,7}|[xX][\da-fA-F]{1,6});)",
    re.DOTALL,
)
_ANCHOR = re.compile(r"\s(?:id|name)\s*=\s*[\"']?([^\s\"'>]{1,200})", re.IGNORECASE)
_SPECIAL = re.compile(r"[<{]|&#|:(?:material|octicons|fontawesome|simple)-")
_ICON = re.compile(r":(?:material|octicons|fontawesome|simple)-")
_EMPTY_LINK = re.compile(r"(?<![!\w\]])\[[ \t]*\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{1,200}\])")
_VOID = frozenset("area br col embed hr img input link meta source track wbr".split())
_DEFINITION = re.compile(
    r" {0,3}\[(?!\^)(?:[^\[\]\\]|\\.){1,200}\]:\s*(?:<[^<>]*>|[^\s<]\S*)"
    r"(?:\s+(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*"
)
_EXPLICIT_ANCHOR = re.compile(r"\s*\{:?\s*(?:\.[\w-]+\s+)*#([\w:.-]+)(?:\s+[.\w-]+(?:=[^\s{}]*)?)*\s*\}\s*$")
_LABEL = re.compile(r"\(([\w.:/ -]{1,200})\)=[ \t]*(?:\n|$)")
_EMPHASIS = re.compile(r"(\*{1,3})(?=\S)(.+?)(?<=\S)\1|(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\3(?!\w)|(~~)(?=\S)(.+?)(?<=\S)~~")


def parse(text: str, *, indented_code: bool = True) -> list[Token]:
    """The blocks of a Markdown text."""
    return _PARSERS[indented_code].parse(text)


# ---- fences that were left open -----------------------------------------------------------------------------------------------


def close_fences(text: str, *, indented_code: bool = True) -> tuple[str, list[Token]]:
    """The text with its blocks. A fence that is never closed swallows the rest of a page: it is closed before the next heading."""
    lines, start = text.split("\n"), 0
    tokens = parse(text, indented_code=indented_code)
    for _ in range(_MAX_REPAIRS):
        fence = _open_fence(tokens, lines[start:])
        heading = None if fence is None else _heading_after(lines, start + fence[0], fence[1])
        if fence is None or heading is None:
            break
        mark = re.match(r"\s*(`{3,}|~{3,})", lines[start + fence[0]])
        lines.insert(heading - 1, mark.group(1) if mark else "```")
        start = heading + 1
        tokens = parse("\n".join(lines[start:]), indented_code=indented_code)
    return ("\n".join(lines), parse("\n".join(lines), indented_code=indented_code)) if start else (text, tokens)


def _open_fence(tokens: list[Token], lines: list[str]) -> tuple[int, str] | None:
    """Line and language of a top-level fence that runs to the end of the text without a closing line."""
    while lines and not lines[-1].strip():
        lines.pop()
    for token in reversed(tokens):
        if token.type == "fence" and token.level == 0 and token.map:
            first, end = token.map[0], min(token.map[1], len(lines))
            closing = rf" {{0,3}}{re.escape(token.markup[0])}{{{len(token.markup)},}}\s*"
            closed = end - first > 1 and re.fullmatch(closing, lines[end - 1])
            return None if closed or end < len(lines) else (first, language(token.info))
    return None


def _heading_after(lines: list[str], fence: int, named: str) -> int | None:
    least = 2 if named in _HASH_COMMENTS else 1
    for n in range(fence + 2, len(lines)):
        heading = _HEADING_LINE.match(lines[n])
        if heading and not lines[n - 1].strip() and len(heading.group(1)) >= least:
            return n
    return None


def language(info: str) -> str:
    """The language that a fence's info string names: `python title="x"`, `{.python}`, `{code-block} python`, `python,ignore`."""
    words = re.findall(r"[\w+#.-]+", info.strip().lower())
    if len(words) > 1 and words[0] in {"code-block", "code-cell", "sourcecode", "code"} and info.lstrip().startswith("{"):
        words = words[1:]
    return words[0].lstrip(".")[:40] if words else ""


# ---- lines --------------------------------------------------------------------------------------------------------------------


def shown(text: str) -> tuple[str, list[str]]:
    """What of a paragraph's lines a reader sees, and the anchors in it: comments, hidden elements and empty anchors are not shown."""
    if not _SPECIAL.search(text):
        return text, []
    anchors: list[str] = []
    found = "".join(piece for stretch in _stretches(text) for piece in _visible(stretch, anchors))
    return (_EMPTY_LINK.sub("", found) if _ICON.search(text) else found), anchors


def _stretches(text: str) -> Iterator[str]:
    """The text itself; a paragraph of unlikely length in parts, so that its markup costs no more than its length."""
    while len(text) > _LONGEST_PARAGRAPH:
        end = text.rfind(" ", 0, _LONGEST_PARAGRAPH) + 1 or _LONGEST_PARAGRAPH
        yield text[:end]
        text = text[end:]
    yield text


def _visible(text: str, anchors: list[str]) -> Iterator[str]:
    at, unclosed = 0, set[str]()
    while markup := _MARKUP.search(text, at):
        yield text[at : markup.start()]
        at = markup.end()
        whole = markup.group(0)
        if markup.group("entity"):
            yield whole if clean(html.unescape(whole)) else ""
        elif markup.group("empty") or markup.group("open"):
            anchors.extend(_ANCHOR.findall(whole))
            end = _hidden_end(text, markup, unclosed) if markup.group("open") else at
            yield whole if end is None else ""
            at = at if end is None else end
        elif markup.group("attributes"):
            anchors.extend(re.findall(r"[\s{:]#([\w:.-]+)", whole))
        elif markup.group("role"):
            yield rest_roles.markdown(markup.group("role_name"), markup.group("target"))
        elif markup.group("code"):
            yield whole
    yield text[at:]


def _hidden_end(text: str, tag: re.Match[str], unclosed: set[str]) -> int | None:
    """Where an element that is not shown ends; None for one that is, or that is never closed."""
    name = tag.group("name").lower()
    if name in _VOID or name in unclosed or (name not in TAGS and " " not in tag.group(0)):
        return None
    parsed = LexborHTMLParser(f"<body>{tag.group(0)}").css_first(f"body > {name}")
    if parsed is None or not hidden(parsed, parsed.attributes):
        return None
    close = re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE).search(text, tag.end())
    if close is None:
        unclosed.add(name)
        return None
    return close.end()


def label_ids(text: str) -> tuple[str, list[str]]:
    """A paragraph without the labels that it begins with, `(label)=`, and their anchors."""
    found: list[str] = []
    while text.startswith("(") and (label := _LABEL.match(text)):
        found.append(make_id(label.group(1)))
        text = text[label.end() :]
    return text, [anchor for anchor in found if anchor]


def is_definitions(text: str) -> bool:
    """Whether a paragraph holds nothing but link definitions, which no reader sees."""
    return all(_DEFINITION.fullmatch(line) for line in text.split("\n"))


# ---- headings -----------------------------------------------------------------------------------------------------------------


def heading_words(raw: str) -> tuple[str, str, list[str]]:
    """A heading's words as a page shows them, its explicit anchor or "", and the anchors inside it."""
    explicit = _EXPLICIT_ANCHOR.search(raw[-_LONGEST_HEADING:])
    if explicit:
        raw = raw[: len(raw) - len(explicit.group(0))]
    text, anchors = shown(raw[: 4 * _LONGEST_HEADING])
    words: list[str] = []
    at = 0
    for code in _CODE_SPAN.finditer(text):
        words += [_plain(text[at : code.start()]), code.group("code").strip("`")]
        at = code.end()
    words += [_plain(text[at:]), raw[4 * _LONGEST_HEADING :]]
    return " ".join("".join(words).split()), explicit.group(1) if explicit else "", anchors


def _plain(text: str) -> str:
    """Words without links, pictures, emphasis, tags and escapes."""
    text = re.sub(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])", "", text)
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"</?[A-Za-z][^<>]*>", "", text)
    for _ in range(3):  # emphasis inside emphasis
        text = _EMPHASIS.sub(lambda mark: mark.group(2) or mark.group(4) or mark.group(6), text)
    return html.unescape(re.sub(r"\\([^\w\s])", r"\1", text))


class Slugs:
    """The anchors that hosting sites give to a page's headings: lower case, punctuation dropped, blanks as hyphens, repeats numbered."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    def anchor(self, heading: str) -> str:
        """The anchor of the page's next heading with these words."""
        base = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") or "section"
        found = base
        while found in self._taken:
            self._taken[base] += 1
            found = f"{base}-{self._taken[base]}"
        self._taken[found] = 0
        return found


class NotebookAnchors(Slugs):
    """The anchors that Jupyter gives: the heading's words as they are, blanks as hyphens. Same-named headings share one."""

    def anchor(self, heading: str) -> str:
        """The anchor of a heading with these words."""
        return heading.replace(" ", "-") or "section"
