"""The embedded server in use: real processes, real kills, real files. Nothing here stands in for anything."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from citewell.errors import DatabaseError
from citewell.index.embedded import EmbeddedServer
from citewell.index.embedded import server as embedded
from tests.integration.embedded_help import (
    User,
    command_lines,
    eventually,
    is_down,
    is_gone,
    kill,
    pids,
    query,
    server_in,
    server_uid,
    shared_elsewhere,
)


@pytest.fixture(scope="module", autouse=True)
def elsewhere() -> Iterator[None]:
    with shared_elsewhere():
        yield


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home below pytest's own closed folder; making one takes a second, so tests that leave it whole share it."""
    home = tmp_path_factory.mktemp("shared") / "home"
    with server_in(home) as server:
        url = server.acquire()
        query(url, "CREATE TABLE kept (n int)")
        query(url, "INSERT INTO kept SELECT generate_series(1, 1000)")
        server.release()
        yield home


@pytest.fixture
def server(shared_home: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(shared_home)
    server.stop()
    yield server
    server.release()
    server.stop()


# ---- using it -----------------------------------------------------------------------------------------------------------------


def test_it_answers_on_loopback_with_a_password_and_keeps_what_it_confirms(server: EmbeddedServer) -> None:
    url = server.acquire()
    with psycopg.connect(url) as connection:
        settings: dict[str, str] = dict(connection.execute("SELECT name, setting FROM pg_settings").fetchall())
        assert settings["listen_addresses"] == "127.0.0.1"
        assert settings["unix_socket_directories"] == ""
        assert settings["fsync"] == settings["synchronous_commit"] == settings["full_page_writes"] == "on"
        assert settings["server_encoding"] == "UTF8"
        assert settings["data_checksums"] == "on"
        assert connection.info.dbname == connection.info.user == "citewell"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url, password="guess")


def test_it_has_what_the_index_needs(server: EmbeddedServer) -> None:
    with psycopg.connect(server.acquire()) as connection:
        for extension in ("vector", "pg_trgm", "unaccent", "btree_gin"):
            connection.execute(f"CREATE EXTENSION {extension}")
        words = connection.execute("SELECT to_tsvector('simple', '“Word”—ÉCOLE…x don’t')::text").fetchone()
        assert words == ("'don':4 't':5 'word':1 'x':3 'école':2",)
        connection.rollback()


def test_the_password_is_in_one_private_file_and_nowhere_else(server: EmbeddedServer) -> None:
    password = psycopg.conninfo.conninfo_to_dict(server.acquire())["password"]
    file = server.status().data_dir / "citewell.password"
    assert isinstance(password, str)
    assert len(password) >= 32
    assert file.read_text() == password
    assert file.stat().st_mode & 0o777 == 0o600
    assert password not in "".join(command_lines().values())
    assert password not in server.log.read_text() + repr(server.status())


def test_acquiring_again_changes_nothing(server: EmbeddedServer) -> None:
    assert server.acquire() == server.acquire()
    processes = pids(server)
    server.release()
    server.release()
    assert is_down(server, *processes)


def test_status_counts_the_users_and_starts_nothing(server: EmbeddedServer, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert not EmbeddedServer(nowhere).status().running
    assert not EmbeddedServer(nowhere).stop()
    assert not nowhere.exists()
    assert not server.status().running
    url = server.acquire()
    status = server.status()
    assert status.running
    assert status.port == int(psycopg.conninfo.conninfo_to_dict(url)["port"])  # type: ignore[arg-type]
    assert status.version.startswith("18.")
    if sys.platform == "linux":
        assert status.users == (os.getpid(),)


def test_processes_share_it_and_the_last_one_ends_it(server: EmbeddedServer) -> None:
    first, second = User(server.home), User(server.home)
    assert first.url() == second.url() == server.acquire()
    processes = pids(server)
    server.release()
    first.leave()
    assert server.status().running
    second.leave()
    assert is_down(server, *processes)


def test_a_killed_user_is_no_user(server: EmbeddedServer) -> None:
    user = User(server.home)
    assert query(user.url(), "SELECT count(*) FROM kept") == [(1000,)]
    processes = pids(server)
    user.kill()
    assert is_down(server, *processes)


def test_objects_of_one_process_count_each(server: EmbeddedServer) -> None:
    other = EmbeddedServer(server.home)
    assert server.acquire() == other.acquire()
    processes = pids(server)
    server.release()
    time.sleep(0.2)
    assert other.status().running
    other.release()
    assert is_down(server, *processes)


def test_coming_while_it_goes_waits_and_starts_it_anew(server: EmbeddedServer) -> None:
    for _ in range(5):
        server.acquire()
        server.release()
        assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]


def test_stop_asks_nobody_and_a_user_may_start_it_again(server: EmbeddedServer) -> None:
    server.acquire()
    processes = pids(server)
    assert EmbeddedServer(server.home).stop()
    assert all(is_gone(pid) for pid in processes)
    assert not server.stop()
    assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]
    processes = pids(server)
    server.release()
    assert is_down(server, *processes)


