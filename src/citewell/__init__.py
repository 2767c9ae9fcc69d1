"""citewell answers questions from a body of documentation, with citations checked against the page."""

__version__ = "0.1.0"
