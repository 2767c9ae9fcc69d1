"""A folder (or one file) as an origin: which of its files are documents, in a stable order, whatever links and loops it holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import IngestError
from citewell.ingest.extract import extractor_for
from citewell.types import Skipped

MAX_PAGE_BYTES = 20 * 1024 * 1024
_IGNORED_FOLDERS = frozenset({"_static", "_sources", "_images", "_downloads", "_modules", "node_modules", "__pycache__"})
# Documents in formats that no extractor reads yet: named in the report, so that nobody believes them indexed.
_UNREAD_DOCUMENTS = frozenset(".pdf .docx .doc .odt .rtf .epub .rst .ipynb .txt .adoc .asciidoc .tex .man".split())


@dataclass(frozen=True, slots=True)
class Found:
    """A document of an origin: its path there, and the file that holds it."""

    path: str
    file: Path


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything an origin has. `complete` says whether what is not in it may be taken as deleted."""

    found: list[Found]
    skipped: list[Skipped]
    complete: bool


def list_folder(origin: Path) -> Listing:
    """The documents below a folder, or the one file named, sorted by path. Raises `IngestError` when there is nothing to read."""
    if not origin.exists():
        raise IngestError(f"There is nothing at {origin}.", hint="Name a folder or a file of documentation.")
    if origin.is_file():
        return _single(origin)
    found: list[Found] = []
    skipped: list[Skipped] = []
    unreadable: list[OSError] = []
    for path, file in _walk(origin, unreadable.append):
        reason = _reason(file)
        if reason is None:
            found.append(Found(path, file))
        elif reason:
            skipped.append(Skipped(path, reason))
    skipped.extend(Skipped(_relative(error, origin), f"cannot be listed: {error.strerror}") for error in unreadable)
    if not found and not skipped:
        raise IngestError(f"{origin} holds no documents.", hint="citewell reads HTML (.html) and Markdown (.md) files.")
    return Listing(sorted(found, key=lambda item: item.path), skipped, complete=not unreadable)


def _single(file: Path) -> Listing:
    reason = _reason(file)
    if reason is not None:
        raise IngestError(
            f"{file} cannot be indexed: {reason or 'not a document'}.", hint="citewell reads HTML (.html) and Markdown (.md) files."
        )
    return Listing([Found(file.name, file)], [], complete=True)


def _reason(file: Path) -> str | None:
    """None for a document, "" for what is silently no document (pictures, scripts), else why it is skipped."""
    suffix = file.suffix.lower()
    if extractor_for(file.name) is None:
        return f"no extractor for {suffix} files" if suffix in _UNREAD_DOCUMENTS else ""
    try:
        size = file.stat().st_size
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return f"larger than {MAX_PAGE_BYTES // 2**20} MiB" if size > MAX_PAGE_BYTES else None


def _walk(origin: Path, on_error: object) -> Iterator[tuple[str, Path]]:
    """Files with their paths below the origin. Linked folders are followed, each real folder once: a loop ends where it began."""
    seen: set[tuple[int, int]] = set()
    for folder, names, files in os.walk(origin, followlinks=True, onerror=on_error):  # type: ignore[arg-type]
        status = Path(folder).stat()
        if (status.st_dev, status.st_ino) in seen:
            names.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _IGNORED_FOLDERS)
        for name in sorted(files):
            if not name.startswith("."):
                file = Path(folder, name)
                yield file.relative_to(origin).as_posix(), file


def _relative(error: OSError, origin: Path) -> str:
    return os.path.relpath(error.filename, origin) if error.filename else str(origin)
