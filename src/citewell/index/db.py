"""The pool of connections and the named statements that run on it: all that the rest of `index` knows of psycopg."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio.to_thread
import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from citewell.errors import DatabaseError, DiskFull
from citewell.index.migrate import SCHEMA, migrate
from citewell.index.queries import statement

Row = dict[str, Any]
Params = Mapping[str, Any]
Connection = AsyncConnection[Row]

_MIN_SERVER = 150_000
_MIN_VECTOR = (0, 8)
_POOL_SIZE = 10
_CONNECT_SECONDS = 15.0
_USUAL_SECONDS = 1.0
# hnsw.ef_search: at pgvector's 40, one nearest neighbour in twelve is missed. Iterative scans go on until a filter has its rows or
# so many vectors have been looked at.
_SESSION = (
    "SET hnsw.ef_search = 100",
    "SET hnsw.iterative_scan = strict_order",
    "SET hnsw.max_scan_tuples = 200000",
    "SET jit = off",
)


class Database:
    """An open pool. Every method raises `DatabaseError`, never a driver's own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._schemas: list[str] = []

    async def open(self) -> None:
        """Check the server, bring its schema up to date, open the pool."""
        _refuse_malformed(self.url)
        with translated(self.url):
            await self._check()
            await anyio.to_thread.run_sync(migrate, self.url)
            self._schemas = await self._search_path()
            self._pool = AsyncConnectionPool(
                self.url,
                connection_class=AsyncConnection[Row],
                kwargs={"autocommit": True, "row_factory": dict_row, "connect_timeout": int(_CONNECT_SECONDS)},
                configure=self._configure,
                check=AsyncConnectionPool.check_connection,
                min_size=1,
                max_size=_POOL_SIZE,
                timeout=_CONNECT_SECONDS,
                open=False,
            )
            await self._pool.open(wait=True, timeout=_CONNECT_SECONDS)

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection of the pool, in autocommit."""
        if self._pool is None:
            raise DatabaseError("The database is not open.", hint="Use citewell as a context manager.")
        with translated(self.url):
            connection = await self._get(self._pool)
            try:
                async with connection:
                    yield connection
            finally:
                await self._pool.putconn(connection)

    async def _get(self, pool: AsyncConnectionPool[Connection]) -> Connection:
        """A connection of the pool. Who waits for one longer than usual looks whether there still is a server: the pool itself would go
        on trying."""
        with suppress(PoolTimeout):
            return await pool.getconn(timeout=_USUAL_SECONDS)
        await self._ask_once("server")
        return await pool.getconn(timeout=_CONNECT_SECONDS)

    @asynccontextmanager
    async def transaction(self, *, durable: bool = True) -> AsyncIterator[Connection]:
        """A connection inside one transaction. One that is not durable may be lost in a crash of the server, whole: for what is made
        anew when it is missing, such as a page of a run or a vector."""
        async with self.connection() as connection, connection.transaction():
            if not durable:
                await connection.execute("SET LOCAL synchronous_commit = off")
            yield connection

    async def fetch(self, name: str, /, **params: Any) -> list[Row]:
        """The rows of a named statement."""
        async with self.connection() as connection:
            return await run(connection, name, params)

    async def fetch_one(self, name: str, /, **params: Any) -> Row | None:
        rows = await self.fetch(name, **params)
        return rows[0] if rows else None

    async def _configure(self, connection: Connection) -> None:
        path = sql.SQL(", ").join(map(sql.Identifier, self._schemas))
        await connection.execute(sql.SQL("SET search_path TO {}").format(path))
        for setting in _SESSION:
            await connection.execute(sql.SQL(setting))

    async def _ask_once(self, name: str) -> list[Row]:
        """The rows of a named statement on a connection of its own, before there is a pool."""
        async with await AsyncConnection.connect(
            self.url, autocommit=True, row_factory=dict_row, connect_timeout=int(_CONNECT_SECONDS)
        ) as connection:
            return await run(connection, name, {})

    async def _search_path(self) -> list[str]:
        """Our schema, and those of the extensions: a server's administrator may have put them anywhere."""
        return list(dict.fromkeys([SCHEMA, "public", *(row["name"] for row in await self._ask_once("extension_schemas"))]))

    async def _check(self) -> None:
        """Raises `DatabaseError` with the remedy for a server that cannot serve."""
        facts = (await self._ask_once("server"))[0]
        problem = unfit(facts)
        if problem is not None:
            raise problem


def unfit(facts: Row) -> DatabaseError | None:
    """What is wrong with a server, told with its remedy; None when it will do."""
    if facts["version_num"] < _MIN_SERVER:
        return DatabaseError(
            f"The database server is PostgreSQL {facts['version_num'] // 10_000}; citewell needs 15 or newer.",
            hint="Point CITEWELL_DATABASE_URL at a newer server, or unset it to use the embedded one.",
        )
    if facts["read_only"]:
        return DatabaseError("The database server is a read-only standby.", hint="Point CITEWELL_DATABASE_URL at the primary.")
    vector = facts["vector"] or facts["vector_available"]
    if vector is None or tuple(int(part) for part in vector.split(".")[:2]) < _MIN_VECTOR:
        return DatabaseError(
            f"The database server has {'pgvector ' + vector if vector else 'no pgvector'}; citewell needs 0.8 or newer.",
            hint="Install pgvector 0.8+ on the server (and ALTER EXTENSION vector UPDATE), or unset CITEWELL_DATABASE_URL.",
        )
    if not facts["trigrams"]:
        return DatabaseError(
            "The database server does not have the extension pg_trgm.",
            hint="Install PostgreSQL's contrib modules on the server (postgresql-contrib).",
        )
    if not facts["may_create"]:
        return DatabaseError(
            f"The account {facts['account']} may not create a schema in the database {facts['database']}.",
            hint=f"As its owner: GRANT CREATE ON DATABASE {facts['database']} TO {facts['account']}.",
        )
    return None


async def run(connection: Connection, name: str, params: Params) -> list[Row]:
    """The rows of a named statement on a connection; none for a statement that returns nothing."""
    cursor = await connection.execute(statement(name).encode(), params)
    return await cursor.fetchall() if cursor.description else []


async def copy(connection: Connection, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Rows in bulk by a named COPY statement."""
    async with connection.cursor() as cursor, cursor.copy(statement(name).encode()) as stream:
        for row in rows:
            await stream.write_row(row)


@contextmanager
def translated(url: str) -> Iterator[None]:
    """Foreign database errors as ours: once, here, with the server named but never its password."""
    try:
        yield
    except psycopg.errors.DiskFull as error:
        raise DiskFull(
            "The disk of the database is full.", hint="Free some space or choose another --home; what was indexed so far is kept."
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseError(
            f"The database refused: {_first_line(error)}.", hint="Grant that right to the account, or use another one."
        ) from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise DatabaseError(
            f"The database at {_place(url)} cannot be reached or went away: {_first_line(error)}",
            hint="Check that it runs (citewell doctor); with the embedded one, run the command again.",
        ) from error
    except psycopg.Error as error:
        raise DatabaseError(f"The database failed: {_first_line(error)}", hint="Run again with -v for the details.") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__


def _refuse_malformed(url: str) -> None:
    """Raises `DatabaseError` for an address that is none; the driver's own words would show pieces of the password."""
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise DatabaseError(
            "The address of the database is malformed.", hint="Percent-encode what is special in its user and password (a blank is %20)."
        ) from None


def _place(url: str) -> str:
    """The server's name and port; never a piece of the password, however the address is written."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "the address given"
    return f"{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}"
