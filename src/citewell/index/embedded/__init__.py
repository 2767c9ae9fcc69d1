"""The PostgreSQL that citewell brings along: one server for a home, shared by its processes, gone when the last one is."""

from citewell.index.embedded.server import EmbeddedServer, ServerStatus

__all__ = ["EmbeddedServer", "ServerStatus"]
