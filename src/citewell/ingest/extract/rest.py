"""reStructuredText pages, those of Sphinx too, to places and blocks: by docutils' parser, without its files, its network, its messages."""

from __future__ import annotations

import re

from citewell.ingest.extract.base import NotContent, Page, lifted
from citewell.ingest.extract.rest_directives import HANDLERS, STANDARD, other
from citewell.ingest.extract.rest_parse import parse
from citewell.ingest.extract.rest_reader import TreeReader
from citewell.ingest.extract.text_plain import extract_plain

_LONGEST = 3_000_000  # characters: docutils takes seconds for each million
_CODING = re.compile(r"\A(?:\.\.[ \t]*)?-\*-.*?-\*-[ \t]*\n")


def extract_rest(text: str, name: str) -> Page:
    """The page of a reStructuredText. Raises `NotContent` for a page without text.

    One that is too long or nests too deeply for docutils is read as plain text.
    """
    if len(text) > _LONGEST:
        return extract_plain(text, name)
    try:
        document = parse(_CODING.sub("", text), HANDLERS, STANDARD, other)
        reader = TreeReader(document)
        root = reader.read()
    except RecursionError:
        return extract_plain(text, name)
    if not root.content:
        raise NotContent("no text")
    first = next((place.heading for place in root.places), "")
    root = lifted(root, first)
    return Page(title=root.heading or first or name.rsplit("/", 1)[-1].split(".", 1)[0], root=root)
