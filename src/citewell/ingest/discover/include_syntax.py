"""How documents name what they include (MkDocs snippets, mdBook, MyST, reStructuredText), and which lines of it they take. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Bytes without which a document includes nothing.
MARKS = (b"8<-", b"{{#", b"include", b"INCLUDE")

_SNIPPET = re.compile(r"(?P<indent>[ \t]*)-{1,}8<-{1,}[ \t]+(?P<quote>[\"'])(?P<path>[^\"'\n]{1,500})(?P=quote)[ \t]*")
_SNIPPETS = re.compile(r"(?P<indent>[ \t]*)-{1,}8<-{1,}[ \t]*")
_SECTION_MARK = re.compile(r"-8<-+[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_MDBOOK = re.compile(r"(?<!\\)\{\{#(?:include|rustdoc_include|playground|playpen)[ \t]+([^{}\n]{1,500})\}\}")
_ANCHOR_MARK = re.compile(r"\bANCHOR(_END)?:[ \t]*([\w-]+)")
_MYST = re.compile(
    r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,}|:{3,})[ \t]*\{(?P<kind>include|literalinclude)\}[ \t]*(?P<path>\S[^\n]{0,500})"
)
_REST = re.compile(r"(?P<indent>[ \t]*)\.\.[ \t]+(?P<kind>include|literalinclude)::[ \t]*(?P<path>\S[^\n]{0,500})")
_OPTION = re.compile(r"[ \t]*:([\w-]+):[ \t]*(.*)")
_LONGEST_HEAD = 50  # lines of options


@dataclass(frozen=True, slots=True)
class Include:
    """One include: the text before and after it on its lines, how many lines it takes up, the lines that it wants. `code` is its
    language where it wants a block of code, else None. `syntax` is where it stands: "rest", "myst", or "" for running text."""

    path: str
    lines: int = 1
    before: str = ""
    after: str = ""
    indent: str = ""
    code: str | None = None
    syntax: str = ""
    options: dict[str, str] = field(default_factory=dict)


def find(lines: list[str], at: int, *, rest: bool) -> list[Include]:
    """What the document includes on a line, in order; [] for a line that includes nothing."""
    line = lines[at]
    if rest:
        directive = _REST.fullmatch(line)
        return [_directive(directive, lines, at)] if directive else []
    if "8<-" in line:
        snippet = _SNIPPET.fullmatch(line)
        if snippet:
            return [_snippet(snippet.group("path"), snippet.group("indent"))]
        opening = _SNIPPETS.fullmatch(line)
        return _listed(lines, at, opening.group("indent")) if opening else []
    if "{{#" in line and (found := _MDBOOK.search(line)):
        return [Include(found.group(1).split()[0], before=line[: found.start()], after=line[found.end() :], options={"mdbook": "1"})]
    fence = _MYST.fullmatch(line) if "include}" in line else None
    return [_fenced(fence, lines, at)] if fence else []


def _snippet(path: str, indent: str, lines: int = 1) -> Include:
    return Include(path.strip(), lines=lines, indent=indent, options={"snippet": "1"})


def _listed(lines: list[str], at: int, indent: str) -> list[Include]:
    """The block form: a path a line between two marks. The first of them stands for all lines."""
    end = next((n for n in range(at + 1, min(at + _LONGEST_HEAD, len(lines))) if _SNIPPETS.fullmatch(lines[n])), None)
    if end is None:
        return []
    paths = [line.strip().strip("\"'") for line in lines[at + 1 : end] if line.strip() and not line.strip().startswith(";")]
    return [_snippet(path, indent, end - at + 1) for path in paths]


def _fenced(found: re.Match[str], lines: list[str], at: int) -> Include:
    end = at + 1
    options: dict[str, str] = {}
    while end < len(lines) and end - at < _LONGEST_HEAD:
        if lines[end].strip().startswith(found.group("fence")):
            end += 1
            break
        option = _OPTION.fullmatch(lines[end])
        if option is None and lines[end].strip():
            break
        options |= {option.group(1): option.group(2).strip()} if option else {}
        end += 1
    return Include(
        found.group("path").strip(), end - at, "", "", found.group("indent"), _code(found.group("kind"), options), "myst", options
    )


def _directive(found: re.Match[str], lines: list[str], at: int) -> Include:
    end = at + 1
    options: dict[str, str] = {}
    indent = found.group("indent")
    while end < len(lines) and end - at < _LONGEST_HEAD and lines[end].startswith(f"{indent} "):
        option = _OPTION.fullmatch(lines[end])
        if option is None:
            break
        options[option.group(1)] = option.group(2).strip()
        end += 1
    return Include(found.group("path").strip(), end - at, "", "", indent, _code(found.group("kind"), options), "rest", options)


def _code(kind: str, options: dict[str, str]) -> str | None:
    if kind == "literalinclude":
        return options.get("language", "")
    return options.get("code", "") if options.keys() & {"code", "literal"} else None


# ---- which lines --------------------------------------------------------------------------------------------------------------


def path_and_lines(include: Include) -> tuple[str, str]:
    """The path without the lines that follow it in snippets and mdBook: `file.md:3:8`, `file.rs:anchor`."""
    if not include.options.keys() & {"snippet", "mdbook"}:
        return include.path, ""
    path, _, rest = include.path.partition(":")
    return path, rest


def selected(text: str, include: Include) -> str:
    """The lines of the included text that are wanted, without the marks of its sections."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    _, wanted = path_and_lines(include)
    options = include.options
    if include.syntax:
        return "\n".join(_by_options(lines, options))
    mark = _SECTION_MARK if "snippet" in options else _ANCHOR_MARK
    if wanted and not re.fullmatch(r"[\d:]+", wanted):
        lines = _section(lines, wanted.split(":")[0], mark)
    elif wanted:
        first, _, last = wanted.partition(":")
        start = max(int(first[:9]) - 1, 0) if first.isdigit() else 0
        end = int(last[:9]) if last.isdigit() else (start + 1 if first and ":" not in wanted and "mdbook" in options else len(lines))
        lines = lines[start:end]
    return "\n".join(line for line in lines if not mark.search(line))


