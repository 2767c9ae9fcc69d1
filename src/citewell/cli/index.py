"""`citewell index`: bring sources up to date."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import FAILED, GOES_ON, Home, Json, Options, ProfileName, Verbose, emit, note, with_app

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.types import IndexReport

_SHOWN_SKIPS = 10


def index(
    origin: Annotated[list[str], typer.Argument(help="A folder, a file, an archive or a site of documentation.", metavar="ORIGIN...")],
    source: Annotated[str, typer.Option(help="What to call this source.", metavar="NAME")] = "",
    library: Annotated[str, typer.Option(help="The library it documents.", metavar="L")] = "",
    kind: Annotated[str, typer.Option(help="api, tutorial or guide, for all of its pages.", metavar="K")] = "",
    base_url: Annotated[str, typer.Option(help="Where its pages are published.", metavar="URL")] = "",
    prune: Annotated[
        bool | None, typer.Option("--prune/--no-prune", help="Delete pages that are gone. [default: if all of the origin was seen]")
    ] = None,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Index documentation: new and changed pages are read, unchanged ones cost a hash, deleted ones go."""
    options = Options(json, home, profile, verbose)
    if len(origin) > 1 and source:
        raise typer.BadParameter("--source names one origin; index the others by commands of their own.")
    if kind not in {"", "api", "tutorial", "guide"}:
        raise typer.BadParameter("--kind is api, tutorial or guide.")

    reports: list[IndexReport] = []

    async def work(app: Citewell) -> None:
        from citewell.cli.progress import progress_display
        from citewell.ingest.progress import of_source

        for place in origin:
            with progress_display() as display:
                progress = of_source(display, place) if len(origin) > 1 else display
                reports.append(
                    await app.index(place, source=source, library=library, kind=kind, base_url=base_url, prune=prune, progress=progress)
                )

    try:
        with_app(options, work, interrupted=GOES_ON)
    finally:  # what was done before an error is told all the same
        if reports:
            rows = report_rows(reports)
            emit(options, rows if len(origin) > 1 else rows[0], lambda: "\n".join(map(report_text, reports)))
    if not all(report.complete for report in reports):
        raise typer.Exit(FAILED)


def report_rows(reports: Iterable[IndexReport]) -> list[dict[str, Any]]:
    """The reports as JSON has them, their warnings told on stderr."""
    from citewell.render import plain

    rows = []
    for report in reports:
        for warning in report.warnings:
            note(f"warning: {report.source}: {warning}")
        rows.append({name: value for name, value in plain(report).items() if name != "warnings"})
    return rows


def report_text(report: IndexReport) -> str:
    """A report for a person."""
    changes = [("added", report.added), ("updated", report.updated), ("moved", report.moved), ("deleted", report.deleted)]
    changed = ", ".join(f"{count} {name}" for name, count in changes if count) or "nothing changed"
    lines = [
        f"{report.source}: {report.pages} pages, {report.sections} sections"
        f" ({changed}; {report.unchanged} unchanged) in {report.seconds:.1f} s"
    ]
    lines += [f"  skipped {skip.origin}: {skip.reason}" for skip in report.skipped[:_SHOWN_SKIPS]]
    if len(report.skipped) > _SHOWN_SKIPS:
        lines.append(f"  … and {len(report.skipped) - _SHOWN_SKIPS} more; --json lists them all")
    return "\n".join(lines)
