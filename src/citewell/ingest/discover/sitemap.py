"""Sitemaps (sitemaps.org), their indexes and their plain-text form: which pages a site names."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, XMLParser

_MOST_ENTRIES = 50_000  # as the protocol has it
_MAX_BYTES = 50 * 1024 * 1024  # unpacked, as the protocol has it
_MOST_ELEMENTS = 500_000
_DEEPEST = 20
_LONGEST = 2_000  # characters of an address or a date
_GZIP = 16 + zlib.MAX_WBITS
_LONG_TAG = re.compile(rb"<[^<>]{65536}")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists: pages as pairs of the address and the date of the last change ("" where it has none), and further sitemaps.

    Both are as they stand there, at most 50,000 together; `complete` is False if there were more.
    """

    pages: tuple[tuple[str, str], ...] = ()
    sitemaps: tuple[str, ...] = ()
    complete: bool = True


def read_sitemap(data: bytes) -> Sitemap:
    """The sitemap in these bytes, which may be gzip data. Raises `ValueError` with the reason for what is none."""
    data = _unpacked(data)
    start = data[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        return _read_xml(data)
    return _read_text(data)


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        unpacker = zlib.decompressobj(_GZIP)
        try:
            data = unpacker.decompress(data, _MAX_BYTES + 1)
        except zlib.error as error:
            raise ValueError("its compression is damaged") from error
        if len(data) <= _MAX_BYTES and not unpacker.eof:
            raise ValueError("its compression is cut short")
    if len(data) > _MAX_BYTES:
        raise ValueError("it is larger than 50 MiB")
    return data


def _read_text(data: bytes) -> Sitemap:
    try:
        lines = data.decode("utf-8-sig").split()
    except UnicodeDecodeError as error:
        raise ValueError("it is neither XML nor text") from error
    found = [(line, "") for line in lines[:_MOST_ENTRIES] if len(line) <= _LONGEST and line.lower().startswith(("http://", "https://"))]
    if not found:
        raise ValueError("it lists no addresses")
    return Sitemap(tuple(found), complete=len(lines) <= _MOST_ENTRIES)


def _read_xml(data: bytes) -> Sitemap:
    if _LONG_TAG.search(data):
        raise ValueError("it is no well-formed XML")
    reader = _Reader()
    parser = XMLParser(target=reader, forbid_dtd=True)
    try:
        parser.feed(data)  # in one piece: what is not at its end would be looked at anew with each
        parser.close()
    except DefusedXmlException as error:
        raise ValueError("it has a document type or entities, which no sitemap needs") from error
    except (ParseError, LookupError) as error:
        raise ValueError("it is no well-formed XML") from error
    except _Full:
        return Sitemap(tuple(reader.pages), tuple(reader.sitemaps), complete=False)
    return Sitemap(tuple(reader.pages), tuple(reader.sitemaps))


class _Full(Exception):
    """The limit of entries or elements is reached."""


@dataclass(slots=True)
class _Reader:
    """Takes the events of the parser, so that no tree is built of whatever a server sends."""

    pages: list[tuple[str, str]] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _fields: dict[str, str] = field(default_factory=dict)
    _elements: int = 0

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        self._elements += 1
        if len(self._open) >= _DEEPEST:
            raise ValueError("it is XML, but no sitemap")
        name = tag.rpartition("}")[2].lower()
        if not self._open and name not in ("urlset", "sitemapindex"):
            raise ValueError("it is XML, but no sitemap")
        if self._elements > _MOST_ELEMENTS or len(self.pages) + len(self.sitemaps) == _MOST_ENTRIES:
            raise _Full
        self._open.append(name)
        if len(self._open) == 2:  # an entry is a child of the root
            self._fields = {}

    def data(self, text: str) -> None:
        if len(self._open) == 3 and self._open[2] in ("loc", "lastmod"):
            begun = self._fields.get(self._open[2], "")
            if len(begun) <= _LONGEST:
                self._fields[self._open[2]] = begun + text[: _LONGEST + 1]

    def end(self, _tag: str) -> None:
        if len(self._open) == 2:
            address, changed = (self._fields.get(name, "").strip() for name in ("loc", "lastmod"))
            if 0 < len(address) <= _LONGEST:
                if self._open[1] == "sitemap":
                    self.sitemaps.append(address)
                elif self._open[1] == "url":
                    self.pages.append((address, changed[:_LONGEST]))
        self._open.pop()

    def close(self) -> None:
        """Nothing is left to do when the parser is at the end."""
