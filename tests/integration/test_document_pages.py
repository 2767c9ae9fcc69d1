"""Stored documents, read page by page."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.errors import UsageError
from citewell.profile import load_profile
from citewell.settings import Settings

pytestmark = pytest.mark.anyio


async def test_a_document_is_read_page_by_page_up_to_its_end(settings: Settings, folder: Path) -> None:
    text = (
        "# Long\n\nFew words.\n\n```\n"
        + "code of the page\n" * 1800
        + "```\n\n"
        + "".join(f"Line {n} of the page.\n\n" for n in range(2000))
    )
    (folder / "long.md").write_text(text)
    async with Citewell(settings, load_profile("generic")) as app:
        await app.index(str(folder))
        pages = [await app.read_document("widget/long.md")]
        while (following := pages[-1].next) is not None:
            pages.append(await app.read_document("widget/long.md", offset=following))
        whole = "".join(page.text for page in pages)
        assert whole == (await app.store.read_document("widget/long.md")).text
        assert len(pages) > 2
        assert all(len(page.text) > 12_000 for page in pages[:-1])
        with pytest.raises(UsageError, match=f"nothing at character {len(whole)} of widget/long.md"):
            await app.read_document("widget/long.md", offset=len(whole))
