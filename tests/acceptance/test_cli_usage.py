"""The command line misused: wrong words, empty values, streams that are closed or full, an interruption at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import run_cli

CITEWELL = str(Path(sys.executable).with_name("citewell"))
STATUS = f"{CITEWELL} db status --json"


def shell(script: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        env=os.environ | environment,
        capture_output=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense",), "No such command 'nonsense'."),
        (("search",), "Missing argument 'query'."),
        (("search", "x", "y"), "Got unexpected extra argument(s) (y)."),
        (("search", "x", "-k", "0"), "Invalid value for '-k': it must be greater than or equal to 1."),
        (("ask", "x", "--driver", "nope"), "Invalid value for '--driver': 'nope' is not one of 'auto', 'single', 'loop'."),
        (("ask", "x", "--max-seconds", "1h"), "Invalid value for '--max-seconds'"),
        (("index", "a", "b", "--source", "x"), "--source names one origin"),
        (("sources", "--nope"), "No such option: --nope"),
        (("sources", "--home"), "Invalid value for '--home': the value is another option."),
        (("docs", "nope"), "No such command 'nope'."),
        (("--json", "sources"), "No such option: --json"),
    ],
)
def test_wrong_usage_is_told_in_two_lines(arguments: tuple[str, ...], words: str) -> None:
    outcome = run_cli(*arguments, *(() if arguments[0] == "--json" else ("--json",)))
    what, remedy = outcome.err.splitlines()
    assert what.startswith("citewell: ")
    assert words in what
    assert remedy.endswith("--help shows what is allowed.")
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("sources", "--home", ""),
        ("sources", "--home="),
        ("sources", "--profile", " "),
        ("index", "x", "--source", ""),
        ("search", "x", "--library", "a", "--library", ""),
        ("docs", "list", "--prefix", ""),
        ("eval", "retrieval", "--questions", "q", "--out", ""),
        ("db", "status", "--home", "\t"),
    ],
)
def test_an_empty_value_is_no_value(arguments: tuple[str, ...]) -> None:
    option = next(word for word in reversed(arguments) if word.startswith("--")).rstrip("=")
    outcome = run_cli(*arguments)
    assert outcome.err.splitlines()[0] == f"citewell: Invalid value for '{option}': the value is empty."
    assert outcome.code == 2


@pytest.mark.parametrize("arguments", ["index $'\\xff'", "docs read $'a/\\xff'", "remove $'\\xff'", "docs list --prefix $'\\xff'"])
def test_a_name_that_is_no_text_is_refused(arguments: str) -> None:
    outcome = shell(f"{CITEWELL} {arguments} --json")
    assert b"the value is not written in UTF-8." in outcome.stderr.splitlines()[0]
    assert (outcome.returncode, outcome.stdout) == (2, b"")


def test_strange_places_are_told(tmp_path: Path) -> None:
    gone = shell(f"mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir ../gone; {CITEWELL} db status --home x")
    assert gone.stderr.splitlines()[0] == b"citewell: The working directory does not exist any more."
    assert gone.returncode == 2
    for make in ("mkdir citewell.toml", "mkfifo citewell.toml"):
        place = tmp_path / make.split()[0]
        found = shell(f"mkdir {place}; cd {place}; {make}; {CITEWELL} sources")
        assert found.stderr.splitlines()[0] == b"citewell: citewell.toml cannot be read: it is no file."
    fifo = shell(f"cd {tmp_path}; mkfifo profile; {CITEWELL} sources --profile profile")
    assert fifo.stderr.splitlines()[0] == b"citewell: There is no profile profile."
    doctor = shell(f"{CITEWELL} doctor --home {'x' * 5000}")
    assert b"FAIL database" in doctor.stdout
    assert doctor.returncode == 1
    nothing = run_cli("index", str(tmp_path / "a\nb"), CITEWELL_HOME=str(tmp_path / "home"))
    assert len(nothing.err.splitlines()) == 2


def test_a_group_without_a_command_shows_its_help() -> None:
    outcome = run_cli("docs")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Commands:" in outcome.err


def test_closed_streams_do_not_mix(tmp_path: Path) -> None:
    home = {"CITEWELL_HOME": str(tmp_path)}
    assert json.loads(shell(f"{STATUS} 2>&-", **home).stdout)["running"] is False
    assert json.loads(shell(f"{STATUS} <&- 2>&-", **home).stdout)["running"] is False
    failed = shell(f"{CITEWELL} sources --home '' --json 2>&-")
    assert (failed.stdout, failed.returncode) == (b"", 2)
    silent = shell(f"{STATUS} >&-", **home)
    assert (silent.stdout, silent.stderr, silent.returncode) == (b"", b"", 0)
    full = shell(f"{STATUS} >/dev/full", **home)
    assert full.stderr.splitlines()[0] == b"citewell: The result cannot be written: No space left on device."
    assert full.returncode == 1
    assert json.loads(shell(f"{STATUS} -v 2>/dev/full", **home).stdout)["running"] is False


@pytest.mark.parametrize("command", [STATUS, f"{CITEWELL} --help", f"{CITEWELL} --version"])
def test_a_reader_that_goes_away_is_no_error(command: str, tmp_path: Path) -> None:
    outcome = shell(f"(sleep 0; {command}) | true; exit 0", CITEWELL_HOME=str(tmp_path), PYTHONUNBUFFERED="1")
    assert outcome.stderr == b""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_encoding_lacks_is_escaped(encoding: str, tmp_path: Path) -> None:
    home = tmp_path / "h\u00fclle \u20ac \U0001f642"
    outcome = shell(STATUS, CITEWELL_HOME=str(home), PYTHONIOENCODING=encoding)
    assert json.loads(outcome.stdout.decode(encoding))["data_dir"] == str(home / "postgres")


INTERRUPTER = """
import signal, sys
class Interrupter:
    def find_spec(self, name, *rest):
        if name == MODULE:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupter())
"""


@pytest.mark.parametrize("module", ["citewell.cli.streams", "typer", "citewell.cli.sources", "anyio", "citewell.app", "psycopg"])
def test_ctrl_c_is_quiet_from_the_first_moment(module: str, tmp_path: Path) -> None:
    """Whatever is being imported when it comes."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTER.replace("MODULE", repr(module)))
    places = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    outcome = run_cli("doctor", CITEWELL_HOME=str(tmp_path / "home"), PYTHONPATH=places)
    assert (outcome.code, outcome.out, outcome.err) == (1, "", "")


def test_a_planner_without_a_model_is_told(tmp_path: Path) -> None:
    outcome = run_cli("ask", "What is it?", "--protocol", "planner", "--home", str(tmp_path / "home"))
    assert (outcome.code, outcome.out) == (2, "")
    assert "--protocol planner needs a model" in outcome.err
