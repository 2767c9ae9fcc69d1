"""What the headers of an answer say, whatever a server has put into them."""

from __future__ import annotations

import re

import httpx2

from citewell import web

LONGEST_PAUSE = 30.0  # seconds, whatever a server or a robots.txt asks for
_LONGEST = 500
_MEDIA_TYPE = re.compile(r"\s*([\w!#$&^.+-]{1,100}/[\w!#$&^.+-]{1,100})\s*(?:;|$)", re.ASCII)
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.ASCII | re.IGNORECASE)


def validator(value: str) -> str:
    """An ETag or a date to send back as it came; "" for one that no server would know again."""
    value = value.strip()
    return value if len(value) <= _LONGEST and value.isascii() and value.isprintable() else ""


def content_type(value: str) -> tuple[str, str]:
    """The media type and the charset that a header names; "" for what it does not."""
    value = value[:_LONGEST]
    media_type, charset = _MEDIA_TYPE.match(value), _CHARSET.search(value)
    return media_type.group(1).lower() if media_type else "", charset.group(1) if charset else ""


def retry_after(headers: httpx2.Headers, now: float) -> float | None:
    """For how many seconds a server asks to be left alone, at most 30; None where it does not say."""
    sent = web.http_date(headers.get("date", ""))  # by the server's own clock, where it tells
    wait = web.retry_after(headers.get("retry-after", ""), now if sent is None else sent)
    return None if wait is None else min(wait, LONGEST_PAUSE)
