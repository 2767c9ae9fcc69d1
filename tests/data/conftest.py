"""The evaluation data: the rebuilt PyTorch site, unpacked and indexed once for the session."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from citewell.app import Citewell
from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.types import IndexReport
from tests.conftest import fresh_database

ADDRESS = "https://docs.pytorch.org/"
PARTS = {"docs/stable": "torch", "tutorials": "tutorials", "vision/stable": "torchvision", "audio/stable": "torchaudio"}


@pytest.fixture(scope="session")
def data() -> Path:
    folder = os.environ.get("CITEWELL_TEST_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.fail("These tests need the data folder: make test-data DATA=DIR")
    return Path(folder)


@pytest.fixture(scope="session")
def site(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pytorch")
    with tarfile.open(data / "pytorch-site.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "site"


def questions(data: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / "questions" / f"{name}.jsonl").read_text().splitlines()]


@dataclass(frozen=True)
class IndexedSite:
    """The site in a database, with the reports of its four parts, in their order."""

    settings: Settings
    root: Path
    reports: list[IndexReport]

    def page(self, url: str) -> Path:
        return self.root / url.removeprefix(ADDRESS)


async def index_parts(settings: Settings, site: Path, *, vectors: bool) -> list[IndexReport]:
    async with Citewell(settings, load_profile("pytorch")) as app:
        if not vectors:
            app.embedder = None
        return [await app.index(str(site / part), source=name, base_url=f"{ADDRESS}{part}/") for part, name in PARTS.items()]


@pytest.fixture(scope="session")
def keyword_site(embedded_url: str, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedSite]:
    """The whole site without vectors: what is proved here does not depend on them, and they take a quarter of an hour."""
    with fresh_database(embedded_url) as url:
        settings = Settings(home=tmp_path_factory.mktemp("home"), database_url=url)
        yield IndexedSite(settings, site, anyio.run(_without_vectors, settings, site))


async def _without_vectors(settings: Settings, site: Path) -> list[IndexReport]:
    return await index_parts(settings, site, vectors=False)
