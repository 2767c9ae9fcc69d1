"""The commands of `citewell`. Each command's file imports nothing heavy until it runs, so that `--help` is instant."""

from __future__ import annotations

import typer

from citewell.cli import ask, calibrate, db, docs, doctor, evaluate, index, prices, refresh, search, sources
from citewell.cli.common import Command
from citewell.cli.streams import show

app = typer.Typer(
    name="citewell",
    help="Ask a body of documentation. Every sentence of the answer carries a citation that was checked against the page.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

app.command("index", cls=Command)(index.index)
app.command("refresh", cls=Command)(refresh.refresh)
app.command("remove", cls=Command)(sources.remove)
app.command("sources", cls=Command)(sources.sources)
app.command("search", cls=Command)(search.search)
app.command("ask", cls=Command)(ask.ask)
app.add_typer(docs.app, name="docs", help="The indexed documents: list them, read one.")
app.add_typer(evaluate.app, name="eval", help="Measure citewell on a set of questions.")
app.command("calibrate", cls=Command)(calibrate.calibrate)
app.add_typer(db.app, name="db", help="The database: status, migrate, stop, url.")
app.command("prices", cls=Command)(prices.prices)
app.command("doctor", cls=Command)(doctor.doctor)


def _version(value: bool) -> None:
    if value:
        from citewell import __version__

        show(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """Options before the command."""
