"""`citewell prices`: what each model is taken to cost, and whose word that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.cli.common import Home, Json, Options, ProfileName, Verbose, emit, run

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.llm.prices import Prices


def prices(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """List the prices of models, in US dollars for a million tokens."""
    options = Options(json, home, profile, verbose)

    async def work() -> tuple[Prices, Path]:
        from citewell.llm.prices import FILE_NAME, load_prices

        settings, _ = options.load()
        return load_prices(settings.home), settings.home / FILE_NAME

    table, file = run(options, work)
    document = {"as_of": table.as_of, "file": file, "prices": table.rows()}
    emit(options, document, lambda: _text(table, file))


def _text(table: Prices, file: Path) -> str:
    rows = table.rows()
    width = max(len(row.model) for row in rows)
    lines = [f"{'model':{width}}  {'input':>8}  {'cached':>8}  {'output':>8}  from"]
    lines += [f"{row.model:{width}}  {row.input:>8.3f}  {row.cached:>8.3f}  {row.output:>8.3f}  {row.origin}" for row in rows]
    return "\n".join((*lines, "", f"US dollars for a million tokens; the bundled ones as of {table.as_of}. Yours go into {file}."))
