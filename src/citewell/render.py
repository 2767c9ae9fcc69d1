"""Values to JSON and to text for people. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any

from citewell.types import Answer, Citation, Hit


def to_json(value: Any) -> str:
    """One JSON document; dataclasses as objects, times in ISO 8601."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2, default=_other)


def plain(value: Any) -> Any:
    """A value as plain data."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _other(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return plain(value)


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


def answer_text(answer: Answer) -> str:
    """The answer with its sources and referrals as Markdown, for a terminal or a pipe."""
    parts = [answer.answer_md]
    if answer.citations:
        parts.append("Sources:\n" + "\n".join(source_line(citation) for citation in answer.citations))
    if answer.referrals:
        parts.append("Beyond the documentation:\n" + "\n".join(f"- {referral.reason}: {referral.url}" for referral in answer.referrals))
    if answer.warnings:
        parts.append("\n".join(f"Note: {warning}" for warning in answer.warnings))
    return "\n\n".join(parts)


def source_line(citation: Citation) -> str:
    """`[n] [heading path](address)`: one safe link, whatever the title and the address hold."""
    target = f"{citation.url}#{citation.anchor}" if citation.anchor else citation.url
    return f"[{citation.number}] {link(citation.heading_path or citation.title, target)}"


def link(text: str, url: str) -> str:
    """A Markdown link that shows exactly this text and opens exactly this address; other than web and doc addresses are shown as text."""
    shown = re.sub(r"([\\\[\]<>`*_])", r"\\\1", " ".join(text.split()))
    if not re.match(r"(?:https?://|doc:)", url):
        return shown
    address = "".join(f"%{ord(char):02X}" if char in '()<> \\"' else char for char in url)
    return f"[{shown}]({address})"
