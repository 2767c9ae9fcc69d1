"""One file, or one folder, a format. A new format is one of these and one line here."""

from __future__ import annotations

from pathlib import PurePosixPath

from citewell.ingest.extract.base import Extractor
from citewell.ingest.extract.html.page import extract_html
from citewell.ingest.extract.markdown.page import extract_markdown, extract_mdx
from citewell.ingest.extract.notebook import extract_notebook
from citewell.ingest.extract.rest.page import extract_rest
from citewell.ingest.extract.text.page import extract_text

EXTRACTORS: dict[str, Extractor] = {
    ".html": extract_html,
    ".htm": extract_html,
    ".xhtml": extract_html,
    ".md": extract_markdown,
    ".markdown": extract_markdown,
    ".mdx": extract_mdx,
    ".rst": extract_rest,
    ".rest": extract_rest,
    ".ipynb": extract_notebook,
    ".txt": extract_text,
}

# Part of every page's content hash: a change of what extraction or chunking makes of the same bytes makes the page new.
RECIPE = "3"


def extractor_for(path: str) -> Extractor | None:
    """The extractor of a file by its ending; None where no format fits."""
    name = PurePosixPath(path)
    inner = name.with_suffix("").suffix.lower()  # documentation sites keep the sources of their pages as `page.rst.txt`
    return EXTRACTORS.get(inner if name.suffix.lower() == ".txt" and inner in EXTRACTORS else name.suffix.lower())
