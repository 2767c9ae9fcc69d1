"""Sections of single pages: what is a section of its own, where long ones are cut, whose ids are whose."""

from __future__ import annotations

import pytest

from citewell.ingest.chunk import chunk
from citewell.ingest.extract.base import Code, Page, Place, Table, Text
from citewell.ingest.split import pack
from tests.unit.ingest.ingest_help import fences, keys, of_html, of_markdown, text_of, words


def sentences(many: int, start: int = 0) -> str:
    return " ".join(f"Sentence number {n} says a thing." for n in range(start, start + many))


def test_a_place_without_text_is_no_section_when_others_carry_its_heading_on() -> None:
    root = Place("A", "a", content=[Place("B", "b", content=[Text("x")]), Place("C", "c")])
    sections = chunk(Page("A", root))
    assert [(s.anchor, s.heading_path, s.text, s.ids) for s in sections] == [
        ("b", "A > B", "x", {"a", "b"}),
        ("c", "A > C", "C", {"c"}),
    ]


def test_ids_that_nothing_follows_are_the_last_sections() -> None:
    root = Place("", content=[Text("x"), Place("", ids={"end"})])
    assert [(s.text, s.ids) for s in chunk(Page("T", root))] == [("x", {"end"})]
    assert chunk(Page("T", Place("", ids={"a"}))) == []


def test_text_between_definitions_is_their_parents() -> None:
    sections = of_html("<h1>T</h1><p>a</p><dl><dt id='x'>x</dt><dd>in x</dd></dl><p>b</p><dl><dt id='y'>y</dt><dd>in y</dd></dl><p>c</p>")
    assert [(s.anchor, s.text) for s in sections] == [("", "a\n\nb\n\nc"), ("x", "`x`\n\nin x"), ("y", "`y`\n\nin y")]


def test_same_named_places_are_told_apart_and_numbered_from_0() -> None:
    sections = of_markdown("# A\n\n### E {#e}\n\nx\n\n### E {#e}\n\ny\n\n### E {#e}\n\nz")
    assert keys(sections) == [("e", "A > E", 0, 0), ("e", "A > E", 1, 0), ("e", "A > E", 2, 0)]


@pytest.mark.parametrize("front", ["", "---\ntitle: Front\n---\n", "---\ntitle: A\n---\n"])
@pytest.mark.parametrize("inserted", ["# New", "## New", "### New"])
@pytest.mark.parametrize("page", ["# A\n\na\n\n## B\n\nb", "intro\n\n# A\n\na\n\n## B\n\nb", "## B\n\nb\n\n## C\n\nc"])
def test_a_heading_at_the_end_changes_no_key_whatever_its_rank(front: str, inserted: str, page: str) -> None:
    before = keys(of_markdown(front + page))
    assert keys(of_markdown(f"{front}{page}\n\n{inserted}\n\nnew"))[:-1] == before


def test_parts_are_filled_with_whole_paragraphs() -> None:
    paragraphs = [sentences(20, 20 * n) for n in range(12)]
    parts = pack([Text(paragraph) for paragraph in paragraphs], 2000)
    assert "\n\n".join(parts).split("\n\n") == paragraphs
    assert all(len(part) <= 2000 for part in parts)
    assert all(len(part) > 1200 for part in parts[:-1])


def test_a_long_paragraph_is_cut_after_a_sentence() -> None:
    text = sentences(200)
    parts = pack([Text(text)], 2000)
    assert " ".join(parts) == text
    assert all(part.endswith(".") and 1000 < len(part) <= 2000 for part in parts[:-1])


def test_a_paragraph_without_sentences_is_cut_between_words_and_no_code_span_in_two() -> None:
    text = " ".join(f"word `code {n} of it`" for n in range(300))
    parts = pack([Text(text)], 2000)
    assert " ".join(parts) == text
    assert all(part.count("`") % 2 == 0 for part in parts)


def test_a_word_longer_than_a_part_is_cut_anywhere() -> None:
    parts = pack([Text("x" * 5000)], 2000)
    assert "".join(parts) == "x" * 5000
    assert all(len(part) <= 2000 for part in parts)


