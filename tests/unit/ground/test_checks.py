"""Static checks of the code in an answer: what is wrong is told, and what only looks wrong is not."""

from __future__ import annotations

import pytest

from citewell.ground.checks import check_code
from citewell.ground.python_code import snippets


def kinds(answer: str, **options: object) -> list[str]:
    return [fault.kind for fault in check_code(answer, **options)]  # type: ignore[arg-type]


def fenced(code: str, info: str = "python") -> str:
    return f"Do so:\n\n```{info}\n{code}\n```\n[1]\n"


class TestWhatIsPython:
    @pytest.mark.parametrize(
        "info",
        [
            *("python", "py", "python3", "py3", "Python", "ipython", "python 3", "python3.12", 'python title="a.py"', "python,ignore"),
            *(
                "{.python}",
                "{.python .numberLines}",
                "{python}",
                "{code-cell} ipython3",
                "{code-block} python",
                " python ",
                "py linenums=1",
                "pycon",
            ),
        ],
    )
    def test_by_what_the_fence_says(self, info: str) -> None:
        assert kinds(fenced("x = = 1", info)) == ["syntax"]

    @pytest.mark.parametrize(
        "info", ["", "text", "bash", "console", "js", "c++", "pytb", "py3tb", "python-traceback", "pythonic", "json", "rst", "{.bash}"]
    )
    def test_everything_else_is_not(self, info: str) -> None:
        assert kinds(fenced("x = = 1", info)) == []

    @pytest.mark.parametrize(
        ("code", "is_python"),
        [
            (">>> x = 1", True),
            ("from a.b import c\nx = = c", True),
            ("import numpy as np\nx", True),
            ("def f(x: int) -> int:\n    return x", True),
            ("class A(B):\n    pass", True),
            ("import Data.List", False),
            ("import foo from 'foo'", False),
            ("class A { }", False),
            ("def f\n  1\nend", False),
            ("x = 1", False),
            ("$ pip install x", False),
        ],
    )
    def test_by_itself_where_nothing_is_said(self, code: str, is_python: bool) -> None:
        assert bool(snippets(fenced(code, ""))) == is_python

    @pytest.mark.parametrize(
        "answer",
        [
            "~~~python\nx = = 1\n~~~",
            "~~~~ {.python}\n```\n~~~~",
            "- so:\n\n  ```python\n  x = = 1\n  ```",
            "> ```python\n> x = = 1\n> ```",
            "1. ```python\n   x = = 1\n   ```",
            "```python\nx = = 1",
        ],
    )
    def test_wherever_the_fence_stands(self, answer: str) -> None:
        assert kinds(answer) == ["syntax"]

    @pytest.mark.parametrize(
        "answer", ["> ```python\n> if x:\n>     y\n> ```", "- a\n\n      ```python\n      x = 1\n      ```", "```python\n```"]
    )
    def test_marks_round_it_are_no_code(self, answer: str) -> None:
        assert kinds(answer) == []


class TestSyntax:
    @pytest.mark.parametrize(
        "code",
        [
            "",
            "# nothing",
            "x = f(1)  # [1]",
            "    x = 1\n    y = 2",
            "        x = 1\n    return x",
            "            a = 1\n        b = 2\n    return b",
            "else:\n    x = 1",
            "except ValueError:\n    pass",
            "for x in y:",
            "with a as b:\n    # here",
            "await f()\nasync with a as b:\n    pass",
            "async for x in y: print(x)",
            "return x",
            "yield x",
            ">>> x = f(1)\n>>> x\n1",
            ">>> for x in y:\n...     print(x)\n...\n1\n2",
            ">>> x = [1,\n...      2]\n>>> x\n[1,\n 2]",
            "In [1]: x = 1\n\nIn [2]: x\nOut[2]: 1",
            "%matplotlib inline\nimport os",
            "!pip install widgets\nimport os",
            "x = %timeit -o f()\nfiles = !ls",
            "%%time\nx = 1",
            "%%bash\necho hello; x = = 1",
            "f?",
            "a.b??",
            "x = (a\n  % b)",
            "...",
            "def f(): ...",
            "x = [1, 2, ..., 9]",
            "f(a=1, ...)",
            "d = {'a': 1, ...}",
            "d = {\n    'a': 1,\n    ...\n}",
            "d = {\n    'a': 1,\n    …\n}",
            "class A:\n    def f(self):\n        ...\n    # ...\n    def g(self):\n    ...",
            "x = 1\n... (more of the same)\ny = 2",
            "for x in y:\n    # ...",
            "f(key=<your key>)",
            "f(a, b, *, c=1) -> Tensor",
            "torch.cat(tensors, dim=0, *, out=None) → Tensor",
            "class widget.Wheel(spokes, /, *, tyre=None)",
            "a.f(x, *, y)\na.g(x, /)",
            "@decorated\ndef f(x, /, *, y): pass",
            "match x:\n    case [a, *b] if a: pass",
            "x\xa0=\xa01",
            "'\\d'; b'\\N'; '\\400'; 1if x else 2; .5if x else 0xfor y",
        ],
    )
    def test_a_snippet_is_read_as_readers_do(self, code: str) -> None:
        assert check_code(fenced(code)) == ()

    @pytest.mark.parametrize(
        "code",
        [
            "x = = 1",
            "def f(\n",
            "print 'hello'",
            "x = (1",
            "x = 1)",
            "if x\n    y",
            "for x in y:\nprint(x)",
            "x = 'a",
            "open('C:\\Users\\me')",
            ">>> x = = 1",
            "npm install",
            "import os;;",
            "f(a b)",
            "x = 1\n  y = 2",
            "let x = 1;",
            "x\x00y",
        ],
    )
    def test_what_is_wrong_however_it_is_read(self, code: str) -> None:
        assert kinds(fenced(code)) == ["syntax"]

    def test_the_fault_names_place_and_reason(self) -> None:
        (fault,) = check_code(fenced("x = 1") + fenced("y = `1`\nz = = 2"))
        assert "number 2" in fault.message
        assert "`y = '1'`" in fault.message
        assert "invalid syntax" in fault.message


