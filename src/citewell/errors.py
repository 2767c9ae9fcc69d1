"""Every error citewell raises on purpose, as one tree.

    CitewellError                  code        exit
    ├── UsageError                 usage       2     the request cannot be carried out as asked
    │   ├── SettingsError          settings    2     a setting or a profile is malformed
    │   ├── SourceConflict         source      2     a source name is bound to another origin
    │   ├── SourceBusy             busy        2     another process is indexing that source
    │   └── NotFound               not_found   2     a named source, document or section does not exist
    ├── IngestError                ingest      2     an origin cannot be read at all
    ├── DatabaseError              database    5     the database is unreachable, unfit or failed
    │   └── DiskFull               disk_full   5
    ├── EmbedderMissing            embedder    1     the packaged weights are absent or damaged
    ├── EmbedderFailed             embedder_failed  4  the embedding endpoint refused, failed or sent no vectors
    └── BaselineMissed             baseline    6     an evaluation fell below its baseline

What an answer could not find, or was refused, is not an error: it is `Answer.status`. Bugs are not in this tree; they propagate.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class CitewellError(Exception):
    """Base of all: `str(error)` says what happened, `hint` what to do about it.

    `code` is stable and machine-readable, `exit_code` is the command line's, `retry_after` is in seconds where waiting helps.
    """

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.retry_after = retry_after


class UsageError(CitewellError):
    code = "usage"
    exit_code = 2


class SettingsError(UsageError):
    code = "settings"


class SourceConflict(UsageError):
    code = "source"


class SourceBusy(UsageError):
    code = "busy"


class NotFound(UsageError):
    code = "not_found"


class IngestError(CitewellError):
    code = "ingest"
    exit_code = 2


class DatabaseError(CitewellError):
    code = "database"
    exit_code = 5


class DiskFull(DatabaseError):
    code = "disk_full"


class EmbedderMissing(CitewellError):
    code = "embedder"


class EmbedderFailed(CitewellError):
    code = "embedder_failed"
    exit_code = 4


class BaselineMissed(CitewellError):
    code = "baseline"
    exit_code = 6


def near_miss(name: str, known: Iterable[str]) -> str:
    """A hint that names the known word which was probably meant, whatever its case; "" when none is near."""
    folded = {word.casefold(): word for word in known}
    near = difflib.get_close_matches(name.casefold(), sorted(folded), n=1, cutoff=0.6)
    return f"Did you mean {folded[near[0]]}?" if near else ""


@contextmanager
def ungrouped() -> Iterator[None]:
    """Errors of a task group as themselves: of several that failed together the first of ours, else the group."""
    try:
        yield
    except BaseExceptionGroup as group:
        first = _first(group)
        if first is None:
            raise
        raise first from group


def _first(group: BaseExceptionGroup[BaseException]) -> CitewellError | None:
    for error in group.exceptions:
        found = _first(error) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(found, CitewellError):
            return found
    return None