def _section(lines: list[str], name: str, mark: re.Pattern[str]) -> list[str]:
    inside, found = False, []
    for line in lines:
        border = mark.search(line)
        if border and border.group(2) == name:
            inside = border.group(1) not in {"end", "_END"}
        elif inside:
            found.append(line)
    return found


def _by_options(lines: list[str], options: dict[str, str]) -> list[str]:
    """Lines by the options of reStructuredText's and MyST's directives."""
    if name := options.get("pyobject", ""):
        lines = _python_object(lines, name.rpartition(".")[2])
    if spec := options.get("lines", ""):
        lines = [line for first, last in _ranges(spec, len(lines)) for line in lines[first - 1 : last]]
    start, end = options.get("start-line", ""), options.get("end-line", "")
    lines = lines[_number(start, 0) : _number(end, len(lines))]
    for option, after in (("start-after", 1), ("start-at", 0)):
        if words := options.get(option, ""):
            lines = lines[next((n + after for n, line in enumerate(lines) if words in line), len(lines)) :]
    for option, after in (("end-before", 0), ("end-at", 1)):
        if words := options.get(option, ""):
            lines = lines[: next((n + after for n, line in enumerate(lines) if words in line), len(lines))]
    if "dedent" in options:
        width = _number(options["dedent"], min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0))
        lines = [line[min(width, len(line) - len(line.lstrip())) :] for line in lines]
    return lines


def _number(text: str, otherwise: int) -> int:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else otherwise


def _ranges(spec: str, most: int) -> list[tuple[int, int]]:
    """`1,3-5,20-` as pairs of first and last lines."""
    found = []
    for part in spec.split(",")[:100]:
        first, dash, last = part.strip().partition("-")
        start = _number(first, 1)
        found.append((max(start, 1), min(_number(last, most) if dash else start, most)))
    return found


def _python_object(lines: list[str], name: str) -> list[str]:
    head = re.compile(rf"(\s*)(?:async\s+def|def|class)\s+{re.escape(name)}\b.*")
    for first, line in enumerate(lines):
        found = head.fullmatch(line)
        if found:
            width = len(found.group(1))
            rest = range(first + 1, len(lines))
            end = next((n for n in rest if lines[n].strip() and len(lines[n]) - len(lines[n].lstrip()) <= width), len(lines))
            while not lines[end - 1].strip():
                end -= 1
            return lines[first:end]
    return []
