"""Archives made to harm: nothing is written elsewhere, nothing is believed, and every bound holds."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import struct
import tarfile
import tempfile
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.errors import IngestError
from citewell.ingest.discover import archive as module
from citewell.ingest.discover.archive import unpacked
from tests.unit.ingest.archive_help import END, contents, pax_header, plain_tar, plain_zip, reasons, tar_member

GOOD = tar_member("good.md", b"good")


def opened(data: bytes, folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """What an archive gives and what it leaves out. Fails when anything lies outside of its folder, or is no plain file."""
    (work := folder / "work").mkdir(exist_ok=True)
    (file := folder / "a.bin").write_bytes(data)
    with unpacked(file, work) as (root, skipped):
        for path in folder.rglob("*"):
            assert path == file or path.is_relative_to(work)
            assert stat.S_ISREG(path.lstat().st_mode) or stat.S_ISDIR(path.lstat().st_mode)
        found = contents(root), reasons(skipped)
    assert list(work.iterdir()) == []
    return found


# ---- names --------------------------------------------------------------------------------------------------------------------

NAMES = {
    "../out.md": "its path leads out of the archive",
    "a/../../out.md": "its path leads out of the archive",
    "a\\..\\..\\out.md": "its path leads out of the archive",
    "/etc/out.md": "its path is absolute",
    "\\\\server\\out.md": "its path is absolute",
    "C:/out.md": "its path is absolute",
    "c:out.md": "its path is absolute",
    "a\nb.md": "its name holds control characters",
    "a\x1b[31m.md": "its name holds control characters",
    "x" * 256 + ".md": "its name is too long",
    "d/" * 600 + "a.md": "its name is too long",
}


@pytest.mark.parametrize(("name", "reason"), NAMES.items())
@pytest.mark.parametrize("pack", [plain_zip, plain_tar])
def test_names_that_lead_elsewhere_are_named_and_skipped(
    tmp_path: Path, pack: Callable[[dict[str, bytes]], bytes], name: str, reason: str
) -> None:
    files, skipped = opened(pack({name: b"x", "good.md": b"good"}), tmp_path)
    assert files == {"good.md": b"good"}
    ((shown, why),) = skipped.items()
    assert why == reason
    assert shown.isprintable()
    assert len(shown) <= 300


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    files, skipped = opened(
        tar_member("caf\udce9.md", b"x") + pax_header(path="th\udce9.md") + tar_member("b", b"x") + GOOD + END, tmp_path
    )
    assert files == {"good.md": b"good"}
    assert skipped == {"caf\\xe9.md": "its name is not UTF-8", "th\\xe9.md": "its name is not UTF-8"}


def test_a_file_where_a_folder_is_needed_and_the_other_way_round(tmp_path: Path) -> None:
    files, skipped = opened(plain_tar({"a.md": b"1", "a.md/b.md": b"2", "a.md/c/d.md": b"3", "e/f.md": b"4", "e": b"5"}), tmp_path)
    assert files == {"a.md": b"1", "e/f.md": b"4"}
    assert skipped.keys() == {"a.md/b.md", "a.md/c/d.md", "e"}


# ---- what is no file ----------------------------------------------------------------------------------------------------------


def test_links_and_devices_in_tar(tmp_path: Path) -> None:
    kinds = {
        "sym.md": (tarfile.SYMTYPE, "a link"),
        "hard.md": (tarfile.LNKTYPE, "a link"),
        "latest": (tarfile.SYMTYPE, "a link"),
        "fifo.md": (tarfile.FIFOTYPE, "not a regular file"),
        "disk.md": (tarfile.BLKTYPE, "not a regular file"),
        "tty.md": (tarfile.CHRTYPE, "not a regular file"),
        "odd.md": (b"Z", "not a regular file"),
        "sparse.md": (tarfile.GNUTYPE_SPARSE, "a sparse file"),
    }
    members = b"".join(tar_member(name, kind=kind, link="/etc/passwd") for name, (kind, _) in kinds.items())
    through = tar_member("latest/evil.md", b"x")
    files, skipped = opened(members + through + pax_header(**{"GNU.sparse.major": "1"}) + tar_member("s.md", b"x") + GOOD + END, tmp_path)
    assert files == {"latest/evil.md": b"x", "good.md": b"good"}
    assert skipped == {name: why for name, (_, why) in kinds.items()} | {"s.md": "a sparse file"}


def test_links_and_devices_in_zip(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, mode in (("sym.md", stat.S_IFLNK), ("fifo.md", stat.S_IFIFO), ("good.md", stat.S_IFREG)):
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    assert opened(out.getvalue(), tmp_path) == ({"good.md": b"/etc/passwd"}, {"sym.md": "a link", "fifo.md": "not a regular file"})


# ---- bombs --------------------------------------------------------------------------------------------------------------------


def test_a_member_that_unpacks_beyond_all_measure(tmp_path: Path) -> None:
    header = tar_member("zeros.bin", size=10 * 1024**3)
    bomb = gzip.compress(header) + gzip.compress(bytes(1024**2)) * 1000
    with pytest.raises(IngestError, match="more than 250 times its own size"):
        opened(bomb, tmp_path)
    with pytest.raises(IngestError, match="more than 250 times its own size"):
        opened(plain_zip({f"{n}.md": bytes(2**24) for n in range(8)}), tmp_path)


def test_the_total_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1024**2)
    files = {f"{n}.md": bytes(range(256)) * 1200 for n in range(4)}
    for pack in (plain_zip, plain_tar):
        with pytest.raises(IngestError, match="holds more than 0 GiB"):
            opened(pack(files), tmp_path)
    assert len(opened(plain_tar(dict(list(files.items())[:3])), tmp_path)[0]) == 3


def test_the_members_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEMBERS", 20)
    for pack in (plain_zip, plain_tar):
        assert len(opened(pack({f"{n}.md": b"x" for n in range(20)}), tmp_path)[0]) == 20
        with pytest.raises(IngestError, match="more than 20 members"):
            opened(pack({f"{n}.md": b"x" for n in range(21)}), tmp_path)


def test_members_that_share_their_bytes(tmp_path: Path) -> None:
    data = plain_zip({"a.md": b"a", "b.md": b"b"})
    start = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", start + 1)
    crc = data[start + 16 : start + 20]
    forged = bytearray(data)
    forged[second + 42 : second + 46] = bytes(4)  # the second begins where the first does
    forged[second + 16 : second + 20] = crc
    assert opened(bytes(forged), tmp_path) == ({"a.md": b"a"}, {"b.md": "it shares its bytes with another member"})


def test_archives_in_archives_stay_packed(tmp_path: Path) -> None:
    inner = plain_zip({"a.md": b"inner"})
    assert opened(plain_zip({"in.zip": inner, "in.tar.gz": b"x", "a.md": b"x"}), tmp_path)[0] == {
        "a.md": b"x",
        "in.zip": b"",
        "in.tar.gz": b"",
    }


def hostile_headers() -> dict[str, bytes]:
    big = 3 * 1024**2
    sparse = bytearray(tar_member("sparse.md", kind=tarfile.GNUTYPE_SPARSE))
    sparse[482] = 1  # its map goes on
    sparse[148:156] = b"%06o\0 " % (sum(sparse[:148]) + 8 * ord(" ") + sum(sparse[156:512]))
    return {
        "pax": tar_member("pax", b"9" * big, tarfile.XHDTYPE) + tar_member("x.md", b"x"),
        "long name": tar_member("name", b"n" * big, tarfile.GNUTYPE_LONGNAME) + tar_member("x.md", b"x"),
        "long link": tar_member("name", b"n" * big, tarfile.GNUTYPE_LONGLINK) + tar_member("x.md", b"x"),
        "global": b"".join(tar_member("g", b"9" * 60_000, tarfile.XGLTYPE) for _ in range(50)),
        "chain": pax_header(comment="x") * 3000,
        "map": bytes(sparse) + (b"\1" * 512) * 5000 + bytes(512),
    }


@pytest.mark.parametrize("kind", hostile_headers())
def test_headers_of_any_size_cost_neither_memory_nor_time(tmp_path: Path, kind: str) -> None:
    data = hostile_headers()[kind] + GOOD + END
    tracemalloc.start()
    started = time.process_time()
    files, _ = opened(data, tmp_path)
    seconds, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert files["good.md"] == b"good"
    assert seconds < 5
    assert peak < 1024**2


def test_a_directory_of_any_size_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.zip").open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(64 * 1024**2)
        file.seek(0, 2)
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9, 9, 60 * 1024**2, 4 * 1024**2, 0))
    with pytest.raises(IngestError, match="its directory is too large"), unpacked(tmp_path / "a.zip", tmp_path):
        pass


def test_xz_that_asks_for_much_memory(tmp_path: Path) -> None:
    data = bytearray(lzma.compress(plain_tar({"a.md": b"x"}), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**20}]))
    block = 12  # where its header begins, behind that of the stream
    size = (data[block] + 1) * 4
    assert data[block + 2 : block + 4] == b"\x21\x01"
    data[block + 4] = 36  # a dictionary of one GiB; to pack with one would take ten
    data[block + size - 4 : block + size] = struct.pack("<L", zlib.crc32(data[block : block + size - 4]))
    (tmp_path / "a.tar.xz").write_bytes(data)
    with pytest.raises(IngestError), unpacked(tmp_path / "a.tar.xz", tmp_path):
        pass


# ---- damage -------------------------------------------------------------------------------------------------------------------


def test_a_damaged_member_is_skipped_with_a_reason_and_the_rest_kept(tmp_path: Path) -> None:
    data = bytearray(plain_zip({"a.md": b"a" * 1000, "b.md": b"good"}, zipfile.ZIP_STORED))
    data[data.index(b"aaaa")] = 0
    files, skipped = opened(bytes(data), tmp_path)
    assert files == {"b.md": b"good"}
    assert skipped["a.md"].startswith("damaged: Bad CRC-32")


@pytest.mark.parametrize(
    ("at", "value", "reason"), [(8, 1, "it is encrypted"), (10, 9, "it is packed by a method that citewell does not know")]
)
def test_members_that_cannot_be_unpacked(tmp_path: Path, at: int, value: int, reason: str) -> None:
    data = bytearray(plain_zip({"a.md": b"a", "b.png": b"b", "c.md": b"c"}))
    first = data.index(b"PK\x01\x02")
    for entry in (first, data.index(b"PK\x01\x02", first + 1)):
        data[entry + at] = value
    assert opened(bytes(data), tmp_path) == ({"c.md": b"c"}, {"a.md": reason})


def test_a_size_that_lies(tmp_path: Path) -> None:
    data = bytearray(plain_zip({"a.md": b"a" * 5000, "b.md": b"good"}))
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<L", 10)
    files, skipped = opened(bytes(data), tmp_path)
    assert files == {"b.md": b"good"}
    assert skipped["a.md"].startswith("damaged")
    for size in (-1, 2**40):
        with pytest.raises(IngestError, match=r"cannot be unpacked|GiB|times"):
            opened(tar_member("a.md", b"x", size=size) + END, tmp_path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_an_archive_that_ends_too_early_is_refused_whole(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    data = pack(plain_tar({f"{n}.md": b"text " * 300 for n in range(6)})[:-10_240])
    for end in range(700 if pack is bytes else 30, len(data), 97):
        with pytest.raises(IngestError, match=r"cannot be unpacked|no archive"):
            opened(data[:end], tmp_path)


SOUND = [plain_zip({"p/a.md": b"text" * 50, "p/b.html": b"<p>b"}), plain_tar({"p/a.md": b"text" * 50, "p/b.html": b"<p>b"})]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*SOUND, gzip.compress(SOUND[1])]), st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=12))
def test_any_bytes_are_a_folder_or_an_error(data: bytes, changes: list[tuple[int, int]]) -> None:
    forged = bytearray(data)
    for at, value in changes:
        forged[at % len(data)] = value
    with tempfile.TemporaryDirectory() as folder, suppress(IngestError):
        files, _ = opened(bytes(forged), Path(folder))
        assert len(files) <= 2
