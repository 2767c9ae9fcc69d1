"""A folder, a file or an archive of this machine as an origin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio.to_thread

from citewell.ingest.discover.archive import is_archive, unpacked
from citewell.ingest.discover.base import Gone, Item, Known, Raw, Reading, Refused
from citewell.ingest.discover.folder import Listing, list_folder
from citewell.ingest.discover.includes import with_includes
from citewell.ingest.discover.inventory import Inventory, read_inventory
from citewell.types import Skipped

_ENDINGS = frozenset(".zip .tar .gz .tgz .bz2 .tbz2 .tbz .xz .txz".split())


@dataclass(frozen=True, slots=True)
class Local:
    """A folder, a file or an archive. `workplace` is where an archive may be unpacked meanwhile. `hint` is what to do if there is none."""

    path: Path
    workplace: Path
    hint: str = "Name a folder or a file of documentation."

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Reading]:
        """Raises `IngestError` for an origin that cannot be read or holds no documents."""
        with ExitStack() as stack:
            origin, skipped = await anyio.to_thread.run_sync(self._folder, stack)
            listed = partial(list_folder, origin, str(self.path), hint=self.hint, empty=bool(skipped))
            listing = await anyio.to_thread.run_sync(listed)
            top = origin if origin.is_dir() else origin.parent
            inventory, faults = await anyio.to_thread.run_sync(read_inventory, top / "objects.inv")
            warnings = [] if listing.complete else [f"Not all of {self.path} could be listed; what is not found there was kept."]
            yield _LocalReading(listing, [*skipped, *listing.skipped, *faults], top, inventory, warnings)

    def _folder(self, stack: ExitStack) -> tuple[Path, list[Skipped]]:
        """The folder to list: the origin itself, or what an archive holds, for as long as the stack lasts."""
        return stack.enter_context(unpacked(self.path, self.workplace)) if is_archive(self.path) else (self.path, [])


@dataclass(slots=True)
class _LocalReading:
    listing: Listing
    skipped: list[Skipped]
    top: Path
    inventory: Inventory
    warnings: list[str] = field(default_factory=list)
    cautious: bool = False

    @property
    def total(self) -> int:
        return len(self.listing.found)

    @property
    def complete(self) -> bool:
        return self.listing.complete

    async def items(self, known: Known) -> AsyncIterator[Item]:
        """What the listing no longer has comes first, so that a page which only moved can be told by its hash. What it has but could not
        read is still there."""
        if self.complete if known.prune is None else known.prune:
            present = {found.path for found in self.listing.found} | {skipped.origin for skipped in self.skipped}
            for path in sorted(set(known.stored) - present):
                yield Gone(path)
        for skipped in self.skipped:
            yield Refused(skipped.origin, skipped.reason)
        for found in self.listing.found:
            yield Raw(found.path, partial(with_includes, found.file, self.top))


def plain_name(path: Path) -> str:
    """A folder's or a file's name without the endings of archives; "docs" for the root of the file system."""
    name = path.name
    while (stem := Path(name).stem) != name and Path(name).suffix.lower() in _ENDINGS:
        name = stem
    return name or "docs"
