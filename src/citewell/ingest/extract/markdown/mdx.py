"""MDX: Markdown among components. Imports, exports, comments and the components' tags go; what stands inside them stays. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.ingest.extract.markdown.flavors import NOTES

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_STATEMENT = re.compile(r"(?:import\s+(?:[\w*{'\"]|$)|export\s+(?:const|let|var|default|function|async|class|\{|\*))")
_ANCHOR = re.compile(r"\s*#([\w:.-]+)\s*")
_TAG = re.compile(r"<(/?)([A-Z][\w.]*)((?:[^<>{}\"']|\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\})*?)(/?)>|</?>")
_LABEL = re.compile(r"\b(?:title|label|header|summary|name)=(?:\{?[\"'`]([^\"'`{}<>\n]{1,200})[\"'`]\}?)")
_TYPE = re.compile(r"\btype=[\"']([\w-]{1,30})[\"']")
_LONGEST_ANCHOR = 200
_MOST_LINES = 30  # that one tag is written over
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def without_components(text: str) -> str:
    """The Markdown of an MDX page."""
    return "\n".join(_lines("".join(_uncommented(text)).split("\n")))


def _uncommented(text: str) -> Iterator[str]:
    """The text without comments; one that names a heading's anchor becomes that."""
    at = 0
    while (start := text.find("{/*", at)) >= 0 and (end := text.find("*/}", start)) >= 0:
        yield text[at:start]
        anchor = _ANCHOR.fullmatch(text[start + 3 : end]) if end - start < _LONGEST_ANCHOR else None
        yield f"{{#{anchor.group(1)}}}" if anchor else ""
        at = end + 3
    yield text[at:]


def _lines(lines: list[str]) -> Iterator[str]:
    fence, bases = "", list[int | None]()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        found = _FENCE.fullmatch(line)
        if not fence and not bases and _STATEMENT.match(line):
            while at < len(lines) and lines[at].strip():
                at += 1
            continue
        if line.strip() and bases and bases[-1] is None and not line.lstrip().startswith("</"):
            bases[-1] = len(line) - len(line.lstrip())
        base = next((base for base in reversed(bases) if base is not None), 0)
        line = line[min(base, len(line) - len(line.lstrip())) :]
        if found and (not fence or (found.group(1).startswith(fence) and not found.group(2).strip())):
            fence = "" if fence else found.group(1)
        elif not fence and "<" in line:
            while (
                line.lstrip().startswith("<")
                and not _TAG.search(line)
                and at < len(lines)
                and lines[at].strip()
                and line.count("\n") < _MOST_LINES
            ):
                line = f"{line}\n{lines[at]}"
                at += 1
            line = _without_tags(line, bases)
        yield line


def _without_tags(line: str, bases: list[int | None]) -> str:
    """A line without its components' tags; one that is a note or has a title leaves that."""
    spans = [span.span() for span in _CODE_SPAN.finditer(line)]
    alone = not _TAG.sub("", line).strip()
    found: list[str] = []
    at = 0
    for tag in _TAG.finditer(line):
        if any(first <= tag.start() < last for first, last in spans):
            continue
        found.append(line[at : tag.start()])
        at = tag.end()
        closing, name, rest, empty = tag.groups(default="")
        if alone:
            found.append(_block(name.lower(), rest, closing=bool(closing)))
        if closing and bases:
            bases.pop()
        elif alone and name and not closing and not empty and f"</{name}>" not in line:
            bases.append(None)
    return "".join([*found, line[at:]]) if at else line


def _block(name: str, attributes: str, *, closing: bool) -> str:
    label, kind = _LABEL.search(attributes), _TYPE.search(attributes)
    kind_name = kind.group(1).lower() if kind and name in {"admonition", "callout", "aside", "alert"} else name
    if name in NOTES or kind_name in NOTES or name in {"aside"}:
        return "\n:::\n" if closing else f"\n:::{kind_name} {label.group(1) if label else ''}\n"
    return f"\n**{label.group(1)}**\n" if label and not closing else ""
