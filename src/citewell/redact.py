"""Secrets out of every string that leaves the process: logs, errors, traces, responses."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

MASK = "***"
_SHORTEST_SECRET = 6  # masking shorter known values would riddle ordinary text with stars

# Shapes of credentials, whoever's they are: tokens behind their scheme, keys by their prefix, passwords in addresses and assignments.
_SHAPES = (
    re.compile(r"(?i)(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9+/_.~=-]{6,}"),
    re.compile(r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,200}:)[^\s@]{1,500}(?=@)", re.IGNORECASE),
    re.compile(
        r"(?i)(?P<keep>\b(?:x-)?(?:api[-_]?key|auth[-_]?token|access[-_]?token|secret|password|passwd)[\"']?\s{0,3}[:=]\s{0,3}[\"']?)[^\s\"',;&]{4,}"
    ),
    re.compile(r"(?P<keep>)\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}"),
    re.compile(r"(?P<keep>)\bAIza[A-Za-z0-9_-]{10,}"),
    re.compile(r"(?P<keep>)\bhf_[A-Za-z0-9]{8,}"),
    re.compile(r"(?P<keep>)\b(?:ghp|gho|ghs|github_pat|xox[abp])[_-][A-Za-z0-9_-]{8,}"),
)


class Redactor:
    """A function from text to the same text with credentials masked: known shapes, and the given values wherever they occur."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        for shape in _SHAPES:
            text = shape.sub(rf"\g<keep>{MASK}", text)
        return text


class RedactingFilter(logging.Filter):
    """Masks a log record whole: message, arguments, and the traceback with its causes."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redact(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        return True
