"""A ZIP or TAR archive as a folder for as long as it is read: its documents alone, below a temporary folder, whatever its members say.

No link is ever made, nothing is written outside of that folder, nothing in it can be run, and nobody but its owner can read it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from citewell.errors import IngestError
from citewell.ingest.discover.archive_members import DAMAGE, Damaged, Member, is_empty, kind_of, members
from citewell.ingest.discover.folder import MAX_PAGE_BYTES
from citewell.ingest.extract import extractor_for
from citewell.types import Skipped

MAX_MEMBERS = 100_000
MAX_BYTES = 2 * 1024**3
_MAX_RATIO = 250  # unpacked to packed bytes; documentation has up to 30
_FREE_BYTES = 64 * 1024**2  # that may be had at any ratio
_LONGEST_NAME = 255  # bytes between two slashes, as file systems have it
_LONGEST_PATH = 1000  # bytes
_SHOWN_NAME = 300

_SUFFIXES = (".zip", ".whl", ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz")
# ZIP archives inside, documents outside.
_DOCUMENTS = frozenset(".docx .xlsx .pptx .odt .ods .odp .epub .jar".split())
# What a document may include.
_TEXTS = frozenset(
    ".txt .rst .inc .md .csv .tsv .json .toml .yaml .yml .ini .cfg .conf .xml .sql .sh .bat .ps1 .diff .patch .log .tex "
    ".py .pyi .pyx .c .h .cc .cpp .cxx .hpp .cu .rs .go .java .kt .js .ts .rb .lua .pl .r .jl .cmake .proto".split()
)
_FOREIGN = re.compile(r"[\x00-\x1f\x7f]")
_HINT = "Get it anew, or unpack it yourself and index the folder."


def is_archive(path: Path) -> bool:
    """Whether a regular file is an archive of documents: by its first bytes, whatever its name, or by its name, whatever it holds."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) or extractor_for(path.name) or path.suffix.lower() in _DOCUMENTS:
            return False
    except OSError:
        return False
    return path.name.lower().endswith(_SUFFIXES) or kind_of(path) != ""


@contextmanager
def unpacked(archive: Path, into: Path) -> Iterator[tuple[Path, list[Skipped]]]:
    """The archive's documents in a folder that goes at the end, and what of it was left out.

    Where one folder at the top holds everything, the folder given is that one: the paths of `project-1.0/` and `project-1.1/` are the
    same. Files that no extractor reads and no document includes are there without their bytes, so that whoever lists the folder can
    tell of them. Of members with one name the last counts. Raises `IngestError` for an archive that cannot be read to its end or holds
    more than `MAX_BYTES` or `MAX_MEMBERS`.
    """
    if archive.is_file() and is_empty(archive):
        raise IngestError(f"The archive {archive} is empty.", hint="Get it anew, or name other documentation.")
    if not archive.is_file() or not kind_of(archive):
        raise IngestError(f"{archive} is no archive that citewell can read.", hint=f"It reads {', '.join(_SUFFIXES)}. {_HINT}")
    with ExitStack() as stack:
        try:
            top = stack.enter_context(_temporary(into))
            content = _Content(archive, top / "content", archive.stat().st_size)
        except OSError as error:
            raise _unreadable(archive, error) from error
        content.unpack()
        yield content.root, content.skipped


def _unreadable(archive: Path, error: Exception) -> IngestError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
    return IngestError(f"The archive {archive} cannot be unpacked: {reason.rstrip('.')}.", hint=_HINT)


