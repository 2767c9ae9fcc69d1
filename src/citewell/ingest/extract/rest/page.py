"""reStructuredText pages, those of Sphinx too, to places and blocks: by docutils' parser, without its files, its network, its messages."""

from __future__ import annotations

import re

from citewell.ingest.extract.base import NotContent, Page, lifted
from citewell.ingest.extract.rest.directives import HANDLERS, STANDARD, other
from citewell.ingest.extract.rest.parse import TooManyFaults, parse
from citewell.ingest.extract.rest.reader import TreeReader
from citewell.ingest.extract.text.plain import extract_plain

_LONGEST = 2_000_000  # characters: docutils takes some seconds for each million
_LONGEST_LINE = 10_000  # characters, docutils' own limit against lines that its patterns choke on
_CODING = re.compile(r"\A(?:\.\.[ \t]*)?-\*-.*?-\*-[ \t]*\n")


def extract_rest(text: str, name: str) -> Page:
    """The page of a reStructuredText. Raises `NotContent` for a page without text.

    One that docutils could not read in time is read as plain text: it is too long, has a line that is, nests too deeply, or has more
    faults than a reStructuredText can have.
    """
    if len(text) > _LONGEST or any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        return extract_plain(text, name)
    try:
        document = parse(_CODING.sub("", text), HANDLERS, STANDARD, other)
        reader = TreeReader(document)
        root = reader.read()
    except (RecursionError, TooManyFaults):
        return extract_plain(text, name)
    if not root.content:
        raise NotContent("no text")
    first = next((place.heading for place in root.places), "")
    root = lifted(root, first)
    return Page(title=root.heading or first or name.rsplit("/", 1)[-1].split(".", 1)[0], root=root)
