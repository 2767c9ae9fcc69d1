"""The format of what a server sends, by all that it says of it."""

from __future__ import annotations

from citewell.ingest.crawl.fetch import Fetched
from citewell.ingest.extract import extractor_for

_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".xhtml",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
    "text/prs.fallenstein.rst": ".rst",
    "application/x-ipynb+json": ".ipynb",
}
_SAYS_LITTLE = frozenset(("", "text/plain", "application/octet-stream", "application/json"))


def suffix_of(fetched: Fetched, path: str) -> str:
    """The format of an answer as a file's ending: by what the server says, else by the address; "" where no extractor reads it."""
    named = _SUFFIXES.get(fetched.media_type, "")
    own = f".{path.rpartition('.')[2].lower()}" if "." in path.rpartition("/")[2] else ""
    if not named and own and extractor_for(path) is not None and fetched.media_type in _SAYS_LITTLE:
        named = own
    if not named and fetched.media_type in {"", "text/plain"}:
        named = ".html" if fetched.data[:1000].lstrip()[:1] == b"<" else ".txt"
    return named if extractor_for(f"page{named}") is not None else ""
