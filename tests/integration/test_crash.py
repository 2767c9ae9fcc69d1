"""Killed in the middle: the indexer, the database. The next run completes; nothing is lost and nothing is there twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from citewell.index.embedded import EmbeddedServer
from tests.conftest import Outcome, forget_cluster, run_cli

PAGES = 120
SECTIONS = 3 * PAGES


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Pages enough that a kill falls into the middle."""
    root = tmp_path / "library"
    root.mkdir()
    for n in range(PAGES):
        body = "".join(
            f"## Part {part}\n\nVolume {n} keeps fact {n * 10 + part}, and says so in a few more words.\n\n" for part in range(3)
        )
        (root / f"volume{n:03}.md").write_text(f"# Volume {n}\n\n{body}")
    return root


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    forget_cluster(tmp_path / "home")


def start(library: Path, home: Path) -> subprocess.Popen[str]:
    command = [str(Path(sys.executable).with_name("citewell")), "index", str(library), "--home", str(home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_until(home: Path, statement: str, least: int) -> None:
    """Look into the database until a count has been reached."""
    deadline = time.monotonic() + 60
    server = EmbeddedServer(home)
    while time.monotonic() < deadline:
        try:
            if server.status().running:
                with psycopg.connect(server.acquire(), autocommit=True) as connection:
                    row = connection.execute(statement).fetchone()
                    if row and row[0] >= least:
                        return
        except psycopg.Error:
            pass
        finally:
            server.release()
        time.sleep(0.02)
    raise AssertionError(f"{statement} never reached {least}")


def assert_complete(library: Path, home: Path) -> None:
    done = run_cli("index", str(library), "--json", "--home", str(home))
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert (report["pages"], report["sections"]) == (PAGES, SECTIONS)
    assert report["added"] + report["unchanged"] == PAGES
    (source,) = json.loads(run_cli("sources", "--json", "--home", str(home)).out)["sources"]
    assert source["vectors_pending"] == 0
    server = EmbeddedServer(home)
    with psycopg.connect(server.acquire(), autocommit=True) as connection:
        for statement in (
            "SELECT count(*) - count(DISTINCT (document_id, key)) FROM citewell.sections",
            "SELECT count(*) - count(DISTINCT section_id) FROM citewell.vectors",
            "SELECT count(*) FROM citewell.vectors v WHERE NOT EXISTS (SELECT FROM citewell.sections s WHERE s.id = v.section_id)",
            "SELECT count(*) FROM citewell.sections s WHERE NOT EXISTS (SELECT FROM citewell.documents d WHERE d.id = s.document_id)",
        ):
            assert connection.execute(statement).fetchone() == (0,), statement
    server.release()
    again = json.loads(run_cli("index", str(library), "--json", "--home", str(home)).out)
    assert (again["unchanged"], again["embedded"], again["reused"]) == (PAGES, 0, 0)


@pytest.mark.parametrize(
    "moment", ["SELECT count(*) FROM citewell.documents", "SELECT count(*) FROM citewell.vectors"], ids=["while reading", "while embedding"]
)
def test_the_indexer_is_killed(library: Path, home: Path, moment: str) -> None:
    process = start(library, home)
    wait_until(home, moment, 10)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert_complete(library, home)


def test_the_database_is_killed(library: Path, home: Path) -> None:
    process = start(library, home)
    wait_until(home, "SELECT count(*) FROM citewell.documents", 10)
    pid = EmbeddedServer(home).status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 5, output
    assert "went away" in output
    assert "Traceback" not in output
    assert_complete(library, home)


def test_a_second_indexer_is_told_to_wait(library: Path, home: Path) -> None:
    process = start(library, home)
    wait_until(home, "SELECT count(*) FROM citewell.documents", 1)
    second = run_cli("index", str(library), "--home", str(home))
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert second.code == 2
    assert "Another process is indexing 'library'" in second.err


def test_a_disk_that_takes_no_more_is_a_clear_line(library: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:  # only root can mount a small disk; everyone can be denied a folder
        tmp_path.chmod(0o500)
        outcome = run_cli("index", str(library), "--home", str(tmp_path / "home"))
        tmp_path.chmod(0o700)
    else:
        outcome = index_on_a_full_disk(library)
        assert "disk" in outcome.err
    assert outcome.code == 5, outcome.err
    assert "Traceback" not in outcome.err


def index_on_a_full_disk(library: Path) -> Outcome:
    """Index, fill the disk up, index some more. The disk lies where the server's own account can reach it."""
    mount = Path(tempfile.mkdtemp(prefix="citewell-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120m,mode=0755", "tmpfs", str(mount)], check=True)
    home = mount / "home"
    try:
        assert run_cli("index", str(library), "--home", str(home)).code == 0
        free = os.statvfs(mount)
        (mount / "ballast").write_bytes(b"\0" * max(free.f_bavail * free.f_frsize - 500_000, 0))
        for n in range(PAGES, PAGES + 60):
            (library / f"more{n}.md").write_text(f"# More {n}\n\n" + f"A long new page about {n} other things. " * 400)
        return run_cli("index", str(library), "--home", str(home))
    finally:
        EmbeddedServer(home).stop()
        subprocess.run(["umount", "-l", str(mount)], check=True)
        mount.rmdir()
