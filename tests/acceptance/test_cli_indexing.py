"""`index` and `refresh` on the command line: several origins, runs that did not end, and where things are shown to lie."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.testing.sites import Reply, Site, SiteServer
from tests.conftest import Outcome, run_cli
from tests.integration.site_help import html, many

Cli = Callable[..., Outcome]
CITEWELL = str(Path(sys.executable).with_name("citewell"))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "a.html").write_text("<h1>Frob</h1><p>The frob spins.</p><h2 id='sec one'>Quux</h2><p>The quux is ünicode, or hums.</p>")
    return folder


def test_what_was_done_before_an_origin_failed_is_told(cli: Cli, small: Path) -> None:
    outcome = cli("index", str(small), "nowhere", "--json", code=2)
    assert [row["source"] for row in json.loads(outcome.out)] == ["small"]
    assert "There is nothing at" in outcome.err
    assert f"reading pages of {small}: 1 of 1" in outcome.err.splitlines()
    assert cli("index", str(small), "nowhere", code=2).out.startswith("small: 1 pages")
    assert cli("index", "nowhere", str(small), "--json", code=2).out == ""


def test_a_run_that_did_not_see_everything_ends_with_1(cli: Cli) -> None:
    with SiteServer(Site(many(5) | {"/docs/": html("Home", "All of it.", "0.html")})) as server:
        outcome = cli("index", f"{server.url}docs/", "--source", "w", "--json", code=1, CITEWELL_CRAWL_MAX_PAGES="1")
        assert json.loads(outcome.out)["complete"] is False
        assert "warning: w: 1 pages were asked, the most for one run" in outcome.err
        assert ", not completed" in cli("sources").out
        (report,) = json.loads(cli("refresh", "--json", code=1, CITEWELL_CRAWL_MAX_PAGES="1").out)["sources"]
        assert (report["added"], report["complete"]) == (1, False)
        assert json.loads(cli("index", f"{server.url}docs/", "--source", "w", "--json").out)["complete"] is True
        assert ", indexed 20" in cli("sources").out


def test_a_refresh_that_fails_is_told_in_two_lines(cli: Cli, small: Path) -> None:
    cli("index", str(small))
    (small / "a.html").unlink()
    what, remedy = cli("refresh", code=1).err.splitlines()
    assert what.startswith("citewell: small: ")
    assert what.endswith("holds no documents.")
    assert "citewell remove small forgets them" in remedy
    (failed,) = json.loads(cli("refresh", "--json", code=1).out)["failed"]
    assert "\n" not in failed["reason"]


def test_ctrl_c_says_that_the_same_command_goes_on(database: str, tmp_path: Path) -> None:
    asked, over = threading.Event(), threading.Event()

    def body() -> list[bytes]:
        asked.set()
        over.wait(30)
        return [b"<h1>Home</h1>"]

    with SiteServer(Site(scripts={"/docs/": [Reply(body=body)]})) as server:
        environment = os.environ | {"CITEWELL_DATABASE_URL": database, "CITEWELL_HOME": str(tmp_path / "home")}
        command = subprocess.Popen(
            [CITEWELL, "index", f"{server.url}docs/"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert asked.wait(60)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
        over.set()
    assert (command.returncode, out) == (1, "")
    assert err == "Interrupted; run the same command again to go on.\n"


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_question_that_begins_with_a_dash_is_told_where_to_stand(command: str) -> None:
    what, remedy = run_cli(command, "--slow").err.splitlines()
    assert what.startswith("citewell: No such option: --slow")
    assert remedy == f"What begins with a dash, and is no option, stands after --: citewell {command} -- --slow"


def test_places_are_shown_as_addresses(cli: Cli, small: Path) -> None:
    cli("index", str(small))
    assert "    doc:small/a.html#sec%20one\n" in cli("search", "--", "--hums quux").out


def test_names_near_a_wrong_one_are_escaped(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "a\nb\x1b[31m.md").write_text("# A\n\nText.\n")
    cli("index", str(folder))
    what, remedy = cli("docs", "read", "odd/ab.md", code=2).err.splitlines()
    assert "There is no document" in what
    assert "\x1b" not in remedy
    assert "a\\nb\\x1b[31m.md" in remedy
