"""A server that cannot serve is told at the start, with the remedy; two that open it at once do not trip over each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psycopg
import pytest

from citewell.errors import DatabaseError
from citewell.index.db import Database, unfit
from citewell.index.embedded import EmbeddedServer
from citewell.index.migrate import HEAD, migrate, schema_version
from tests.conftest import forget_cluster, with_account, with_database

pytestmark = pytest.mark.anyio

FIT: dict[str, Any] = {
    "version_num": 150_004,
    "vector": "0.8.0",
    "vector_available": "0.8.0",
    "trigrams": True,
    "read_only": False,
    "may_create": True,
    "account": "me",
    "database": "docs",
}


@pytest.mark.parametrize(
    ("change", "what", "remedy"),
    [
        ({"version_num": 140_011}, "PostgreSQL 14; citewell needs 15", "newer server"),
        ({"vector": "0.7.4"}, "has pgvector 0.7.4", "ALTER EXTENSION vector UPDATE"),
        ({"vector": None, "vector_available": None}, "has no pgvector", "Install pgvector"),
        ({"trigrams": False}, "extension pg_trgm", "contrib"),
        ({"read_only": True}, "read-only standby", "primary"),
        ({"may_create": False}, "me may not create a schema in the database docs", "GRANT CREATE ON DATABASE docs TO me"),
    ],
)
def test_an_unfit_server_is_told_with_its_remedy(change: dict[str, Any], what: str, remedy: str) -> None:
    problem = unfit(FIT | change)
    assert problem is not None
    assert what in str(problem)
    assert remedy in problem.hint
    assert problem.exit_code == 5


def test_a_fit_server_has_no_problem() -> None:
    assert unfit(FIT) is None
    assert unfit(FIT | {"version_num": 180_006, "vector": None, "vector_available": "0.10.1"}) is None


async def test_an_account_without_rights_is_refused_by_the_real_server(embedded_url: str) -> None:
    with psycopg.connect(embedded_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'guest secret'")
        connection.execute("CREATE DATABASE guarded")
    url = with_account(with_database(embedded_url, "guarded"), "guest", "guest%20secret")
    with pytest.raises(DatabaseError, match="guest may not create a schema in the database guarded"):
        await Database(url).open()


async def test_a_wrong_password_is_a_clear_line_without_it(embedded_url: str) -> None:
    with pytest.raises(DatabaseError, match="password authentication failed") as raised:
        await Database(with_account(embedded_url, "citewell", "not-the-password")).open()
    assert "not-the-password" not in str(raised.value) + raised.value.hint


@pytest.mark.parametrize("url", ["postgresql://me:pass word@h/db", "postgresql://me:pa%zz@h/db", "postgresql://me:p@h:port/db"])
async def test_a_malformed_address_is_told_without_a_piece_of_it(url: str) -> None:
    with pytest.raises(DatabaseError) as raised:
        await Database(url).open()
    assert not {"word", "zz"} & set(str(raised.value).replace('"', " ").split())
    assert raised.value.__cause__ is None or "pass" not in str(raised.value)


async def test_many_open_an_empty_database_at_once(embedded_url: str) -> None:
    with psycopg.connect(embedded_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE crowded")
    url = with_database(embedded_url, "crowded")
    databases = [Database(url) for _ in range(4)]
    async with anyio.create_task_group() as tasks:
        for database in databases:
            tasks.start_soon(database.open)
    assert [await database.fetch("sources") for database in databases] == [[]] * 4
    for database in databases:
        await database.close()
    assert schema_version(url) == HEAD
    assert migrate(url) is False


async def test_a_schema_of_a_newer_version_is_left_alone(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE citewell.alembic_version SET version_num = '9999'")
    with pytest.raises(DatabaseError, match="schema 9999, made by a newer citewell"):
        await Database(database).open()


async def test_the_pool_survives_connections_that_the_server_drops(database: str) -> None:
    opened = Database(database)
    await opened.open()
    assert await opened.fetch("sources") == []
    with psycopg.connect(with_database(database, "postgres"), autocommit=True) as connection:
        name = database.rsplit("/", 1)[-1]
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
    assert await opened.fetch("sources") == []
    await opened.close()
    with pytest.raises(DatabaseError, match="not open"):
        await opened.fetch("sources")


async def test_a_server_that_was_stopped_is_told_at_once(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    opened = Database(await anyio.to_thread.run_sync(server.acquire))
    await opened.open()
    await anyio.to_thread.run_sync(server.stop)
    with anyio.fail_after(10):
        for _ in range(3):  # the connection at hand, then those that the pool cannot make
            with pytest.raises(DatabaseError, match="cannot be reached or went away"):
                await opened.fetch("sources")
    await opened.close()
    server.release()
    forget_cluster(tmp_path)
