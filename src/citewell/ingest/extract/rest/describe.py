"""Directives that describe: modules, functions, options, settings, the terms of a glossary. Each becomes a definition with its anchors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from docutils import nodes

from citewell.ingest.extract.rest import objects
from citewell.ingest.extract.rest.parse import Directive

_NO_IDS = frozenset("noindex no-index".split())
_FIELDS = frozenset("type default required value values choices platform example".split())  # options that describe an object


class Definition(nodes.Element):  # type: ignore[misc]  # docutils has no types
    """A documented object: `described` says which, its children are its text."""

    described: Sequence[objects.Described]


def glossary(directive: Directive) -> list[nodes.Node]:
    """Terms, several of which may share one definition."""
    found: list[nodes.Node] = []
    terms: list[str] = []
    lines, at = directive.content, 0
    while at < len(lines):
        first = at
        if not lines[at].strip() or lines[at].startswith(".. "):
            at += 1
        elif not lines[at].startswith(" "):
            terms.append(lines[at].split(" : ")[0].strip())
            at += 1
        else:
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" ")):
                at += 1
            block = lines[first:at]
            block.trim_left(min(len(line) - len(line.lstrip()) for line in block if line.strip()))
            found.append(
                _defined(
                    [objects.describe("std", "term", term, {}, objects.Context()) for term in terms],
                    directive.parse(block, directive.offset + first),
                )
            )
            terms = []
    if terms:
        found.append(_defined([objects.describe("std", "term", term, {}, objects.Context()) for term in terms], []))
    return found


def _defined(described: Sequence[objects.Described], body: Iterable[nodes.Node]) -> Definition:
    definition = Definition("", *body)
    definition.described = described
    return definition


def module(directive: Directive) -> list[nodes.Node]:
    """A module has an anchor, and is the one that what follows belongs to."""
    directive.parsing.context.module = directive.argument
    ids = [] if _NO_IDS & directive.options.keys() else [f"module-{directive.argument}"]
    platforms = directive.options.get("platform", "")
    shown = [nodes.paragraph("", f"Platforms: {platforms}")] if platforms else []
    return [nodes.target("", "", ids=ids), *shown, *directive.inside(titles=True)]


def described_object(directive: Directive) -> list[nodes.Node]:
    context = directive.parsing.context
    domain, _, kind = directive.name.partition(":")
    if not kind:
        domain, kind = context.domain, directive.name
    return describing(directive, domain, kind)


def standard_object(directive: Directive) -> list[nodes.Node]:
    return describing(directive, "std", directive.name.rpartition(":")[2])


def describing(directive: Directive, domain: str, kind: str) -> list[nodes.Node]:
    context = directive.parsing.context
    described = [objects.describe(domain, kind, line, directive.options, context) for line in objects.signatures(directive.argument)]
    if _NO_IDS & directive.options.keys():
        described = [objects.Described(one.signature, one.name, ()) for one in described]
    scope = objects.scope_of(domain, kind, described[-1]) if described else ""
    context.scopes += [scope] if scope else []
    fields = (
        []
        if domain == "py"
        else [
            nodes.field("", nodes.field_name("", name.capitalize()), nodes.field_body("", nodes.paragraph("", "", *directive.words(value))))
            for name, value in directive.options.items()
            if name in _FIELDS and value
        ]
    )
    body = directive.inside()
    if scope:
        context.scopes.pop()
    return [_defined(described, [*([nodes.field_list("", *fields)] if fields else []), *body])]
