"""`citewell sources` and `citewell remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import Home, Json, Options, ProfileName, Verbose, emit, with_app

if TYPE_CHECKING:
    from citewell.types import SourceInfo


def sources(json: Json = False, home: Home = None, profile: ProfileName = None, verbose: Verbose = False) -> None:
    """List what is indexed."""
    options = Options(json, home, profile, verbose)
    found = with_app(options, lambda app: app.sources())
    emit(options, {"sources": found}, lambda: "\n".join(map(_text, found)) or "Nothing is indexed yet: citewell index FOLDER.")


def _text(info: SourceInfo) -> str:
    pending = f", {info.vectors_pending} without a vector yet" if info.vectors_pending else ""
    when = f", indexed {info.indexed_at:%Y-%m-%d %H:%M}" if info.indexed_at else ", not completed"
    return f"{info.source}: {info.pages} pages, {info.sections} sections of {info.library}{pending}{when}\n  from {info.origin}"


def remove(
    source: Annotated[str, typer.Argument(help="The name of the source, as `citewell sources` shows it.")],
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Forget a source with all its pages."""
    options = Options(json, home, profile, verbose)
    pages = with_app(options, lambda app: app.remove(source))
    emit(options, {"source": source, "deleted": pages}, lambda: f"{source}: {pages} pages forgotten")
