"""The database's schema brought to what this version of citewell needs, by Alembic. Synchronous: callers run it off the event loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from citewell.errors import DatabaseError
from citewell.index.queries import statement

SCHEMA = "citewell"
_VERSIONS = Path(__file__).parent / "migrations" / "versions"
HEAD = max(file.stem.split("_")[0] for file in _VERSIONS.glob("*.sql"))
_LOCK = 0x63697465  # one migration at a time, whoever starts it


def schema_version(url: str) -> str | None:
    """The version of the schema in a database; None where there is none yet."""
    with psycopg.connect(url, autocommit=True) as connection:
        table = sql.SQL("{}.alembic_version").format(sql.Identifier(SCHEMA))
        found = connection.execute("SELECT to_regclass(%s)", (table.as_string(connection),)).fetchone()
        if found is None or found[0] is None:
            return None
        row = connection.execute(sql.SQL("SELECT version_num FROM {}").format(table)).fetchone()
        return None if row is None else str(row[0])


def migrate(url: str) -> bool:
    """Bring the schema to `HEAD`; whether anything had to be done. Raises `DatabaseError` when a newer citewell made it."""
    version = schema_version(url)
    if version == HEAD:
        return False
    if version is not None and version > HEAD:
        raise DatabaseError(
            f"The database has schema {version}, made by a newer citewell; this one knows {HEAD}.",
            hint="Upgrade citewell, or use another database.",
        )
    with psycopg.connect(url, autocommit=True) as lock:
        lock.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        if schema_version(url) == HEAD:
            return False
        for statement in ("CREATE EXTENSION IF NOT EXISTS vector", "CREATE EXTENSION IF NOT EXISTS pg_trgm"):
            lock.execute(statement)
        lock.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
        _upgrade(url)
    return True


def _schemas(connection: Any) -> list[str]:
    """Our schema first, then those in which the extensions lie."""
    found = connection.exec_driver_sql(statement("extension_schemas")).scalars()
    return list(dict.fromkeys([SCHEMA, "public", *found]))


def _upgrade(url: str) -> None:
    # Alembic brings SQLAlchemy along, a second to import: needed only when there is something to migrate.
    import sqlalchemy
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_VERSIONS.parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)

    def to_head(revision: object, _context: object) -> object:
        return script._upgrade_revs("head", revision)  # type: ignore[arg-type]

    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=sqlalchemy.NullPool)
    try:
        with EnvironmentContext(config, script, fn=to_head) as environment, engine.connect() as connection:
            connection.exec_driver_sql(f"SET search_path TO {', '.join(_schemas(connection))}")
            environment.configure(connection=connection, version_table_schema=SCHEMA, transactional_ddl=True)
            with environment.begin_transaction():
                environment.run_migrations()
            connection.commit()
    finally:
        engine.dispose()
