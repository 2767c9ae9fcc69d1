"""What a site says of itself before anything is crawled: its inventory, its sitemaps, its `llms.txt`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urljoin

import anyio.to_thread

from citewell.ingest.crawl.address import resolve
from citewell.ingest.crawl.fetch import Fetcher, FetchFault
from citewell.ingest.discover.inventory import Inventory, parse_inventory
from citewell.ingest.discover.llms import read_llms
from citewell.ingest.discover.sitemap import read_sitemap
from citewell.ingest.extract.decode import decode

_MOST_SITEMAPS = 200
_OK = 200


@dataclass(slots=True)
class Seeds:
    """The addresses that a site names, in the order of how sure they are, and its inventory."""

    inventory: Inventory = field(default_factory=Inventory)
    urls: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


async def find_seeds(fetcher: Fetcher, base: str, sitemaps: Sequence[str], allowed: Callable[[str], str]) -> Seeds:
    """What a site below `base` names. `sitemaps` are those of its robots.txt; `allowed` says why an address may not be fetched."""
    search = _Search(fetcher, base, allowed)
    await search.inventory()
    await search.sitemaps([*sitemaps, urljoin(base, "sitemap.xml"), urljoin(base, "/sitemap.xml")])
    await search.llms()
    return search.seeds


@dataclass(slots=True)
class _Search:
    fetcher: Fetcher
    base: str
    allowed: Callable[[str], str]
    seeds: Seeds = field(default_factory=Seeds)

    async def inventory(self) -> None:
        data = await self._data(urljoin(self.base, "objects.inv"))
        if data is None:
            return
        try:
            self.seeds.inventory = await anyio.to_thread.run_sync(parse_inventory, data)
        except ValueError as error:
            self.seeds.warnings.append(f"The site's objects.inv cannot be read: {error}.")
        self.seeds.urls += [self.base + quote(path.removesuffix("index.html")) for path in sorted(self.seeds.inventory.pages)]

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
            self.seeds.urls += [page for page, _ in sitemap.pages]
            further = [found for found in (resolve(url, inner) for inner in sitemap.sitemaps) if found and found not in seen]
            seen.update(further)
            waiting.extend(further)
        self.seeds.warnings.append(f"The site has more than {_MOST_SITEMAPS} sitemaps; the rest were not read.")

    async def llms(self) -> None:
        url = urljoin(self.base, "llms.txt")
        data = await self._data(url)
        if data is not None:
            self.seeds.urls += await anyio.to_thread.run_sync(lambda: read_llms(decode(data), url))

    async def _data(self, url: str) -> bytes | None:
        """What is at an address that need not exist."""
        try:
            if self.allowed(url):
                return None
            fetched = await self.fetcher.get(url, allowed=self.allowed)
        except FetchFault:
            return None
        return fetched.data if fetched.status == _OK else None
