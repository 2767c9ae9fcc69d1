"""The files around the embedded server: locks, folders, and what the operating system says about them as our errors.

A lock is the kernel's `flock`, which ends with the process that holds it however that ends. Modes change only on what was just made here.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from citewell.errors import DatabaseError, DiskFull

TICK = 0.01  # seconds between two looks, where there is nothing to block on
FULL = ("No space left on device", "Disk quota exceeded")
LEAST_ROOM = 1 << 20  # bytes
OTHER_DATABASE = "Or set CITEWELL_DATABASE_URL to a PostgreSQL 15+ with pgvector 0.8+."
OTHER_HOME = f"Choose another folder with --home or CITEWELL_HOME. {OTHER_DATABASE}"


# ---- errors -------------------------------------------------------------------------------------------------------------------


def failure(what: str, detail: str, *, near: Path) -> DatabaseError:
    """The error for a program that failed, `detail` being its words.

    A full disk is known by those, or by there being no room left to write them down.
    """
    with contextlib.suppress(OSError):
        if any(phrase in detail for phrase in FULL) or shutil.disk_usage(near).free < LEAST_ROOM:
            return disk_full(what, near)
    return DatabaseError(f"{what}: {detail}", hint=OTHER_HOME)


def disk_full(what: str, near: Path) -> DiskFull:
    return DiskFull(f"{what}: the disk is full.", hint=f"Free some space where {near} is and try again; what was saved is still there.")


@contextlib.contextmanager
def translated(home: Path) -> Iterator[None]:
    """Turns what the operating system says about our files and processes into a `DatabaseError`, or a `DiskFull`."""
    what = f"The embedded PostgreSQL cannot use {home}"
    try:
        yield
    except subprocess.SubprocessError as error:
        raise DatabaseError(f"{what}: {error}", hint=OTHER_HOME) from error
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)[:500]
        if any(phrase in f"{reason} {error}" for phrase in FULL):
            raise disk_full(what, home) from error
        where = f" ({error.filename})" if error.filename else ""
        raise DatabaseError(f"{what}: {reason}{where}", hint=OTHER_HOME) from error


# ---- locks --------------------------------------------------------------------------------------------------------------------


def open_private(path: Path, flags: int = os.O_RDWR) -> int:
    """Opens or creates a file for its owner alone, who is the owner of the folder: root's visit must not lock that person out."""
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(path, flags)
    folder = path.parent.stat()
    if folder.st_uid != os.geteuid() == 0:
        os.fchown(fd, folder.st_uid, folder.st_gid)
    return fd


def try_lock(fd: int, mode: int) -> bool:
    """Whether the lock was to be had at once."""
    try:
        fcntl.flock(fd, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(fd: int, mode: int, *, seconds: float, path: Path) -> None:
    """Waits for the lock; raises `DatabaseError` after a time in which it should long have been free."""
    deadline = time.monotonic() + seconds
    while not try_lock(fd, mode):
        if time.monotonic() > deadline:
            raise DatabaseError(f"Another process has kept {path} locked for {seconds:.0f} s.", hint=f"See which: fuser {path}")
        time.sleep(TICK)


@contextlib.contextmanager
def locked(path: Path, *, seconds: float) -> Iterator[None]:
    """Holds the exclusive lock on a file that is made for it."""
    fd = open_private(path)
    try:
        lock(fd, fcntl.LOCK_EX, seconds=seconds, path=path)
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)  # closing alone would leave it to a child that another thread has forked meanwhile
        os.close(fd)


# ---- folders ------------------------------------------------------------------------------------------------------------------


def make_folder(folder: Path, mode: int) -> None:
    """Creates the folder with exactly this mode; one that is there stays as it is."""
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "", str(folder)) from None
    else:
        folder.chmod(mode)


def sync_folder(folder: Path) -> None:
    """Makes a rename in the folder survive a power failure."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
