"""What every command shares: its options, opening citewell, errors as two lines and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from citewell.app import Citewell
    from citewell.profile import Profile
    from citewell.settings import Settings

T = TypeVar("T")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; everything else on stderr.")]
Home = Annotated[Path | None, typer.Option("--home", help="Where citewell keeps its data. [env: CITEWELL_HOME]", metavar="DIR")]
ProfileName = Annotated[str | None, typer.Option("--profile", help="A profile file, or a bundled one: generic, pytorch.", metavar="FILE")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Logs and tracebacks on stderr.")]
Library = Annotated[list[str] | None, typer.Option("--library", help="Only this library (repeatable).", metavar="L")]

INTERRUPTED = 1
_secrets: list[str] = []  # of the settings in force, once they are read: no line on stderr may hold one


@dataclass(frozen=True, slots=True)
class Options:
    """The four options that every command takes."""

    json: bool = False
    home: Path | None = None
    profile: str | None = None
    verbose: bool = False

    def load(self) -> tuple[Settings, Profile]:
        """The settings and the profile in force. Raises `SettingsError`."""
        from citewell.profile import load_profile
        from citewell.settings import load_settings, profile_tables

        settings = load_settings(self.home)
        _secrets.extend(settings.secrets)
        _log_to_stderr(verbose=self.verbose)
        return settings, load_profile(self.profile, profile_tables())


def with_app(options: Options, work: Callable[[Citewell], Awaitable[T]]) -> T:
    """The result of work done with citewell open; an error ends the command with its exit code."""

    async def opened() -> T:
        from citewell.app import Citewell

        settings, profile = options.load()
        async with Citewell(settings, profile) as app:
            return await work(app)

    return run(options, opened)


def run(options: Options, work: Callable[[], Awaitable[T]]) -> T:
    """The result of asynchronous work, its errors told in two lines: what happened, what to do."""
    import anyio

    from citewell.errors import CitewellError

    try:
        return anyio.run(work)
    except CitewellError as error:
        fail(options, str(error), error.hint, error.exit_code)
    except (KeyboardInterrupt, BrokenPipeError):
        raise typer.Exit(INTERRUPTED) from None


def masked(text: str) -> str:
    """The text without secrets."""
    from citewell.redact import Redactor

    return Redactor(_secrets)(text)


def fail(options: Options, message: str, hint: str, code: int) -> NoReturn:
    """Tell an error on stderr, without secrets, and end the command."""
    print(masked(f"citewell: {message}"), file=sys.stderr)
    if hint:
        print(masked(hint), file=sys.stderr)
    if options.verbose:
        print(masked(traceback.format_exc()), file=sys.stderr)
    raise typer.Exit(code)


def emit(options: Options, value: Any, text: Callable[[], str]) -> None:
    """A command's result on stdout: as one JSON document, or as text."""
    from citewell.render import to_json

    print(to_json(value) if options.json else text())


def note(text: str) -> None:
    """A line for the person at the terminal, never part of the result."""
    print(text, file=sys.stderr, flush=True)


def _log_to_stderr(*, verbose: bool) -> None:
    import logging

    from citewell.redact import RedactingFilter, Redactor

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RedactingFilter(Redactor(_secrets)))
    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
