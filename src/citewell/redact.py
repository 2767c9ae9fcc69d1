"""Secrets out of every string that leaves the process: logs, errors, traces, responses.

Documentation speaks of passwords, tokens and basic usage all the time, so a shape counts only where an ordinary word or an identifier
cannot have it; the secrets that are known are masked wherever they stand.
"""

from __future__ import annotations

import binascii
import json
import logging
import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from urllib.parse import quote

MASK = "***"

_SHORTEST = 4  # masking shorter known values would riddle ordinary text with stars
_SHORT = 6  # a known value below this is masked as a whole word only
# What people enter where a local server wants a key or a password: no secrets, and words of documentation.
_NO_SECRETS = frozenset("admin citewell docker dummy empty local none ollama password postgres root secret test token user".split())


def _always(_match: re.Match[str]) -> bool:
    return True


def _filled_in(match: re.Match[str]) -> bool:
    """A value, and not the place of one: `{token}`, `<your key>`, `$KEY`."""
    return match["token"][0] not in "{<$[("


def _is_word(token: str) -> bool:
    return len(token) < 20 and bool(re.fullmatch(r"[A-Za-z]?[a-z]*\.*", token))


def _opaque(match: re.Match[str]) -> bool:
    """`Bearer 3fa9…`, and neither "Bearer authentication" nor "Bearer token/JWT"."""
    token = match["token"]
    return not _is_word(token) and (any(map(str.isdigit, token)) or not re.match(r"(?i)(?:tokens?|auth\w*|schemes?|keys?|jwts?)\b", token))


def _basic(match: re.Match[str]) -> bool:
    """Base64 of user:password, or what cannot be a word; "basic DataLoader" is neither."""
    token = match["token"]
    try:
        account = b64decode(token, validate=True)
    except (binascii.Error, ValueError):
        account = b""
    mixed = any(map(str.isupper, token)) and any(map(str.islower, token)) and sum(map(str.isdigit, token)) >= 2
    return (b":" in account and account.isascii()) or (mixed and (token.endswith("=") or len(token) >= 16))


def _mixed(match: re.Match[str]) -> bool:
    """Letters and digits, or capitals in the middle, or too long for a word: `hf_…` but not `hf_tokenizer`."""
    token, after = match["token"], match.string[match.end() : match.end() + 1]
    return after not in {"_", "("} and (bool(re.search(r"\d|[a-z][A-Z]", token)) or len(token) >= 16)


def _value(match: re.Match[str]) -> bool:
    """A literal with letters and digits; not a type, a variable, a call or a word."""
    token, after = match["token"], match.string[match.end() : match.end() + 1]
    dotted = re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", token)
    return len(token) >= 8 and not dotted and after not in {"(", "["} and bool(re.search(r"[A-Za-z]", token) and re.search(r"\d", token))


def _conninfo(match: re.Match[str]) -> bool:
    """`password=…` between blanks, as database drivers print it; a call's `password=None,` is code."""
    return match["token"] not in {"None", "True", "False", "null"}


_ASSIGN = r"(?:['\"]\s{0,3},\s{0,3}b?['\"]|['\"]?\s{0,3}[:=]\s{0,3}b?['\"]?)"
_ASSIGNED = r"(?:api[-_]?key|(?:auth|access|refresh)[-_]?token|(?:client[-_]?)?secret(?:[-_]?key)?|password|passwd|pwd)"
_DATABASE = r"(?:postgres(?:ql)?|mysql|mariadb|rediss?|mongodb|amqps?)(?:\+[a-z0-9]{1,20})?"

