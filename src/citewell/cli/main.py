"""The command line: `citewell COMMAND`. Each command's file imports nothing heavy until it runs, so that `--help` is instant."""

from __future__ import annotations

import sys
import traceback

import typer

from citewell.cli import ask, calibrate, db, docs, doctor, evaluate, index, search, sources
from citewell.cli.common import masked

app = typer.Typer(
    name="citewell",
    help="Ask a body of documentation. Every sentence of the answer carries a citation that was checked against the page.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)

app.command("index")(index.index)
app.command("remove")(sources.remove)
app.command("sources")(sources.sources)
app.command("search")(search.search)
app.command("ask")(ask.ask)
app.add_typer(docs.app, name="docs", help="The indexed documents: list them, read one.")
app.add_typer(evaluate.app, name="eval", help="Measure citewell on a set of questions.")
app.command("calibrate")(calibrate.calibrate)
app.add_typer(db.app, name="db", help="The database: status, migrate, stop, url.")
app.command("doctor")(doctor.doctor)


def _version(value: bool) -> None:
    if value:
        from citewell import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """Options before the command."""


def main() -> None:
    """The entry point. A bug ends in one line and exit code 1; its traceback is shown with -v."""
    try:
        app()
    except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback reaches a person who did not ask for it
        print(masked(f"citewell: something went wrong inside: {type(error).__name__}: {error}"), file=sys.stderr)
        print("Run it again with -v for the details, and please report them.", file=sys.stderr)
        if {"-v", "--verbose"} & set(sys.argv):
            print(masked(traceback.format_exc()), file=sys.stderr)
        sys.exit(1)
