"""The single-shot driver: one retrieval, and the evidence goes to the terminus."""

from __future__ import annotations

from citewell.ground.run import Deps, Run
from citewell.index.retrieve import retrieve
from citewell.types import Draft

SECTIONS = 8


async def single(run: Run, deps: Deps) -> Draft:
    """A draft that leaves the writing to the terminus."""
    run.trace("searching the documentation")
    for hit in await retrieve(deps.store, deps.embedder, run.question, k=SECTIONS, filters=run.filters):
        run.evidence.add(hit)
    pages = len({hit.section.url for _, hit in run.evidence})
    run.trace(f"found {len(run.evidence)} sections on {pages} pages")
    return Draft(route="single", protocol="rules")
