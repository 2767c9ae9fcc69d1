"""The members of ZIP and TAR archives, one after the other and in bounded memory. For `archive`, which decides what is kept.

An archive is as hostile as any file: nothing of its size is believed, and whatever is decompressed is counted. TAR headers are walked
here, because the standard library's walk trusts their sizes, keeps them all and searches them with patterns of quadratic cost.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

CHUNK = 64 * 1024
_SMALL_CHUNK = 4096  # for methods whose decompressors know no bound: their worst is some 80 MiB from as many packed bytes
_BLOCK = tarfile.BLOCKSIZE
_LONGEST_HEADER = 64 * 1024
_LARGEST_DIRECTORY = 16 * 1024 * 1024  # of a ZIP archive; it takes some thirteen times as much memory
_MEMORY_OF_XZ = 256 * 1024 * 1024
_LONGEST_REASON = 200
_METHODS = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
_EXTENSIONS = frozenset((*tarfile.GNU_TYPES, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE)) - {tarfile.GNUTYPE_SPARSE}
_LOCAL_HEADER = 30  # bytes before a member's name in a ZIP archive

# What the standard library raises for archives and members that are damaged or made to harm.
DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


class Damaged(Exception):
    """A member cannot be read; the ones after it can."""


@dataclass(frozen=True, slots=True)
class Member:
    """Something that an archive holds. `fault` says why it must not be read; `chunks` gives its bytes and raises `Damaged`.

    A member is read before the next one is asked for, or never.
    """

    name: str
    folder: bool
    fault: str
    chunks: Callable[[], Iterator[bytes]]


Spend = Callable[[int], None]
"""Told of all bytes that are unpacked, before they are used; raises `IngestError` when they are too many."""


def kind_of(file: Path) -> str:
    """ "zip", "tar" or "", by the first bytes of a regular file."""
    try:
        with file.open("rb") as packed:
            if packed.read(4) in (b"PK\x03\x04", b"PK\x05\x06"):
                return "zip"
        with _tar_stream(file) as stream:
            tarfile.TarInfo.frombuf(stream.read(_BLOCK), "utf-8", "surrogateescape")
    except DAMAGE:
        return ""
    return "tar"


def is_empty(file: Path) -> bool:
    """Whether a regular file is a sound archive of nothing."""
    try:
        with file.open("rb") as packed:
            if packed.read(4) == b"PK\x05\x06":
                return True
        with _tar_stream(file) as stream:
            return stream.read(_BLOCK) == bytes(_BLOCK)
    except DAMAGE:
        return False


def members(file: Path, spend: Spend) -> Iterator[Member]:
    """Everything in the archive, in its order. Raises one of `DAMAGE` where it cannot be read on."""
    yield from (_zip_members if kind_of(file) == "zip" else _tar_members)(file, spend)


# ---- ZIP ----------------------------------------------------------------------------------------------------------------------


class _Careful(io.BufferedReader):
    """A file of which nobody reads more at once than a sound archive needs."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LARGEST_DIRECTORY:
            raise zipfile.BadZipFile("its directory is too large")
        return super().read(size)


def _zip_members(file: Path, spend: Spend) -> Iterator[Member]:
    with _Careful(io.FileIO(file)) as raw, zipfile.ZipFile(raw) as archive:
        overlapping = _overlapping(archive.infolist())
        for number, info in enumerate(archive.infolist()):
            fault = "it shares its bytes with another member" if number in overlapping else _zip_fault(info)
            yield Member(info.filename, info.is_dir(), fault, partial(_zip_chunks, archive, info, spend))


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """The members that begin before the one in front of them ends: a few bytes can stand for endless text that way."""
    found, end = set[int](), 0
    for number, info in sorted(enumerate(infos), key=lambda pair: pair[1].header_offset):
        if info.header_offset < end:
            found.add(number)
        else:
            end = info.header_offset + _LOCAL_HEADER + len(info.filename) + info.compress_size
    return found


def _zip_fault(info: zipfile.ZipInfo) -> str:
    form = stat.S_IFMT(info.external_attr >> 16)
    if form == stat.S_IFLNK:
        return "a link"
    if form and form not in (stat.S_IFREG, stat.S_IFDIR):
        return "not a regular file"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    return "" if info.compress_type in _METHODS else "it is packed by a method that citewell does not know"


def _zip_chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo, spend: Spend) -> Iterator[bytes]:
    size = CHUNK if info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) else _SMALL_CHUNK
    try:
        with archive.open(info) as packed:
            while chunk := packed.read(size):
                spend(len(chunk))
                yield chunk
    except DAMAGE as error:
        raise Damaged(str(error)[:_LONGEST_REASON] or type(error).__name__) from error


