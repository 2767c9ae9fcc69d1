"""Field lists as Sphinx prints them: parameters, exceptions and variables in one list each, with their types. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from docutils import nodes

_GROUPS = {
    **dict.fromkeys("param parameter arg argument key keyword kwarg kwparam".split(), "Parameters"),
    **dict.fromkeys("raises raise except exception throws".split(), "Raises"),
    **dict.fromkeys("var ivar cvar".split(), "Variables"),
    **dict.fromkeys(("retval", "return-value"), "Return values"),
}
_TYPES = frozenset("type paramtype kwtype vartype".split())
_SINGLE = {**dict.fromkeys(("return", "returns"), "Returns"), "rtype": "Return type", "yields": "Yields"}


@dataclass(slots=True)
class Field:
    """A field by itself."""

    name: str
    body: Sequence[nodes.Node]


@dataclass(slots=True)
class Group:
    """Fields of one kind: each entry is the blocks of one list item."""

    title: str
    entries: list[list[nodes.Node]] = field(default_factory=list)


def grouped(fields: nodes.Element, *, described: bool) -> list[Field | Group]:
    """The fields of a list in their order, those of one kind where the first of them stands. `described`: they are an object's."""
    found: list[Field | Group] = []
    groups: dict[str, Group] = {}
    types = _types(fields)
    for one in fields.children:
        if not isinstance(one, nodes.field) or len(one.children) < 2:
            continue
        name, body = one.children[0].astext(), list(one.children[1].children)
        kind, _, rest = name.partition(" ")
        title = _GROUPS.get(kind.lower())
        if title and rest:
            if title not in groups:
                groups[title] = Group(title)
                found.append(groups[title])
            groups[title].entries.append(_entry(title, rest, body, types))
        elif kind.lower() not in _TYPES or not rest:
            shown = _SINGLE.get(name.lower(), name)
            found.append(Field(f"{shown[:1].upper()}{shown[1:]}" if described else shown, body))
    return found


def _types(fields: nodes.Element) -> dict[str, str]:
    """The types that `:type name:` gives to the parameters that are described; one that describes none is a field as others."""
    return {
        name.partition(" ")[2].strip().lstrip("*"): one.children[1].astext().strip()
        for one in fields.children
        if isinstance(one, nodes.field) and len(one.children) > 1
        for name in [one.children[0].astext()]
        if name.partition(" ")[0].lower() in _TYPES
    }


def _entry(title: str, rest: str, body: list[nodes.Node], types: dict[str, str]) -> list[nodes.Node]:
    """`name (type) – text`."""
    kind, _, name = rest.rpartition(" ") if title != "Raises" else ("", "", rest)
    kind = kind or types.get(name.lstrip("*"), "")
    head = f"{name} ({kind})" if kind else name
    if body and isinstance(body[0], nodes.paragraph):
        return [nodes.paragraph("", "", nodes.Text(f"{head} – "), *body[0].children), *body[1:]]
    return [nodes.paragraph("", "", nodes.Text(head)), *body]
