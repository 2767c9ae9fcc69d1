"""Text files (`.txt`): reStructuredText under that ending by what is in it, everything else as plain text."""

from __future__ import annotations

import re

from citewell.ingest.extract.base import NotContent, Page
from citewell.ingest.extract.rest.page import extract_rest
from citewell.ingest.extract.text.plain import extract_plain

_LOOK = 200_000  # characters that tell what a text is
_DIRECTIVE = re.compile(r"^\.\. (?:[a-z][\w:-]*::(?:\s|$)|_[^:\n]{1,100}:(?:\s|$))", re.MULTILINE)
_ROLE = re.compile(r"(?<![\w:]):[a-z][a-z:-]{1,30}:`[^`\n]+`")
_LICENCE = re.compile(r"(?:.*[-_. ])?(?:licen[cs]es?|copying|copyright|notice|ofl|[al]?gpl)(?:[-_. \d].*)?", re.IGNORECASE)


def extract_text(text: str, name: str) -> Page:
    """The page of a text file. Raises `NotContent` for one without text, and for licences, which come with fonts and scripts."""
    if _LICENCE.fullmatch(name.rsplit("/", 1)[-1].rsplit(".", 1)[0]):
        raise NotContent("a licence, no content")
    return extract_rest(text, name) if _is_rest(text[:_LOOK]) else extract_plain(text, name)


def _is_rest(text: str) -> bool:
    """Whether a text has marks that nothing else has: two directives or labels at the margin, or one and two roles."""
    directives = len(_DIRECTIVE.findall(text))
    return directives >= 2 or (directives == 1 and len(_ROLE.findall(text)) >= 2)