# ---- TAR ----------------------------------------------------------------------------------------------------------------------


class _Decoded(io.RawIOBase):
    """The bytes of an .xz or .bz2 file, which may be of several streams."""

    def __init__(self, packed: io.BufferedIOBase, new: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]) -> None:
        self._packed, self._new, self._decoder = packed, new, new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        data = b""
        while not data:
            packed = b""
            if self._decoder.eof:
                packed = self._decoder.unused_data.lstrip(b"\0")
                while not packed:  # what pads a stream
                    if not (more := self._packed.read(CHUNK)):
                        return 0
                    packed = more.lstrip(b"\0")
                self._decoder = self._new()
            elif self._decoder.needs_input and not (packed := self._packed.read(CHUNK)):
                raise EOFError("it ends too early")
            data = self._decoder.decompress(packed, len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _tar_stream(file: Path) -> Iterator[io.BufferedIOBase]:
    with file.open("rb") as packed:
        magic = packed.peek(6)[:6]
        if magic.startswith(b"\x1f\x8b"):
            yield gzip.GzipFile(fileobj=packed)
        elif magic.startswith(b"BZh"):
            yield io.BufferedReader(_Decoded(packed, bz2.BZ2Decompressor), CHUNK)
        elif magic == b"\xfd7zXZ\0":
            yield io.BufferedReader(_Decoded(packed, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY_OF_XZ)), CHUNK)
        else:
            yield packed


@dataclass(slots=True)
class _Tape:
    """A TAR archive from its begin to its end. `left` is how much of the current member has not been passed."""

    stream: io.BufferedIOBase
    spend: Spend
    left: int = 0

    def read(self, size: int) -> bytes:
        self.spend(size)
        data = self.stream.read(size)
        if len(data) < size:
            raise tarfile.ReadError("it ends too early")
        return data

    def chunks(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes."""
        self.left = size
        while self.left:
            chunk = self.read(min(self.left, CHUNK))
            self.left -= len(chunk)
            yield chunk

    def pass_by(self, size: int) -> None:
        for _ in self.chunks(size):
            pass


def _tar_members(file: Path, spend: Spend) -> Iterator[Member]:
    with _tar_stream(file) as stream:
        tape = _Tape(stream, spend)
        for info, name, size, fault in _tar_headers(tape):
            tape.left = stored = 0 if info.islnk() or info.issym() or info.isdir() or info.isdev() else size
            yield Member(name, info.isdir(), fault, partial(tape.chunks, stored))
            tape.pass_by(tape.left)
            tape.pass_by(-stored % _BLOCK)


def _tar_headers(tape: _Tape) -> Iterator[tuple[tarfile.TarInfo, str, int, str]]:
    """Each member's header with its name, its size and why it must not be read, up to the block of zeros that ends the archive."""
    name, fields, fault = "", dict[str, str](), ""
    while (block := tape.read(_BLOCK)).strip(b"\0"):
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        size = int(fields.get("size", info.size))
        if size < 0:
            raise tarfile.ReadError("a size in it is negative")
        if info.type in _EXTENSIONS and size > _LONGEST_HEADER:
            fault = f"its header is larger than {_LONGEST_HEADER // 1024} KiB"
            tape.pass_by(size - size % -_BLOCK)
        elif info.type in _EXTENSIONS:
            data = tape.read(size - size % -_BLOCK)[:size]
            if info.type == tarfile.GNUTYPE_LONGNAME:
                name = data.split(b"\0")[0].decode("utf-8", "surrogateescape")
            elif info.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                fields = _pax_fields(data)
        else:
            more = info.type == tarfile.GNUTYPE_SPARSE and block[482]
            while more:  # its map goes on in blocks of their own
                more = tape.read(_BLOCK)[504]
            yield info, fields.get("path") or name or info.name, size, fault or _tar_fault(info, fields)
            name, fields, fault = "", {}, ""


def _tar_fault(info: tarfile.TarInfo, fields: dict[str, str]) -> str:
    if info.issym() or info.islnk():
        return "a link"
    if info.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse.") for key in fields):
        return "a sparse file"
    return "" if info.isdir() or info.type in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE) else "not a regular file"


def _pax_fields(data: bytes) -> dict[str, str]:
    """The fields of an extended header (POSIX.1-2001, pax), each written as `LENGTH KEY=VALUE`."""
    found, at = dict[str, str](), 0
    while at < len(data):
        blank = data.find(b" ", at, at + 8)
        end = at + int(data[at:blank]) if blank > 0 and data[at:blank].isdigit() else -1
        if not blank < end <= len(data):
            raise tarfile.ReadError("a header in it is damaged")
        key, _, value = data[blank + 1 : end - 1].partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        at = end
    return found
