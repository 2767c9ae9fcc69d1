"""What every HTTP client of ours has to know: which addresses are this machine, and for how long a server asks to be left alone. Pure."""

from __future__ import annotations

import ipaddress
import re
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

_LONGEST_WAIT = 10**9
_LONGEST_VALUE = 100
_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)


def is_loopback(url: str) -> bool:
    """Whether an address names this machine, where no key is needed, nothing costs, nobody is to be spared and no proxy is asked."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def retry_after(value: str, now: float, *, dates: bool = True) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or a date (RFC 9110); None for anything else. `now` is in seconds since
    1970."""
    value = value.strip()[:_LONGEST_VALUE]
    if _SECONDS.fullmatch(value):
        return float(value)
    then = http_date(value) if dates else None
    return None if then is None else min(max(then - now, 0.0), _LONGEST_WAIT)


def http_date(value: str) -> float | None:
    """The seconds since 1970 that a date in a header names; None for what is no date."""
    try:
        return parsedate_to_datetime(value[:_LONGEST_VALUE]).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
