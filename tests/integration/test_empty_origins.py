"""Folders and archives in which nothing is left, or nothing that can be read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.errors import IngestError
from tests.unit.ingest.archive_help import plain_tar

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(words_app: Citewell) -> Citewell:
    return words_app


@pytest.mark.parametrize("gone", [False, True])
async def test_an_emptied_folder_keeps_its_pages_and_says_how_to_forget_them(app: Citewell, folder: Path, gone: bool) -> None:
    await app.index(str(folder), source="my widget")
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    if gone:
        folder.rmdir()
    with pytest.raises(IngestError, match="There is nothing at" if gone else "holds no documents") as raised:
        await app.index(str(folder), source="my widget", prune=True)
    assert raised.value.hint.endswith(" Its indexed pages stay; citewell remove 'my widget' forgets them.")
    assert (await app.sources())[0].pages == 3


async def test_a_new_folder_without_documents_has_nothing_to_forget(app: Citewell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(IngestError, match="holds no documents") as raised:
        await app.index(str(tmp_path / "empty"))
    assert "citewell remove" not in raised.value.hint


async def test_an_archive_whose_members_were_all_skipped_says_why(app: Citewell, tmp_path: Path) -> None:
    file = tmp_path / "odd.tar"
    file.write_bytes(plain_tar({"../evil.md": b"# Evil", "/etc/a.md": b"# A"}))
    with pytest.raises(IngestError, match=r"odd\.tar holds nothing that can be indexed") as raised:
        await app.index(str(file))
    assert raised.value.hint == "Skipped: ../evil.md: its path leads out of the archive; /etc/a.md: its path is absolute."
    assert await app.sources() == []


async def test_an_empty_archive_is_called_empty(app: Citewell, tmp_path: Path) -> None:
    file = tmp_path / "none.tgz"
    file.write_bytes(gzip.compress(bytes(10240)))
    with pytest.raises(IngestError, match=r"The archive .*none\.tgz is empty"):
        await app.index(str(file))


async def test_a_listing_with_holes_is_not_complete(app: Citewell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from citewell.ingest.discover import folder as module

    listed = module.list_folder
    await app.index(str(folder))
    before = (await app.sources())[0].indexed_at

    def with_holes(*arguments: object, **options: object) -> module.Listing:
        found = listed(*arguments, **options)  # type: ignore[arg-type]
        return module.Listing(found.found, found.skipped, complete=False)

    monkeypatch.setattr("citewell.ingest.discover.local.list_folder", with_holes)
    report = await app.index(str(folder))
    assert not report.complete
    assert any("Not all of" in warning for warning in report.warnings)
    assert (await app.sources())[0].indexed_at == before
