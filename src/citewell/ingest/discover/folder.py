"""A folder (or one file) as an origin: which of its files are documents, in a stable order, whatever links and loops it holds."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from citewell.errors import IngestError
from citewell.ingest.extract import EXTRACTORS, extractor_for
from citewell.ingest.ignored import IGNORED_FOLDERS
from citewell.types import Skipped

MAX_PAGE_BYTES = 20 * 1024 * 1024
# Documents in formats that no extractor reads yet: named in the report, so that nobody believes them indexed.
_UNREAD_DOCUMENTS = frozenset(".pdf .docx .doc .odt .rtf .epub .adoc .asciidoc .tex .man".split())
_BUILT = (".html", ".htm", ".xhtml")
# Texts that are written for programs.
_FOR_PROGRAMS = re.compile(
    r"(?:robots|ads|humans|security|sitemap|llms|llms-full|requirements|constraints|CMakeLists|top_level|entry_points|SOURCES)[\w.-]*\.txt",
    re.IGNORECASE,
)
_HINT = f"citewell reads {', '.join(sorted(EXTRACTORS))} files."


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


def list_folder(origin: Path, shown: str = "", *, hint: str = "Name a folder or a file of documentation.", empty: bool = False) -> Listing:
    """The documents below a folder, or the one file named, sorted by path. Raises `IngestError` when there is nothing to read; it
    names the origin, or what stands for it before a person, and says with `hint` what to do where nothing is there. With `empty`, a folder
    without documents is none less.

    Linked folders are followed, each real folder once, but never to a folder that holds the link or the origin.
    """
    try:
        mode = origin.stat().st_mode
    except OSError as error:
        problem = "There is nothing at" if isinstance(error, FileNotFoundError) else f"Cannot read ({error.strerror})"
        raise IngestError(f"{problem} {origin}.", hint=hint) from error
    if stat.S_ISREG(mode):
        return _single(origin)
    if not stat.S_ISDIR(mode):
        raise IngestError(f"{origin} is neither a folder nor a file.", hint="Name a folder or a file of documentation.")
    walk = _Walk(origin)
    found: list[Found] = []
    for path, file in walk.files():
        reason = _reason(file, path)
        if reason is None:
            found.append(Found(path, file))
        elif reason:
            walk.skip(path, reason)
    if not found and not walk.skipped and not empty:
        raise IngestError(f"{shown or origin} holds no documents.", hint=_HINT)
    return Listing(sorted(found, key=lambda item: item.path), sorted(walk.skipped, key=lambda item: item.origin), walk.complete)


def _single(file: Path) -> Listing:
    reason = _reason(file, file.name)
    if reason is not None:
        raise IngestError(f"{file} cannot be indexed: {reason or 'not a document'}.", hint=_HINT)
    return Listing([Found(file.name, file)], [], complete=True)


def _reason(file: Path, path: str) -> str | None:
    """None for a document, "" for what is silently no document (pictures, scripts), else why it is skipped."""
    suffix = file.suffix.lower()
    if _FOR_PROGRAMS.fullmatch(file.name):
        return ""
    if extractor_for(file.name) is None and (suffix or not file.is_symlink()):  # a broken link without a suffix may be a folder's
        return f"no extractor for {suffix} files" if suffix in _UNREAD_DOCUMENTS else ""
    try:
        path.encode()
        status = file.stat()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    except FileNotFoundError:
        return "a broken link"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not suffix:
        return ""
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return f"larger than {MAX_PAGE_BYTES // 2**20} MiB" if status.st_size > MAX_PAGE_BYTES else None


def _is_source(name: str, files: Collection[str]) -> bool:
    """Whether a file is what a page beside it was built from: `git-add.txt` beside `git-add.html`. The page says the same, with anchors."""
    file = PurePath(name)
    return file.suffix.lower() not in _BUILT and any(f"{file.stem}{built}" in files for built in _BUILT)


Identity = tuple[int, int]


def _identity(folder: Path) -> Identity:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _holders(folder: Path) -> frozenset[Identity]:
    """A real folder and everything above it."""
    real = folder.resolve()
    return frozenset(_identity(holder) for holder in (real, *real.parents))


def _is_link(path: Path) -> bool:
    """Whether a name is a link; one that cannot be looked at is none, and is told when it is listed."""
    try:
        return path.is_symlink()
    except OSError:
        return False


@dataclass(slots=True)
class _Walk:
    """Real folders before linked ones, so that a folder has its own path even where a link leads to it, too."""

    origin: Path
    skipped: list[Skipped] = field(default_factory=list)
    complete: bool = True
    seen: set[Identity] = field(default_factory=set)

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(os.fsencode(path).decode("utf-8", errors="backslashreplace"), reason))

    def files(self) -> Iterator[tuple[str, Path]]:
        """Files with their paths below the origin."""
        above, links = _holders(self.origin), [self.origin]
        while links:
            folders, links = sorted(links), []
            for start in folders:
                if start is self.origin or self._follows(start, above):
                    yield from self._below(start, links)

    def _follows(self, link: Path, above: frozenset[Identity]) -> bool:
        """Whether a linked folder is to be walked: not if it is above its link or the origin, nor if it has been."""
        try:
            target = _identity(link)
            if target in above or target in _holders(link.parent):
                self.skip(self._path(link), "a link to a folder above it")
                return False
        except OSError as error:
            self._unlisted(error)
            return False
        return target not in self.seen

    def _below(self, start: Path, links: list[Path]) -> Iterator[tuple[str, Path]]:
        """Files in a folder and its real folders; linked folders are put into `links`."""
        for top, names, files in os.walk(start, onerror=self._unlisted):
            folder = Path(top)
            if not self._enters(folder):
                names.clear()
                continue
            inside = sorted(name for name in names if not name.startswith(".") and name not in IGNORED_FOLDERS)
            linked = {name for name in inside if _is_link(folder / name)}
            links.extend(folder / name for name in inside if name in linked)
            names[:] = [name for name in inside if name not in linked]
            names_here = frozenset(files)
            for file in sorted(name for name in files if not name.startswith(".") and not _is_source(name, names_here)):
                yield self._path(folder / file), folder / file

    def _enters(self, folder: Path) -> bool:
        """Whether a folder is new; from now on it is not."""
        try:
            identity = _identity(folder)
        except OSError as error:  # it is gone since it was listed
            self._unlisted(error)
            return False
        new = identity not in self.seen
        self.seen.add(identity)
        return new

    def _unlisted(self, error: OSError) -> None:
        path = os.path.relpath(error.filename, self.origin) if error.filename else str(self.origin)
        self.skip(path, f"cannot be listed: {error.strerror}")
        self.complete = False

    def _path(self, file: Path) -> str:
        return file.relative_to(self.origin).as_posix()
