"""What Sphinx's directives describe: signatures as it prints them, the names that they define, the ids that it gives. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

_LONGEST_SIGNATURE = 1000
_PYTHON = re.compile(r"(?P<scope>[\w.]*\.)?(?P<name>\w+)\s*(?P<args>(?:\[[^\[\]]*\])?\s*(?:\(.*)?)", re.DOTALL)
_C_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*(?:(?:::|\.)~?[A-Za-z_]\w*)*)(?:\s*<[^<>]*>)?\s*(?:\(|\[|=|:|$)")
_OPTION = re.compile(r"((?:/|--|-|\+)?[^\s=\[]+)(=?\s*.*)", re.DOTALL)
_NO_ID = re.compile(r"[^a-zA-Z0-9._]+")
_ID_ENDS = re.compile(r"^[-0-9._]+|-+$")

# What Sphinx prints before a signature, by directive; those that only hold what belongs to a class are in `_MEMBERS`, too.
_PREFIXES = {
    "class": "class ",
    "exception": "exception ",
    "classmethod": "classmethod ",
    "staticmethod": "static ",
    "abstractmethod": "abstractmethod ",
    "coroutinefunction": "coroutine ",
    "coroutinemethod": "coroutine ",
    "awaitablefunction": "awaitable ",
    "awaitablemethod": "awaitable ",
    "property": "property ",
    "decorator": "@",
    "decoratormethod": "@",
    "type": "type ",
}
PYTHON = frozenset({*_PREFIXES, *"function method attribute data module".split()})
_MEMBERS = frozenset(
    "method attribute property classmethod staticmethod abstractmethod coroutinemethod awaitablemethod decoratormethod".split()
)
_SCOPES = frozenset("class exception struct union enum namespace".split())
C = frozenset("function member macro type var struct union enum enumerator".split())
CPP = frozenset("class struct function member var type union enum enum-class enum-struct enumerator concept alias".split())
JAVASCRIPT = frozenset("module function method class data attribute".split())
_C_KINDS = frozenset("type struct union enum enumerator class enum-class enum-struct concept".split())


@dataclass(frozen=True, slots=True)
class Described:
    """One object: what is printed, the symbol, and its ids, the one that citations use first."""

    signature: str
    name: str
    ids: tuple[str, ...]


@dataclass(slots=True)
class Context:
    """What the directives before and around one say: the current module and program, the names of the classes around."""

    module: str = ""
    program: str = ""
    domain: str = "py"
    language: str = ""
    scopes: list[str] = field(default_factory=list)


def node_id(*words: str) -> str:
    """An id as Sphinx makes it of a prefix and a term: case kept, everything else than letters, digits, `.` and `_` a hyphen."""
    text = unicodedata.normalize("NFKD", "-".join(words)).encode("ascii", "ignore").decode()
    return _ID_ENDS.sub("", _NO_ID.sub("-", " ".join(text.split())))


def signatures(argument: str) -> list[str]:
    """The signatures of a directive, one a line but for lines that end in a backslash."""
    lines = re.sub(r"\\\n\s*", "", argument).split("\n")
    return [re.sub(r"\\(.)", r"\1", " ".join(line.split()))[:_LONGEST_SIGNATURE] for line in lines if line.strip()]


def describe(domain: str, kind: str, signature: str, options: Mapping[str, str], context: Context) -> Described:
    """The object of one signature."""
    if domain == "py":
        return _python(kind, signature, options, context)
    if domain in {"c", "cpp"}:
        return _c(domain, kind, signature, context)
    if domain == "js":
        return _javascript(kind, signature, context)
    if domain == "rst":
        return _markup(kind, signature, context)
    return _standard(kind, signature, context)


def scope_of(domain: str, kind: str, described: Described) -> str:
    """The scope that an object opens for those described inside it; "" for none."""
    return described.name if kind in _SCOPES or kind == "directive" or domain in {"c", "cpp", "js"} else ""


def _python(kind: str, signature: str, options: Mapping[str, str], context: Context) -> Described:
    found = _PYTHON.match(signature.lstrip("@"))
    if found is None:
        return Described(signature, signature, ())
    scope, name = (found.group("scope") or "").rstrip("."), found.group("name")
    around = context.scopes[-1] if context.scopes else ""
    module = options.get("module", context.module)
    prefix = "" if kind == "module" else _PREFIXES.get(kind, "")
    prefix = "".join(f"{word} " for word in ("final", "abstract", "async", "classmethod", "static") if word in _flags(options)) + prefix
    typed = f": {options['type']}" if options.get("type") else ""
    valued = f" = {options['value']}" if options.get("value") else ""
    rest = signature.lstrip("@")[found.start("args") :] + typed + valued
    if kind == "module":
        full = signature.split()[0]
        return Described("", full, (f"module-{full}", full))
    if around:
        inner = f"{scope}.{name}" if scope else name
        local = inner.removeprefix(f"{around}.")
        short = around.removeprefix(f"{module}.") if module else around
        local = local.removeprefix(f"{short}.")
        return Described(prefix + local + rest, f"{around}.{local}", _python_ids(f"{around}.{local}"))
    local = f"{scope}.{name}" if scope else name
    full = f"{module}.{local}" if module else local
    return Described(prefix + (local if scope or kind in _MEMBERS else full) + rest, full, _python_ids(full))


def _python_ids(full: str) -> tuple[str, ...]:
    """The id that Sphinx gives now, which begins with a letter, and the one that it gave before, which is the name."""
    return tuple(dict.fromkeys(filter(None, (node_id(full), full))))


def _flags(options: Mapping[str, str]) -> set[str]:
    return {"static" if name == "staticmethod" else "abstract" if name == "abstractmethod" else name for name in options}


def _c(domain: str, kind: str, signature: str, context: Context) -> Described:
    found = _C_NAME.search(re.sub(r"^template\s*<[^<>]*>\s*", "", signature))
    name = found.group("name") if found else signature
    separator = "." if domain == "c" else "::"
    if context.scopes and kind != "macro" and not name.startswith(context.scopes[-1] + separator):
        name = f"{context.scopes[-1]}{separator}{name}"
    printed = f"{kind.replace('-', ' ')} {signature}" if kind in _C_KINDS and not signature.startswith(kind) else signature
    return Described(printed, name, (f"c.{name}",) if domain == "c" else ())


def _javascript(kind: str, signature: str, context: Context) -> Described:
    name = re.split(r"[\s(]", signature, maxsplit=1)[0]
    around = context.scopes[-1] if context.scopes else ""
    full = name if not around or name.startswith(f"{around}.") else f"{around}.{name}"
    prefix = "class " if kind == "class" else ""
    return Described("" if kind == "module" else prefix + signature, full, (f"module-{full}" if kind == "module" else full, full))


def _markup(kind: str, signature: str, context: Context) -> Described:
    name = re.split(r"\s|::", signature.removeprefix(".. "), maxsplit=1)[0].strip(":")
    if kind == "role":
        return Described(f":{name}:", name, (node_id("role", name),))
    if kind == "directive:option":
        inside = context.scopes[-1] if context.scopes else ""
        value = signature.partition(":")[2].strip(": ") if signature.startswith(name) else ""
        words = ["directive-option", *([inside] if inside else []), name]
        return Described(f":{name}:{f' {value}' if value else ''}", name, (node_id(*words),))
    rest = signature.removeprefix(".. ").removeprefix(name).removeprefix("::")
    return Described(f".. {name}::{rest}", name, (node_id("directive", name),))


def _standard(kind: str, signature: str, context: Context) -> Described:
    if kind in {"option", "cmdoption"}:
        names = [found.group(1) for part in signature.split(", ") if (found := _OPTION.match(part.strip()))]
        program = [context.program] if context.program else []
        ids = [node_id("cmdoption", *program, *([] if name.startswith(("-", "/")) else ["arg"]), name) for name in names]
        return Described(signature, names[0] if names else signature, tuple(ids))
    if kind in {"describe", "object"}:
        return Described(signature, re.split(r"[\s(]", signature, maxsplit=1)[0], ())
    name = signature if kind == "term" else re.split(r"[\s(=]", signature, maxsplit=1)[0]
    made = dict.fromkeys((node_id(kind, signature), node_id(kind, name), f"{kind}-{name}"))
    return Described(signature, name, tuple(found for found in made if " " not in found and found != kind))
