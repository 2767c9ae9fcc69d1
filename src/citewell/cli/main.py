"""The entry point of the command line: streams that can be written to, then the command, and every error in two lines.

Imports next to nothing, so that Ctrl-C is obeyed quietly from the first moment.
"""

from __future__ import annotations

import os
import signal
import sys

_INTERRUPTED = 1


def main() -> None:
    """Run the command that `sys.argv` names, and end with its exit code."""
    quiet = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if quiet:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))  # an interrupted import would end in a traceback
    from citewell.cli.streams import prepare

    prepare()
    from citewell.cli.commands import app
    from citewell.cli.common import dispatch

    if quiet:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(dispatch(app, sys.argv[1:]))
