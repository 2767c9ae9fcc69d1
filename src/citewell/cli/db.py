"""`citewell db`: the database itself."""

from __future__ import annotations

import typer

from citewell.cli.common import Command, Home, Json, Options, ProfileName, Verbose, emit, run

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command("status", cls=Command)
def status(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """Whether it runs, where, and with which schema. Starts nothing."""
    options = Options(json, home, profile, verbose)

    async def work() -> dict[str, object]:
        from citewell.index.connect import database_status

        return await database_status(options.load()[0])

    found = run(options, work)
    emit(options, found, lambda: "\n".join(f"{name}: {value}" for name, value in found.items()))


@app.command("migrate", cls=Command)
def migrate(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """Bring the schema to what this version needs (opening citewell does so by itself)."""
    options = Options(json, home, profile, verbose)

    async def work() -> dict[str, object]:
        from citewell.index.connect import migrate_database

        return await migrate_database(options.load()[0])

    found = run(options, work)
    emit(options, found, lambda: f"schema {found['schema']}: {'migrated' if found['changed'] else 'nothing to do'}")


@app.command("stop", cls=Command)
def stop(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """Stop the embedded database, whoever uses it."""
    options = Options(json, home, profile, verbose)

    async def work() -> bool:
        from citewell.index.connect import stop_database

        return await stop_database(options.load()[0])

    stopped = run(options, work)
    emit(options, {"stopped": stopped}, lambda: "stopped" if stopped else "it was not running")


@app.command("url", cls=Command)
def url(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """Print the database's address, password included, while it runs (for psql)."""
    options = Options(json, home, profile, verbose)

    async def work() -> str:
        from citewell.index.connect import running_url

        return await running_url(options.load()[0])

    address = run(options, work)
    emit(options, {"url": address}, lambda: address)
