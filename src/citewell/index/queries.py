"""The named statements of `index/sql/*.sql`: a line `-- name: x` begins the statement x."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def _statements() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted((Path(__file__).parent / "sql").glob("*.sql")):
        pieces = _NAME.split(file.read_text(encoding="utf-8"))
        for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
            if name in found:
                raise ValueError(f"the statement {name} stands twice, again in {file.name}")
            found[name] = body.strip().rstrip(";")
    return found


def statement(name: str) -> str:
    """The SQL of that name. Raises `KeyError` for one that is in no file."""
    return _statements()[name]
