"""`citewell doctor`: is everything in place, and what to do where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from citewell.cli.common import Home, Json, Options, ProfileName, Verbose, emit, run

if TYPE_CHECKING:
    from citewell.types import Check


def doctor(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """Check the database, the embedder, the index and the settings."""
    options = Options(json, home, profile, verbose)

    async def work() -> list[Check]:
        from citewell.doctor import doctor as checkup

        return await checkup(*options.load())

    checks = run(options, work)
    emit(options, {"checks": checks}, lambda: "\n".join(map(_text, checks)))
    raise typer.Exit(0 if all(check.ok for check in checks) else 1)


def _text(check: Check) -> str:
    line = f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}"
    return f"{line}\n     → {check.remedy}" if check.remedy else line
