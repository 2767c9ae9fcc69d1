"""The parent of the embedded postmaster: a script that `server.py` runs by path, and that nothing imports.

    keeper.py KEEPER_FD USERS_FD ACCOUNT COMMAND...

Whoever starts the server may end at any moment, by kill -9 too, while others still use it; so the server needs a parent of its own that
reaps it and notices when nobody is left. All of that is left to the kernel, and nothing is polled:

- USERS_FD is a file on which every using process holds a shared lock. The keeper blocks on the exclusive one. It gets that when the last
  user is gone, however it went, and keeps it until the server is down, so that a newcomer waits for a clean stop and then starts anew.
- KEEPER_FD is a file locked exclusively by whoever started the keeper; the lock lives as long as the keeper does, and so is the one
  truth about whether there is a keeper. Its pid is written there for `stop`.

ACCOUNT is `uid:gid:group,group` to become before COMMAND is run, or `-`. The keeper ends when the postmaster does, and takes it along when
it is itself killed (on Linux; elsewhere the next start finds the orphan). Standard library only, so that it starts in 20 ms.
"""

from __future__ import annotations

import _thread
import ctypes  # at the top: the account that the child becomes may be unable to read the library
import fcntl
import os
import signal
import sys

PATIENCE = 30  # seconds for a fast shutdown to write its checkpoint, before the server has to leave without one
STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
AWAITED = STOP_SIGNALS | {signal.SIGCHLD, signal.SIGALRM}
PR_SET_PDEATHSIG = 1


def become(account: str) -> None:
    """Gives up root for good; the supplementary groups go first, while that is still allowed."""
    if account == "-":
        return
    uid, gid, groups = account.split(":")
    os.setgroups([int(group) for group in groups.split(",")])
    os.setgid(int(gid))
    os.setuid(int(uid))


def die_with(parent: int) -> None:
    """Has the kernel ask this process for a fast shutdown when the keeper is gone. A change of user resets it, so it comes after that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)


def launch(account: str, command: list[str]) -> int:
    """Returns the pid of the postmaster. It gets an environment of its own: the caller's holds API keys and may hold PG* variables."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        become(account)
        die_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(command[0], command, {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"})  # noqa: S606 - no shell is the point
    except OSError as error:
        os.write(2, f"keeper: cannot run {command[0]}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(127)  # whatever happened, a forked child must not go on as a second keeper


def announce_last_user_gone(users_fd: int) -> None:
    """Blocks for as long as anybody uses the server. A thread, as one thread cannot wait for a lock and for a child at once."""
    fcntl.flock(users_fd, fcntl.LOCK_EX)
    os.kill(os.getpid(), signal.SIGTERM)


def keep(postmaster: int) -> None:
    """Waits until the postmaster has ended, and passes on the wish to stop: first politely, then less so."""
    harder = [signal.SIGQUIT, signal.SIGKILL]
    while True:
        received = signal.sigwait(AWAITED)
        if received == signal.SIGCHLD:
            if os.waitpid(postmaster, os.WNOHANG) != (0, 0):
                return
        elif received == signal.SIGALRM:
            os.kill(postmaster, harder.pop(0) if len(harder) > 1 else harder[0])
            signal.alarm(PATIENCE // 6)
        else:
            os.kill(postmaster, signal.SIGINT)
            signal.alarm(PATIENCE)


def main(arguments: list[str]) -> None:
    """Leaves the starter's process tree at once, so that the starter never has a zombie of ours, then keeps the server."""
    keeper_fd, users_fd = int(arguments[0]), int(arguments[1])
    for fd in (keeper_fd, users_fd):
        os.set_inheritable(fd, False)  # a server that held these would look like a keeper and a user
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    os.pwrite(keeper_fd, str(os.getpid()).encode(), 0)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # some systems drop a signal that is ignored by default, even while it is blocked
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    postmaster = launch(arguments[2], arguments[3:])
    _thread.start_new_thread(announce_last_user_gone, (users_fd,))
    keep(postmaster)
    os._exit(0)  # without waiting for the thread, which may block for good


if __name__ == "__main__":
    main(sys.argv[1:])
