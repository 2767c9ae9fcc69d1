"""Pages and sources looked at again by name: only they are asked, what changed is indexed, a fault of one stops no other."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.errors import IngestError, NotFound
from citewell.testing.sites import Site, SiteServer
from tests.integration.site_help import counts, crawl, html, paths, texts

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(words_app: Citewell) -> Citewell:
    return words_app


async def test_one_page_of_a_site_is_asked_and_healed(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    site.pages["/docs/guide.html"] = html("Guide", "The widget hums at forty hertz.", "new.html")
    site.pages["/docs/old.html"] = html("Old notes", "This changed, too.")
    server.requests.clear()
    report = await app.refresh([server.url + "docs/guide.html#anywhere"])
    assert [counts(source) for source in report.sources] == [(0, 1, 0, 0, 0)]
    assert {path for path in server.paths if path in site.pages} == {"/docs/", "/docs/guide.html"}, "the entry tells where the site lies"
    assert "forty hertz" in (await texts(app, "hums hertz"))[0]
    assert "gizmo" in (await texts(app, "gizmo"))[0]


async def test_a_refresh_of_a_page_that_is_gone_removes_it(app: Citewell, server: SiteServer, site: Site) -> None:
    await crawl(app, server)
    del site.pages["/docs/old.html"]
    report = await app.refresh([server.url + "docs/old.html"])
    assert report.sources[0].deleted == 1
    assert "old.html" not in await paths(app)
    with pytest.raises(NotFound, match=r"No indexed page has the address .*old\.html"):
        await app.refresh([server.url + "docs/old.html"])


async def test_a_refresh_in_between_does_not_end_a_crawl_that_is_under_way(app: Citewell, server: SiteServer, site: Site) -> None:
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 1})
    await crawl(app, server)
    await app.refresh([server.url + "docs/guide.html"])
    app.settings = app.settings.model_copy(update={"crawl_max_pages": 100})
    report = await crawl(app, server)
    assert any("had been visited" in warning for warning in report.warnings)
    assert len(await paths(app)) == 4


async def test_all_sources_are_refreshed_and_a_failing_one_named(app: Citewell, server: SiteServer, folder: Path, tmp_path: Path) -> None:
    lost = tmp_path / "lost"
    shutil.copytree(folder, lost)
    await app.index(str(lost))
    await app.index(str(folder))
    await crawl(app, server)
    shutil.rmtree(lost)
    (folder / "install.md").write_text("# Installing\n\nInstall the widget with a spanner.\n")
    report = await app.refresh()
    assert {source.source: source.updated for source in report.sources} == {"widget": 1, server.url.removeprefix("http://") + "docs": 0}
    assert [failed.origin for failed in report.failed] == ["lost"]
    assert "There is nothing at" in report.failed[0].reason
    assert "spanner" in (await texts(app, "spanner"))[0]
    assert next(info for info in await app.sources() if info.source == "lost").pages == 3, "what is indexed stays"


async def test_pages_of_a_folder_are_refreshed_by_their_address(app: Citewell, folder: Path) -> None:
    await app.index(str(folder), base_url="https://widget.example/docs")
    (folder / "install.md").write_text("# Installing\n\nInstall the widget with a spanner.\n")
    report = await app.refresh(["https://widget.example/docs/install.md"])
    assert report.sources[0].updated == 1


@pytest.mark.parametrize("ending", ["zip", "tar.gz"])
async def test_an_archive_is_a_folder_whose_next_version_keeps_the_paths(app: Citewell, folder: Path, tmp_path: Path, ending: str) -> None:
    archive = tmp_path / f"widget-docs.{ending}"

    def pack(version: str) -> None:
        if ending == "zip":
            with zipfile.ZipFile(archive, "w") as packed:
                for file in sorted(folder.rglob("*.*")):
                    packed.write(file, f"widget-{version}/{file.relative_to(folder)}")
        else:
            with tarfile.open(archive, "w:gz") as tar:
                tar.add(folder, f"widget-{version}")

    pack("1.0")
    report = await app.index(str(archive))
    assert (report.source, report.added) == ("widget-docs", 3)
    assert await paths(app) == ["api/spin.html", "guide.md", "install.md"]
    (folder / "install.md").unlink()
    pack("1.1")
    again = await app.index(str(archive))
    assert counts(again) == (0, 0, 2, 1, 0)
    assert not list((app.settings.home).glob("archive-*")), "nothing is left of the unpacked files"


async def test_an_archive_without_documents_is_named_itself(app: Citewell, tmp_path: Path) -> None:
    archive = tmp_path / "pictures.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a.png", b"\x89PNG")
    with pytest.raises(IngestError, match=r"pictures\.zip holds no documents"):
        await app.index(str(archive))
    assert await app.sources() == []
