"""Values to JSON and to text for people. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from citewell.types import Answer, Citation, Hit

# The order in which an answer is documented, and read: what came of the question first, what it cost last.
_ANSWER_ORDER = (
    "status",
    "reason",
    "question",
    "answer_md",
    "citations",
    "claims",
    "referrals",
    "symbols_used",
    "docs_version",
    "route",
    "protocol",
    "escalated",
    "usage",
    "budget",
    "warnings",
    "index_version",
    "crawled_at",
    "trace_id",
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # bidirectional overrides too
IN_FRAGMENT = "-._~!$'*+;=:@/?"  # round brackets are allowed too, but end a Markdown link
_ENTITY = re.compile(r"&(?=#?\w{1,32};)")


def to_json(value: Any) -> str:
    """One JSON document; dataclasses as objects, times in ISO 8601, numbers that are none as null."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False)
    return _SURROGATE.sub(lambda char: f"\\u{ord(char[0]):04x}", text)  # names of files that are no UTF-8


def plain(value: Any) -> Any:
    """A value as plain data: dictionaries, lists, text, numbers. Raises `TypeError` for what has no such form."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Answer):
        return {name: plain(getattr(value, name)) for name in _ANSWER_ORDER}
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(plain(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def hit_row(rank: int, hit: Hit) -> dict[str, Any]:
    """A hit as `search --json` gives it."""
    section = hit.section
    return {
        "rank": rank,
        "section_id": section.id,
        "source": section.source,
        "path": section.path,
        "url": section.url,
        "anchor": section.anchor,
        "title": section.title,
        "heading_path": section.heading_path,
        "library": section.library,
        "kind": section.kind,
        "version": section.version,
        "score": hit.score,
        "channels": hit.channels,
        "snippet": hit.snippet,
    }


def printable(text: str) -> str:
    """The text without the control characters with which a page, or the name of a file, could command a terminal."""
    return _CONTROL.sub("", text)


def escaped(text: str) -> str:
    """The text in one line, its control characters escaped as the shell reads them in `$'…'`."""
    return re.sub(rf"[\t\n]|{_CONTROL.pattern}", lambda char: char[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str) -> str:
    """A name or a title as a part of a line: its line ends and tabs are blanks, other control characters are gone."""
    return printable(re.sub(r"\s", " ", text))


def answer_text(answer: Answer) -> str:
    """The answer with its sources and referrals as Markdown, for a terminal or a pipe: no control characters, whoever wrote it."""
    return printable("\n\n".join([answer.answer_md, *answer_notes(answer)]))


def answer_notes(answer: Answer) -> list[str]:
    """What stands below an answer, in paragraphs: sources, referrals, warnings."""
    parts = []
    if answer.citations:
        parts.append("Sources:\n" + "\n".join(source_line(citation) for citation in answer.citations))
    if answer.referrals:
        lines = (f"- {' '.join(referral.reason.split())}: {' '.join(referral.url.split())}" for referral in answer.referrals)
        parts.append("Beyond the documentation:\n" + "\n".join(lines))
    if answer.warnings:
        parts.append("\n".join(f"Note: {warning}" for warning in answer.warnings))
    return parts


def source_line(citation: Citation) -> str:
    """`[n] [heading path](address)`: one safe link, whatever the title and the address hold."""
    target = place(citation.url, citation.anchor)
    return f"[{citation.number}] {link(citation.heading_path or citation.title or citation.path, target)}"


def place(url: str, anchor: str) -> str:
    """The address of an anchor of a page, encoded as the fragment of an address is (RFC 3986)."""
    return f"{url}#{quote(anchor, safe=IN_FRAGMENT, errors='replace')}" if anchor else url


def link(text: str, url: str) -> str:
    """A Markdown link that shows exactly this text and opens exactly this address; other than web and doc addresses are shown as text."""
    shown = re.sub(r"([\\\[\]<>`*_~|$])", r"\\\1", " ".join(_CONTROL.sub(" ", text).split()))
    shown = _ENTITY.sub(r"\\&", shown)
    if not re.match(r"(?:https?://|doc:)\S", url, re.IGNORECASE):
        return shown
    return f"[{shown or 'source'}]({_address(url)})"


def _address(url: str) -> str:
    """The address with every character encoded that could end it, or begin something else, in Markdown."""
    encoded = "".join(f"%{ord(char):02X}" if char in '()<>\\"`|' or ord(char) <= 32 or ord(char) == 127 else char for char in url)
    return _ENTITY.sub("&amp;", encoded)
