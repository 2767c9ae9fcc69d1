"""What an origin hands to the pipeline, wherever it keeps its documents: one value a document, and how the whole of them ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from citewell.index.store import Visit
from citewell.types import Skipped


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
class Gone:
    """A document that its origin says is no more."""

    path: str
    visit: Visit


@dataclass(frozen=True, slots=True)
class Refused:
    """Something of the origin that is no document for us, or could not be had; the report names it with the reason."""

    path: str
    reason: str
    visit: Visit | None = None


Item = Raw | Same | Gone | Refused


@dataclass(slots=True)
class Listing:
    """Everything a folder has. `complete` says whether what is not in it may be taken as deleted."""

    found: list[Raw]
    skipped: list[Skipped] = field(default_factory=list)
    complete: bool = True
