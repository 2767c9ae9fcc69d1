"""The symbols that a head of HTML documents: of options all their spellings, of a member's heading its name within its class."""

from __future__ import annotations

import re

from citewell.ingest.extract.base import Place

_LONGEST_NAME = 160
_OPTION = re.compile(r"(?:--?|\+|/)(?:\[(?:no|\+|-)-?\])?[A-Za-z0-9?@#][\w.+?@#-]*")
_OR = re.compile(r"\s*(?:,|\||\s/\s|\s(?:or|and)\s)\s*|\s+(?=--?[A-Za-z])")
_NEGATED = re.compile(r"^--\[(no-?)\]")
# "Class Optional<T>", "Struct std::collections::HashMap", "Trait Foo": the titles of pages that document one thing.
_KINDS = re.compile(
    r"(?:(?:abstract|final|sealed|public) )*(?:class|interface|@?annotation(?: (?:type|interface))?|enum(?: class)?|record(?: class)?"
    r"|struct|union|trait|type(?: (?:alias|definition))?|typedef|function|method|(?:attribute |derive )?macro|constant|static|module|crate"
    r"|namespace|primitive type|keyword|exception|protocol):?\s+([\w.:$!]+)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"((?:\w+::)*\w+)\b.{0,200}\b(?:Class|Struct|Union|Interface|Namespace|Concept)(?: Template)? Reference$")
_DECLARED = re.compile(r"\b(?:fn|struct|enum|trait|type|const|static|macro|def|func|function|class|interface)\s+([A-Za-z_$][\w$:.]*)")
_CALL = re.compile(r"((?:[A-Za-z_$~][\w$]*(?:\.|::))*(?!operator\b)[A-Za-z_$~][\w$]*[!?]?)\s?\(")
_PLAIN = re.compile(r"(?:[A-Za-z_$~][\w$]*(?:\.|::|#))*[A-Za-z_$~][\w$]*[!?]?")
_TELLING = re.compile(r"[\d_.:$#]|[a-z][A-Z]")  # a name that no sentence uses as a word


def options(head: str) -> list[str]:
    """The options that a head lists (`-a, --all=WHAT`), without their arguments; none where it begins with something else."""
    found: list[str] = []
    for piece in _OR.split(head.strip()):
        option = _OPTION.match(piece)
        if option is None:
            if not found:
                return []
            continue
        name = option.group().rstrip(".,")
        negated = _NEGATED.match(name)
        found += [name[:2] + name[negated.end() :], f"--{negated.group(1)}{name[negated.end() :]}"] if negated else [name]
    return [name[:_LONGEST_NAME] for name in dict.fromkeys(found)]


def subject(title: str, stem: str) -> tuple[str, ...]:
    """What a title says that its page documents ("Class Optional<T>"), if the page's file is named after it; none otherwise."""
    reference = _REFERENCE.match(title)
    if reference:
        return (reference.group(1)[:_LONGEST_NAME],)
    found = _KINDS.match(title)
    name = found.group(1).rstrip(".:") if found else ""
    last = name.rpartition("::")[2]
    return (name[:_LONGEST_NAME],) if last and (stem == last or stem.endswith(f".{last}")) else ()


def member(heading: str, owner: Place | None, *, code: bool) -> tuple[str, ...]:
    """The names of what a heading documents; `owner` is the place of the class around it, `code` whether the heading is written as code.

    A name that is a plain word ("get") counts only together with its class.
    """
    words = re.sub(r"\s*\[\d+/\d+\]$", "", heading).strip()
    found = _DECLARED.search(words) if code else None
    found = found or (_CALL.search(words) if code else _CALL.fullmatch(words.removesuffix(")")))
    name = found.group(1) if found else words if code and _PLAIN.fullmatch(words) else ""
    if not name or len(name) > _LONGEST_NAME:
        return ()
    names = [name] if _TELLING.search(name) else []
    if owner is not None and owner.names and not re.search(r"\.|::|#", name):
        whole = owner.names[0]
        names.append(f"{whole.rpartition('::')[2] if '::' in whole else whole}{'::' if '::' in whole else '.'}{name}")
    return tuple(dict.fromkeys(names))
