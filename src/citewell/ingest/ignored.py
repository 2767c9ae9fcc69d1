"""Folders that builders and tools write beside the documents; a folder and a site leave them out alike."""

from __future__ import annotations

IGNORED_FOLDERS = frozenset({"_static", "_sources", "_images", "_downloads", "_modules", "node_modules", "__pycache__"})
