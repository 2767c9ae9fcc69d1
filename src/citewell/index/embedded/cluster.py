"""Where the data directory of a home is, and how a new one is made.

It is `HOME/postgres`. Where root's unprivileged account cannot get there, because a folder on the way is closed (and stays so), that is a
symbolic link to /var/lib/citewell/clusters/ID. The id is new for every home: the data of a deleted one never shows up in its successor.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import DatabaseError
from citewell.index.embedded.binaries import Account, choose_account, packaged, run, runnable, shared_folder
from citewell.index.embedded.files import OTHER_HOME, make_folder, sync_folder

SUPERUSER = DATABASE = "citewell"
PASSWORD_FILE = "citewell.password"  # noqa: S105 - in the data directory, so that a cluster and its password cannot come apart
LOCALES = ("C.UTF-8", "en_US.UTF-8", "C")
SYNC = ("--sync-method=syncfs",) if sys.platform == "linux" else ()  # one call, not one for each of 1,000 files
STAGE = ".init-"
LONGEST_PATH = 900  # bytes; PostgreSQL crashes from 1024 on


@dataclass(frozen=True, slots=True)
class Cluster:
    """A data directory, the programs that run it, and the account they run as (None: ourselves)."""

    data_dir: Path
    programs: Path
    account: Account | None


def locate(home: Path) -> Path:
    """The data directory of a home, made or not. Raises `DatabaseError` if it went missing."""
    place = home / "postgres"
    target = place.resolve()
    if place.is_symlink() and not target.exists():
        hint = f"Bring it back (is a disk not mounted?), or remove {place} to begin with an empty database."
        raise DatabaseError(f"{place} leads to {target}, which is not there.", hint=hint)
    return target


def prepare(home: Path) -> Cluster:
    """The home's cluster, ready to be started; home and cluster are made if need be. The caller holds the home's start lock.

    Raises `DatabaseError` if it is another PostgreSQL's or cannot be made, `DiskFull` if there is no room for it.
    """
    data_dir = locate(home)
    made = data_dir.exists() and any(data_dir.iterdir())  # never half-made: that happens elsewhere
    if made:
        _check_version(data_dir)
    account = choose_account(_unprivileged_owner(data_dir) if made else None)
    cluster = Cluster(data_dir if made else _choose_place(home, account), runnable(account), account)
    if not made:
        _create(cluster)
    return cluster


def make_home(home: Path) -> None:
    """Creates it closed to others; root's can be passed through, but not listed, since the account has to get to its data."""
    home.parent.mkdir(parents=True, exist_ok=True)
    make_folder(home, 0o711 if os.geteuid() == 0 else 0o700)


def _check_version(data_dir: Path) -> None:
    ours = packaged()[1].split(".")[0]
    try:
        theirs = (data_dir / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise DatabaseError(f"{data_dir} holds something other than a PostgreSQL cluster.", hint=f"Move it away. {OTHER_HOME}") from None
    if theirs != ours:
        hint = f"Dump it with the citewell that made it (citewell db dump) and restore the dump into another --home. {OTHER_HOME}"
        raise DatabaseError(f"{data_dir} was made by PostgreSQL {theirs}; this is PostgreSQL {ours}. Nothing was changed.", hint=hint)


def _unprivileged_owner(data_dir: Path) -> os.stat_result:
    owner = data_dir.stat()
    if owner.st_uid == 0:
        hint = f"Give it back to the account that made it: chown -R ACCOUNT {data_dir}"
        raise DatabaseError(f"{data_dir} belongs to root, and PostgreSQL does not run as root.", hint=hint)
    return owner


def _choose_place(home: Path, account: Account | None) -> Path:
    place = home / "postgres"
    fits = len(os.fsencode(place)) <= LONGEST_PATH
    if place.is_symlink() or (fits and (account is None or account.may(home, 1))):
        return place.resolve()
    if account is None:
        raise DatabaseError(f"The path {home} is longer than PostgreSQL can take ({LONGEST_PATH} bytes).", hint=OTHER_HOME)
    target = shared_folder("clusters", account) / secrets.token_hex(8)
    _make_private(target, account)
    place.symlink_to(target)
    return target


def _make_private(folder: Path, account: Account | None) -> None:
    folder.mkdir(mode=0o700)
    if account:
        os.chown(folder, account.uid, account.gid)


def _create(cluster: Cluster) -> None:
    """Makes all of it beside its place, then moves it there; killed half-way, it leaves a folder that the next attempt removes."""
    data_dir = cluster.data_dir
    stage = data_dir.with_name(f"{data_dir.name}{STAGE}{secrets.token_hex(4)}")
    made = stage / "data"
    _remove_stages(data_dir)
    _make_private(stage, cluster.account)
    try:
        _write_password(stage / "password", cluster.account)
        _initdb(cluster, made, stage / "password")
        statement = f"CREATE DATABASE {DATABASE}\n"
        _run(cluster, "postgres", "--single", "-D", str(made), "-c", "fsync=off", "postgres", statement=statement)
        (stage / "password").rename(made / PASSWORD_FILE)
        _run(cluster, "initdb", "-D", str(made), "--sync-only", *SYNC)  # once for all, and before the name that says it is complete
        made.rename(data_dir)
        sync_folder(data_dir.parent)
    finally:
        _remove_stages(data_dir)


def _remove_stages(data_dir: Path) -> None:
    """Also those of attempts that were killed, whose programs may have gone on for a moment."""
    for entry in list(data_dir.parent.iterdir()):
        if entry.name.startswith(f"{data_dir.name}{STAGE}"):
            shutil.rmtree(entry, ignore_errors=True)


def _write_password(path: Path, account: Account | None) -> None:
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(secrets.token_hex(24))
    if account:
        os.chown(path, account.uid, account.gid)


def _initdb(cluster: Cluster, data_dir: Path, password: Path) -> None:
    """Order and letter case are PostgreSQL's own C.UTF-8, the same on every system. Text search asks the C library besides, and without
    its UTF-8 takes quotes and dashes for letters (“word” is not found as word); so that comes in where the system has it."""
    options = ["-D", str(data_dir), f"--username={SUPERUSER}", f"--pwfile={password}", "--auth=scram-sha-256", "--encoding=UTF8"]
    options += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-sync", "--no-instructions"]
    for locale in LOCALES:
        try:
            return _run(cluster, "initdb", *options, f"--lc-ctype={locale}")
        except DatabaseError as error:
            if "invalid locale name" not in str(error) or locale == LOCALES[-1]:
                raise
    return None


def _run(cluster: Cluster, program: str, *arguments: str, statement: str = "") -> None:
    run(cluster.programs / program, *arguments, account=cluster.account, near=cluster.data_dir.parent, statement=statement)
