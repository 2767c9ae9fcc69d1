"""What every command shares: its options, opening citewell, errors as two lines and an exit code."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
from typer.core import TyperCommand

from citewell.cli.streams import show, tell

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
GOES_ON = "Interrupted; run the same command again to go on."
FAILED = 1
_USAGE = 2
_ASKED = {"question", "query"}  # pasted from anywhere
_CTRL_C = 130  # how typer reports it
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


class Command(TyperCommand):
    """A command that takes an option without a value for a slip, as that of `--home "$UNSET"` or `--home --json`, and refuses bytes that
    are no text, but in what people ask."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        options = {name for param in self.params for name in param.opts if name.startswith("-")}
        param: Any
        for param in self.params:
            value = given.get(param.name or "")
            for text in value if isinstance(value, (list, tuple)) else [value]:
                fault = _fault(text, param, options) if isinstance(text, str) else ""
                if fault:
                    raise typer.BadParameter(f"the value {fault}", ctx=ctx, param=param)
        return super().parse_args(ctx, args)


def _fault(text: str, param: Any, options: Set[str]) -> str:
    """What is wrong with a value, whatever it is for."""
    if param.name not in _ASKED and any("\ud800" <= char <= "\udfff" for char in text):
        return "is not written in UTF-8"
    if param.param_type_name != "option":
        return ""
    return "is empty" if not text.strip() else "is another option" if text in options else ""


def dispatch(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command; its exit code. Wrong usage and bugs are told in two lines, as every error."""
    verbose = bool({"-v", "--verbose"} & set(arguments))
    try:
        code: int | None = app(args=list(arguments), standalone_mode=False)
    except typer.TyperException as error:
        return _wrong_usage(error)
    except (typer.Abort, KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    except FileNotFoundError as error:
        if error.filename is not None:
            return _bug(error, verbose=verbose)
        _say("citewell: The working directory does not exist any more.")  # what asks for it names no file
        _say("Change to a folder that does.")
        return _USAGE
    except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback reaches a person who did not ask for it
        return _bug(error, verbose=verbose)
    return INTERRUPTED if code == _CTRL_C else code or 0


def _bug(error: Exception, *, verbose: bool) -> int:
    _say(f"citewell: something went wrong inside: {type(error).__name__}: {error}")
    _say("Run it again with -v for the details, and please report them.")
    if verbose:
        _say(traceback.format_exc())
    return FAILED


def _wrong_usage(error: typer.TyperException) -> int:
    ctx: typer.Context | None = getattr(error, "ctx", None)
    words = error.format_message()
    if ctx is not None and words == ctx.get_help():  # a group of commands without a command
        _say(words)
        return error.exit_code
    words = words.replace("Value error, ", "").replace("Input should be", "it must be").rstrip(".")
    _say(f"citewell: {' '.join(words.split())}.")
    path = ctx.command_path if ctx else "citewell"
    asked = ctx is not None and any(param.name in _ASKED for param in ctx.command.params)
    dashed = getattr(error, "option_name", "") if asked else ""
    _say(
        f"What begins with a dash, and is no option, stands after --: {path} -- {dashed}"
        if dashed
        else f"{path} --help shows what is allowed."
    )
    return error.exit_code


def with_app(options: Options, work: Callable[[Citewell], Awaitable[T]], *, interrupted: str = "") -> T:
    """The result of work done with citewell open; an error ends the command with its exit code, Ctrl-C with a line if there is one."""

    async def opened() -> T:
        from citewell.app import Citewell

        settings, profile = options.load()
        async with Citewell(settings, profile) as app:
            return await work(app)

    return run(options, opened, interrupted=interrupted)


def run(options: Options, work: Callable[[], Awaitable[T]], *, interrupted: str = "") -> T:
    """The result of asynchronous work, its errors told in two lines: what happened, what to do."""
    import anyio

    from citewell.errors import CitewellError

    try:
        return anyio.run(work)
    except CitewellError as error:
        fail(options, str(error), error.hint, error.exit_code)
    except KeyboardInterrupt:
        if interrupted:
            _say(interrupted)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise typer.Exit(INTERRUPTED) from None


def _say(text: str) -> None:
    """A line on stderr, without secrets and control characters."""
    from citewell.redact import Redactor
    from citewell.render import printable

    tell(printable(Redactor(_secrets)(text)))


def fail(options: Options, message: str, hint: str, code: int) -> NoReturn:
    """Tell an error on stderr, without secrets, and end the command."""
    _say(f"citewell: {' '.join(message.split())}")
    if hint:
        from citewell.render import escaped

        _say(escaped(hint))
    if options.verbose:
        _say(traceback.format_exc())
    raise typer.Exit(code)


def emit(options: Options, value: Any, text: Callable[[], str], *, styled: bool = False) -> None:
    """A command's result on stdout: as one JSON document, or as text; unless that is `styled` for a terminal by us, without the control
    characters that a page or a name may hold."""
    from citewell.render import printable, to_json

    document = to_json(value) if options.json else text() if styled else printable(text())
    try:
        show(document)
    except BrokenPipeError:  # whoever reads has seen enough, as `head` has
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        fail(options, f"The result cannot be written: {error.strerror}.", "Free some space, or write it elsewhere.", FAILED)


def note(text: str) -> None:
    """A line for the person at the terminal, never part of the result."""
    _say(text)


def _log_to_stderr(*, verbose: bool) -> None:
    import logging
    import sys

    from citewell.redact import RedactingFilter, Redactor

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.INFO if verbose else logging.ERROR)  # some loggers have a level of their own
    handler.addFilter(RedactingFilter(Redactor(_secrets)))
    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
