"""What an origin hands to the pipeline, wherever it keeps its documents: one value a document, and how the whole of them ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from citewell.index.store import Visit
from citewell.ingest.discover.inventory import Inventory


@dataclass(frozen=True, slots=True)
class Raw:
    """A document as its origin holds it.

    `path` is relative to the origin; `url` is its own address ("" where the source's base address makes it). `read` gives its bytes;
    it may block, and raises `OSError` and `NotContent`. `suffix` names the format where the path does not (".html"), `charset` the
    encoding that came with it. `moved_from` is the path under which the same document was stored before.
    """

    path: str
    read: Callable[[], bytes]
    url: str = ""
    suffix: str = ""
    charset: str = ""
    moved_from: str = ""
    visit: Visit | None = None


@dataclass(frozen=True, slots=True)
class Same:
    """A stored document that its origin says has not changed."""

    path: str
    visit: Visit


@dataclass(frozen=True, slots=True)
class Alias:
    """Another address of a document, which is stored under its own."""

    path: str
    visit: Visit


@dataclass(frozen=True, slots=True)
class Gone:
    """A document that its origin says is no more. `instead` is where it leads now: it only goes if there is a document."""

    path: str
    visit: Visit | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Something of the origin that is no document for us, or could not be had; the report names it with the reason. `withdrawn`: what is
    stored of it goes."""

    path: str
    reason: str
    visit: Visit | None = None
    withdrawn: bool = False


Item = Raw | Same | Alias | Gone | Refused


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has of a source when its origin is read: the hash of each stored page by its path, the addresses visited before,
    and by path what a page would be made by today, its bytes aside. `prune` is what the user said of pages that are no more."""

    stored: Mapping[str, str]
    visits: Mapping[str, Visit]
    made_by: Callable[[str], str]
    prune: bool | None = None


class Reading(Protocol):
    """An origin that is open. `total` is the number of documents known so far; `complete` says, once `items` has ended, whether all
    that the origin has was seen; `cautious` that a loss of most pages is likelier an outage than meant."""

    @property
    def inventory(self) -> Inventory: ...

    @property
    def warnings(self) -> list[str]: ...

    @property
    def total(self) -> int: ...

    @property
    def complete(self) -> bool: ...

    @property
    def cautious(self) -> bool: ...

    def items(self, known: Known) -> AsyncIterator[Item]:
        """Every document once, and what there is to say of those that are none."""
        ...


class Origin(Protocol):
    """Where documents come from. A new kind of origin is one file beside this one."""

    def open(self) -> AbstractAsyncContextManager[Reading]:
        """Raises `IngestError` where there is nothing to read."""
        ...
