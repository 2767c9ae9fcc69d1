"""What a host's robots.txt allows (RFC 9309)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from protego import Protego

from citewell.ingest.crawl.address import resolve, within
from citewell.ingest.crawl.fetch import Fetcher, FetchFault
from citewell.ingest.crawl.headers import LONGEST_PAUSE

AGENT = "citewell"
_MAX_BYTES = 500 * 1024
_MOST_LINES = 10_000
_MOST_SITEMAPS = 100
_OK = 200
_SILENT = frozenset(("connect", "too_slow"))


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one host. `problem` says why its robots.txt could not be read, in which case nothing is allowed; `unreachable` why, if
    nobody answered.

    `delay` is the pause it asks for between two requests, in seconds, at most 30; `sitemaps` are the addresses of those it names.
    """

    root: str
    problem: str = ""
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()
    unreachable: str = ""
    _rules: Protego = field(default_factory=lambda: Protego.parse(""), repr=False)

    @classmethod
    async def load(cls, fetcher: Fetcher, base: str) -> Self:
        """The rules of the host of an address; the fetcher keeps to their pause from now on."""
        root = f"{urlsplit(base).scheme}://{urlsplit(base).netloc}/"
        try:
            fetched = await fetcher.get(f"{root}robots.txt", allowed=lambda _: "", at_most=_MAX_BYTES)
        except FetchFault as fault:
            # A redirect that leads nowhere is no file, which forbids nothing; what could not be asked may forbid everything.
            if fault.kind == "redirect":
                return cls(root)
            unreachable = fault.reason if fault.kind in _SILENT else ""
            return cls(root, f"{root}robots.txt cannot be read: {fault.reason}", unreachable=unreachable)
        if fetched.status != _OK:
            return cls(root)
        robots = cls._parsed(root, fetched.data)
        fetcher.slow_down(base, robots.delay)
        return robots

    @classmethod
    def _parsed(cls, root: str, data: bytes) -> Self:
        if len(data) >= _MAX_BYTES:
            data = data.rpartition(b"\n")[0]  # half a rule may allow more than the whole
        rules = Protego.parse("\n".join(data.decode("utf-8-sig", errors="replace").splitlines()[:_MOST_LINES]))
        delay = min(rules.crawl_delay(AGENT) or 0.0, LONGEST_PAUSE)
        named = (resolve(root, address) for address in rules.sitemaps)
        sitemaps = tuple(dict.fromkeys(address for address in named if address is not None))[:_MOST_SITEMAPS]
        return cls(root, "", delay, sitemaps, _rules=rules)

    def covers(self, url: str) -> bool:
        """Whether the rules are those of an address's host."""
        return within(url, self.root)

    def allows(self, url: str) -> bool:
        """Whether an address of the host may be asked."""
        return not self.problem and bool(self._rules.can_fetch(url, AGENT))
