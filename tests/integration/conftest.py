"""Fixtures of the tests that crawl."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from citewell.app import Citewell
from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.testing.sites import Site, SiteServer
from tests.integration.site_help import html


@pytest.fixture
def site() -> Site:
    return Site(
        {
            "/docs/": html("Widget", "The widget manual.", "guide.html", "api/", "/blog/", "https://elsewhere.example/docs/x.html"),
            "/docs/guide.html": html("Guide", "The widget hums at thirty hertz.", "./#top", "old.html", "guide.html?print=1", "logo.png"),
            "/docs/api/": html("API", "The spin function turns the widget.", "../guide.html", "../../docs/api/index.html"),
            "/docs/old.html": html("Old notes", "The widget was once a gizmo."),
            "/docs/guide.html?print=1": html("Guide", "Never asked."),
            "/blog/": html("Blog", "Not documentation."),
        }
    )


@pytest.fixture
def server(site: Site) -> Iterator[SiteServer]:
    with SiteServer(site) as running:
        yield running


@pytest.fixture
async def words_app(settings: Settings) -> AsyncIterator[Citewell]:
    """Without an embedder: what is crawled has nothing to do with vectors."""
    async with Citewell(settings, load_profile("generic")) as opened:
        opened.embedder = None
        yield opened
