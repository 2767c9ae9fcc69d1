"""The PostgreSQL that citewell brings along: one server for a home, shared by all processes that use it, gone when the last one is.

No table of users could be right after a crash, so the kernel counts them, by three locks in the home:
`postgres.users.lock`   shared: one for each using process; exclusive: the keeper, once nobody is left, until the server is down
`postgres.keeper.lock`  held for as long as there is a keeper (see keeper.py), the parent of the server
`postgres.start.lock`   held by who starts or stops the server
Nor is there a record of our own of its pid and port: PostgreSQL's `postmaster.pid` has both, and says when it is ready.

Everything here blocks; on an event loop, call it in a thread.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import DatabaseError
from citewell.index.embedded.binaries import last_lines, packaged
from citewell.index.embedded.cluster import DATABASE, PASSWORD_FILE, SUPERUSER, Cluster, locate, make_home, prepare
from citewell.index.embedded.files import OTHER_DATABASE, TICK, failure, lock, locked, open_private, translated, try_lock
from citewell.index.embedded.processes import end, find_ready, lock_holders, mark

KEEPER = Path(__file__).with_name("keeper.py")
STALL_SECONDS = 60  # without a new line in the server's log; a recovery that gets on writes one every 10 s
LIMIT_SECONDS = 600  # for a start, however well it gets on
TRIES = 5  # somebody may be faster to take the port, or kill the server while it starts
LOG_BYTES = 1 << 20
ROOMY = 512 << 20  # bytes of /dev/shm
HOST = "127.0.0.1"

SETTINGS = {  # on the command line, so that an old cluster gets them too
    "listen_addresses": HOST,
    "unix_socket_directories": "",  # a socket's path may have 107 bytes, and a home has more
    "shared_buffers": "128MB",  # an index of a few 10,000 sections stays in memory
    "max_connections": "100",  # one pool for each process, and workers
    "maintenance_work_mem": "256MB",  # an HNSW index is built several times faster when its graph fits
    "max_wal_size": "512MB",  # bounds what a recovery replays, and what it takes of a laptop's disk
    "jit": "off",  # compiling one of our short queries costs more than it saves
    "log_min_error_statement": "panic",  # statements carry people's questions, which are not for a log
    "log_checkpoints": "off",  # the log is cut at a start only
}


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What `citewell db status` shows. `version` is the packaged server's ("" if there is none), `users` the pids of the processes that
    use it, as far as the system tells (Linux does)."""

    running: bool
    data_dir: Path
    log: Path
    version: str
    port: int | None
    pid: int | None
    users: tuple[int, ...]


