"""A documentation site as an origin: what lies below its address, found by what the site names and by links, asked politely, one page
at a time. What was seen is remembered, so that a crawl that was broken off goes on and the next one only asks what has changed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import accumulate
from urllib.parse import urlsplit

from citewell import __version__
from citewell.errors import IngestError
from citewell.index.store import Visit
from citewell.ingest.crawl.address import base_of, path_of
from citewell.ingest.crawl.fetch import Fetched, Fetcher, FetchFault
from citewell.ingest.crawl.robots import Robots
from citewell.ingest.discover.base import Reading
from citewell.ingest.discover.frontier import ADDRESSES_A_PAGE, DENIED, Crawl
from citewell.ingest.discover.seeds import find_seeds

USER_AGENT = f"citewell/{__version__}"
_OK = 200


@dataclass(frozen=True, slots=True)
class Site:
    """The site below an address. `only` limits a run to the pages with these paths, which lie below `base` if the address gives no page
    any more. Waits `delay` seconds between two requests, asks at most `max_pages` pages in a run."""

    start: str
    delay: float
    max_pages: int
    only: frozenset[str] | None = None
    base: str = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reading]:
        """Raises `IngestError` for a site that cannot be reached or does not want to be read."""
        host = urlsplit(self.start).hostname or ""
        async with Fetcher(named_hosts=frozenset({host}), delay=self.delay, user_agent=USER_AGENT) as fetcher:
            robots = await Robots.load(fetcher, self.start)
            if robots.unreachable:
                hint = "Check the address, and whether the server runs."
                raise IngestError(f"{self.start} cannot be reached: {robots.unreachable}.", hint=hint)
            if robots.problem:
                raise _not_asked(self.start, robots.problem)
            first = await self._first(fetcher, robots)
            base = base_of(first.url) if first else self.base or base_of(self.start)
            most = 0 if self.only is not None else self.max_pages * ADDRESSES_A_PAGE
            seeds = await find_seeds(fetcher, base, lambda url: _entry(url, robots), sitemaps=robots.sitemaps, most=most)
            yield Crawl(fetcher, robots, base, None if self.only is not None else first, seeds, self.max_pages, self.only)

    async def _first(self, fetcher: Fetcher, robots: Robots) -> Fetched | None:
        """The page at the address. Where it gives none, `IngestError`, but None if other pages are wanted."""
        try:
            return await _start_page(self.start, fetcher, robots)
        except IngestError:
            if self.only is None:
                raise
            return None


async def _start_page(start: str, fetcher: Fetcher, robots: Robots) -> Fetched:
    if not robots.allows(start):
        raise _not_asked(start, f"the robots.txt of {urlsplit(start).hostname} does not allow it")
    try:
        first = await fetcher.get(start, allowed=lambda url: _entry(url, robots))
    except FetchFault as fault:
        elsewhere = fault.kind == "off_site" and not robots.covers(fault.url)
        hint = f"It leads to {fault.url}: index that." if elsewhere else "Check the address in a browser."
        raise IngestError(f"{start} cannot be read: {fault.reason}.", hint=hint) from fault
    if first.status != _OK:
        raise IngestError(f"{start} cannot be read: it answered {first.status}.", hint="Check the address.")
    return first


def _not_asked(start: str, reason: str) -> IngestError:
    return IngestError(f"{start} was not asked: {reason}.", hint="Ask the owner of the site, or index a copy of it.")


def _entry(url: str, robots: Robots) -> str:
    """Why the first address may not lead to this one; "" if it may."""
    if not robots.covers(url):
        return "it leads to another host"
    return "" if robots.allows(url) else DENIED


def base_of_visits(visits: Iterable[Visit], paths: Collection[str]) -> str:
    """The address below which the documents of these paths were read; "" where that is not known."""
    for visit in visits:
        if visit.path in paths and not visit.reason:
            folders = accumulate(f"{visit.url}/".split("/")[:-1], lambda above, name: f"{above}{name}/", initial="")
            for base in folders:
                if urlsplit(base).netloc and path_of(visit.url, base) == visit.path:
                    return base
    return ""