def test_the_rest_of_a_long_list_item_stays_in_its_item() -> None:
    first, second = pack([Text("- " + sentences(80)), Text("- next", tight=True)], 2000)
    assert first.startswith("- Sentence number 0")
    assert second.startswith("Sentence number")
    assert second.endswith("\n- next")
    (both,) = pack([Text("- " + sentences(40))], 2000)
    assert both.count("\n") == 0


@pytest.mark.parametrize("introduction", ["The following modes exist:", "**Parameters:**", "**Example**", "Table 3. Modes", "-"])
def test_what_introduces_a_block_moves_on_with_it(introduction: str) -> None:
    first, second = pack([Text(sentences(50)), Text(introduction), Code("x = 1\n" * 60)], 2000)
    assert introduction not in first
    assert second.startswith((f"{introduction}\n\n```", "-\n```"))


def test_a_part_that_begins_deep_in_a_list_begins_at_the_margin() -> None:
    deep = [Text(f"    - deep {n} {'word ' * 20}", tight=True) for n in range(40)]
    parts = pack([Text("- top"), *deep, Text("  - middle", tight=True), Text("- top", tight=True)], 1000)
    assert all(part.startswith("- ") for part in parts)
    assert parts[-1].endswith("\n- middle\n- top")


@pytest.mark.parametrize("prefix", ["", "   ", "      ", "> ", "  > "])
def test_code_in_every_part_is_a_block_of_its_own(prefix: str) -> None:
    code = "\n".join(f"line_{n} = {n}" for n in range(400))
    parts = pack([Text("1. item"), Code(code, "python", prefix)], 2000)
    assert len(parts) > 2
    assert [info for part in parts for info, _ in fences(part)] == ["python"] * len(parts)
    assert words(text_of([])) | {word for part in parts for word in words(part)} >= {f"line_{n}" for n in range(400)}


def test_code_is_cut_at_a_gap_if_there_is_one() -> None:
    functions = [f"def f{n}():\n" + "\n".join(f"    x = {i}" for i in range(30)) for n in range(12)]
    for part in pack([Code("\n\n".join(functions), "python")], 2000):
        assert part.startswith("```python\ndef f") or part.startswith("```python\n\ndef f")


@pytest.mark.parametrize("text", ["`" * 500, "```\n" * 600, "`" * 4000, "x" * 9000, " " * 5000 + "x", "\n" * 3000 + "x"])
def test_code_that_fights_its_fence(text: str) -> None:
    parts = pack([Code(text, "python")], 2000)
    assert all(len(part) <= 2000 and len(fences(part)) == 1 for part in parts)
    assert sum(content.count("`") for part in parts for _, content in fences(part)) == text.count("`")


def test_a_row_longer_than_a_part_is_cut_by_its_cells() -> None:
    head = ["| Name | Meaning | Default |", "| --- | --- | --- |"]
    parts = pack([Table(head, [f"| --frob | {sentences(120)} | `a \\| b` |", "| --quux | short | 1 |"])], 2000)
    assert all(part.startswith("\n".join([*head, "| --frob | Sentence number"])) for part in parts)
    assert all(line.count("|") - line.count("\\|") == 4 for part in parts for line in part.split("\n"))
    assert sum(part.count("`a \\| b`") for part in parts) == 1
    assert parts[-1].endswith("\n| --quux | short | 1 |")


def test_a_header_longer_than_half_a_part_is_not_repeated() -> None:
    parts = pack([Table([f"| {'column ' * 160}| b |", "| --- | --- |"], [f"| {n} | {'x' * 50} |" for n in range(60)])], 2000)
    assert all(len(part) <= 2000 for part in parts)
    assert sum("column" in part for part in parts) == 1


@pytest.mark.parametrize("line", ["``` no fence", "~~~", "- ```", "    ````", "> ~~~ x"])
def test_prose_never_opens_a_fence(line: str) -> None:
    (part,) = pack([Text(line), Code("x")], 2000)
    assert fences(part) == [("", "x\n")]


def test_an_empty_list_item_makes_no_heading_of_the_line_before_it() -> None:
    (section,) = of_html("<ul><li>a</li><li><pre>x</pre></li></ul>")
    assert section.text == "- a\n\n-\n  ```\n  x\n  ```"
