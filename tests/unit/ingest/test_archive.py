"""Archives as folders: their documents, at the paths that an unpacked project has, and nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.errors import IngestError
from citewell.ingest.discover import archive as module
from citewell.ingest.discover.archive import is_archive, unpacked
from citewell.ingest.discover.folder import list_folder
from tests.unit.ingest.archive_help import contents, plain_tar, plain_zip, reasons

Pack = Callable[[dict[str, bytes]], bytes]
PACKS: dict[str, Pack] = {
    "a.zip": plain_zip,
    "a-1.0-py3-none-any.whl": plain_zip,
    "a.tar": plain_tar,
    "a.tar.gz": lambda files: gzip.compress(plain_tar(files)),
    "a.tgz": lambda files: gzip.compress(plain_tar(files)),
    "a.tar.bz2": lambda files: bz2.compress(plain_tar(files)),
    "a.tbz2": lambda files: bz2.compress(plain_tar(files)),
    "a.tar.xz": lambda files: lzma.compress(plain_tar(files)),
    "a.txz": lambda files: lzma.compress(plain_tar(files)),
}
FILES = {
    "p-1.0/README.md": b"# P",
    "p-1.0/docs/a.html": b"<p>a",
    "p-1.0/docs/objects.inv": b"inv",
    "p-1.0/docs/part.txt": b"included",
    "p-1.0/docs/logo.png": b"\x89PNG",
    "p-1.0/docs/paper.docx": b"PK\x03\x04",
}
KEPT = {"README.md": b"# P", "docs/a.html": b"<p>a", "docs/objects.inv": b"inv", "docs/part.txt": b"included"}


@pytest.mark.parametrize("name", PACKS)
def test_the_documents_of_every_format_and_only_they(tmp_path: Path, name: str) -> None:
    (file := tmp_path / name).write_bytes(PACKS[name](FILES))
    assert is_archive(file)
    with unpacked(file, tmp_path / "work") as (folder, skipped):
        assert contents(folder) == KEPT | {"docs/logo.png": b"", "docs/paper.docx": b""}
        listing = list_folder(folder)
        assert [found.path for found in listing.found][:2] == ["README.md", "docs/a.html"]
        assert "docs/paper.docx" in {skip.origin for skip in listing.skipped}
        assert not skipped
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.parametrize("name", PACKS)
def test_a_name_that_lies_changes_nothing(tmp_path: Path, name: str) -> None:
    for other in ("docs", "docs.bin", "docs.zip", "docs.tar"):
        (file := tmp_path / other).write_bytes(PACKS[name](FILES))
        assert is_archive(file)
        with unpacked(file, tmp_path) as (folder, _):
            assert contents(folder).keys() >= KEPT.keys()


def test_what_is_no_archive(tmp_path: Path) -> None:
    plain = {
        "a.html": b"<p>x",
        "a.md": b"# x",
        "a.gz": gzip.compress(b"<p>x"),
        "a.txt": b"\0" * 2000,
        "empty": b"",
        "b.html": plain_zip({}),
    }
    for name, data in {**plain, "a.docx": plain_zip({}), "a.epub": plain_zip({})}.items():
        (tmp_path / name).write_bytes(data)
        assert not is_archive(tmp_path / name), name
    os.mkfifo(tmp_path / "pipe.zip")
    for path in (tmp_path, tmp_path / "pipe.zip", tmp_path / "gone.zip", Path("/dev/null")):
        assert not is_archive(path)


@pytest.mark.parametrize("data", [b"", b"<html>404", b"\x1f\x8b", b"PK\x05", b"BZh9", b"\xfd7zXZ\0"])
def test_an_archive_by_name_alone_says_what_to_do(tmp_path: Path, data: bytes) -> None:
    (file := tmp_path / "docs.zip").write_bytes(data)
    assert is_archive(file)
    with pytest.raises(IngestError, match=r"docs\.zip is no archive that citewell can read") as raised, unpacked(file, tmp_path / "work"):
        pass
    assert "unpack it yourself" in raised.value.hint
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["p-1.0/a.md", "p-1.0/b/c.md"], ["a.md", "b/c.md"]),
        (["./p/a.md", "p//b.md"], ["a.md", "b.md"]),
        (["p\\a.md", "p\\b\\c.md"], ["a.md", "b/c.md"]),
        (["p/q/a.md"], ["q/a.md"]),
        (["p/a.md", "q/b.md"], ["p/a.md", "q/b.md"]),
        (["p/a.md", "logo.png"], ["logo.png", "p/a.md"]),
        (["a.md"], ["a.md"]),
        (["p/a.md", "__MACOSX/p/._a.md", "p/._a.md"], ["a.md"]),
    ],
)
@pytest.mark.parametrize("pack", [plain_zip, plain_tar])
def test_the_folder_that_holds_everything_is_no_part_of_paths(tmp_path: Path, pack: Pack, names: list[str], expected: list[str]) -> None:
    (file := tmp_path / "a.bin").write_bytes(pack(dict.fromkeys(names, b"x")))
    with unpacked(file, tmp_path) as (folder, _):
        assert sorted(contents(folder)) == expected


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz"])
def test_an_archive_of_nothing_is_said_to_be_empty(tmp_path: Path, name: str) -> None:
    nothing = {"a.zip": plain_zip({}), "a.tar": bytes(10240), "a.tgz": gzip.compress(bytes(10240))}
    (file := tmp_path / name).write_bytes(nothing[name])
    with pytest.raises(IngestError, match=rf"The archive .*{name} is empty"), unpacked(file, tmp_path):
        pass


def test_what_was_skipped_has_the_path_below_that_folder(tmp_path: Path) -> None:
    big = bytes(module.MAX_PAGE_BYTES + 1)
    files = {"p/a.md": b"a", "p/sub/big.md": big, "p/most.md": big[:-1], "p/big.png": big}
    for pack in (plain_zip, plain_tar):
        (file := tmp_path / "a.bin").write_bytes(pack(files))
        with unpacked(file, tmp_path) as (folder, skipped):
            assert reasons(skipped) == {"sub/big.md": "larger than 20 MiB"}
            assert {name: len(data) for name, data in contents(folder).items()} == {"a.md": 1, "most.md": len(big) - 1, "big.png": 0}


def test_of_members_with_one_name_the_last_that_can_be_read_counts(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for data in (b"first", b"last", bytes(module.MAX_PAGE_BYTES + 1)):
            (info := tarfile.TarInfo("a.md")).size = len(data)
            tar.addfile(info, io.BytesIO(data))
    (tmp_path / "a.tar").write_bytes(out.getvalue())
    with unpacked(tmp_path / "a.tar", tmp_path) as (folder, skipped):
        assert contents(folder) == {"a.md": b"last"}
        assert reasons(skipped) == {"a.md": "larger than 20 MiB"}


def test_names_that_differ_in_case_alone_are_two_documents_where_files_are(tmp_path: Path) -> None:
    (tmp_path / "probe").touch()
    two = not (tmp_path / "PROBE").exists()
    (tmp_path / "a.zip").write_bytes(plain_zip({"torch.Tensor.html": b"class", "torch.tensor.html": b"function"}))
    with unpacked(tmp_path / "a.zip", tmp_path) as (folder, skipped):
        assert len(contents(folder)) == 1 + two
        assert len(skipped) == 1 - two


def test_names_in_other_scripts_and_long_ones(tmp_path: Path) -> None:
    names = ["pé/日本語.md", "pé/" + "d" * 120 + "/" + "x" * 200 + ".md", "pé/😀 (1).md"]
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        (file := tmp_path / "a.tar").write_bytes(plain_tar(dict.fromkeys(names, b"x"), form))
        with unpacked(file, tmp_path) as (folder, skipped):
            assert sorted(contents(folder)) == sorted(name.removeprefix("pé/") for name in names)
            assert not skipped
    (file := tmp_path / "a.zip").write_bytes(plain_zip(dict.fromkeys(names, b"x")))
    with unpacked(file, tmp_path) as (folder, _):
        assert sorted(contents(folder)) == sorted(name.removeprefix("pé/") for name in names)


def test_files_are_their_owners_alone_and_never_run(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, mode in (("d/run.md", 0o6777), ("d/shut.md", 0o000)):
            info = tarfile.TarInfo(name)
            info.mode, info.size = mode, 1
            tar.addfile(info, io.BytesIO(b"x"))
    (tmp_path / "a.tar").write_bytes(out.getvalue())
    with unpacked(tmp_path / "a.tar", tmp_path / "work") as (folder, _):
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*.md")} == {0o600}
        (top,) = (tmp_path / "work").iterdir()
        assert stat.S_IMODE(top.stat().st_mode) == 0o700


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(plain_zip(FILES))
    with pytest.raises(IngestError, match=r"cannot be unpacked: Not a directory"), unpacked(tmp_path / "a.zip", tmp_path / "a.zip" / "in"):
        pass


def test_the_folder_goes_when_its_reader_fails(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(plain_zip(FILES))
    with pytest.raises(RuntimeError, match="reader"), unpacked(tmp_path / "a.zip", tmp_path / "work"):
        raise RuntimeError("the reader fails")
    assert list((tmp_path / "work").iterdir()) == []


def test_what_a_killed_process_left_goes_and_what_another_reads_stays(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(plain_zip(FILES))
    work = tmp_path / "work"
    (work / "archive-killed" / "content").mkdir(parents=True)
    (work / "archive-killed" / "content" / "a.md").write_text("left")
    (work / "mine").mkdir()
    (work / "archive-link").symlink_to(tmp_path)
    with unpacked(tmp_path / "a.zip", work) as (first, _), unpacked(tmp_path / "a.zip", work) as (second, _):
        assert contents(first) == contents(second)
        assert not (work / "archive-killed").exists()
        assert contents(first)
    assert {path.name for path in work.iterdir()} == {"mine", "archive-link"}
    assert (tmp_path / "a.zip").exists()


def test_archives_of_several_streams(tmp_path: Path) -> None:
    data = plain_tar(FILES)
    half = len(data) // 2
    packs: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress]
    for pack in packs:
        padding = b"\0" * 8 if pack is lzma.compress else b""
        (tmp_path / "a.tar.x").write_bytes(pack(data[:half]) + padding + pack(data[half:]) + padding)
        with unpacked(tmp_path / "a.tar.x", tmp_path) as (folder, _):
            assert contents(folder).keys() >= KEPT.keys()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_method_of_zip(tmp_path: Path, method: int) -> None:
    (tmp_path / "a.zip").write_bytes(plain_zip({"a.md": b"text " * 50_000}, method))
    with unpacked(tmp_path / "a.zip", tmp_path) as (folder, _):
        assert contents(folder) == {"a.md": b"text " * 50_000}
