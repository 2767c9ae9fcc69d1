"""Static checks of any code whatever: bounded, silent, total, and nothing is run."""

from __future__ import annotations

import threading
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ground.checks import MOST_FAULTS, MOST_SYMBOLS, check_code
from citewell.ground.python_code import MOST_BLOCKS, MOST_CHARS, snippets
from tests.unit.ground.hostile import slow
from tests.unit.ground.test_checks import fenced
from tests.unit.ground.texts import MARKDOWN

CODE = [
    *(
        "x = 1",
        "\n",
        "    ",
        "\t",
        "def f(a):",
        "class A:",
        "if x:",
        "else:",
        "return x",
        "import os",
        ">>> ",
        "... ",
        "...",
        "…",
        "%time ",
        "!ls",
        "%%bash",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "'''",
        "\\",
        "\\d",
        "b'\\N'",
        "1if x else 2",
        "0x1for x in y",
        "f'{x!r}'",
        "#",
        "@",
        ":",
        ",",
        "=",
        "-",
        "\x00",
        "\ud800",
    ),
]


class TestBounds:
    def test_faults_blocks_and_symbols_are_counted(self) -> None:
        assert len(snippets(fenced("x = = 1") * 50)) == MOST_BLOCKS
        assert len(check_code(fenced("x = = 1") * 50, symbols_used=[f"s{n}" for n in range(90)])) == MOST_FAULTS
        symbols = [*(["x"] * MOST_SYMBOLS), "missing"]
        assert check_code("x", symbols_used=symbols, cited_text="x") == ()

    def test_a_message_is_short(self) -> None:
        faults = check_code(fenced("x = = " + "1" * 9_000), symbols_used=["y" * 9_000])
        assert [fault.kind for fault in faults] == ["syntax", "symbol"]
        assert max(len(fault.message) for fault in faults) < 250

    @pytest.mark.parametrize(
        "code",
        [
            *(
                "(" * 20_000,
                "[" * 9_000 + "]" * 9_000,
                "-" * 19_000 + "1",
                "not " * 4_900 + "x",
                "x" + ".x" * 9_000,
                "1" + "+1" * 9_900,
                "x" + "()" * 9_000,
            ),
            *(
                "lambda:" * 2_800 + "x",
                "x if x else " * 1_600 + "x",
                "x = " * 4_900 + "1",
                "x: " * 6_000,
                "f'{" * 6_000,
                "await " * 3_000 + "x",
                "*" * 19_000 + "x",
            ),
            *(
                "".join(" " * n + "if x:\n" for n in range(190)),
                "{a:" * 25 + "(" * 20,
                "(a b" * 25,
                "f(**{a=" * 12,
                "[x for x in " * 24,
                "'" * 19_999,
                "\\\n" * 9_000,
            ),
            *(
                "1" * (MOST_CHARS - 1),
                "1_" * 9_000,
                "1.0" * 6_000,
                "1e" * 9_000,
                ".1if " * 3_000,
                "0x" * 9_000,
                "a=" * 9_000,
                "?" * 19_000,
                "…," * 9_000,
            ),
            "x = 1\n" * 5_000,
        ],
    )
    def test_hostile_code_neither_crashes_nor_hangs_in_a_thread(self, code: str) -> None:
        seconds: list[float] = []

        def check() -> None:
            started = time.thread_time()
            check_code(fenced(code), import_roots=["a"])
            seconds.append(time.thread_time() - started)

        thread = threading.Thread(target=check)
        thread.start()
        thread.join()
        assert len(seconds) == 1
        assert seconds[0] < 2

    def test_linear_time(self) -> None:
        assert slow(check_code) == {}
        assert slow(lambda text: check_code(fenced(text[: MOST_CHARS - 1]))) == {}
        assert slow(lambda text: check_code(text, symbols_used=["a", text], cited_text=text)) == {}

    def test_nothing_is_run(self, tmp_path: Path) -> None:
        assert check_code(fenced(f"open({str(tmp_path / 'made')!r}, 'w')\nraise SystemExit\n1/0")) == ()
        assert list(tmp_path.iterdir()) == []


class TestTotality:
    @given(st.one_of(st.text(), MARKDOWN), st.lists(st.text(max_size=20), max_size=5), st.text(max_size=50))
    def test_any_answer(self, answer: str, symbols: list[str], cited: str) -> None:
        faults = check_code(answer, symbols_used=symbols, cited_text=cited, import_roots=["a"])
        assert faults == check_code(answer, symbols_used=symbols, cited_text=cited, import_roots=["a"])
        assert all("\n" not in fault.message for fault in faults)

    @given(st.one_of(st.text(), st.lists(st.sampled_from(CODE), max_size=30).map("".join)))
    def test_any_code_and_no_warning(self, code: str) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            faults = check_code(fenced(code), import_roots=["os"])
        assert caught == []
        assert {fault.kind for fault in faults} <= {"syntax", "import"}
