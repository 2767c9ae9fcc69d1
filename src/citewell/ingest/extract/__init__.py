"""One file a format. A new format is one file and one line here."""

from __future__ import annotations

from pathlib import PurePosixPath

from citewell.ingest.extract.base import Extractor
from citewell.ingest.extract.html import extract_html
from citewell.ingest.extract.markdown import extract_markdown

EXTRACTORS: dict[str, Extractor] = {
    ".html": extract_html,
    ".htm": extract_html,
    ".xhtml": extract_html,
    ".md": extract_markdown,
    ".markdown": extract_markdown,
}

# Part of every page's content hash: a change of what extraction or chunking makes of the same bytes makes the page new.
RECIPE = "2"


def extractor_for(path: str) -> Extractor | None:
    """The extractor of a file by its ending; None where no format fits."""
    return EXTRACTORS.get(PurePosixPath(path).suffix.lower())
