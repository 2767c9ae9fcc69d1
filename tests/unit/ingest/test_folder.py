"""Folders as origins: every document once, in order, whatever else lies there; nothing blocks and nothing crashes."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from citewell.errors import IngestError
from citewell.ingest.discover.folder import MAX_PAGE_BYTES, Listing, list_folder


def write(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")


def paths(listing: Listing) -> list[str]:
    return [found.path for found in listing.found]


def reasons(listing: Listing) -> dict[str, str]:
    return {skipped.origin: skipped.reason for skipped in listing.skipped}


def test_documents_are_found_in_a_stable_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        "b.html",
        "a/z.md",
        "a/b/c.HTM",
        "a.xhtml",
        "z.markdown",
        "logo.png",
        "script.js",
        "_static/x.html",
        ".git/x.md",
        ".hidden.md",
    )
    listing = list_folder(tmp_path)
    assert paths(listing) == ["a.xhtml", "a/b/c.HTM", "a/z.md", "b.html", "z.markdown"]
    assert all(found.file.read_text() == "text" for found in listing.found)
    assert listing.complete
    assert not listing.skipped


def test_documents_in_other_formats_are_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "manual.pdf", "notes/b.ADOC")
    assert reasons(list_folder(tmp_path)) == {"manual.pdf": "no extractor for .pdf files", "notes/b.ADOC": "no extractor for .adoc files"}


def test_texts_for_programs_are_no_documents(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "robots.txt", "requirements-dev.txt", "x/CMakeLists.txt", "llms.txt", "my-requirements.txt")
    assert [found.path for found in list_folder(tmp_path).found] == ["my-requirements.txt", "notes.txt"]


def test_a_file_larger_than_the_cap_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    with (tmp_path / "big.html").open("wb") as file:
        file.truncate(MAX_PAGE_BYTES + 1)
    with (tmp_path / "largest.html").open("wb") as file:
        file.truncate(MAX_PAGE_BYTES)
    listing = list_folder(tmp_path)
    assert paths(listing) == ["a.md", "b.md", "largest.html"]
    assert reasons(listing) == {"big.html": "larger than 20 MiB"}


# ---- links --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [".", "..", "../..", "/", "../root", "../root/sub"])
def test_a_link_to_a_folder_above_it_is_not_followed(tmp_path: Path, target: str) -> None:
    root = tmp_path / "root"
    write(root, "sub/a.md")
    write(tmp_path, "outside.md")
    (root / "loop").symlink_to(target)
    (root / "sub" / "loop").symlink_to("..")
    listing = list_folder(root)
    assert paths(listing) == ["sub/a.md"]
    assert reasons(listing) == {
        name: "a link to a folder above it" for name in ("loop", "sub/loop") if not (name == "loop" and target == "../root/sub")
    }
    assert listing.complete


def test_other_linked_folders_are_followed_each_once(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(root, "a.md")
    write(outside, "b.md", "deep/c.md")
    (root / "first").symlink_to(outside)
    (root / "second").symlink_to(outside)
    (root / "third").symlink_to(outside / "deep")
    listing = list_folder(root)
    assert paths(listing) == ["a.md", "first/b.md", "first/deep/c.md"]
    assert listing.complete


def test_a_linked_folder_leads_to_nothing_above_itself(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "else" / "outside"
    write(root, "a.md")
    write(outside, "b.md")
    write(tmp_path, "else/no.md")
    (root / "out").symlink_to(outside)
    (outside / "up").symlink_to("..")
    (outside / "back").symlink_to(root)
    listing = list_folder(root)
    assert paths(listing) == ["a.md", "out/b.md"]
    assert reasons(listing) == {"out/up": "a link to a folder above it", "out/back": "a link to a folder above it"}


def test_a_real_folder_goes_by_its_own_name(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "alias").symlink_to("real")
    assert paths(list_folder(tmp_path)) == ["real/a.md"]


def test_an_origin_may_itself_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", "a.md", "sub/b.md")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "loop").symlink_to("../link")
    listing = list_folder(tmp_path / "link")
    assert paths(listing) == ["a.md", "sub/b.md"]
    assert list(reasons(listing)) == ["loop"]


def test_a_relative_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "sub/b.md")
    monkeypatch.chdir(tmp_path)
    assert paths(list_folder(Path())) == ["a.md", "sub/b.md"]


def test_broken_links_are_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "target/b.md")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "jquery.js").symlink_to("nowhere.js")
    (tmp_path / "self.md").symlink_to("self.md")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "link.md").symlink_to("target/b.md")
    listing = list_folder(tmp_path)
    assert paths(listing) == ["a.md", "link.md", "target/b.md"]
    assert reasons(listing).keys() == {"gone.md", "gone", "self.md", "self"}
    assert reasons(listing)["gone.md"] == reasons(listing)["gone"] == "a broken link"
    assert listing.complete


# ---- what is no file ----------------------------------------------------------------------------------------------------------


def test_pipes_and_sockets_are_skipped_and_block_nobody(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.html")
    (tmp_path / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(tmp_path, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/socket.html" if sys.platform == "linux" else "socket.html")
        os.close(here)
        listing = list_folder(tmp_path)
    assert paths(listing) == ["a.md"]
    assert reasons(listing) == {"pipe.html": "not a regular file", "socket.html": "not a regular file"}


def test_a_pipe_or_a_device_is_no_origin(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    for origin in (tmp_path / "pipe.html", Path("/dev/null")):
        with pytest.raises(IngestError, match="neither a folder nor a file"):
            list_folder(origin)


def test_names_that_are_not_utf_8_are_skipped(tmp_path: Path) -> None:
    if sys.platform != "linux":  # file systems elsewhere allow no such name
        return
    write(tmp_path, "a.md")
    strange = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(strange)  # noqa: PTH102 - a name in bytes
    for name in (strange + b"/in.md", strange + b".html", strange + b".png"):
        with open(name, "w") as file:  # noqa: PTH123 - a name in bytes
            file.write("text")
    listing = list_folder(tmp_path)
    assert paths(listing) == ["a.md"]
    assert reasons(listing) == {"caf\\xe9/in.md": "its name is not UTF-8", "caf\\xe9.html": "its name is not UTF-8"}


def test_a_folder_that_cannot_be_listed_makes_the_listing_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", "locked/b.md")
    really = os.scandir

    def scandir(path: str | Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return really(path)

    monkeypatch.setattr(os, "scandir", scandir)
    listing = list_folder(tmp_path)
    assert paths(listing) == ["a.md"]
    assert reasons(listing) == {"locked": "cannot be listed: Permission denied"}
    assert not listing.complete


# ---- single files and empty origins -------------------------------------------------------------------------------------------


def test_a_single_file_is_an_origin(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    assert paths(list_folder(tmp_path / "a.md")) == ["a.md"]


@pytest.mark.parametrize(("name", "reason"), [("a.pdf", "no extractor for .pdf"), ("a.png", "not a document"), ("a", "not a document")])
def test_a_single_file_that_is_no_document(tmp_path: Path, name: str, reason: str) -> None:
    write(tmp_path, name)
    with pytest.raises(IngestError, match=reason):
        list_folder(tmp_path / name)


def test_an_origin_without_documents(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="nothing at"):
        list_folder(tmp_path / "gone")
    with pytest.raises(IngestError, match="holds no documents"):
        list_folder(tmp_path)
    with pytest.raises(IngestError, match="Cannot read"):
        list_folder(tmp_path / ("x" * 300))


def test_what_a_page_was_built_from_is_not_read_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "git-add.html", "git-add.txt", "guide.md", "guide.htm", "other.txt", "sub/git-add.txt")
    assert [found.path for found in list_folder(tmp_path).found] == ["git-add.html", "guide.htm", "other.txt", "sub/git-add.txt"]