@contextmanager
def _temporary(into: Path) -> Iterator[Path]:
    """A new folder below `into`, removed at the end. What a killed process left there goes, too: nobody holds its lock."""
    into.mkdir(parents=True, exist_ok=True)
    with _locked(into):
        for left in into.glob("archive-*"):
            with suppress(OSError), _locked(left, fcntl.LOCK_NB):
                shutil.rmtree(left, ignore_errors=True)
        top = Path(tempfile.mkdtemp(prefix="archive-", dir=into))
        lock = os.open(top, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield top
    finally:
        shutil.rmtree(top, ignore_errors=True)
        os.close(lock)


@contextmanager
def _locked(folder: Path, how: int = 0) -> Iterator[None]:
    """Raises `OSError` where the lock is another's and `how` says not to wait."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(handle)


@dataclass(slots=True)
class _Content:
    """What has been unpacked of an archive of `packed` bytes."""

    archive: Path
    root: Path
    packed: int
    skipped: list[Skipped] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    tops: set[str] = field(default_factory=set)
    bytes: int = 0

    def unpack(self) -> None:
        """Raises `IngestError`."""
        self.root.mkdir(mode=0o700)
        try:
            for number, member in enumerate(members(self.archive, self._spend), 1):
                if number > MAX_MEMBERS:
                    raise self._too_large(f"more than {MAX_MEMBERS:,} members")
                self._take(member)
        except DAMAGE as error:
            raise _unreadable(self.archive, error) from error
        self._descend()

    def _spend(self, size: int) -> None:
        self.bytes += size
        if self.bytes > MAX_BYTES:
            raise self._too_large(f"more than {MAX_BYTES // 1024**3} GiB")
        if self.bytes > max(_FREE_BYTES, self.packed * _MAX_RATIO):
            raise self._too_large(f"more than {_MAX_RATIO} times its own size")

    def _too_large(self, what: str) -> IngestError:
        return IngestError(f"The archive {self.archive} holds {what}.", hint="Unpack it yourself if you trust it, and index the folder.")

    def _take(self, member: Member) -> None:
        path, fault = _safe_path(member.name)
        if path.startswith("__MACOSX/") or PurePosixPath(path).name.startswith("._"):  # what macOS packs beside each file
            return
        if fault:
            self.skipped.append(Skipped(_shown(member.name), fault))
        elif path:
            self.tops.add(path.partition("/")[0] + ("/" if "/" in path or member.folder else ""))
            if not member.folder:
                self._write(path, member)

    def _write(self, path: str, member: Member) -> None:
        wanted, fault = _is_wanted(path), member.fault
        target = self.root / path
        if not fault and path not in self.written and os.path.lexists(target):
            fault = "another member's name differs from it in case alone, or is its folder"
        if not fault:
            fault = self._copy(member, target) if wanted else self._copy(None, target)
        if not fault:
            self.written.add(path)
        elif wanted or not PurePosixPath(path).suffix:
            self.skipped.append(Skipped(path, fault))

    def _copy(self, member: Member | None, target: Path) -> str:
        """Write a member's bytes, or none; "" or why that failed. What stood there before stays if it does."""
        part = self.root.with_name("part")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                for chunk in member.chunks() if member else ():
                    if file.tell() + len(chunk) > MAX_PAGE_BYTES:
                        return f"larger than {MAX_PAGE_BYTES // 2**20} MiB"
                    file.write(chunk)
        except Damaged as error:
            return f"damaged: {error}"
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return "its folder is a file"
        part.replace(target)
        return ""

    def _descend(self) -> None:
        """Into the one folder that holds everything; the paths of what was skipped are those below it."""
        if len(self.tops) != 1 or not (top := min(self.tops)).endswith("/"):
            return
        self.root = self.root / top
        self.root.mkdir(mode=0o700, exist_ok=True)
        self.skipped[:] = [Skipped(skipped.origin.removeprefix(top), skipped.reason) for skipped in self.skipped]


def _is_wanted(path: str) -> bool:
    file = PurePosixPath(path)
    return extractor_for(file.name) is not None or file.name == "objects.inv" or file.suffix.lower() in _TEXTS


def _safe_path(name: str) -> tuple[str, str]:
    """A member's name as a path below the archive, or why it is none. Backslashes are taken for slashes, as those who write them mean."""
    plain = name.replace("\\", "/")
    try:
        size = len(plain.encode())
    except UnicodeEncodeError:
        return "", "its name is not UTF-8"
    parts = [part for part in plain.split("/") if part not in {"", "."}]
    if plain.startswith("/") or re.match(r"[A-Za-z]:", plain):
        return "", "its path is absolute"
    if ".." in parts:
        return "", "its path leads out of the archive"
    if _FOREIGN.search(plain):
        return "", "its name holds control characters"
    if size > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "", "its name is too long"
    return "/".join(parts), ""


def _shown(name: str) -> str:
    printable = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return _FOREIGN.sub("�", printable[:_SHOWN_NAME])
