"""What a site says of itself before anything is crawled: its inventory, its sitemaps, its `llms.txt`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import quote, urljoin

import anyio.to_thread

from citewell.ingest.crawl.address import as_folder, normal, resolve, within
from citewell.ingest.crawl.fetch import Fetcher, FetchFault
from citewell.ingest.discover.inventory import Inventory, parse_inventory
from citewell.ingest.discover.llms import read_llms
from citewell.ingest.discover.sitemap import read_sitemap
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode

_MOST_SITEMAPS = 200
_OK = 200


@dataclass(slots=True)
class Seeds:
    """The addresses that a site names, in the order of how sure they are, and its inventory."""

    inventory: Inventory = field(default_factory=Inventory)
    urls: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


async def find_seeds(fetcher: Fetcher, base: str, allowed: Callable[[str], str], *, sitemaps: Sequence[str] = (), most: int = 0) -> Seeds:
    """What a site below `base` names, at most `most` addresses; with 0, its inventory alone is read. `sitemaps` are those of its
    robots.txt; `allowed` says why an address may not be fetched."""
    search = _Search(fetcher, base, allowed, most)
    await search.inventory()
    if most:
        await search.sitemaps([*sitemaps, urljoin(base, "sitemap.xml"), urljoin(base, "/sitemap.xml")])
        await search.llms()
    return search.seeds


def _below(url: str, base: str) -> str | None:
    """The one spelling of an address that lies below the base; None for any other."""
    try:
        address = normal(url)
    except ValueError:
        return None
    return address if within(address, base) else None


@dataclass(slots=True)
class _Search:
    fetcher: Fetcher
    base: str
    allowed: Callable[[str], str]
    most: int
    seeds: Seeds = field(default_factory=Seeds)

    async def inventory(self) -> None:
        data = await self._data(urljoin(self.base, "objects.inv"))
        if data is None:
            return
        try:
            self.seeds.inventory = await anyio.to_thread.run_sync(parse_inventory, data)
        except ValueError as error:
            self.seeds.warnings.append(f"The site's objects.inv cannot be read: {error}.")
        self._name(as_folder(self.base + quote(path)) for path in sorted(self.seeds.inventory.pages))

    async def sitemaps(self, named: Sequence[str]) -> None:
        """Read sitemaps and those that they name, a bounded number; of the default ones none needs to be there."""
        waiting, seen = deque(dict.fromkeys(named)), set(named)
        for _ in range(_MOST_SITEMAPS):
            if not waiting:
                return
            url = waiting.popleft()
            data = await self._data(url)
            if data is None:
                continue
            try:
                sitemap = await anyio.to_thread.run_sync(read_sitemap, data)
            except ValueError as error:
                if url not in {urljoin(self.base, "/sitemap.xml"), urljoin(self.base, "sitemap.xml")}:
                    self.seeds.warnings.append(f"The sitemap {url} cannot be read: {error}.")
                continue
            self._name(page for page, _ in sitemap.pages)
            further = [found for found in (resolve(url, inner) for inner in sitemap.sitemaps) if found and found not in seen]
            seen.update(further)
            waiting.extend(further[: _MOST_SITEMAPS - len(waiting)])
        self.seeds.warnings.append(f"The site has more than {_MOST_SITEMAPS} sitemaps; the rest were not read.")

    async def llms(self) -> None:
        url = urljoin(self.base, "llms.txt")
        data = await self._data(url)
        if data is not None:
            with suppress(NotContent):
                self._name(await anyio.to_thread.run_sync(lambda: read_llms(decode(data), url)))

    def _name(self, urls: Iterable[str]) -> None:
        """Note addresses that lie below the base, each in its one spelling."""
        room = self.most - len(self.seeds.urls)
        self.seeds.urls += islice(filter(None, (_below(url, self.base) for url in urls)), max(room, 0))

    async def _data(self, url: str) -> bytes | None:
        """What is at an address that need not exist."""
        try:
            if self.allowed(url):
                return None
            fetched = await self.fetcher.get(url, allowed=self.allowed)
        except FetchFault:
            return None
        return fetched.data if fetched.status == _OK else None