class EmbeddedServer:
    """The server of one home, as this process sees it. Objects are independent: each one that has acquired counts as a user.

    Every method raises `DatabaseError`, with a hint; a full disk is `DiskFull`. Methods may be called from any thread.
    """

    def __init__(self, home: Path) -> None:
        self.home = Path(os.path.realpath(home))  # unlike Path.resolve, it leaves a loop of links for `acquire` to complain of
        self.log = self.home / "postgres.log"
        self._users_lock = self.home / "postgres.users.lock"
        self._keeper_lock = self.home / "postgres.keeper.lock"
        self._start_lock = self.home / "postgres.start.lock"
        self._users_fd: int | None = None
        self._mutex = threading.Lock()

    def acquire(self) -> str:
        """Returns the URL of the running server, its password included, and starts or even makes the server for that if need be.

        From here to `release`, or to its end, this process counts as a user; so does a child forked in between. Calling it again changes
        nothing but that a server that has died meanwhile is started anew (perhaps on another port).
        """
        with self._mutex, translated(self.home):
            make_home(self.home)
            with locked(self._start_lock, seconds=LIMIT_SECONDS):
                users_fd = open_private(self._users_lock)  # anew each time: the home may have been moved away
                try:
                    lock(users_fd, fcntl.LOCK_SH, seconds=LIMIT_SECONDS, path=self._users_lock)
                    url = self._running_url()
                except BaseException:
                    os.close(users_fd)
                    raise
                self._count_as(users_fd)
                return url

    def release(self) -> None:
        """This process no longer counts. Returns at once; the server, if that was its last user, shuts down in its own time."""
        with self._mutex:
            self._count_as(None)

    def stop(self) -> bool:
        """Stops the server whoever uses it, and returns when it is down; False if it was not running."""
        with translated(self.home), contextlib.ExitStack() as stack:
            if not self._start_lock.exists():
                return False
            stack.enter_context(locked(self._start_lock, seconds=LIMIT_SECONDS))
            asked = False
            deadline = time.monotonic() + STALL_SECONDS  # the keeper's patience ends before that
            while (keeper_fd := self._become_keeper()) is None:
                asked = asked or self._ask_keeper_to_stop()
                if time.monotonic() > deadline:
                    raise DatabaseError(f"The server did not stop within {STALL_SECONDS} s.", hint=f"See {self.log}.")
                time.sleep(TICK)
            stack.callback(os.close, keeper_fd)
            return end(locate(self.home)) or asked

    def status(self) -> ServerStatus:
        """A look that changes, starts and creates nothing."""
        with translated(self.home):
            data_dir = locate(self.home)
            pid, port = find_ready(data_dir) or (None, None)
            version = ""
            with contextlib.suppress(DatabaseError):
                version = packaged()[1]
            return ServerStatus(pid is not None, data_dir, self.log, version, port, pid, lock_holders(self._users_lock))

    def _count_as(self, users_fd: int | None) -> None:
        if self._users_fd is not None:
            os.close(self._users_fd)  # not LOCK_UN, which would release a forked child's too
        self._users_fd = users_fd

    # ---- starting, with the start lock and a user's lock in hand ----

    def _running_url(self) -> str:
        """Waits for the server that has a keeper, or becomes the keeper of a new one, until there is one that is ready."""
        tries = begin = 0
        patience = _Patience(self.log)
        while True:
            if (keeper_fd := self._become_keeper()) is not None:
                with _closing(keeper_fd):
                    if tries == TRIES:
                        raise failure("PostgreSQL did not start", self._said(begin), near=locate(self.home))
                    begin = self._start(keeper_fd)
                    tries += 1
                    patience = _Patience(self.log)
            elif ready := find_ready(data_dir := locate(self.home)):
                password = (data_dir / PASSWORD_FILE).read_text()
                return f"postgresql://{SUPERUSER}:{password}@{HOST}:{ready[1]}/{DATABASE}"
            patience.check()
            time.sleep(TICK)

    def _start(self, keeper_fd: int) -> int:
        """Passes the keeper's lock on to a keeper, which has it until the server has ended; returns where in the log its story begins."""
        cluster = prepare(self.home)
        end(cluster.data_dir)  # what is left when a keeper or a postmaster was killed
        (cluster.data_dir / "postmaster.pid").unlink(missing_ok=True)  # whatever pid it names is none of ours now
        who = cluster.account
        account = f"{who.uid}:{who.gid}:{','.join(map(str, who.groups))}" if who else "-"
        with _closing(self._open_log()) as log_fd, _closing(open_private(self._users_lock)) as users_fd:
            begin = os.fstat(log_fd).st_size
            subprocess.run(  # noqa: S603 - paths of ours, and no shell
                [sys.executable, "-I", "-S", str(KEEPER), str(keeper_fd), str(users_fd), account, *_server_command(cluster)],
                check=False,  # its words are in the log
                stdin=subprocess.DEVNULL,
                stdout=log_fd,
                stderr=log_fd,
                pass_fds=(keeper_fd, users_fd),
                start_new_session=True,
                cwd="/",
                timeout=STALL_SECONDS,
            )
        return begin

    def _open_log(self) -> int:
        with contextlib.suppress(FileNotFoundError):
            if self.log.stat().st_size > LOG_BYTES:
                self.log.replace(self.log.with_name(f"{self.log.name}.1"))
        return open_private(self.log, os.O_WRONLY | os.O_APPEND)

    def _said(self, begin: int) -> str:
        return last_lines(self.log.read_bytes()[begin:].decode(errors="replace"))

    # ---- the keeper ----

    def _become_keeper(self) -> int | None:
        """The keeper's lock, if it was free: then there is no keeper."""
        fd = open_private(self._keeper_lock)
        if not try_lock(fd, fcntl.LOCK_EX):
            os.close(fd)
            return None
        os.ftruncate(fd, 0)  # the pid of the last one
        return fd

    def _ask_keeper_to_stop(self) -> bool:
        """Whether it could be asked; one that has only just begun has not written its pid yet."""
        pid = self._keeper_lock.read_text()
        with contextlib.suppress(ProcessLookupError):
            if pid:
                os.kill(int(pid), signal.SIGTERM)
        return bool(pid)


class _Patience:
    """Waits for a server as long as it gets on. Its log is the measure: a recovery that gets on says so every 10 seconds."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._size = 0
        self._begin = self._moved = time.monotonic()

    def check(self) -> None:
        """Raises `DatabaseError` when there is no more hope."""
        now = time.monotonic()
        size = self._log.stat().st_size if self._log.exists() else 0
        if size != self._size:
            self._size, self._moved = size, now
        if now - self._moved > STALL_SECONDS or now - self._begin > LIMIT_SECONDS:
            said = last_lines(self._log.read_text(errors="replace")) if size else "it said nothing"
            hint = f"See {self._log}. Containers and machines cannot share a home. {OTHER_DATABASE}"
            raise DatabaseError(f"PostgreSQL was not ready after {now - self._begin:.0f} s: {said}", hint=hint)


def _server_command(cluster: Cluster) -> list[str]:
    settings = SETTINGS | {
        "port": str(_free_port()),
        "cluster_name": mark(cluster.data_dir),
        "dynamic_shared_memory_type": _dynamic_shared_memory(),
    }
    if sys.platform == "linux":
        settings["recovery_init_sync_method"] = "syncfs"  # a recovery begins by syncing what there is: one call, not 1,000
    options = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
    return [str(cluster.programs / "postgres"), "-D", str(cluster.data_dir), *options]


def _free_port() -> int:
    """A port that is free now; whether it still is, PostgreSQL finds out."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _dynamic_shared_memory() -> str:
    """POSIX shared memory, unless there is as little as containers have: a parallel index build would fail for want of 256 MB there."""
    with contextlib.suppress(FileNotFoundError):
        if sys.platform != "linux" or shutil.disk_usage("/dev/shm").free >= ROOMY:  # noqa: S108
            return "posix"
    return "mmap"


@contextlib.contextmanager
def _closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)
