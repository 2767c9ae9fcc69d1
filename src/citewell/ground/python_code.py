"""The Python code of a Markdown text, and whether it parses, read as a reader reads snippets. Nothing is ever run. Pure.

A snippet may be a console session, a notebook cell, a signature, or a piece cut out of something longer; it may leave out what does not
matter with an ellipsis. Only what is wrong whichever way it is read is wrong.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.index.reading import fences

MOST_BLOCKS = 20
MOST_CHARS = 20_000  # of a block; what is longer is not judged
MOST_NESTED = 25  # brackets in brackets; likewise, for the parser's time may double with each

_HEAD = re.compile(r"(?P<lead>[^`~\n]*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)")
_PYTHON = re.compile(
    r"\{?\s*(?:code-cell|code-block|code|sourcecode|testcode|doctest)?\}?\s*\.?"
    r"(?:python[23]?(?:\.\d+)?|py[23]?|pyi|i?pycon|ipython[23]?|python-?(?:console|repl)|jupyter-python|pycon3|doctest)(?![\w+-])",
    re.IGNORECASE,
)
_PLAINLY = re.compile(  # of code without a language: what hardly another one has
    r"^(?:>>> \S|from [\w.]+ import [\w*(]|import [\w.]+ as \w+\s*$"
    r"|(?:async )?def \w+\([^\n]*\)[^\n]*:\s*(?:#.*)?$|class \w+(?:\([^)\n]*\))?:\s*$)",
    re.MULTILINE,
)
_PROMPT = re.compile(r"\s*(?:>>>|In \[\d*\]:)(?: |$)")
_CONTINUED = re.compile(r"\s*\.\.\.(?::)?(?: |$)")
_CELL_OF_CODE = re.compile(r"\s*%%(?:time|timeit|capture|prun|memit)\b[^\n]*\n?")
_CELL = re.compile(r"\s*%%\w")
_MAGIC = re.compile(r"^([ \t]*)(?:(?:[\w, ]{1,80}= ?)?(?:%{1,2}[A-Za-z_]|![^=\s])[^\n]*|\?{0,2}[\w.]{1,80}\?{1,2}[ \t]*)$", re.MULTILINE)
_LEFT_OUT = re.compile(r"[ \t]*(?:#[ \t]*)?(?:\.\.\.|…)[ \t]*(?:#.*|\(?[\w ,]*\)?)?")
_LAST_LEFT_OUT = re.compile(r",\s{0,80}\.\.\.\s{0,80},?\s{0,80}(?=[)\]}])")
_BLANK_TO_FILL = re.compile(r"(?<=[=(,\[:] |.[=(,\[])<[A-Za-z][\w .-]{0,60}>")
_SIGNATURE = re.compile(
    r"\s*(?:(?:async )?def |class |@?(?:classmethod|staticmethod|property|abstractmethod) )?[A-Za-z_][\w.]*(?P<arguments>\(.*\))"
    r"(?:\s*(?:->|→|⇒)\s*[^\n]+?)?\s*:?\s*",
    re.DOTALL,
)
_NESTING = re.compile(r"[()\[\]{}]")

# The parser warns of escapes that it does not know and of `1if x`; both are made what it takes them for. Filters of warnings belong to the
# whole process, so that this is the one way to keep it silent in a thread.
_ESCAPE = re.compile(r"\\(?:([^\n\r\\'\"xNuU])|(?s:.))")
_WIDE_ESCAPE = re.compile(r"\\(?:([NuU])|(?s:.))")
_BYTES = re.compile(r"(?i)\b(?:b|br|rb)['\"]")
_GLUED = re.compile(
    r"(?<![\w.])(0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\.\d[\d_]*|\d[\d_]*(?:\.[\d_]*)?)(?:[eE][+-]?\d+)?[jJ]?)(?=(?:and|else|for|if|in|is|or|not)\b)"
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """The code of a fence. `number` counts the Python snippets of the text from 1."""

    number: int
    code: str


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a snippet does not parse, and the line that shows it."""

    reason: str
    line: str


def snippets(markdown: str) -> list[Snippet]:
    """The Python snippets of a text in order, at most `MOST_BLOCKS`: said to be Python, or plainly so where nothing is said."""
    codes = (code for info, code in _fenced(markdown) if _PYTHON.match(info) or (not info and _PLAINLY.search(code)))
    return [Snippet(number, code) for number, (code, _) in enumerate(zip(codes, range(MOST_BLOCKS), strict=False), start=1)]


