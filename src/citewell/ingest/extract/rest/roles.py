"""What the roles of reStructuredText and Sphinx show: code, words, or the title of what they refer to. Pure.

Roles that nobody knows show their text, too, so that no extension's role loses it.
"""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils import unescape

from citewell.ingest.extract.html.inline import code_span

_CALLS = frozenset("func meth function method coro decorator deco".split())
_CODE = frozenset(
    "attr class code command confval const data dir directive envvar event exc expr file fixture hook kbd keyword literal macro member "
    "mod module obj opcode option program role samp setting signal sig state struct texpr token type union var concept enum enumerator "
    "property any-code control globalvar pdbcmd keyword-only method-code".split()
)
_TITLED = re.compile(r"(.+?)\s*<([^<>]*)>$", re.DOTALL)
_LABELS = frozenset("ref numref doc any eq".split())
_NUMBERED = {"pep": "PEP ", "rfc": "RFC ", "cve": "CVE-", "cwe": "CWE-"}
_SYMBOL = re.compile(r"[\w.:/-]*[\w)](?:\(\)|[._:/-]\w)[\w.:/()-]*|--?[\w-]+|[a-z]+_\w+")
_LONGEST = 2000
_LONGEST_SYMBOL = 200


def shown(role: str, raw: str) -> list[nodes.Node]:
    """What a role makes of its text, where a null character stands for a backslash, as docutils has it."""
    domain, _, name = role.lower().rpartition(":")
    text = " ".join(unescape(raw).split())
    if name in {"index", "raw", "raw-html", "raw-latex", "noindexentry"}:
        return _index(text) if name == "index" else []
    if name == "math":
        return [nodes.math("", unescape(raw, True))]
    if name in {"sup", "superscript"}:
        return [nodes.superscript("", text)]
    if name in _NUMBERED:
        return [nodes.inline("", _numbered(_NUMBERED[name], text))]
    if name in _LABELS:
        titled = _TITLED.match(text[:_LONGEST])
        return [nodes.inline("", titled.group(1))] if titled else [nodes.inline("", text, label=text.lower())]
    if name in {"samp", "code", "literal"} or (name == "file" and "<" not in text):
        verbatim = unescape(raw, name != "samp")
        return _literal(re.sub(r"(?<!\\)[{}]", "", verbatim) if name in {"samp", "file"} else verbatim)
    return _referring(name, domain, text)


def markdown(role: str, text: str) -> str:
    """What a role shows, as Markdown."""
    parts = shown(role, text)
    return "".join(code_span(part.astext()) if isinstance(part, nodes.literal) else str(part.astext()) for part in parts)


def _referring(name: str, domain: str, text: str) -> list[nodes.Node]:
    """A reference `target`, `title <target>`, `~long.target`, `!target`."""
    if name == "menuselection":
        return [nodes.inline("", text.replace("-->", "‣").replace("&&", "\0").replace("&", "").replace("\0", "&"))]
    if name == "guilabel":
        return [nodes.inline("", text.replace("&&", "\0").replace("&", "").replace("\0", "&"))]
    if name in {"abbr", "manpage", "term", "dfn", "emphasis", "strong", "mimetype", "mailheader", "newsgroup", "regexp", "sub"}:
        titled = _TITLED.match(text[:_LONGEST]) if name == "term" else None
        return [nodes.inline("", titled.group(1) if titled else text)]
    titled = _TITLED.match(text[:_LONGEST])
    words = titled.group(1) if titled else text
    is_code = name in _CALLS or name in _CODE or domain in {"py", "c", "cpp", "js", "rst"}
    if titled is None:
        words = words.removeprefix("!")
        if is_code and words.startswith("~"):
            words = re.split(r"\.|::", words[1:])[-1]
        words = words.removeprefix(".") if is_code and name not in {"file", "command"} else words
        if name in _CALLS and not words.endswith(")") and name not in {"deco", "decorator"}:
            words += "()"
    if is_code or (not name and len(words) <= _LONGEST_SYMBOL and _SYMBOL.fullmatch(words)):
        return _literal(words)
    return [nodes.inline("", words)]


def _literal(text: str) -> list[nodes.Node]:
    return [nodes.literal("", text)]


def _index(text: str) -> list[nodes.Node]:
    """An index entry shows its words but not what it is filed under."""
    titled = _TITLED.match(text[:_LONGEST])
    return [nodes.inline("", titled.group(1) if titled else text)]


def _numbered(prefix: str, text: str) -> str:
    titled = _TITLED.match(text[:_LONGEST])
    if titled:
        return titled.group(1)
    number, _, section = text.partition("#")
    words = section.replace("-", " ").replace("section ", "Section ")
    return prefix + number + (f" {words}" if words.startswith("Section ") else f" § {words}" if words else "")
