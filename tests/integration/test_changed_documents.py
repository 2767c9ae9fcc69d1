"""Documents that change between two runs: what answers, what is embedded again, what is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from citewell.app import Citewell
from citewell.index.embed import MiniLM
from citewell.index.store import SourceSpec
from citewell.ingest.discover.folder import MAX_PAGE_BYTES
from citewell.ingest.discover.local import Local
from citewell.ingest.pipeline import IndexRequest, index_source
from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.types import Section
from tests.conftest import PAGES

pytestmark = pytest.mark.anyio

COLOURS = "red orange yellow green blue indigo violet black white".split()
NINE = "# Colours\n\n" + "\n\n".join(f"## The {name} widget\n\nThe {name} widget costs {n} gold coins." for n, name in enumerate(COLOURS))
TWO = "# Colours\n\n" + "\n\n".join(NINE.split("\n\n")[1:5])


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[Citewell]:
    async with Citewell(settings, load_profile("generic")) as opened:
        yield opened


async def sections(app: Citewell, query: str, k: int = 20) -> list[Section]:
    return [hit.section for hit in await app.search(query, k=k)]


async def test_of_nine_sections_two_are_left(app: Citewell, folder: Path) -> None:
    (folder / "colours.md").write_text(NINE)
    await app.index(str(folder))
    before = {section.anchor: section.id for section in await sections(app, "how many gold coins does the widget cost")}
    (folder / "colours.md").write_text(TWO)
    report = await app.index(str(folder))
    assert (report.updated, report.embedded, report.added, report.deleted) == (1, 0, 0, 0)
    after = [section for section in await sections(app, "how many gold coins does the widget cost") if section.path == "colours.md"]
    assert {section.anchor: section.id for section in after} == {name: before[name] for name in ("the-red-widget", "the-orange-widget")}
    for name in COLOURS[2:]:
        assert not any(f"The {name} widget costs" in section.text for section in await sections(app, f"the {name} widget costs"))


async def test_what_is_deleted_and_added_again_is_found_by_its_words_and_its_meaning(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "install.md").unlink()
    await app.index(str(folder))
    assert not any(section.path == "install.md" for section in await sections(app, "install the widget with pip"))
    (folder / "install.md").write_text(PAGES["install.md"])
    report = await app.index(str(folder))
    assert (report.added, report.unchanged) == (1, 2)
    assert (await app.sources())[0].vectors_pending == 0
    (best, *_) = await app.search("install the widget with pip", k=3)
    assert best.section.path == "install.md"
    assert set(best.channels) == {"dense", "keyword"}


async def test_line_ends_and_an_inserted_heading_embed_nothing_but_what_is_new(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    before = {section.heading_path: section.id for section in await sections(app, "widget time-out example")}
    (folder / "guide.md").write_bytes(PAGES["guide.md"].replace("\n", "\r\n").encode())
    report = await app.index(str(folder))
    assert (report.updated, report.embedded) == (1, 0)
    (folder / "guide.md").write_text(PAGES["guide.md"].replace("## Example\n\nFirst", "## Colours\n\nRed and blue.\n\n## Example\n\nFirst"))
    report = await app.index(str(folder))
    assert (report.updated, report.embedded) == (1, 1)
    after = {section.heading_path: section.id for section in await sections(app, "widget time-out example")}
    assert before.keys() <= after.keys()
    assert {path: after[path] for path in before} == before


class DyingEmbedder(MiniLM):
    """Breaks at the first text, as a model or an endpoint may."""

    async def embed(self, texts: Sequence[str]) -> Any:
        raise RuntimeError("the embedder died")


async def test_an_embedder_that_dies_in_an_update_leaves_every_page_answering(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "guide.md").write_text(PAGES["guide.md"].replace("30 seconds", "45 seconds"))
    origin = Local(folder, app.settings.home)
    with pytest.raises(RuntimeError, match="died"):
        await index_source(app.store, DyingEmbedder(), IndexRequest(origin, SourceSpec("widget", str(folder.resolve()), "widget")))
    assert (await app.sources())[0].vectors_pending == 1
    assert "45 seconds" in (await app.ask("What is the default time-out of the widget?")).answer_md
    assert "pip install widget" in (await app.ask("How do I install the widget?")).answer_md
    report = await app.index(str(folder))
    assert (report.unchanged, report.embedded) == (3, 1)


async def test_a_page_that_can_no_longer_be_read_answers_as_it_was(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    with (folder / "guide.md").open("ab") as file:
        file.truncate(MAX_PAGE_BYTES + 1)
    report = await app.index(str(folder))
    assert {skip.origin: skip.reason for skip in report.skipped} == {"guide.md": "larger than 20 MiB"}
    assert "30 seconds" in (await app.ask("What is the default time-out of the widget?")).answer_md


async def test_what_cannot_be_indexed_is_named_and_everything_else_is_there(app: Citewell, folder: Path) -> None:
    (folder / "front.md").write_text("---\ntitle: Fronted\n---\n\nThe frontispiece shows a heron.\n")
    (folder / "bare.md").write_text("No front matter and no heading, but a bittern.\n")
    (folder / "binary.md").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "genindex.html").write_text("<html><body><h1>Index</h1><p>heron, bittern</p></body></html>")
    (folder / "search.html").write_text("<html><body><h1>Search</h1><form><input name='q'></form></body></html>")
    (folder / "404.html").write_text("<html><body><h1>Page not found</h1><p>No heron here.</p></body></html>")
    with (folder / "large.html").open("wb") as file:
        file.truncate(MAX_PAGE_BYTES + 1)
    report = await app.index(str(folder))
    named = {skip.origin: skip.reason for skip in report.skipped}
    assert named.keys() >= {"binary.md", "large.html", "genindex.html"}
    assert all(named.values())
    assert report.pages == 5
    assert (await sections(app, "heron"))[0].path == "front.md"
    assert (await sections(app, "bittern"))[0].path == "bare.md"
    assert not {section.path for section in await sections(app, "heron bittern search page not found")} & {"genindex.html", "404.html"}
