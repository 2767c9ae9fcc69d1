"""Which database is in force, and what can be done with it as a whole: the embedded one, or the one that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread

from citewell.errors import DatabaseError, UsageError
from citewell.index.db import translated
from citewell.index.embedded import EmbeddedServer
from citewell.index.migrate import HEAD, migrate, schema_version
from citewell.redact import Redactor
from citewell.settings import Settings


@asynccontextmanager
async def database_url(settings: Settings) -> AsyncIterator[str]:
    """The address of the database, the embedded one started, and kept running, for as long as this is open."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    server = EmbeddedServer(settings.home)
    try:
        yield await anyio.to_thread.run_sync(server.acquire)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(server.release)


async def database_status(settings: Settings) -> dict[str, Any]:
    """Where the database is, whether it runs, and its schema as far as that can be seen without starting anything."""
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        return {"kind": "server", "url": Redactor()(url), "running": True, "schema": await _schema(url), "needed_schema": HEAD}
    found = await anyio.to_thread.run_sync(EmbeddedServer(settings.home).status)
    return {
        "kind": "embedded",
        "running": found.running,
        "version": found.version,
        "data_dir": str(found.data_dir),
        "log": str(found.log),
        "port": found.port,
        "pid": found.pid,
        "users": list(found.users),
        "needed_schema": HEAD,
    }


async def migrate_database(settings: Settings) -> dict[str, Any]:
    """Bring the schema up to date; which it is now, and whether that changed anything."""
    async with database_url(settings) as url:
        with translated(url):
            changed = await anyio.to_thread.run_sync(migrate, url)
        return {"schema": await _schema(url), "changed": changed}


async def stop_database(settings: Settings) -> bool:
    """Stop the embedded server; False when it was not running. Raises `UsageError` for a server that is not ours to stop."""
    if settings.database_url is not None:
        raise UsageError(
            "The database is a server of its own; citewell does not stop it.", hint="Unset CITEWELL_DATABASE_URL for the embedded one."
        )
    return await anyio.to_thread.run_sync(EmbeddedServer(settings.home).stop)


async def running_url(settings: Settings) -> str:
    """The address, password included, of the database that runs. Raises `DatabaseError` when the embedded one does not."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    server = EmbeddedServer(settings.home)
    if not (await anyio.to_thread.run_sync(server.status)).running:
        raise DatabaseError(
            "The embedded database does not run; it does so only while something uses it.",
            hint="Run this while a command uses it, citewell index for one.",
        )
    async with database_url(settings) as url:
        return url


async def _schema(url: str) -> str | None:
    with translated(url):
        return await anyio.to_thread.run_sync(schema_version, url)
