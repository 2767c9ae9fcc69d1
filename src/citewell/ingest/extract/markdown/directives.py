"""Named blocks of Markdown (`:::note Title`, `:::{versionadded} 3.9`, `:::{py:function} f(x)`): what their first line says. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.ingest.extract.markdown.flavors import NOTES
from citewell.ingest.extract.rest import objects

_HEAD = re.compile(r"(?:\{\.?([\w:.-]+)[^{}]*\}|([A-Za-z][\w-]*))[ \t]*(?:\[([^\[\]]*)\])?[ \t]*(?:\{[^{}]*\})?[ \t]*(.*)")
_CHANGES = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_LABELLED = frozenset(
    "tab tabs tab-item tab-set-item dropdown details expand collapse card grid-item-card topic sidebar rubric table step tabitem".split()
)
_NAMES = {"seealso": "See also", "see-also": "See also", "warn": "Warning", "success": "Tip", "admonition": ""}
_DOMAINS = {
    "py": objects.PYTHON,
    "c": objects.C,
    "cpp": objects.CPP,
    "js": objects.JAVASCRIPT,
    "std": frozenset(("option", "envvar", "confval")),
}
_STANDARD = frozenset("option cmdoption envvar confval describe object setting".split())


@dataclass(frozen=True, slots=True)
class Head:
    """What a block begins with: the title of a note, a label of its own, or the object that it describes."""

    title: str = ""
    label: str = ""
    described: objects.Described | None = None


def head(info: str, context: objects.Context) -> Head:
    """What the first line of a named block says."""
    found = _HEAD.fullmatch(info)
    if found is None:
        return Head()
    name = (found.group(1) or found.group(2)).lower()
    words = (found.group(3) or found.group(4) or "").strip().strip("\"'")
    domain, _, kind = name.rpartition(":")
    if kind in _CHANGES:
        version, _, rest = words.partition(" ")
        return Head(title=f"{_CHANGES[kind]} {version}", label="") if not rest else Head(label=f"{_CHANGES[kind]} {version}: {rest}")
    if (kind == "module" and domain == "py") or kind == "currentmodule":
        context.module = words
        return Head()
    if kind in _DOMAINS.get(domain, ()) or (not domain and found.group(1) and kind in _STANDARD):
        return Head(described=objects.describe(domain or "std", kind, words, {}, context))
    if kind in NOTES:
        return Head(title=words or _NAMES.get(kind, kind.replace("-", " ")))
    if kind in _LABELLED:
        return Head(label=f"**{words}**" if words else "")
    return Head(label=words if " " in words and words[0].isalpha() and found.group(1) else "")
