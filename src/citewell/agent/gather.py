"""Evidence from several searches: what the rules protocol does for questions that one search cannot answer."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.ground.run import Deps, Run
from citewell.index.retrieve import retrieve

SECTIONS = 8  # of the search for the question itself
_SECTIONS_A_PART = 4


async def search(run: Run, deps: Deps, query: str, k: int = SECTIONS) -> int:
    """Add the k best sections for a query to the evidence; how many of them are new."""
    before = len(run.evidence)
    for hit in await retrieve(deps.store, deps.embedder, query, k=k, filters=run.filters):
        run.evidence.add(hit)
    return len(run.evidence) - before


async def search_parts(run: Run, deps: Deps, parts: Sequence[str]) -> int:
    """Search for each part of a question by itself; how many sections are new. What the question itself found stays in front."""
    new = 0
    for part in parts:
        run.trace(f"searching for {part!r}")
        new += await search(run, deps, part, _SECTIONS_A_PART)
    return new
