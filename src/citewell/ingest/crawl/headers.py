"""What the headers of an answer say, whatever a server has put into them."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

import httpx2

LONGEST_PAUSE = 30.0  # seconds, whatever a server or a robots.txt asks for
_LONGEST = 500
_LONGEST_DATE = 100
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
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
    value = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return min(float(value), LONGEST_PAUSE)
    then = _seconds_of(value)
    if then is None:
        return None
    sent = _seconds_of(headers.get("date", ""))  # by the server's own clock, where it tells
    return min(max(then - (now if sent is None else sent), 0.0), LONGEST_PAUSE)


def _seconds_of(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date[:_LONGEST_DATE]).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
