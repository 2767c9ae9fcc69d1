"""The command line as a person or a script meets it: what is on which stream, which code it ends with, what it says of trouble."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Outcome, forget_cluster, run_cli

Cli = Callable[..., Outcome]
QUESTION = "What is the default time-out of the widget?"


@pytest.fixture
def indexed(cli: Cli, folder: Path) -> Cli:
    cli("index", str(folder))
    return cli


def told(outcome: Outcome) -> list[str]:
    """The lines of an error, without progress and trace; never a traceback."""
    assert "Traceback" not in outcome.err
    return [line for line in outcome.err.splitlines() if not line.startswith(("·", "reading", "embedding", "calibrating"))]


def test_the_whole_path(cli: Cli, folder: Path) -> None:
    report = json.loads(cli("index", str(folder), "--json").out)
    assert list(report) == "source pages sections added updated unchanged deleted moved skipped embedded reused seconds complete".split()
    assert (report["source"], report["pages"]) == ("widget", 3)

    (source,) = json.loads(cli("sources", "--json").out)["sources"]
    assert list(source) == "source origin library pages sections indexed_at vectors_pending".split()

    found = json.loads(cli("search", "time-out", "-k", "2", "--json").out)
    assert list(found) == ["query", "hits", "seconds"]
    expected = "rank section_id source path url anchor title heading_path library kind version score channels snippet"
    assert [list(hit) for hit in found["hits"]] == [expected.split()] * 2
    assert found["hits"][0]["anchor"] == "time-outs"

    outcome = cli("ask", QUESTION, "--json")
    answer = json.loads(outcome.out)
    assert answer["status"] == "answered"
    assert "30 seconds" in answer["answer_md"]
    assert (answer["route"], answer["protocol"], answer["usage"]["llm_calls"], answer["usage"]["cost_usd"]) == ("single", "rules", 0, 0.0)
    assert "· checking the question and searching the documentation" in outcome.err

    listed = json.loads(cli("docs", "list", "--json").out)
    assert (listed["total"], listed["next"]) == (3, None)
    assert [document["path"] for document in listed["documents"]] == ["api/spin.html", "guide.md", "install.md"]
    read = json.loads(cli("docs", "read", "widget/guide.md", "--json").out)
    assert list(read) == "source path title url text offset next".split()
    assert read["text"].startswith("# Widget guide")

    assert json.loads(cli("remove", "widget", "--json").out) == {"source": "widget", "deleted": 3}
    assert json.loads(cli("sources", "--json").out) == {"sources": []}


def test_text_output_shows_the_answer_with_its_sources(indexed: Cli) -> None:
    out = indexed("ask", QUESTION).out
    assert "The default time-out of the widget is 30 seconds. [1]" in out
    assert r"[1] [Widget guide \> Time-outs](doc:widget/guide.md#time-outs)" in out
    assert "1. Widget guide > Time-outs" in indexed("search", "time-out").out
    assert indexed("docs", "list").out.splitlines()[0] == "3 documents:"
    assert indexed("sources").out.startswith("widget: 3 pages,")


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Wie stelle ich die Wartezeit des Geräts ein?", "not_english"),
        ("x" * 2001, "too_long"),
        ("best lasagne recipe for six people", "off_topic"),
    ],
)
def test_refusals_are_answers_with_code_3(indexed: Cli, question: str, reason: str) -> None:
    answer = json.loads(indexed("ask", question, "--json", code=3).out)
    assert (answer["status"], answer["reason"], answer["citations"], answer["route"]) == ("refused", reason, [], "none")
    assert answer["answer_md"]


def test_no_guard_lets_a_question_through(indexed: Cli) -> None:
    for outcome in (
        indexed("ask", "x" * 2001, "--no-guard", "--json", code=3),
        indexed("ask", "x" * 2001, "--json", code=3, CITEWELL_GUARD="off"),
    ):
        assert json.loads(outcome.out)["status"] == "not_found"


def test_an_empty_corpus_answers_not_found(cli: Cli) -> None:
    answer = json.loads(cli("ask", QUESTION, "--json", code=3).out)
    assert (answer["status"], answer["reason"]) == ("not_found", "no_sections")
    assert "citewell index FOLDER" in answer["answer_md"]


def test_time_that_runs_out_is_an_answer(indexed: Cli) -> None:
    answer = json.loads(indexed("ask", QUESTION, "--max-seconds", "0.1", "--json", code=3).out)
    assert (answer["status"], answer["reason"]) == ("not_found", "deadline")
    assert answer["usage"]["seconds"] < 1.1


def test_a_name_that_is_nowhere_is_said_to_be_missing(indexed: Cli) -> None:
    answer = json.loads(indexed("ask", "How do I pass max_torque to widget.spin?", "--json", code=3).out)
    assert (answer["status"], answer["reason"]) == ("partial", "unsupported")
    assert "does not mention `max_torque`" in answer["answer_md"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("index", "nowhere"), 2, "There is nothing at"),
        (("index", "ftp://widget.example/"), 2, "cannot be indexed"),
        (("remove", "nope"), 2, "There is no source 'nope'"),
        (("docs", "read", "widget/gide.md"), 2, "There is no document widget/gide.md"),
        (("search", " "), 2, "The query is empty"),
        (("ask", " "), 2, "The question is empty"),
        (("search", "x", "--library", "nope"), 2, "There is no library 'nope'"),
        (("search", "x", "--kind", "nope"), 2, "There is no kind 'nope'"),
        (("sources", "--profile", "nope.toml"), 2, "There is no profile nope.toml"),
        (("eval", "retrieval", "--questions", "nope.jsonl"), 2, "nope.jsonl cannot be read"),
        (("calibrate", "--on-topic", "nope", "--off-topic", "nope"), 2, "nope cannot be read"),
    ],
)
def test_an_error_is_one_line_of_what_and_one_of_what_to_do(indexed: Cli, arguments: tuple[str, ...], code: int, words: str) -> None:
    outcome = indexed(*arguments, code=code)
    what, remedy = told(outcome)
    assert what.startswith("citewell: ")
    assert words in what
    assert remedy
    assert outcome.out == ""


def test_a_malformed_setting_stops_everything_at_once(cli: Cli) -> None:
    what, remedy = told(cli("sources", code=2, CITEWELL_MAX_SECONDS="1h"))
    assert "CITEWELL_MAX_SECONDS: '1h' is not valid" in what
    assert "CITEWELL_MAX_SECONDS" in remedy
    assert "Did you mean CITEWELL_MAX_CALLS?" in cli("sources", code=2, CITEWELL_MAX_CALL="1").err


def test_an_unreachable_database_ends_with_5_and_keeps_its_password(tmp_path: Path) -> None:
    outcome = run_cli("sources", CITEWELL_HOME=str(tmp_path), CITEWELL_DATABASE_URL="postgresql://me:hunter2secret@127.0.0.1:9/none")
    assert outcome.code == 5
    assert "127.0.0.1:9 cannot be reached" in outcome.err
    told_all = run_cli("sources", "-v", CITEWELL_HOME=str(tmp_path), CITEWELL_DATABASE_URL="postgresql://me:hunter2secret@127.0.0.1:9/none")
    assert (told_all.code, "Traceback" in told_all.err) == (5, True)
    assert "hunter2secret" not in told_all.err + outcome.err


def test_a_bug_is_one_line_and_a_traceback_only_with_v(indexed: Cli, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import citewell.index.retrieve as r\ndef broken(*a, **k): raise ZeroDivisionError('oops')\nr.query_terms = broken\n"
    )
    outcome = indexed("search", "x", code=1, PYTHONPATH=str(tmp_path))
    assert "something went wrong inside: ZeroDivisionError" in outcome.err
    assert "Traceback" not in outcome.err
    assert "Traceback" in indexed("search", "x", "-v", code=1, PYTHONPATH=str(tmp_path)).err


def test_doctor_and_db(indexed: Cli) -> None:
    checks = json.loads(indexed("doctor", "--json").out)["checks"]
    assert {check["name"] for check in checks} == {"home", "database", "embedder", "index", "vectors", "provider"}
    assert all(check["ok"] for check in checks)
    assert json.loads(indexed("db", "status", "--json").out)["schema"] == "0003"
    assert json.loads(indexed("db", "migrate", "--json").out) == {"schema": "0003", "changed": False}
    assert "does not stop it" in indexed("db", "stop", code=2).err


def test_the_embedded_database_comes_and_goes_by_itself(tmp_path: Path, folder: Path) -> None:
    home = tmp_path / "a home"
    environment = {"CITEWELL_HOME": str(home)}
    assert json.loads(run_cli("db", "status", "--json", **environment).out)["running"] is False
    assert run_cli("db", "url", **environment).code == 5
    assert run_cli("index", str(folder), **environment).code == 0
    answer = run_cli("ask", QUESTION, "--json", "--home", str(home))
    assert json.loads(answer.out)["status"] == "answered"
    assert run_cli("db", "stop", **environment).code == 0
    forget_cluster(home)


MODULES = """
import sys
from citewell.cli.commands import app
try:
    app(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""


def test_a_command_imports_only_what_it_needs(database: str, folder: Path, tmp_path: Path) -> None:
    def modules(*arguments: str) -> set[str]:
        environment = os.environ | {"CITEWELL_DATABASE_URL": database, "CITEWELL_HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", MODULES, *arguments], capture_output=True, text=True, env=environment, check=True)
        return {name.split(".")[0] for name in done.stderr.split()}

    models = {"openai", "anthropic", "google", "langgraph", "langchain", "langchain_core"}
    assert not (models | {"psycopg", "numpy", "onnxruntime", "pydantic", "rich"}) & modules("--help")
    assert not (models | {"sqlalchemy", "alembic", "sphobjinv"}) & modules("search", "widget")


