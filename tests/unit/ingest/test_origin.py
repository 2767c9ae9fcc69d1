"""What a person names as an origin."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.errors import IngestError
from citewell.ingest.origin import named_origin
from citewell.settings import Settings

pytestmark = pytest.mark.anyio


async def hint_of(text: str, home: Path) -> str:
    with pytest.raises(IngestError, match="There is nothing at") as raised:
        async with named_origin(text, Settings(home=home)).origin.open():
            pass
    return raised.value.hint


@pytest.mark.parametrize("text", ["127.0.0.1:18701/docs/", "docs.example.com/x", "docs.example.com", "localhost:80", "example.com/a.html"])
async def test_an_address_without_its_scheme_is_told_from_a_lost_folder(text: str, tmp_path: Path) -> None:
    assert "beginning with https://" in await hint_of(text, tmp_path)


@pytest.mark.parametrize("text", ["guide", "./docs.example.com", "manual.md", "docs/guide.html", "../docs", "~/docs"])
async def test_a_lost_folder_is_no_address(text: str, tmp_path: Path) -> None:
    assert await hint_of(text, tmp_path) == "Name a folder or a file of documentation."


async def test_a_folder_that_is_there_is_indexed_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "docs.example.com").mkdir()
    (tmp_path / "docs.example.com" / "a.md").write_text("# A\n\nText.\n")
    async with named_origin("docs.example.com", Settings(home=tmp_path)).origin.open() as reading:
        assert reading.total == 1
