"""`citewell refresh`: have indexed pages looked at again, now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import FAILED, GOES_ON, Home, Json, Options, ProfileName, Verbose, emit, note, with_app
from citewell.cli.index import report_rows, report_text

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.types import RefreshReport


def refresh(
    url: Annotated[list[str] | None, typer.Argument(help="The address of an indexed page.", metavar="[URL...]")] = None,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Look again at these pages, or at all sources: what has changed is indexed, what is gone goes. Of a site, a page that has not changed
    costs one short request."""
    options = Options(json, home, profile, verbose)

    async def work(app: Citewell) -> RefreshReport:
        from citewell.cli.progress import progress_display

        with progress_display() as progress:
            return await app.refresh(url or (), progress)

    report = with_app(options, work, interrupted=GOES_ON)
    rows = report_rows(report.sources)
    for failed in report.failed:
        note(f"citewell: {failed.origin}: {failed.reason}")
    failures = [{"source": failed.origin, "reason": " ".join(failed.reason.split("\n"))} for failed in report.failed]
    emit(
        options,
        {"sources": rows, "failed": failures, "seconds": report.seconds},
        lambda: "\n".join(map(report_text, report.sources)) or "Nothing was refreshed.",
    )
    if report.failed or not all(source.complete for source in report.sources):
        raise typer.Exit(FAILED)
