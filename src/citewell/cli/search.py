"""`citewell search`: the best places for a query."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import Home, Json, Library, Options, ProfileName, Verbose, emit, with_app

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.types import Hit


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many places.")] = 8,
    library: Library = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only api, tutorial or guide (repeatable).", metavar="K")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source (repeatable).", metavar="S")] = None,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Find the best places for a query."""
    options = Options(json, home, profile, verbose)

    async def work(app: Citewell) -> tuple[list[Hit], float]:
        from citewell.types import Filters

        started = time.perf_counter()
        hits = await app.search(query, k=k, filters=Filters(tuple(library or ()), tuple(kind or ()), tuple(source or ())))
        return hits, time.perf_counter() - started

    hits, seconds = with_app(options, work)
    from citewell.render import hit_row

    rows = [hit_row(rank, hit) for rank, hit in enumerate(hits, start=1)]

    def text() -> str:
        return "\n".join(_text(rank, hit) for rank, hit in enumerate(hits, start=1)) or "Nothing found."

    emit(options, {"query": query, "hits": rows, "seconds": round(seconds, 4)}, text)


def _text(rank: int, hit: Hit) -> str:
    from citewell.render import place

    return f"{rank:>2}. {hit.section.heading_path}\n    {place(hit.section.url, hit.section.anchor)}\n    {hit.snippet}"
