"""`llms.txt` (llmstxt.org): a Markdown page by which a site names its pages to programs."""

from __future__ import annotations

from citewell.ingest.discover.links import absolute, markdown_links


def read_llms(text: str, base: str) -> list[str]:
    """The absolute addresses of the links of an `llms.txt` at an address, in order, each once, at most 20,000."""
    return absolute(markdown_links(text), base)