# ---- what goes wrong ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("victims", ["postmaster", "keeper", "both", "user and both"])
def test_after_a_kill_every_committed_row_is_there(server: EmbeddedServer, victims: str) -> None:
    user = User(server.home)
    url = user.url()
    if victims != "user and both":
        server.acquire()
    query(url, "DROP TABLE IF EXISTS late")
    query(url, "CREATE TABLE late AS SELECT generate_series(1, 10000)")
    postmaster, keeper = pids(server)
    if victims.startswith("user"):
        user.kill()
    for name, pid in (("keeper", keeper), ("postmaster", postmaster)):
        if victims.endswith(("both", name)):
            kill(pid)
    assert query(server.acquire(), "SELECT count(*) FROM late") == [(10000,)]
    processes = pids(server)
    assert postmaster not in processes
    user.leave()
    server.release()
    assert is_down(server, postmaster, keeper, *processes)


def test_a_killed_keeper_takes_the_server_along(server: EmbeddedServer) -> None:
    server.acquire()
    postmaster, keeper = pids(server)
    kill(keeper)
    if sys.platform != "linux":  # which alone tells a child of its parent's death
        assert server.stop()
    assert is_down(server, postmaster, keeper)


def test_a_backend_that_outlives_its_postmaster_is_ended(server: EmbeddedServer) -> None:
    def compute() -> None:
        with pytest.raises(psycopg.OperationalError):
            query(url, "DO $$ BEGIN LOOP END LOOP; END $$")

    url = server.acquire()
    thread = threading.Thread(target=compute)
    thread.start()
    busy = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'"
    assert eventually(lambda: bool(query(url, busy)))
    [(backend,)] = query(url, busy)
    kill(pids(server)[0])
    assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]
    assert is_gone(int(str(backend)))
    thread.join()


@pytest.mark.parametrize("kind", ["zombie", "stranger", "garbage"])
def test_a_stale_pid_file_is_no_server(server: EmbeddedServer, kind: str) -> None:
    server.acquire()
    data_dir = server.status().data_dir
    file, lines = data_dir / "postmaster.pid", (data_dir / "postmaster.pid").read_text().splitlines()
    server.stop()
    command = ["true"] if kind == "zombie" else ["sleep", "60"]
    with subprocess.Popen(command, user=server_uid(server)) as process:
        if kind == "zombie":
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays unreaped
        file.write_text("\n".join([str(process.pid), *lines[1:], ""]) if kind != "garbage" else "")
        os.chown(file, data_dir.stat().st_uid, -1)
        assert not server.status().running
        assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]
        process.kill()


def test_a_port_that_is_taken_meanwhile_is_not_insisted_on(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    free_port = embedded._free_port
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = [taken.getsockname()[1]] * 2
        monkeypatch.setattr(embedded, "_free_port", lambda: ports.pop() if ports else free_port())
        assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]
        server.stop()
        monkeypatch.setattr(embedded, "_free_port", lambda: taken.getsockname()[1])
        with pytest.raises(DatabaseError, match="Address already in use"):
            server.acquire()


def test_a_broken_cluster_is_reported_in_the_servers_words(server: EmbeddedServer) -> None:
    server.acquire()
    data_dir = server.status().data_dir
    server.stop()
    server.release()
    control = data_dir / "global" / "pg_control"
    control.rename(control.with_name("aside"))
    with pytest.raises(DatabaseError, match=r"did not start.*pg_control") as caught:
        server.acquire()
    assert "CITEWELL_DATABASE_URL" in caught.value.hint
    control.with_name("aside").rename(control)
    assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]


@pytest.mark.parametrize(("content", "message"), [("17\n", "made by PostgreSQL 17; this is PostgreSQL 18"), (None, "something other than")])
def test_foreign_data_is_refused_and_left_alone(server: EmbeddedServer, content: str | None, message: str) -> None:
    version = server.status().data_dir / "PG_VERSION"
    ours = version.read_text()
    if content:
        version.write_text(content)
    else:
        version.unlink()
    before = sorted(version.parent.rglob("*"))
    with pytest.raises(DatabaseError, match=message) as caught:
        server.acquire()
    assert "--home" in caught.value.hint
    assert sorted(version.parent.rglob("*")) == before
    version.write_text(ours)
    os.chown(version, version.parent.stat().st_uid, -1)
    version.chmod(0o600)
    assert query(server.acquire(), "SELECT count(*) FROM kept") == [(1000,)]


def test_a_log_that_has_grown_is_put_aside(server: EmbeddedServer) -> None:
    server.log.write_text("x" * 100 + "\n" * (1 << 20))
    server.acquire()
    assert server.log.stat().st_size < 10_000
    assert server.log.with_name("postgres.log.1").stat().st_size > 1 << 20
