"""One run over a site: which of its addresses are asked, and what each answer means."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlsplit, urlunsplit

import anyio.to_thread

from citewell.index.store import Visit
from citewell.ingest.crawl.address import is_document, path_of, resolve, within
from citewell.ingest.crawl.fetch import Fetched, Fetcher, FetchFault
from citewell.ingest.crawl.robots import Robots
from citewell.ingest.discover.base import Alias, Gone, Item, Known, Raw, Refused, Same
from citewell.ingest.discover.inventory import Inventory
from citewell.ingest.discover.links import read_links
from citewell.ingest.discover.media_type import suffix_of
from citewell.ingest.discover.seeds import Seeds

DENIED = "robots.txt does not allow it"
ADDRESSES_A_PAGE = 10  # addresses that are remembered for each page that may be asked
_FAILURES_IN_A_ROW = 10  # after so many a site is taken to be down
_OK, _UNCHANGED, _NOT_FOUND = 200, 304, (404, 410)
_VISITED = "visited before"
_CIRCLE = "it redirects in a circle"
_OUTSIDE = "it is not below the address of the site"


@dataclass(slots=True)
class Crawl:
    """One run over a site: the frontier, and what each answer means. `first` is the page that the site's address gave, None for a run over
    `only` some. `total` counts the addresses known so far, but those that a run before it has visited."""

    fetcher: Fetcher
    robots: Robots
    base: str
    first: Fetched | None
    seeds: Seeds
    max_pages: int
    only: frozenset[str] | None = None
    complete: bool = True
    cautious: bool = True
    known: Known = field(default_factory=lambda: Known({}, {}, str))
    waiting: deque[str] = field(default_factory=deque)
    seen: set[str] = field(default_factory=set)
    taken: dict[str, str] = field(default_factory=dict)  # path to address: each path is one document
    contested: set[str] = field(default_factory=set)  # paths whose stored document may be that of another address
    aliases: dict[str, str] = field(default_factory=dict)  # addresses that redirect to others of the site
    full: bool = False  # addresses had to be left out
    before: int = 0  # addresses that the run which was broken off had visited

    @property
    def inventory(self) -> Inventory:
        return self.seeds.inventory

    @property
    def warnings(self) -> list[str]:
        return self.seeds.warnings

    @property
    def total(self) -> int:
        return len(self.seen) - self.before

    async def items(self, known: Known) -> AsyncIterator[Item]:
        """Every page of the site once, in the order in which it is found."""
        self.known = known
        self._begin()
        if self.first is not None:
            for item in await self._took(self.first.url, self.first):
                yield item
        failures = asked = 0
        while self.waiting and failures < _FAILURES_IN_A_ROW and asked < self.max_pages:
            url = self.waiting.popleft()
            if self.taken[path_of(url, self.base)] != url:  # a redirect has led to it from elsewhere
                continue
            if not self.robots.allows(url):
                yield Refused(path_of(url, self.base), DENIED)
                continue
            asked += 1
            try:
                found = await self._ask(url)
            except FetchFault as fault:
                failures = failures + 1 if fault.temporary else 0
                found = self._failed(url, fault)
            else:
                failures = 0
            for item in found:
                yield item
        self._end(failures)
        for item in self._led_on():
            yield item
        if self.complete and self.only is None:
            for item in self._outside():
                yield item

    # ---- the frontier -------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._claim()
        done = [visit for visit in self.known.visits.values() if visit.done and self._settled(visit)]
        if done and self.only is None:
            self.warnings.append(f"The crawl that was broken off went on: {len(done)} addresses had been visited.")
            self.seen.update(self._as_ours(visit.url) for visit in done)
            self.before = len(self.seen)
        if self.only is not None:
            addresses = (self.taken.get(path) or resolve(self.base, f"./{path}") for path in sorted(self.only))
            self._add(filter(None, addresses), named=True)
        if self.first is not None:
            self.seen.add(self.first.url)
            self.taken[path_of(self.first.url, self.base)] = self.first.url
            self._add(self.seeds.urls, named=True)
            self._add(self.known.visits, named=True)

    def _claim(self) -> None:
        """Give each path to the address that its document came from, if that is still one of the site."""
        claims: dict[str, str] = {}
        for visit in self.known.visits.values():
            if visit.path and not visit.reason:
                address = self._as_ours(visit.url)
                if claims.setdefault(visit.path, address) != address:
                    self.contested.add(visit.path)
                if within(address, self.base):
                    self.taken[visit.path] = address

    def _outside(self) -> list[Item]:
        """What becomes of the pages that were read where the entry led before, as to the folder of an older version."""
        left: list[Item] = []
        for visit in self.known.visits.values():
            if visit.path and not within(visit.url, self.base):
                kind = Alias if visit.path in self.taken else Gone
                left.append(kind(visit.path, Visit(visit.url, reason=_OUTSIDE)))
        return left

    def _add(self, urls: Iterable[str], *, named: bool = False) -> tuple[str, ...]:
        """Put addresses of the site, each in its one spelling, into the frontier where they are new; those with a query only if the site
        names them itself."""
        new = []
        for url in urls:
            if url in self.seen:  # as nearly all links of a page's menu are
                continue
            address = self._as_ours(url)
            if address in self.seen or not within(address, self.base) or not is_document(address):
                continue
            if urlsplit(address).query and not named:
                continue
            if len(self.seen) >= self.max_pages * ADDRESSES_A_PAGE:
                self.full = True
                break
            self.seen.add(address)
            if self.taken.setdefault(path_of(address, self.base), address) == address:
                new.append(address)
        self.waiting.extend(new)
        return tuple(new)

    def _as_ours(self, url: str) -> str:
        """The address with the site's own scheme: http and https of one host are one site."""
        parts, base = urlsplit(url), urlsplit(self.base)
        if parts.hostname == base.hostname and parts.port is None and base.port is None:
            return urlunsplit(parts._replace(scheme=base.scheme))
        return url

    def _end(self, failures: int) -> None:
        if failures >= _FAILURES_IN_A_ROW:
            self.warnings.append(f"The site failed {failures} times in a row; the crawl was broken off. Run it again to go on.")
        elif self.waiting:
            self.warnings.append(f"{self.max_pages} pages were asked, the most for one run; run it again to go on.")
        if self.full:
            self.warnings.append(
                f"The site has more than {self.max_pages * ADDRESSES_A_PAGE} addresses; the rest were left out."
                " Name a folder of it, or raise CITEWELL_CRAWL_MAX_PAGES."
            )
        self.complete = not self.waiting and failures < _FAILURES_IN_A_ROW

    # ---- one address --------------------------------------------------------------------------------------------------------

    async def _ask(self, url: str) -> list[Item]:
        known = self.known.visits.get(url, Visit(url))
        fresh = self._settled(known) and known.made_by == self.known.made_by(known.path)
        etag, modified = (known.etag, known.last_modified) if fresh else ("", "")
        allowed = partial(self._may_lead_to, path_of(url, self.base))
        fetched = await self.fetcher.get(url, etag=etag, last_modified=modified, allowed=allowed)
        if fetched.status == _UNCHANGED and fetched.url == url:
            return [Refused(known.path, known.reason, known) if known.reason else Same(known.path, known)]
        return await self._took(url, fetched)

    def _settled(self, visit: Visit) -> bool:
        """Whether what is stored is what a visit found. A run that ended early, or that took a loss for an outage, did not delete."""
        path = visit.path or (path_of(visit.url, self.base) if within(visit.url, self.base) else "")
        return path not in self.contested and (path in self.known.stored) == (not visit.reason and not visit.target)

    def _may_lead_to(self, path: str, url: str) -> str:
        """Why a redirect from the address of a path to this one is not followed; "" if it is."""
        if not within(url, self.base):
            return "leads out of the site"
        if self._as_ours(url) in self.seen and path_of(url, self.base) != path:
            return _VISITED
        return "" if self.robots.allows(url) else DENIED

    def _failed(self, url: str, fault: FetchFault) -> list[Item]:
        path = path_of(url, self.base)
        if fault.reason == _VISITED:
            self.aliases[url] = self._as_ours(fault.url)
            # What becomes of a page that leads on is known when that is; in a circle, at once.
            return [Refused(path_of(inside, self.base), _CIRCLE, Visit(inside, reason=_CIRCLE)) for inside in self._circle(url)]
        if fault.temporary:
            return [Refused(path, fault.reason)]
        return [Refused(path, fault.reason, Visit(url, reason=fault.reason), withdrawn=fault.kind == "off_site")]

    def _led_on(self) -> list[Item]:
        """The pages that lead to another one of the site, told when all of them have been asked."""
        gone: list[Item] = []
        for url, target in self.aliases.items():
            hops = 0
            while target in self.aliases and hops < len(self.aliases):
                target, hops = self.aliases[target], hops + 1
            if target not in self.aliases and within(target, self.base):
                gone.append(Gone(path_of(url, self.base), Visit(url, target=target), path_of(target, self.base)))
        return gone

    def _circle(self, url: str) -> list[str]:
        """The addresses that redirect to one another, this one among them; none if it leads to something."""
        members, at = [url], self.aliases[url]
        while at in self.aliases and at not in members:
            members.append(at)
            at = self.aliases[at]
        return members if at == url else []

    async def _took(self, asked: str, fetched: Fetched) -> list[Item]:
        """What an answer means: a document, and where it was redirected, what becomes of the address that was asked."""
        if fetched.url == asked:
            return [await self._document(fetched, "")]
        old, new = path_of(asked, self.base), path_of(fetched.url, self.base)
        self.seen.add(fetched.url)
        self.taken[new] = fetched.url
        visit = Visit(asked, target=fetched.url)
        return [await self._document(fetched, old), Alias(old, visit) if old == new else Gone(old, visit, new)]

    async def _document(self, fetched: Fetched, moved_from: str) -> Item:
        path = path_of(fetched.url, self.base)
        visit = Visit(fetched.url, path, etag=fetched.etag, last_modified=fetched.last_modified)
        if fetched.status in _NOT_FOUND:
            gone = f"not found ({fetched.status})"
            if path in self.known.stored:
                return Gone(path, replace(visit, reason=gone))
            return Refused(path, gone, replace(visit, path="", reason=gone))
        if fetched.status != _OK:
            reason = f"it answered {fetched.status}"
            return Refused(path, reason, replace(visit, path="", reason=reason))
        suffix = suffix_of(fetched, path)
        if not suffix:
            reason = f"{fetched.media_type or 'its format'} is not read"
            return Refused(path, reason, replace(visit, reason=reason), withdrawn=True)
        links = await anyio.to_thread.run_sync(
            lambda: read_links(fetched.data, fetched.url, media_type=fetched.media_type, charset=fetched.charset)
        )
        found = () if self.only is not None else self._add([*filter(None, [links.refresh]), *links.links])
        if self.full:  # its links have to be read again
            visit = replace(visit, etag="", last_modified="")
        return Raw(path, lambda: fetched.data, fetched.url, suffix, fetched.charset, moved_from, replace(visit, found=found))
