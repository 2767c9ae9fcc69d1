"""`citewell ask`: a cited answer."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import Home, Json, Library, Options, ProfileName, Verbose, emit, note, with_app

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.types import Answer, Event

_EXIT = {"answered": 0, "partial": 3, "not_found": 3, "refused": 3, "failed": 4}


class DriverName(StrEnum):
    auto = "auto"
    single = "single"
    loop = "loop"


class ProtocolName(StrEnum):
    auto = "auto"
    planner = "planner"
    rules = "rules"


class ProviderName(StrEnum):
    openai_compat = "openai-compat"
    anthropic = "anthropic"
    gemini = "gemini"
    offline = "offline"


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    driver: Annotated[DriverName, typer.Option(help="How the evidence is gathered.")] = DriverName.auto,
    protocol: Annotated[ProtocolName, typer.Option(help="Who writes the answer: a model, or rules that quote.")] = ProtocolName.auto,
    provider: Annotated[ProviderName | None, typer.Option(help="Pin a provider; offline quotes, without a model.")] = None,
    model: Annotated[str | None, typer.Option(help="Ask this model, as provider:model.", metavar="M")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="At most so many model calls.", metavar="N")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="At most so many tokens.", metavar="N")] = None,
    max_seconds: Annotated[float | None, typer.Option(min=0.1, help="At most so many seconds.", metavar="S")] = None,
    max_usd: Annotated[float | None, typer.Option(min=0, help="At most so much money.", metavar="D")] = None,
    no_guard: Annotated[bool, typer.Option("--no-guard", help="Skip the check of length, language and topic.")] = False,
    library: Library = None,
    json: Json = False,
    home: Home = None,
    profile: ProfileName = None,
    verbose: Verbose = False,
) -> None:
    """Answer a question from the indexed documentation, every sentence cited."""
    options = Options(json, home, profile, verbose)
    limits: dict[str, Any] = {"max_calls": max_calls, "max_tokens": max_tokens, "max_seconds": max_seconds, "max_usd": max_usd}
    if protocol is ProtocolName.rules and (model or provider not in {None, ProviderName.offline}):
        raise typer.BadParameter("the rules ask no model; leave out --model and --provider.", param_hint="--protocol")
    pinned = ProviderName.offline if protocol is ProtocolName.rules else provider

    async def work(app: Citewell) -> Answer:
        from dataclasses import replace

        from citewell.errors import UsageError
        from citewell.types import Filters

        chosen = pinned.value if pinned else None
        if protocol is ProtocolName.planner and app.models.registry.fleet(provider=chosen, model=model).offline:
            raise UsageError("--protocol planner needs a model, and none is set up.", hint="Set a key or a base URL; see docs/models.md.")
        return await app.ask(
            question,
            budget=replace(app.budget(), **{name: value for name, value in limits.items() if value is not None}),
            filters=Filters(tuple(library or ())),
            guarded=not no_guard,
            driver=driver.value,
            provider=chosen,
            model=model,
            sink=_trace,
        )

    answer = with_app(options, work)
    emit(options, answer, lambda: _text(answer), styled=sys.stdout.isatty() and not json)
    raise typer.Exit(_EXIT[answer.status])


def _trace(event: Event) -> None:
    from citewell.types import TraceEvent

    if isinstance(event, TraceEvent):
        note(f"· {event.text}")


def _text(answer: Answer) -> str:
    from citewell.render import answer_notes, answer_text, printable

    if not sys.stdout.isatty():
        return answer_text(answer)
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.capture() as captured:
        console.print(Markdown(printable(answer.answer_md), hyperlinks=True))
    return "\n\n".join([captured.get().rstrip(), *map(printable, answer_notes(answer))])
