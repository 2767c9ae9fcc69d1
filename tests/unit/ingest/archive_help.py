"""Archives from a few files, sound and hostile ones."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

from citewell.types import Skipped


def plain_zip(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def plain_tar(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def tar_member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, size: int | None = None, link: str = "") -> bytes:
    """One member as it stands in a TAR archive, of any kind and with any size in its header."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data) if size is None else size, link
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape") + data + bytes(-len(data) % 512)


def pax_header(**fields: str) -> bytes:
    """An extended header for the member after it."""
    data = b""
    for key, value in fields.items():
        record = f" {key}={value}\n".encode("utf-8", "surrogateescape")
        length = len(record)
        while len(str(length)) + len(record) != length:
            length = len(str(length)) + len(record)
        data += str(length).encode() + record
    return tar_member("pax", data, tarfile.XHDTYPE)


END = bytes(1024)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def reasons(skipped: list[Skipped]) -> dict[str, str]:
    return {skip.origin: skip.reason for skip in skipped}