class TestImports:
    @pytest.mark.parametrize(
        "code",
        [
            "import torch",
            "import torch.nn as nn",
            "from torch.nn import *",
            "import os, sys",
            "from . import x",
            "from .a import b",
            "from __future__ import annotations",
        ],
    )
    def test_roots_and_the_standard_library_may_be_imported(self, code: str) -> None:
        assert check_code(fenced(code), import_roots={"torch"}) == ()

    @pytest.mark.parametrize(
        "code", ["import pandas", "import torchy", "from pandas.io import x", "def f():\n    import pandas as pd", ">>> import pandas"]
    )
    def test_nothing_else(self, code: str) -> None:
        (fault,) = check_code(fenced(code), import_roots=["torch"])
        assert fault.kind == "import"
        assert "torch" in fault.message

    def test_without_roots_anything_may(self) -> None:
        assert check_code(fenced("import pandas")) == ()

    def test_each_once(self) -> None:
        assert kinds(fenced("import pandas") * 3, import_roots=["torch"]) == ["import"]


class TestSymbols:
    @pytest.mark.parametrize("symbol", ["torch.cat", "`torch.cat`", "torch.cat()", "torch.cat(a, b)", "cat", " torch.cat ", "", "``"])
    def test_named_and_cited(self, symbol: str) -> None:
        assert check_code("Use `torch.cat` [1].", symbols_used=[symbol], cited_text="torch.cat(tensors) joins") == ()

    @pytest.mark.parametrize(
        ("symbol", "answer", "cited"),
        [
            ("torch.nn.Linear", "Use `nn.Linear`.", "nn.Linear applies"),
            ("nn.Linear", "Use `Linear`.", "class torch.nn.Linear(a)"),
            ("std::move", "Use std::move.", "std::move is"),
            ("--dry-run", "Pass `--dry-run`.", "--dry-run: does nothing"),
            ("my_name", "Use my\\_name.", "my\\_name is"),
            ("Wheel.turn", "`wheel.turn()`", "Wheel.turn(degrees)"),
        ],
    )
    def test_other_spellings_of_it(self, symbol: str, answer: str, cited: str) -> None:
        assert check_code(answer, symbols_used=[symbol], cited_text=cited) == ()

    def test_in_the_symbol_table_is_as_good_as_cited(self) -> None:
        assert check_code("Use torch.Cat.", symbols_used=["torch.Cat"], known_symbols={"torch.cat"}) == ()

    @pytest.mark.parametrize(
        ("symbol", "answer", "cited", "says"),
        [
            ("torch.dog", "Use torch.cat.", "torch.dog", "does not name it"),
            ("cat", "Use concat.", "cat", "does not name it"),
            ("torch.cat", "Use torch.cat.", "torch.stack; concat", "in no section"),
            ("torch.dog.cat", "Use torch.dog.cat.", "torch.cat", "in no section"),
        ],
    )
    def test_missing(self, symbol: str, answer: str, cited: str, says: str) -> None:
        (fault,) = check_code(answer, symbols_used=[symbol], cited_text=cited)
        assert fault.kind == "symbol"
        assert says in fault.message
        assert symbol in fault.message