def test_retrieval_is_measured_against_a_baseline(indexed: Cli, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "type": "fact", "question": QUESTION, "expected": [["guide.md#time-outs"]]},
        {"id": "b", "type": "fact", "question": "something else", "expected": [["no such place"]]},
    ]
    questions, baseline = tmp_path / "questions.jsonl", tmp_path / "baseline.json"
    questions.write_text("\n".join(map(json.dumps, rows)))
    found = json.loads(indexed("eval", "retrieval", "--questions", str(questions), "--out", str(tmp_path / "out"), "--json").out)
    assert list(found) == "suite n metrics intervals by_type rows_file".split()
    assert found["metrics"] == {"recall@8": 0.5, "hit@1": 0.5, "mrr": 0.5}
    assert [json.loads(line)["id"] for line in Path(found["rows_file"]).read_text().splitlines()] == ["a", "b"]
    baseline.write_text(json.dumps({"metrics": {"recall@8": 0.4}}))
    indexed("eval", "retrieval", "--questions", str(questions), "--baseline", str(baseline))
    baseline.write_text(json.dumps({"metrics": {"recall@8": 0.9}}))
    assert (
        "recall@8 0.5000 < 0.9000" in indexed("eval", "retrieval", "--questions", str(questions), "--baseline", str(baseline), code=6).err
    )


def test_calibrate_draws_the_line_between_two_files(indexed: Cli, tmp_path: Path) -> None:
    (tmp_path / "on.txt").write_text("How do I install the widget?\nWhat is the default time-out?\n")
    (tmp_path / "off.txt").write_text("Best lasagne recipe\nWho won the match last night?\n")
    found = json.loads(indexed("calibrate", "--on-topic", str(tmp_path / "on.txt"), "--off-topic", str(tmp_path / "off.txt"), "--json").out)
    assert list(found) == ["threshold", "on_topic", "off_topic", "overlap"]
    assert found["on_topic"][-1] < found["threshold"] < found["off_topic"][0]
    assert found["overlap"] == 0
    assert "--on-topic and --off-topic go together" in indexed("calibrate", "--on-topic", "x", code=2).err
