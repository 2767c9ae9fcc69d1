"""Which processes are a cluster's server, and how to end those that nobody looks after any more.

A pid in a file proves nothing: it may be a zombie's, where PID 1 does not reap (containers), or a stranger's by now, and PostgreSQL takes
either for a running server. What counts is the title: every process of a server carries its `cluster_name` there, for all users to see
(unlike its working directory, which root in a container may not read), and a zombie has no title.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from citewell.errors import DatabaseError
from citewell.index.embedded.files import OTHER_HOME, TICK

PROC = Path("/proc")
ORPHAN_SECONDS = 2  # for processes to notice by themselves that their postmaster is gone
FAST_SECONDS = 30
HARD_SECONDS = 5
PID, PORT, STATE = 0, 3, 7  # lines of postmaster.pid


def mark(data_dir: Path) -> str:
    """The `cluster_name` by which the processes of this data directory are known."""
    return f"citewell-{hashlib.blake2b(os.fsencode(data_dir), digest_size=8).hexdigest()}"


def find_ready(data_dir: Path) -> tuple[int, int] | None:
    """The pid and the port of the server that accepts connections for this data directory; None if there is none (yet)."""
    lines = _pid_file(data_dir)
    if len(lines) <= STATE or lines[STATE].strip() != "ready":
        return None
    pid = int(lines[PID])
    return (pid, int(lines[PORT])) if pid in _running(data_dir, only=pid) else None


def end(data_dir: Path) -> bool:
    """Ends whatever runs on this data directory without a keeper, as gently as it goes; False if nothing did.

    Raises `DatabaseError` when a process stays, since no second server may start beside it.
    """
    if not (found := _running(data_dir)):
        return False
    lines = _pid_file(data_dir)
    postmaster = found & {int(lines[PID])} if lines else set()
    _signal(postmaster, signal.SIGINT)
    if _gone(data_dir, FAST_SECONDS if postmaster else ORPHAN_SECONDS):
        return True
    for means in (signal.SIGQUIT, signal.SIGKILL):
        _signal(_running(data_dir), means)
        if _gone(data_dir, HARD_SECONDS):
            return True
    raise DatabaseError(f"Processes of an earlier server on {data_dir} do not end: {sorted(_running(data_dir))}.", hint=OTHER_HOME)


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _gone(data_dir: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _running(data_dir):
        if time.monotonic() > deadline:
            return False
        time.sleep(TICK)
    return True


def lock_holders(path: Path) -> tuple[int, ...]:
    """The processes that hold a shared lock on the file, where the kernel lists them."""
    holders: set[int] = set()
    with contextlib.suppress(FileNotFoundError):
        info = path.stat()
        file = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
        for line in (PROC / "locks").read_text().splitlines():  # 1: FLOCK  ADVISORY  READ 4711 fe:00:1234 0 EOF
            fields = line.split()
            if fields[1] == "FLOCK" and fields[3] == "READ" and fields[5] == file:
                holders.add(int(fields[4]))
    return tuple(sorted(holders))


def _pid_file(data_dir: Path) -> list[str]:
    """Its lines; none if it is missing, or not (yet) what PostgreSQL writes, which begins with a pid."""
    with contextlib.suppress(FileNotFoundError):
        lines = (data_dir / "postmaster.pid").read_text(errors="replace").splitlines()
        if lines and lines[PID].isdecimal():
            return lines
    return []


def _running(data_dir: Path, *, only: int | None = None) -> set[int]:
    name = mark(data_dir)
    table = _proc_table(only) if PROC.joinpath("self").exists() else _ps_table()
    return {pid for pid, program, title in table if program == "postgres" and name in title}


def _proc_table(only: int | None) -> Iterator[tuple[int, str, str]]:
    for pid in [only] if only else [int(entry) for entry in os.listdir(PROC) if entry.isdecimal()]:  # noqa: PTH208 - names, not paths
        with contextlib.suppress(OSError):  # it ended meanwhile
            program = (PROC / str(pid) / "comm").read_text().strip()
            yield pid, program, (PROC / str(pid) / "cmdline").read_text(errors="replace") if program == "postgres" else ""


def _ps_table() -> Iterator[tuple[int, str, str]]:
    listing = subprocess.run(["ps", "-axo", "pid=,ucomm=,command="], capture_output=True, text=True, errors="replace", check=True)  # noqa: S607
    for line in listing.stdout.splitlines():
        pid, program, title = [*line.split(None, 2), "", ""][:3]
        yield int(pid), program, title
