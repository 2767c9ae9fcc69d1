"""Texts that make careless patterns quadratic, and the time they may take: a second for 100,000 characters."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping

SIZE = 25_000
SECONDS = 0.5  # of the processor's own time, twice what it may take on a fast machine; what is quadratic takes many times as long

PIECES = (
    [chr(code) for code in range(32, 127) if not chr(code).isalnum()]
    + ["\n", "\t", "a", "A", "é", "。", "…", "中", "\u0300", "\xa0"]
    + [
        "a. ",
        "A. ",
        "a.A",
        ". ",
        "e.g. ",
        "1. ",
        "- a\n",
        "- [1] a\n",
        "> ",
        ">\n",
        "# ",
        "# [1]\n",
        "a\n",
        "a:\n",
        "=\n",
        "```\n",
        "~~~a\n",
    ]
    + [
        "` ",
        "`x`. ",
        "`a\n",
        "a`b``c",
        "[1]",
        "[1] ",
        "[1]\n\n",
        "[1,",
        "[1] A. ",
        "a.[1]",
        "[a](",
        "[a](b",
        "[a](b)",
        "](a ",
        "[x]",
        "\\[",
    ]
    + [
        "[1]: x\n",
        "[1]: a [1] ",
        "[a\\](b)",
        "![](<",
        "<a:",
        "a (b. c ",
        "()",
        "| ",
        "|a|\n",
        "|-|\n",
        "*a *a ",
        "**",
        "* ",
        "\"'",
        "__a__ ",
    ]
    + [
        "a.",
        "a_",
        "_a",
        "aA",
        "A1",
        "1a",
        "a::",
        "a.b/",
        "a-",
        "-a",
        "--a-",
        "a@",
        "a.b@",
        "a://",
        "x.+-",
        "a(",
        "1.5 ",
        "not ",
        "a b ",
        "::",
    ]
)
TEXTS = {piece: (piece * (SIZE // len(piece) + 1))[:SIZE] for piece in PIECES} | {
    "ticks of every length": "".join("`" * length + " " for length in range(1, 223)),
    "a cell of blanks": "|" + " " * SIZE + "x",
    "a target of brackets": "[1](" + "(" * SIZE,
    "an open fence": "```\n" + "a [1]\n" * (SIZE // 6),
    "numbers": " ".join(str(number) for number in range(11, 4_500)),
    "names": " ".join(f"`a_{number}`" for number in range(2_500)),
}


def slow(work: Callable[[str], object], texts: Mapping[str, str] = TEXTS) -> dict[str, float]:
    """The texts that take too long, with their seconds: the least of three tries, so that what else the machine does counts little."""
    found = {}
    for name, text in texts.items():
        seconds = _seconds(work, text)
        for _ in range(2):
            if seconds > SECONDS:
                seconds = min(seconds, _seconds(work, text))
        if seconds > SECONDS:
            found[name] = seconds
    return found


def _seconds(work: Callable[[str], object], text: str) -> float:
    """The processor's time for the work alone: collecting what other tests left behind is not a part of it."""
    gc.disable()
    try:
        started = time.process_time()
        work(text)
        return time.process_time() - started
    finally:
        gc.enable()