# What a credential looks like, whoever's it is. `keep` stays, `token` goes where the check says so. Every pattern consumes the token
# that it looks at, so that a text is read once.
_SHAPES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE if ignore_case else 0), check)
    for pattern, ignore_case, check in (
        (rf"(?P<keep>\bauthorization{_ASSIGN}(?:bearer|basic|token|api-?key)\s{{1,4}})(?P<token>[^\s'\",;]{{4,}})", True, _filled_in),
        (rf"(?P<keep>\bauthorization{_ASSIGN})(?P<token>[^\s'\",;]{{8,}})", True, _opaque),
        (r"(?P<keep>\bbearer[ \t]{1,4}['\"]?)(?P<token>[A-Za-z0-9+/_.~=-]{6,})", True, _opaque),
        (r"(?P<keep>\bbasic[ \t]{1,4}['\"]?)(?P<token>[A-Za-z0-9+/]{8,}={0,2})", True, _basic),
        (rf"(?P<keep>\b{_DATABASE}://[^\s:/?#@]{{0,200}}:)(?P<token>[^\s'\"`<>]{{1,500}})(?=@)", True, _always),
        (r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@]{0,200}:)(?P<token>[^\s/?#'\"`<>]{1,500})(?=@)", True, _always),
        (rf"(?P<keep>\bx-(?:goog-)?api-key{_ASSIGN})(?P<token>[^\s'\",;&]{{4,}})", True, _filled_in),
        (rf"(?P<keep>(?<![A-Za-z0-9]){_ASSIGNED}{_ASSIGN})(?P<token>[^\s'\"`,;&(){{}}\[\]<>]{{6,}})", True, _value),
        (r"(?P<keep>(?<![^\s'\"?&])(?:password|passwd|pwd)=)(?P<token>[^\s'\"`,;&(){}\[\]<>$*]{3,})(?=[\s'\"&]|$)", True, _conninfo),
        (
            r"(?P<keep>(?<![A-Za-z0-9]))(?P<token>sk-(?!(?:learn|image|video|container|estimator|toggleable|text)\b)[A-Za-z0-9_-]{6,})",
            False,
            _always,
        ),
        (r"(?P<keep>(?<![A-Za-z0-9]))(?P<token>AIza[A-Za-z0-9_-]{10,})", False, _always),
        (r"(?P<keep>(?<![A-Za-z0-9])hf_)(?P<token>[A-Za-z0-9]{8,})", False, _mixed),
        (r"(?P<keep>(?<![A-Za-z0-9]))(?P<token>(?:gh[pousr]|github_pat|[sr]k_live|[sr]k_test)_[A-Za-z0-9_]{8,})", False, _always),
        (r"(?P<keep>(?<![A-Za-z0-9]))(?P<token>(?:xox[abpr]|glpat)-[A-Za-z0-9_-]{8,}|AKIA[0-9A-Z]{12,})", False, _always),
        (r"(?P<keep>(?<![A-Za-z0-9]))(?P<token>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)", False, _always),
    )
)


class Redactor:
    """A function from text to the same text with credentials masked: known shapes, and the given values wherever they occur."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {secret for secret in secrets if len(secret) >= _SHORTEST and secret.lower() not in _NO_SECRETS}
        written = {form for secret in known for form in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1])}
        patterns = [_exactly(form) for form in sorted(written, key=len, reverse=True)]
        self._known = re.compile("|".join(patterns)) if patterns else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        for shape, is_secret in _SHAPES:
            text = shape.sub(lambda match, check=is_secret: match["keep"] + MASK if check(match) else match[0], text)  # type: ignore[misc]
        return text


def _exactly(secret: str) -> str:
    pattern = re.escape(secret)
    return pattern if len(secret) >= _SHORT else rf"(?<!\w){pattern}(?!\w)"


class RedactingFilter(logging.Filter):
    """Masks a log record whole: message and arguments, the traceback with its causes, the stack, and fields added by the caller."""

    _STANDARD = frozenset(vars(logging.makeLogRecord({})))

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redact(_message(record)), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_info = None  # a formatter that reads it would print the secrets again
        record.exc_text = self._redact(record.exc_text) if record.exc_text else None
        record.stack_info = self._redact(record.stack_info) if record.stack_info else None
        for name in vars(record).keys() - self._STANDARD:
            value = getattr(record, name)
            if isinstance(value, str):
                setattr(record, name, self._redact(value))
        return True


def _message(record: logging.LogRecord) -> str:
    """The message; one that its arguments do not fit is shown beside them rather than lost in an error of its own."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - whatever a formatting method raises
        return f"{record.msg} {record.args!r}"
