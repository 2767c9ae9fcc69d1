"""Every address of a section that can be cited exists: over the PyTorch site and over whatever folders of HTML are given besides.

`CITEWELL_TEST_SITES` names more folders of HTML pages, parted by colons.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from citewell.ingest.chunk import chunk
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.html.page import extract_html

pytestmark = pytest.mark.data

MORE = [Path(folder) for folder in os.environ.get("CITEWELL_TEST_SITES", "").split(":") if folder]


@dataclass
class Checked:
    pages: int = 0
    sections: int = 0
    anchors: int = 0
    missing: list[str] = field(default_factory=list)  # page#anchor that is cited and does not exist
    homeless: list[str] = field(default_factory=list)  # page#id that a section claims and that does not exist


def pages(folder: Path) -> Iterator[Path]:
    found = (path for ending in ("*.html", "*.htm", "*.xhtml") for path in folder.resolve().rglob(ending))
    return (path for path in sorted(found) if path.is_file())


def ids(text: str) -> set[str]:
    named = LexborHTMLParser(text).css("[id], a[name]")
    return {value for node in named for value in (node.attributes.get("id"), node.attributes.get("name")) if value}


def check(folder: Path) -> Checked:
    checked = Checked()
    for path in pages(folder):
        try:
            text = decode(path.read_bytes())
            sections = chunk(extract_html(text, path.relative_to(folder.resolve()).as_posix()))
        except NotContent:
            continue
        there = ids(text)
        checked.pages += 1
        checked.sections += len(sections)
        checked.anchors += sum(bool(section.anchor) for section in sections)
        checked.missing += [f"{path}#{section.anchor}" for section in sections if section.anchor and section.anchor not in there]
        checked.homeless += [f"{path}#{name}" for section in sections for name in section.ids - there]
    return checked


def test_every_anchor_exists(site: Path) -> None:
    """On the rebuilt site, and in every folder that CITEWELL_TEST_SITES names."""
    for folder in (site, *MORE):
        checked = check(folder)
        assert checked.pages, folder
        assert checked.missing == [], folder
        assert checked.homeless == [], folder
        if folder == site:
            assert checked.pages > 4_000
            assert checked.anchors > 10_000
