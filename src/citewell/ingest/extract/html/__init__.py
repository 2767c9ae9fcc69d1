"""HTML pages: Sphinx of any age, DocBook, MkDocs, Docusaurus, generators of reference pages, plain ones."""
