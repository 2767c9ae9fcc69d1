"""Sphinx's `objects.inv`: which symbols a site documents and at which anchor of which page, by the builder's own account."""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from citewell.types import Skipped

_NO_SYMBOLS = frozenset(
    {"std:label", "std:doc", "std:term", "std:token", "py:parameter", "c:functionParam", "cpp:functionParam", "cpp:templateParam"}
)
_HEAD = b"# Sphinx inventory"
_HEADER_LINES = 4
_MAX_BYTES = 100 * 1024 * 1024  # unpacked; the largest inventories known hold a tenth of it


@dataclass(frozen=True, slots=True)
class Entry:
    """One documented name: what it is (`py:class`) and its anchor in the page ("" for the page itself)."""

    name: str
    role: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Inventory:
    """The entries of each page by its path; labels and documents are places, not symbols, and left out."""

    version: str = ""
    pages: dict[str, tuple[Entry, ...]] = field(default_factory=dict)


def _is_file(file: Path) -> bool:
    """Whether there is such a file; in a folder that may not be entered there is none for us."""
    try:
        return file.is_file()
    except OSError:
        return False


def read_inventory(file: Path) -> tuple[Inventory, list[Skipped]]:
    """The inventory in a file; an empty one when there is none, or with a line of report when it cannot be read."""
    if not _is_file(file):
        return Inventory(), []
    try:
        return parse_inventory(file.read_bytes()), []
    except (ValueError, OSError) as error:
        return Inventory(), [Skipped(file.name, f"unreadable inventory: {error}")]


def parse_inventory(data: bytes) -> Inventory:
    """The inventory in the bytes of an `objects.inv`; an empty one in those of something else, as servers send for what they do not have.
    Raises `ValueError` with the reason for one that cannot be read."""
    if not data.startswith(_HEAD):
        return Inventory()
    import sphobjinv  # a third of a second to import, needed only where there is an inventory

    text = _unpacked(data)
    try:
        parsed = sphobjinv.Inventory(plaintext=text)
    except UnicodeDecodeError as error:
        raise ValueError("it is not written in UTF-8") from error
    except Exception as error:
        raise ValueError("its lines are not those of an inventory") from error
    pages: defaultdict[str, list[Entry]] = defaultdict(list)
    for item in parsed.objects:
        role = f"{item.domain}:{item.role}"
        if role not in _NO_SYMBOLS:
            path, _, anchor = item.uri_expanded.partition("#")
            pages[_file(path)].append(Entry(item.name, role, anchor))
    return Inventory(parsed.version or "", {path: tuple(entries) for path, entries in pages.items()})


def _unpacked(data: bytes) -> bytes:
    """The inventory's text. Raises `ValueError` for one that is damaged, or unpacks to more than any real one holds."""
    *header, packed = data.split(b"\n", _HEADER_LINES)
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(packed, _MAX_BYTES)
    except zlib.error as error:
        raise ValueError("its compression is damaged") from error
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("too large or cut short")
    return b"\n".join([*header, text])


def _file(address: str) -> str:
    """The file behind a page's address, which is quoted, and ends in `/` where each page has a folder of its own."""
    path = unquote(address)
    return f"{path}index.html" if not path or path.endswith("/") else path
