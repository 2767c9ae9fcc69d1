"""What a person names as the origin of documentation: a site, an archive, a folder or a file, told apart and named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import UsageError
from citewell.ingest.crawl.address import base_of, normal
from citewell.ingest.discover.base import Origin
from citewell.ingest.discover.local import Local, plain_name
from citewell.ingest.discover.site import Site
from citewell.ingest.extract import extractor_for
from citewell.settings import Settings

_SITE_HINT = "Name a folder or a file of documentation; or a site by its whole address, beginning with https:// or http://."
_HOST = re.compile(r"(localhost|(?:\d{1,3}\.){3}\d{1,3}|(?:[\w-]{1,63}\.)+[A-Za-z]{2,63})(:\d{1,5})?(/.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Named:
    """An origin with its one spelling (`text`: an address, or an absolute path) and the name that its source has unless told."""

    origin: Origin
    text: str
    name: str


def named_origin(text: str, settings: Settings) -> Named:
    """The origin that a text names. Raises `UsageError` for an address that is none. Looks at the file system for nothing but links."""
    if not text.strip():
        raise UsageError("No origin is named.", hint="Name a folder, a file, an archive or a site of documentation.")
    if "://" not in text:
        path = Path(text).expanduser().resolve()
        origin = Local(path, settings.home, _SITE_HINT) if _is_like_address(text) else Local(path, settings.home)
        return Named(origin, str(path), plain_name(path))
    try:
        start = normal(text.strip())
    except ValueError as error:
        raise UsageError(f"{text} cannot be indexed: {error}.", hint="Name a site by its address, beginning with https://.") from error
    name = base_of(start).partition("://")[2].rstrip("/")
    return Named(Site(start, settings.crawl_delay, settings.crawl_max_pages), start, name)


def _is_like_address(text: str) -> bool:
    """Whether a text may be an address whose scheme was left out, and not the name of a file."""
    found = _HOST.fullmatch(text.strip())
    return found is not None and bool(found[2] or found[3] or extractor_for(found[1]) is None)
