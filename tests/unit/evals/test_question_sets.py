"""Question sets as files: what a row may say, and what is told about one that says it wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.errors import UsageError
from citewell.evals.dataset import QuestionRow, read_questions, read_rows


def written(tmp_path: Path, *rows: dict[str, Any] | str) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8")
    return file


def refused(file: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        read_rows(file)
    assert caught.value.hint
    return caught.value


class TestRows:
    def test_a_row_with_everything(self, tmp_path: Path) -> None:
        row = {
            "id": "q1",
            "type": "howto",
            "question": "How?",
            "expected": [["A.html#B", "C "], ["d"]],
            "graded": [{"url": "x.html", "grade": 3}, {"url": "y.html", "grade": 1.5}],
            "answer_facts": ["ignored"],
        }
        (read,) = read_rows(written(tmp_path, row))
        assert read == QuestionRow("q1", "howto", "How?", [["a.html#b", "c "], ["d"]], {"x.html": 3.0, "y.html": 1.5})

    def test_a_row_with_nothing_but_a_question(self, tmp_path: Path) -> None:
        (read,) = read_rows(written(tmp_path, {"question": "How?"}))
        assert read == QuestionRow("1", "", "How?", [], {})

    def test_a_row_without_an_id_is_called_by_its_line(self, tmp_path: Path) -> None:
        rows = read_rows(written(tmp_path, {"question": "a", "id": 0}, "", {"question": "b"}, {"question": "c", "id": None}))
        assert [row.id for row in rows] == ["0", "3", "4"]

    def test_kind_goes_before_type(self, tmp_path: Path) -> None:
        rows = read_rows(written(tmp_path, {"question": "a", "type": "t", "kind": "k"}, {"question": "b", "type": "t", "kind": ""}))
        assert [row.type for row in rows] == ["k", "t"]

    def test_other_line_ends_of_unicode_end_no_row(self, tmp_path: Path) -> None:
        question = "one\u2028two\u0085three\x0cfour"
        file = tmp_path / "q.jsonl"
        file.write_bytes(b"\xef\xbb\xbf" + json.dumps({"question": question}, ensure_ascii=False).encode() + b"\r\n")
        assert [row.question for row in read_rows(file)] == [question]

    @settings(deadline=None)  # a busy machine is no fault
    @given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5))
    def test_what_is_written_is_read(self, tmp_path_factory: pytest.TempPathFactory, questions: list[str]) -> None:
        file = written(tmp_path_factory.mktemp("rows"), *({"question": question, "expected": [[question]]} for question in questions))
        assert [row.question for row in read_rows(file)] == read_questions(file) == questions
        assert [row.expected for row in read_rows(file)] == [[[question.lower()]] for question in questions]


class TestMalformed:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("{", "Expecting property name enclosed in double quotes at character 2"),
            ('{"question": "a"} trailing', "Extra data at character 19"),
            ("what?", "Expecting value at character 1"),
            ("[1, 2]", "no question"),
            ('"text"', "no question"),
            ("null", "no question"),
            ('{"id": 1}', "no question"),
            ('{"question": ""}', "no question"),
            ('{"question": " "}', "no question"),
            ('{"question": 5}', "no question"),
            ('{"question": ["a"]}', "no question"),
            ("[" * 100_000, ""),
            ('{"question": "a", "n": ' + "9" * 5000 + "}", ""),
        ],
    )
    def test_a_line_that_is_no_row_is_named(self, tmp_path: Path, line: str, says: str) -> None:
        file = written(tmp_path, {"question": "fine"}, "", line)
        assert str(refused(file)).startswith(f"{file}, line 3: {says}")

    @pytest.mark.parametrize(
        "fields",
        [
            {"expected": "a.html"},
            {"expected": {"a": 1}},
            {"expected": ["a.html", "b.html"]},
            {"expected": [["a", 5]]},
            {"expected": [[]]},
            {"expected": [[""]]},
            {"expected": [[" "]]},
            {"graded": {"x.html": 3}},
            {"graded": ["x.html"]},
            {"graded": [{"url": "x.html"}]},
            {"graded": [{"grade": 3}]},
            {"graded": [{"url": "x.html", "grade": "high"}]},
            {"graded": [{"url": "x.html", "grade": -1}]},
            {"graded": [{"url": "x.html", "grade": float("nan")}]},
            {"graded": [{"url": "x.html", "grade": None}]},
            {"graded": [{"url": "x.html", "grade": "3"}]},
            {"graded": [{"url": "x.html", "grade": True}]},
            {"graded": [{"url": "x.html", "grade": 5000}]},
            {"graded": [{"url": "x.html", "grade": 10**400}]},
            {"graded": [{"url": "", "grade": 1}]},
            {"graded": [{"url": 5, "grade": 1}]},
            {"graded": [None]},
        ],
    )
    def test_a_row_that_expects_wrongly_is_named(self, tmp_path: Path, fields: dict[str, Any]) -> None:
        file = written(tmp_path, {"question": "fine"}, {"question": "q", **fields})
        error = refused(file)
        assert str(error).startswith(f"{file}, line 2: expected or graded is malformed: ")
        assert '"expected": [["part of an address", …], …]' in error.hint

    @pytest.mark.parametrize("text", ["", "\n \n"])
    def test_a_file_without_rows(self, tmp_path: Path, text: str) -> None:
        file = written(tmp_path, text)
        assert str(refused(file)) == f"{file} holds no questions."

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        assert "cannot be read" in str(refused(tmp_path / "missing.jsonl"))
        assert "cannot be read" in str(refused(tmp_path))
        (tmp_path / "latin").write_bytes(b"\xe9")
        assert "cannot be read" in str(refused(tmp_path / "latin"))


class TestQuestions:
    def test_plain_text_one_a_line(self, tmp_path: Path) -> None:
        file = written(tmp_path, "# comment", "How? ", "", "  Why?", "What about #5?")
        assert read_questions(file) == ["How?", "Why?", "What about #5?"]

    def test_rows_whatever_else_they_say(self, tmp_path: Path) -> None:
        assert read_questions(written(tmp_path, {"question": "How?", "expected": "malformed here"})) == ["How?"]

    @pytest.mark.parametrize("text", ["", "# only\n# comments"])
    def test_none_are_an_error(self, tmp_path: Path, text: str) -> None:
        file = written(tmp_path, text)
        with pytest.raises(UsageError, match="holds no questions"):
            read_questions(file)
