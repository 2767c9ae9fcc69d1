"""What `index` and `refresh` do: settle what a source is from what was said now, what the profile says and what was said before, then
run the pipeline over its origin.
"""

from __future__ import annotations

import shlex
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from citewell.errors import CitewellError, IngestError, NotFound, UsageError
from citewell.index.embed import Embedder
from citewell.index.store import SourceSpec, Store
from citewell.ingest.crawl.address import normal
from citewell.ingest.discover.site import Site, base_of_visits
from citewell.ingest.origin import Named, named_origin
from citewell.ingest.pipeline import IndexRequest, index_source
from citewell.ingest.progress import Progress, no_progress, of_source
from citewell.profile import Profile
from citewell.settings import Settings
from citewell.types import IndexReport, RefreshReport, Skipped, Source


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What a person says of a source; what is left empty stays as it was, or is as the profile has it."""

    source: str = ""
    library: str = ""
    kind: str = ""
    base_url: str = ""
    prune: bool | None = None


@dataclass(frozen=True, slots=True)
class Indexer:
    store: Store
    embedder: Embedder | None
    profile: Profile
    settings: Settings

    async def index(self, origin: str, options: IndexOptions, progress: Progress = no_progress) -> IndexReport:
        """Bring the source of an origin up to date. Raises `UsageError` for options that make no sense, and what the pipeline raises."""
        named = named_origin(origin, self.settings)
        for value in (options.source, options.library):
            if not value.isprintable() or value != value.strip("/ "):
                raise UsageError(f"{value!r} cannot name a source.", hint="Choose a name without line ends that no slash begins or ends.")
        rules = self.profile.source_for(options.base_url or origin, options.source or options.library)
        name = options.source or rules.name or options.library or rules.library or named.name
        known = await self.store.find_source(name)  # what this run does not say stays as it was
        published = options.base_url or ("" if isinstance(named.origin, Site) else rules.url)
        spec = SourceSpec(
            name=name,
            origin=known.origin if known and self._same_site(known.origin, named) else named.text,
            library=options.library or rules.library or (known.library if known else name),
            kind=options.kind or (known.kind if known else ""),
            base_url=_base_url(published) or (known.base_url if known else ""),
            version=rules.version or self.profile.version,
        )
        request = IndexRequest(named.origin, spec, rules, options.prune)
        return await self._index(request, progress, known=known is not None)

    async def _index(self, request: IndexRequest, progress: Progress, *, known: bool) -> IndexReport:
        """Run the pipeline. Where the origin of a known source gives nothing, the error says how to forget what it gave before."""
        try:
            return await index_source(self.store, self.embedder, request, progress)
        except IngestError as error:
            if not known:
                raise
            forget = f"Its indexed pages stay; citewell remove {shlex.quote(request.spec.name)} forgets them."
            raise IngestError(str(error), hint=" ".join(filter(None, [error.hint, forget]))) from error

    def _same_site(self, origin: str, named: Named) -> bool:
        """Whether an origin is the named site in another spelling: without the slash, by its start page."""
        return isinstance(named.origin, Site) and "://" in origin and named_origin(origin, self.settings).name == named.name

    async def refresh(self, urls: Sequence[str] = (), progress: Progress = no_progress) -> RefreshReport:
        """Ask the origins of these pages (of all sources, if none is named) whether they have changed, and heal what has.

        Raises `NotFound` for an address that no indexed page has. A source that fails is reported, and the others are refreshed.
        """
        started = time.monotonic()
        wanted = await self._pages(urls) if urls else {info.source: [] for info in await self.store.sources()}
        reports: list[IndexReport] = []
        failed: list[Skipped] = []
        for name, paths in wanted.items():
            try:
                shown = of_source(progress, name) if len(wanted) > 1 else progress
                reports.append(await self._refresh(name, paths, shown))
            except CitewellError as error:
                lines = (" ".join(text.split()) for text in (str(error), error.hint))
                failed.append(Skipped(name, "\n".join(filter(None, lines))))
        return RefreshReport(tuple(reports), tuple(failed), round(time.monotonic() - started, 3))

    async def _pages(self, urls: Sequence[str]) -> dict[str, list[str]]:
        """The paths of the pages with these addresses, by source."""
        spellings = {url: {url, *_spellings(url)} for url in urls}
        pages = await self.store.pages_at(sorted(set().union(*spellings.values())))
        found: defaultdict[str, list[str]] = defaultdict(list)
        for url, forms in spellings.items():
            places = [page for page in pages if page.url in forms]
            if not places:
                raise NotFound(f"No indexed page has the address {url}.", hint="citewell docs list --json shows the addresses of all.")
            for page in places:
                found[page.source].append(page.path)
        return dict(found)

    async def _refresh(self, name: str, paths: Sequence[str], progress: Progress) -> IndexReport:
        """Refresh these pages of a source, or all of it: of a site only they are asked, a folder is listed as a whole."""
        source = await self.store.find_source(name)
        if source is None:
            raise NotFound(f"There is no source {name!r}.", hint="citewell sources lists them.")
        origin = named_origin(source.origin, self.settings).origin
        partial = isinstance(origin, Site) and bool(paths)
        if isinstance(origin, Site) and paths:
            base = base_of_visits((await self.store.visits(source)).values(), paths)
            origin = replace(origin, only=frozenset(paths), base=base)
        request = IndexRequest(origin, _spec(source), self.profile.source_for(source.origin, name), partial=partial)
        return await self._index(request, progress, known=True)


def _spec(source: Source) -> SourceSpec:
    return SourceSpec(source.name, source.origin, source.library, source.kind, source.base_url, source.version)


def _spellings(url: str) -> set[str]:
    """The forms in which the address of a page may be stored."""
    try:
        address = normal(url)
    except ValueError:
        return set()
    return {address, urljoin(address, "./") if address.endswith("/index.html") else address, address.replace("http://", "https://", 1)}


def _base_url(address: str) -> str:
    """The address below which readers open a source's pages, ending in a slash. Raises `UsageError` for what is none."""
    if not address:
        return ""
    try:
        base = normal(address)
    except ValueError as error:
        raise UsageError(f"The base address {address!r} is no web address: {error}.", hint="Begin it with https://.") from error
    if "?" in base:
        raise UsageError(f"The base address {address!r} has a query.", hint="Name the address below which the pages lie.")
    return base if base.endswith("/") else base + "/"
