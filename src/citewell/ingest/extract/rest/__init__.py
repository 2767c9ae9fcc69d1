"""reStructuredText pages, with the directives and roles of Sphinx."""
