"""What crawling costs: a first crawl, a crawl without change, and the time until one changed page is found.

    python benchmarks/crawling.py --site FOLDER --parts docs/stable,tutorials --address https://docs.pytorch.org/ [--vectors] [--home HOME]

Serves the folder on loopback from a process of its own, its sitemaps rewritten from the address to there, and crawls each part of it,
without a pause between requests. Prints one JSON document. Without --vectors nothing is embedded. The memory is the peak of this process,
without the database server's.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import anyio

from citewell.app import Citewell
from citewell.profile import load_profile
from citewell.settings import load_settings
from citewell.testing.sites import Site, SiteServer
from citewell.types import IndexReport

MARK = "zyzzogeton"  # a word that no page has


def serve(folder: Path, address: str, pipe: Connection) -> None:
    """Serve until told to stop; "requests" is answered by how many there were since, "change PATH" adds a sentence to a page."""
    with SiteServer(Site.of_folder(folder)) as server:
        for path in [path for path in server.site.pages if address and path.endswith("/sitemap.xml")]:
            server.site.pages[path] = server.site.pages[path].replace(address.encode(), server.url.encode())
        pipe.send(server.url)
        for order, path in iter(pipe.recv, None):
            if order == "change":
                server.site.pages[path] = server.site.pages[path].replace(b"</h1>", f"</h1><p>The {MARK} is new.</p>".encode(), 1)
            conditional = sum("if-none-match" in request.headers for request in server.requests)
            pipe.send((len(server.requests), conditional))
            server.requests.clear()


def peak_mib() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


async def crawled(app: Citewell, url: str, parts: list[str]) -> tuple[list[IndexReport], float]:
    started = time.monotonic()
    reports = [await app.index(f"{url}{part}/") for part in parts]
    return reports, round(time.monotonic() - started, 1)


def summary(reports: list[IndexReport], seconds: float, requests: tuple[int, int]) -> dict[str, Any]:
    names = ("pages", "sections", "added", "updated", "unchanged", "embedded", "reused")
    totals = {name: sum(getattr(report, name) for report in reports) for name in names}
    skipped = sum(len(report.skipped) for report in reports)
    return totals | {"skipped": skipped, "seconds": seconds, "requests": requests[0], "conditional": requests[1], "peak_mib": peak_mib()}


async def changed_page(app: Citewell, url: str, pipe: Connection, path: str) -> dict[str, Any]:
    """The time from the order to look at a changed page until a search finds it."""
    pipe.send(("change", path))
    pipe.recv()
    started = time.monotonic()
    report = await app.refresh([url.rstrip("/") + path])
    hits = await app.search(MARK, k=1)
    return {"seconds": round(time.monotonic() - started, 2), "updated": report.sources[0].updated, "found": MARK in hits[0].section.text}


async def measure(site: Path, address: str, parts: list[str], home: Path, *, vectors: bool) -> dict[str, Any]:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(site, address, theirs), daemon=True)
    server.start()
    url = await anyio.to_thread.run_sync(ours.recv)
    found: dict[str, Any] = {}
    async with Citewell(load_settings(home), load_profile("generic")) as app:
        if not vectors:
            app.embedder = None
        for name in ("first", "again"):
            reports, seconds = await crawled(app, url, parts)
            ours.send(("requests", ""))
            found[name] = summary(reports, seconds, ours.recv())
        path = next(document.url for document in (await app.list_documents(limit=1)).documents).removeprefix(url.rstrip("/"))
        found["one page changed"] = await changed_page(app, url, ours, path)
    ours.send(None)
    server.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--site", type=Path, required=True)
    parser.add_argument("--parts", default="", help="folders of the site, comma-separated; the whole of it if empty")
    parser.add_argument("--address", default="", help="the address that the site's sitemaps name")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = options.home or Path(scratch)
        parts = options.parts.strip("/").split(",")
        print(json.dumps(anyio.run(lambda: measure(options.site, options.address, parts, home, vectors=options.vectors)), indent=2))


if __name__ == "__main__":
    main()
