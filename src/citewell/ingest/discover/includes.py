"""A document's bytes with everything that it includes from its own folder. What cannot be included is left as it is written.

Only regular files are read that lie inside the folder of documentation once all links are resolved: an include never reaches outside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from citewell.ingest.discover import include_syntax as syntax
from citewell.ingest.discover.include_syntax import Include
from citewell.ingest.extract.base import NotContent

MAX_BYTES = 20 * 1024 * 1024  # of a document with all that it includes
MAX_DEPTH = 5
_MOST_INCLUDES = 1000  # in one document
# Where keys and tokens are kept: nobody documents by including it, and whoever wrote the documents need not be who indexes them.
_SECRET = frozenset(".git .hg .svn .bzr .env .netrc .npmrc .pypirc .ssh .aws .gnupg .docker .kube".split())
_REST = frozenset((".rst", ".rest", ".txt"))
_MARKDOWN = frozenset((".md", ".markdown", ".mdx"))


def with_includes(file: Path, root: Path) -> bytes:
    """The bytes of a document below the folder `root`, includes resolved; exactly the file's own where it has none.

    Raises `OSError` for a file that cannot be read, `NotContent` for one that is no regular file or too large.
    """
    data = _read(file, MAX_BYTES)
    suffix = file.suffix.lower()
    if suffix not in _REST | _MARKDOWN or not any(mark in data for mark in syntax.MARKS):
        return data
    real_root = root.resolve()
    if not real_root.is_dir():
        real_root = real_root.parent
    expansion = _Expansion(real_root, MAX_BYTES - len(data))
    text = data.decode("utf-8", errors="surrogateescape")
    expanded = expansion.expand(text, file, (_identity(file),))
    return data if expanded == text else expanded.encode("utf-8", errors="surrogateescape")


def _read(file: Path, most: int, flags: int = 0) -> bytes:
    """The content of a regular file. Not even opening waits: a pipe without a writer is refused, as a device is."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | flags)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotContent("not a regular file")
        data = opened.read(most + 1)
    if len(data) > most:
        raise NotContent("too large with what it includes")
    return data


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino


@dataclass(slots=True)
class _Expansion:
    """`left` is how many bytes may still be included, `count` how many includes were looked for."""

    root: Path
    left: int
    count: int = 0

    def expand(self, text: str, file: Path, chain: tuple[tuple[int, int], ...]) -> str:
        """The text of a file with its includes; `chain` are the files that it is included from, itself last."""
        lines = text.split("\n")
        return "\n".join(self._lines(lines, file, chain)) if self._may_include(text) else text

    @staticmethod
    def _may_include(text: str) -> bool:
        return any(mark.decode() in text for mark in syntax.MARKS)

    def _lines(self, lines: list[str], file: Path, chain: tuple[tuple[int, int], ...]) -> Iterator[str]:
        at, rest = 0, file.suffix.lower() in _REST
        bare = [line.rstrip("\r") for line in lines]
        while at < len(lines):
            found = syntax.find(bare, at, rest=rest)
            taken = [(include, text) for include in found if (text := self._taken(include, file, chain)) is not None]
            if not taken:
                yield lines[at]
                at += 1
                continue
            for include, text in taken:
                yield from _placed(include, text)
            at += taken[0][0].lines

    def _taken(self, include: Include, file: Path, chain: tuple[tuple[int, int], ...]) -> str | None:
        """The included text, itself expanded; None where it cannot be had."""
        path, _ = syntax.path_and_lines(include)
        if len(chain) > MAX_DEPTH or self.count >= _MOST_INCLUDES or "\0" in path or "://" in path or path.startswith("<"):
            return None
        self.count += 1
        for candidate in self._candidates(path, file):
            try:
                real = candidate.resolve()
                if not self._may_read(real) or _identity(real) in chain:
                    continue
                data = _read(real, self.left, getattr(os, "O_NOFOLLOW", 0))
                inner = (*chain, _identity(real))
            except (OSError, NotContent, ValueError, RuntimeError):
                continue
            self.left -= len(data)
            text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="surrogateescape").replace("\r\n", "\n")
            text = syntax.selected(text, include)
            # What is included follows the syntax of the file that includes it, where its own name says nothing.
            named = real if real.suffix.lower() in _REST | _MARKDOWN else real.with_suffix(file.suffix)
            return text if include.code is not None else self.expand(text, named, inner)
        return None

    def _may_read(self, real: Path) -> bool:
        return real.is_relative_to(self.root) and _SECRET.isdisjoint(real.relative_to(self.root).parts) and real.is_file()

    def _candidates(self, path: str, file: Path) -> Iterator[Path]:
        """Where a path may lead: from the file's folder or one above it; one that begins with a slash from the top first."""
        above = [folder for folder in file.absolute().parents if folder.resolve().is_relative_to(self.root)] or [self.root]
        folders = list(reversed(above)) if path.startswith("/") else above
        yield from (folder / path.lstrip("/") for folder in folders)


def _placed(include: Include, text: str) -> Iterator[str]:
    """The lines that stand for an include, where it stands."""
    if include.code is not None and include.syntax == "rest":
        yield f"{include.indent}.. code-block:: {include.code}".rstrip()
        if caption := include.options.get("caption", ""):
            yield f"{include.indent}   :caption: {caption}"
        yield ""
        yield from (f"{include.indent}   {line}".rstrip() for line in text.split("\n"))
        yield ""
    elif include.code is not None:
        fence = "`" * 12
        yield f"{include.indent}{fence}{include.code}"
        yield from (f"{include.indent}{line}" for line in text.split("\n"))
        yield f"{include.indent}{fence}"
    else:
        first, *others = text.split("\n")
        lines = [include.before + first, *others]
        lines[-1] += include.after
        yield from (f"{include.indent}{line}" if line else "" for line in lines)
