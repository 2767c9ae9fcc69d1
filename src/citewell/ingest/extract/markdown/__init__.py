"""Markdown pages, with what documentation tools add to CommonMark."""
