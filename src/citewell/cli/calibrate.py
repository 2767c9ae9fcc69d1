"""`citewell calibrate`: where the guard draws the line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import Home, Json, Options, ProfileName, Verbose, emit, with_app

if TYPE_CHECKING:
    from citewell.agent.guard import Calibration
    from citewell.app import Citewell


def calibrate(
    on_topic: Annotated[Path | None, typer.Option(help="Questions that must pass, one a line or as JSON Lines.", metavar="FILE")] = None,
    off_topic: Annotated[Path | None, typer.Option(help="Questions that must be stopped.", metavar="FILE")] = None,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Measure how far on-topic and off-topic questions lie from the corpus, and set the guard's threshold between them.

    Without files: the corpus's own headings against a bundled list, as every `citewell index` does by itself.
    """
    options = Options(json, home, profile, verbose)
    if (on_topic is None) != (off_topic is None):
        raise typer.BadParameter("--on-topic and --off-topic go together.")

    async def work(app: Citewell) -> Calibration:
        from citewell.evals.dataset import read_questions

        return await app.calibrate(read_questions(on_topic), read_questions(off_topic)) if on_topic and off_topic else await app.calibrate()

    found = with_app(options, work)
    emit(options, found, lambda: _text(found))


def _text(found: Calibration) -> str:
    lines = [f"threshold {found.threshold:.3f}, {found.overlap:.1%} on the wrong side"]
    for name, distances in (("on topic", found.on_topic), ("off topic", found.off_topic)):
        if distances:
            middle = distances[len(distances) // 2]
            lines.append(f"{name}: {len(distances)} phrases, {distances[0]:.3f} … {middle:.3f} … {distances[-1]:.3f}")
    return "\n".join(lines)
