"""What documentation tools add to Markdown, brought to one form before it is parsed. Pure; linear in the length of the text.

Blocks with a name (`:::note`, MyST's fences `{note}`, Hugo's and Jekyll's tags) become lines of colons, which the parser knows as
marks; tabs become admonitions; what only a tool reads (imports, options, components) goes. Code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = re.compile(r"((?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}|~{3,}|:{3,}|/{3,})[ \t]*(.*)")
_BLOCK = re.compile(r"([\w-]+)(?:[ \t]*\|[ \t]*(.*))?")  # after the slashes of PyMdown's blocks
_BLOCK_OPTION = re.compile(r"(?: {4}|\t)[\w-]+:.*")
_DIRECTIVE = re.compile(r"\{([\w:.-]+)\}[ \t]*(.*)")
_OPTION = re.compile(r"\s*:[\w-]+:(?:\s.*)?")
_TAB = re.compile(r'(\s*)===[!+]{0,2}\s+"([^"\n]*)"\s*')
_ONE_LINE_COLONS = re.compile(r"\s*:::[a-z][^:\n]*:::\s*")
_TOC = re.compile(
    r"\s*(?:\[\[_?toc_?\]\]|\[toc\]|\{:\s*(?:toc|[.#][^{}]*|[\w-]+=[^{}]*)\s*\}|\{\{?<?\s*toc\s*>?\}\}?|\{%-?\s*toc\s*-?%\})\s*", re.I
)
_INCLUDE = re.compile(r"\s*(?:-+8<-+.*|\{\{#\w+\s[^{}\n]*\}\})\s*")  # one whose file could not be had
_SHORTCODE_LINE = re.compile(r"(\s*)\{\{[<%]\s*(/?)\s*([\w-]+)\s*(.*?)\s*(/?)[>%]\}\}\s*")
_SHORTCODE = re.compile(r"\{\{[<%](?!/\*)[^{}\n]*[>%]\}\}")
_LIQUID_CODE = re.compile(r"\s*\{%-?\s*highlight\s+([\w+#.-]+).*%\}\s*")
_LIQUID_END = re.compile(r"\s*\{%-?\s*endhighlight\s*-?%\}\s*")
_LIQUID_LINE = re.compile(r"\s*(?:\{%-?\s*(?!include\b)[\w-]+[^%\n]*%\}\s*)+")
_SHORTCODE_END = re.compile(r"\s*\{\{[<%]\s*/\s*highlight\s*[>%]\}\}\s*")
_CODE_FENCE = "`" * 12
_LONGEST_LINE = 2000  # characters of a line that can be a tag of a tool
_QUOTED = re.compile(r"(?:(?:title|name|header|label|summary)=)?[\"']([^\"'\n]*)[\"']")

_CODE = frozenset("code-block sourcecode code code-cell ipython prompt parsed-literal productionlist doctest testcode testoutput".split())
_DROPPED = frozenset(
    "toctree contents image include index mermaid-config tableofcontents bibliography highlight raw autosummary automodule autoclass "
    "autofunction automethod autodata autoexception autoattribute graphviz testsetup testcleanup autodoc2-object glue".split()
)
_KEPT_FENCES = frozenset("eval-rst math mermaid csv-table".split())
_LANGUAGES = {"code-cell": "python", "doctest": "pycon", "testcode": "python"}
NOTES = frozenset(
    "note tip info warning warn caution danger error important attention hint seealso see-also success question example abstract bug todo "
    "admonition alert callout notice note-box remark quote".split()
)


def _fence_mark(line: str) -> re.Match[str] | None:
    found = _FENCE.fullmatch(line)
    if found is None or (found.group(2)[0] == "`" and "`" in found.group(3)):
        return None
    return None if found.group(2)[0] == "/" and found.group(3) and not _BLOCK.fullmatch(found.group(3)) else found


@dataclass(slots=True)
class _Open:
    """A fence that is open: `length` of its mark, and whether its inside is text, code, or dropped."""

    mark: str
    length: int
    inside: str  # "text" | "code" | "dropped"
    closing: str = ":::"  # what its last line becomes; "" leaves it
    end: re.Pattern[str] | None = None  # the last line, where that is no fence


@dataclass(slots=True)
class _Flavors:
    lines: Iterator[str]
    open: list[_Open] = field(default_factory=list)
    options: bool = False  # right after the head of a directive, where its options stand
    yaml: bool = False

    def read(self) -> Iterator[str]:
        """The lines in the common form."""
        for line in self.lines:
            last = self.open[-1] if self.open else None
            if self.options and self._is_option(line):
                continue
            if last is not None and last.end is not None:
                if last.end.fullmatch(line):
                    self.open.pop()
                    yield _CODE_FENCE
                else:
                    yield line
            elif last is not None and last.inside != "text" and not self._closes(line):
                if last.inside == "code":
                    yield line
            else:
                yield from self._fence(line) if _fence_mark(line) else self._line(line)

    def _is_option(self, line: str) -> bool:
        """Whether a line after a directive's head is one of its options: `:name: value`, or between lines of hyphens."""
        if line.strip() == "---" or self.yaml:
            self.yaml = (line.strip() == "---") != self.yaml
            self.options = self.yaml
            return True
        of_block = bool(self.open) and self.open[-1].mark == "/"
        self.options = (_BLOCK_OPTION if of_block else _OPTION).fullmatch(line) is not None and not self._closes(line)
        return self.options

    def _closes(self, line: str) -> bool:
        found = _fence_mark(line)
        last = self.open[-1] if self.open else None
        if found is None or last is None or found.group(3):
            return False
        return found.group(2)[0] == last.mark and len(found.group(2)) >= last.length

    def _fence(self, line: str) -> Iterator[str]:
        found = _fence_mark(line)
        if found is None or _ONE_LINE_COLONS.fullmatch(line):
            return
        indent, mark, info = found.groups()
        if self._closes(line):
            closed = self.open.pop()
            if closed.inside != "dropped":
                yield f"{indent}{closed.closing}" if closed.closing else line
            return
        yield from self._opened(indent, mark, info, line)

    def _opened(self, indent: str, mark: str, info: str, line: str) -> Iterator[str]:
        if mark[0] == "/":
            yield from self._block(indent, mark, info, line)
            return
        directive = _DIRECTIVE.fullmatch(info)
        name = directive.group(1).lower() if directive else ""
        argument = directive.group(2) if directive else ""
        if mark[0] == ":" and not info:
            return
        short = name.rpartition(":")[2]
        if mark[0] != ":" and (not directive or name in _KEPT_FENCES):
            self.open.append(_Open(mark[0], len(mark), "code", ""))
            yield line
        elif short in _CODE:
            language = argument.split()[0] if argument.split() else _LANGUAGES.get(short, "")
            language = _LANGUAGES.get(short, language)
            self._begin(mark, "code", _CODE_FENCE)
            yield f"{indent}{_CODE_FENCE}{language}"
        elif short in _DROPPED:
            self._begin(mark, "dropped")
        else:
            self._begin(mark, "text")
            self.options = directive is not None
            yield f"{indent}:::{info}"

    def _block(self, indent: str, mark: str, info: str, line: str) -> Iterator[str]:
        """A block of PyMdown: `/// note | Title`. What it names that is nothing to read (`html | div.x`) is not shown."""
        found = _BLOCK.fullmatch(info)
        if found is None:
            yield line
            return
        name, title = found.groups(default="")
        self._begin(mark, "text")
        yield f"{indent}:::{name} {'' if name in {'html', 'definition'} else title}".rstrip()

    def _begin(self, mark: str, inside: str, closing: str = ":::") -> None:
        self.open.append(_Open(mark[0], len(mark), inside, closing))
        self.options = True

    def _line(self, line: str) -> Iterator[str]:
        """A line of text, without what only a tool reads."""
        if len(line) > _LONGEST_LINE:
            yield line
        elif '"' in line and (tab := _TAB.fullmatch(line)):
            yield f'{tab.group(1)}!!! tab "{tab.group(2)}"'
        elif ("8<-" in line or "{{#" in line) and _INCLUDE.fullmatch(line):
            return
        elif _TOC.fullmatch(line) or ("{%" in line and self._liquid(line)):
            code = _LIQUID_CODE.fullmatch(line)
            if code:
                yield self._tagged_code(code.group(1), _LIQUID_END)
        elif "{{" in line:
            yield from self._shortcodes(line)
        else:
            yield line

    def _tagged_code(self, language: str, end: re.Pattern[str]) -> str:
        self.open.append(_Open("", 0, "code", end=end))
        return f"{_CODE_FENCE}{language}"

    @staticmethod
    def _liquid(line: str) -> bool:
        return _LIQUID_LINE.fullmatch(line) is not None

    def _shortcodes(self, line: str) -> Iterator[str]:
        alone = _SHORTCODE_LINE.fullmatch(line)
        if alone is None:
            yield _SHORTCODE.sub("", line)
            return
        indent, closing, name, rest, _ = alone.groups()
        name, titled = name.lower(), _QUOTED.search(rest)
        if name == "highlight" and not closing:
            yield self._tagged_code((rest.split() or [""])[0], _SHORTCODE_END)
        elif closing:
            yield f"{indent}:::"
        elif name in NOTES or name in {"tab", "tabitem", "details", "expand", "collapse"}:
            kind = (
                titled.group(1)
                if name in {"alert", "callout", "admonition", "notice"} and titled and titled.group(1).lower() in NOTES
                else name
            )
            yield f"{indent}:::{kind} {titled.group(1) if titled and kind == name else ''}".rstrip()
        else:
            yield ""


def common(text: str) -> str:
    """The text with the additions of tools in one form."""
    if not any(mark in text for mark in (":::", "///", "{", "===", "8<-", "[[", "[TOC]", "[toc]")):
        return text
    return "\n".join(_Flavors(iter(text.split("\n"))).read())
