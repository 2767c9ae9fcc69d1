"""The standard streams made safe: closed ones lead nowhere, what an encoding lacks is escaped, a reader that went away is no error."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from typing import TextIO

_ERRORS = "citewell.escape"


def prepare() -> None:
    """Give each closed descriptor a place in the void, as the next file that is opened would take it, and be written to; and let no
    character fail to be printed."""
    for descriptor, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if not _is_open(descriptor):
            void = os.open(os.devnull, os.O_RDWR)
            if void == descriptor:
                os.set_inheritable(descriptor, True)  # as standard streams are
            else:
                os.dup2(void, descriptor)
                os.close(void)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
    codecs.register_error(_ERRORS, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def tell(text: str) -> None:
    """A line on stderr. That nobody can read it must not break the work."""
    with contextlib.suppress(OSError):
        _write(text, sys.stderr)


def show(text: str) -> None:
    """Text on stdout, written at once. Raises `OSError` when that fails; then nothing more is written there."""
    _write(text, sys.stdout)


def _write(text: str, stream: TextIO) -> None:
    try:
        print(text, file=stream, flush=True)
    except OSError:
        # Python tries again at its end to write what the stream holds, and complains: into the void with it.
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, stream.fileno())
        os.close(void)
        raise


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, as JSON escapes it, so that a document stays one."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2)), error.end


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
