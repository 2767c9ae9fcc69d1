"""`citewell eval`: figures on a set of questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import Command, Home, Json, Options, ProfileName, Verbose, emit, run, with_app

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.evals.dataset import QuestionRow

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _root() -> None:
    """Measure citewell on a set of questions."""


@app.command("retrieval", cls=Command)
def retrieval(
    questions: Annotated[Path, typer.Option(help="JSON Lines: id, question, expected or graded.", metavar="FILE")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many places count.")] = 8,
    out: Annotated[Path | None, typer.Option(help="Write the scored rows below this folder.", metavar="DIR")] = None,
    baseline: Annotated[Path | None, typer.Option(help="Fail (exit 6) where a metric is below this file's.", metavar="FILE")] = None,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Does search find the expected places, and how far in front?"""
    options = Options(json, home, profile, verbose)

    async def given() -> tuple[list[QuestionRow], dict[str, float]]:
        from citewell.evals.dataset import read_rows
        from citewell.evals.report import make_folder, read_baseline

        least = read_baseline(baseline) if baseline else {}
        if out:
            make_folder(out)
        return read_rows(questions), least

    rows, least = run(options, given)  # what is wrong with them is told before the work begins

    async def work(citewell: Citewell) -> dict[str, Any]:
        from citewell.evals.report import report
        from citewell.evals.run import run_retrieval

        return report("retrieval", await run_retrieval(citewell, rows, k), out)

    found = with_app(options, work)
    emit(options, found, lambda: _text(found))

    async def compared() -> None:
        from citewell.evals.report import compare

        compare(found["metrics"], least)

    run(options, compared)


def _text(found: dict[str, Any]) -> str:
    lines = [f"{found['suite']}: {found['n']} questions"]
    for name, value in found["metrics"].items():
        low, high = found["intervals"][name]
        lines.append(f"  {name:<10} {value:.3f}  [{low:.3f}, {high:.3f}]")
    for kind, metrics in found["by_type"].items():
        shown = ", ".join(f"{name} {value:.3f}" for name, value in metrics.items() if name != "n")
        lines.append(f"  {kind or '(no type)'} ({metrics['n']}): {shown}")
    if found["rows_file"]:
        lines.append(f"rows: {found['rows_file']}")
    return "\n".join(lines)