def _fenced(markdown: str) -> Iterator[tuple[str, str]]:
    """What stands behind the marks of each fence, and its code without the marks of quotations and the indentation of lists."""
    for start, end in fences(markdown):
        opening, *body = markdown[start:end].split("\n")
        head = _HEAD.match(opening)
        if head is None:
            continue
        quoted = head["lead"].count(">")
        strip = re.compile(rf"(?:[ \t]*>){{0,{min(quoted, 50)}}} ?") if quoted else None
        lines = [strip.sub("", line, count=1) if strip else line for line in body]
        if lines and lines[-1].strip(" \t>").startswith(head["mark"]) and not lines[-1].strip(" \t>" + head["mark"][0]):
            del lines[-1]
        yield head["info"].strip(), textwrap.dedent("\n".join(lines).expandtabs(4)).strip("\n")


def parse(code: str) -> ast.Module | Broken | None:
    """The syntax tree of a snippet; why it has none; or None for what is not judged: too long, too deeply nested, of another language."""
    if len(code) > MOST_CHARS or _depth(code) > MOST_NESTED:
        return None
    code = _CELL_OF_CODE.sub("", code, count=1) if _CELL_OF_CODE.match(code) else code
    if _CELL.match(code):
        return None
    broken: Broken | None = None
    for reading in dict.fromkeys(_readings(_typed(code))):
        outcome = _parse(reading)
        if not isinstance(outcome, Broken):
            return outcome
        broken = broken or outcome
    return broken


def _typed(code: str) -> str:
    """What was typed in a console session, without prompts and output; other code as it is."""
    lines = code.split("\n")
    if not any(map(_PROMPT.match, lines)):
        return code
    typed: list[str] = []
    inside = False
    for line in lines:
        prompt = _PROMPT.match(line) or (_CONTINUED.match(line) if inside else None)
        inside = prompt is not None
        if prompt:
            typed.append(line[prompt.end() :])
    return "\n".join(typed)


def _readings(code: str) -> Iterator[str]:
    """A snippet as it stands, and then more and more generously."""
    yield code
    code = _MAGIC.sub(r"\1pass", code)
    yield code
    code = _completed(textwrap.dedent(code.replace("\xa0", " ")))
    yield code
    code = _BLANK_TO_FILL.sub("...", _LAST_LEFT_OUT.sub("", _without_ellipses(code.replace("…", "..."))))
    yield code
    yield _completed(code)
    pieces = [_SIGNATURE.fullmatch(piece) for piece in re.split(r"\n+(?=[A-Za-z_@])", code)]
    if all(pieces):
        yield "\n".join(f"def _{piece['arguments']}: pass" for piece in pieces if piece)


def _without_ellipses(code: str) -> str:
    """Without the lines that say that something is left out; a body that was left out is there again."""
    kept: list[str] = []
    for line in code.split("\n"):
        if not _LEFT_OUT.fullmatch(line):
            kept.append(line)
        elif kept and kept[-1].rstrip().endswith(":"):
            kept.append(f"{_indentation(kept[-1])}    pass")
    return "\n".join(kept)


def _completed(code: str) -> str:
    """With the heads of the blocks that a snippet begins in the middle of, and a body behind a head that ends it."""
    lines = [line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        return code
    first = _indentation(lines[0])
    outer = sorted({_indentation(line) for line in lines if len(_indentation(line)) < len(first)}, key=len)
    heads = [f"{indentation}if 1:" for indentation in outer]
    word = re.match(r"(?:el(?:se|if)|except|finally)\b", lines[0].lstrip())
    if word:
        heads.append(f"{first}{'try' if word.group() in {'except', 'finally'} else 'if 1'}: pass")
    tail = [f"{_indentation(lines[-1])}    pass"] if lines[-1].rstrip().endswith(":") else []
    return "\n".join([*heads, code, *tail])


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _depth(code: str) -> int:
    """How deep brackets stand in brackets, those in strings taken for brackets too."""
    depth = deepest = 0
    for mark in _NESTING.finditer(code):
        depth = depth + 1 if mark.group() in "([{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


def _parse(code: str) -> ast.Module | Broken | None:
    try:
        return ast.parse(_silenced(code))
    except SyntaxError as error:
        lines = code.split("\n")
        at = max(error.lineno or 1, 1)
        return Broken(error.msg.partition(" (<unknown>")[0], lines[at - 1].strip() if at <= len(lines) else "")
    except ValueError:  # a null character, half a character
        return Broken("it holds characters that no code has", "")
    except (RecursionError, MemoryError):  # the parser's own bounds
        return None


def _silenced(code: str) -> str:
    code = _GLUED.sub(r"\1 ", code)
    if "\\" not in code:
        return code
    code = _ESCAPE.sub(_doubled, code)
    return _WIDE_ESCAPE.sub(_doubled, code) if _BYTES.search(code) else code


def _doubled(escape: re.Match[str]) -> str:
    return f"\\{escape.group()}" if escape.group(1) else escape.group()
