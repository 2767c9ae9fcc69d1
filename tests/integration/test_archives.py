"""Archives as origins, through the index: the next version of one, a damaged one, one without documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.errors import IngestError
from citewell.profile import load_profile
from citewell.settings import Settings
from tests.conftest import PAGES
from tests.unit.ingest.archive_help import plain_tar, plain_zip

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[Citewell]:
    async with Citewell(settings, load_profile("generic")) as opened:
        opened.embedder = None
        yield opened


def packed(top: str, pages: dict[str, str]) -> dict[str, bytes]:
    return {f"{top}/{name}": text.encode() for name, text in pages.items()} | {f"{top}/logo.png": b"\x89PNG"}


def left_behind(settings: Settings) -> list[Path]:
    return list(settings.home.rglob("archive-*"))


async def test_the_next_version_of_an_archive_changes_what_changed(app: Citewell, settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "widget.tar"
    file.write_bytes(plain_tar(packed("widget-1.0", PAGES)))
    report = await app.index(str(file), source="widget")
    assert (report.pages, report.added, report.skipped) == (3, 3, ())
    assert (await app.search("spin the widget"))[0].section.path == "api/spin.html"
    newer = {name: text.replace("30 seconds", "45 seconds") for name, text in PAGES.items() if name != "install.md"}
    file.write_bytes(plain_zip(packed("widget-1.1", newer)))
    report = await app.index(str(file), source="widget")
    assert (report.pages, report.updated, report.unchanged, report.deleted) == (2, 1, 1, 1)
    assert "45 seconds" in (await app.ask("What is the default time-out of the widget?", guarded=False)).answer_md
    assert left_behind(settings) == []


async def test_a_damaged_archive_leaves_what_is_indexed(app: Citewell, settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "widget.tar"
    data = plain_tar(packed("widget-1.0", PAGES))
    file.write_bytes(data)
    await app.index(str(file), source="widget")
    for damaged in (data[:2500], b"<html>Not found</html>", b""):
        file.write_bytes(damaged)
        with pytest.raises(IngestError, match=r"widget\.tar") as raised:
            await app.index(str(file), source="widget")
        assert "unpack it yourself" in raised.value.hint
    assert (await app.sources())[0].pages == 3
    assert left_behind(settings) == []


async def test_an_archive_without_documents_is_named_itself(app: Citewell, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "pictures.zip").write_bytes(plain_zip({"a/logo.png": b"\x89PNG", "a/b.css": b"x"}))
    with pytest.raises(IngestError) as raised:
        await app.index(str(tmp_path / "pictures.zip"))
    assert "pictures.zip" in str(raised.value)
    assert "archive-" not in str(raised.value)
    assert await app.sources() == []
    assert left_behind(settings) == []


async def test_what_an_archive_holds_that_is_no_document_is_told(app: Citewell, tmp_path: Path) -> None:
    files = packed("widget", PAGES) | {"widget/paper.docx": b"PK", "../evil.md": b"# Evil", "widget/broken.md": b"\x00\x01" * 90}
    (tmp_path / "widget.zip").write_bytes(plain_zip(files))
    report = await app.index(str(tmp_path / "widget.zip"))
    assert {skip.origin for skip in report.skipped} == {"paper.docx", "../evil.md", "broken.md"}
    assert report.pages == 3
