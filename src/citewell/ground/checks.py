"""What can be said of the code in an answer without running it: it parses, imports what it may, and names what the documentation names.

A fault is a sentence for two readers: the model that is asked to repair it, and the user who is warned of what was not. Pure.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from citewell.ground.prose import unescaped
from citewell.ground.python_code import Broken, parse, snippets

MOST_FAULTS = 20
MOST_SYMBOLS = 50
_MOST_SYMBOL = 200  # characters; what is longer names nothing
_SHOWN = 80
_CALLED = re.compile(r"\(.*\)?$", re.DOTALL)
_JOINT = re.compile(r"\.|::|#")


@dataclass(frozen=True, slots=True)
class CheckFault:
    kind: Literal["syntax", "import", "symbol"]
    message: str


def check_code(
    answer_md: str,
    *,
    symbols_used: Collection[str] = (),
    cited_text: str = "",
    known_symbols: Collection[str] = (),
    import_roots: Collection[str] = (),
) -> tuple[CheckFault, ...]:
    """What is wrong with the code of an answer, at most `MOST_FAULTS`, each once.

    `cited_text` is the text of the sections that it cites, `known_symbols` the lower-case names that the index has among the symbols.
    `import_roots` are the packages that code may import beside the standard library; any, where there are none.
    """
    found = (*_code_faults(answer_md, import_roots), *_symbol_faults(answer_md, symbols_used, cited_text, known_symbols))
    return tuple(dict.fromkeys(found))[:MOST_FAULTS]


def _code_faults(answer_md: str, roots: Collection[str]) -> Iterator[CheckFault]:
    for snippet in snippets(answer_md):
        tree = parse(snippet.code)
        if isinstance(tree, Broken):
            where = f" in the line {_shown(tree.line)}" if tree.line else ""
            yield CheckFault("syntax", f"The Python code number {snippet.number} is not valid{where}: {tree.reason}.")
        elif tree is not None and roots:
            yield from (_import_fault(module, roots) for module in _imported(tree) if not _may_import(module, roots))


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules that code imports by their full names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module


def _may_import(module: str, roots: Collection[str]) -> bool:
    root = module.partition(".")[0]
    return root in sys.stdlib_module_names or root in roots


def _import_fault(module: str, roots: Collection[str]) -> CheckFault:
    allowed = ", ".join(sorted(roots))
    return CheckFault("import", f"The code imports {_shown(module)}. It may import from {allowed} and from Python's standard library only.")


def _symbol_faults(answer_md: str, symbols: Collection[str], cited_text: str, known: Collection[str]) -> Iterator[CheckFault]:
    said, cited = _readable(answer_md), _readable(cited_text)
    for entry in islice(symbols, MOST_SYMBOLS):
        symbol = _CALLED.sub("", entry[:_MOST_SYMBOL].strip().strip("`").strip()).strip()
        if not symbol:
            continue
        *_, last = parts = [part for part in _JOINT.split(symbol) if part] or [symbol]
        if not _occurs(symbol, said) and not _occurs(last, said):
            yield CheckFault("symbol", f"The answer says that it uses {_shown(symbol)}, but does not name it.")
        elif symbol.lower() not in known and not any(_occurs(name, cited) for name in (symbol, ".".join(parts[-2:]))):
            yield CheckFault(
                "symbol", f"The answer uses {_shown(symbol)}, which is in no section that it cites and not in the documentation."
            )


def _readable(text: str) -> str:
    return f"{text}\n{unescaped(text)}" if "\\" in text else text


def _occurs(name: str, text: str) -> bool:
    """Whether a text holds a name as a whole: `cat` is in `torch.cat(x)`, not in `concat`."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_joins(text[at - 1 : at]) and _joins(name[0])) and not (_joins(text[end : end + 1]) and _joins(name[-1])):
            return True
        at = text.find(name, end)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def _shown(code: str) -> str:
    code = " ".join(code.replace("`", "'").split())
    return f"`{code if len(code) <= _SHOWN else f'{code[:_SHOWN]}…'}`"
