"""An invented site, and what tests of crawling do with it."""

from __future__ import annotations

from citewell.app import Citewell
from citewell.testing.sites import SiteServer
from citewell.types import IndexReport


def html(title: str, text: str, *links: str, head: str = "") -> bytes:
    anchors = "".join(f"<a href='{link}'>{link}</a> " for link in links)
    page = (
        f"<html><head><title>{title}</title>{head}</head><body><nav>{anchors}</nav><main><h1>{title}</h1><p>{text}</p></main></body></html>"
    )
    return page.encode()


async def crawl(app: Citewell, server: SiteServer, path: str = "docs/", prune: bool | None = None) -> IndexReport:
    server.requests.clear()
    return await app.index(server.url + path, prune=prune)


async def paths(app: Citewell) -> list[str]:
    return [document.path for document in (await app.list_documents()).documents]


async def texts(app: Citewell, query: str) -> list[str]:
    return [hit.section.text for hit in await app.search(query, k=3)]


def counts(report: IndexReport) -> tuple[int, int, int, int, int]:
    return report.added, report.updated, report.unchanged, report.deleted, report.moved


def many(count: int) -> dict[str, bytes]:
    """Pages that lead from one to the next."""
    return {f"/docs/{n}.html": html(f"Page {n}", f"Fact number {n}.", f"{n + 1}.html") for n in range(count)}
