"""Notebooks: one page of their Markdown, code in the kernel's language, short outputs, and nothing that a hostile file can do."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.base import NotContent, page_markdown
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.notebook import extract_notebook


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)})


def markdown(source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": metadata}


def code(source: Any, *outputs: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": list(outputs), "execution_count": 1}


def sections(text: str) -> list[Chunk]:
    return chunk(extract_notebook(decode(text.encode()), "dir/page.ipynb"))


def only(*cells: dict[str, Any], **metadata: Any) -> str:
    (section,) = sections(notebook(*cells, **metadata))
    return section.text


def test_the_cells_are_one_page() -> None:
    found = sections(notebook(markdown(["# Title\n", "\n", "intro"]), code("x = 1"), markdown("## Sub"), markdown("text"), code("y = 2")))
    assert [(s.anchor, s.heading_path, s.text) for s in found] == [
        ("Title", "Title", "intro\n\n```python\nx = 1\n```"),
        ("Sub", "Title > Sub", "text\n\n```python\ny = 2\n```"),
    ]


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"language": "julia", "name": "julia-1.9"}}, "julia"),
        ({"kernelspec": {"name": "python3"}}, "python"),
        ({}, "python"),
        ({"language_info": "x", "kernelspec": [1]}, "python"),
        ({"language_info": {"name": "a b`c"}}, ""),
    ],
)
def test_the_language_is_the_kernels(metadata: dict[str, Any], language: str) -> None:
    assert only(code("x"), **metadata) == f"```{language}\nx\n```"


def test_a_cell_in_another_language() -> None:
    assert only(code("%%bash\nls")) == "```bash\n%%bash\nls\n```"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}, "a\nb"),
        ({"output_type": "execute_result", "data": {"text/plain": "42"}}, "42"),
        ({"output_type": "pyout", "text": "42"}, "42"),
        ({"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "<Figure size 640x480 with 1 Axes>"}}, None),
        (
            {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider(value=0)"}},
            None,
        ),
        ({"output_type": "execute_result", "data": {"text/html": "<table></table>", "text/plain": "   a\n0  1"}}, "   a\n0  1"),
        ({"output_type": "error", "ename": "ValueError", "evalue": "bad\nvalue", "traceback": ["\x1b[31mx"]}, "ValueError: value"),
        ({"output_type": "stream", "text": "\x1b[1;31mred\x1b[0m plain"}, "red plain"),
        ({"output_type": "stream", "text": "".join(f"{n}\n" for n in range(50))}, "\n".join(map(str, range(10))) + "\n…"),
        ({"output_type": "stream", "text": "x" * 5000}, "x" * 1000 + "\n…"),
        ({"output_type": "stream", "text": 5}, None),
        ({"output_type": "execute_result", "data": {"text/plain": "[<a.B at 0x7f21298cc828>]"}}, None),
        ("no output", None),
    ],
)
def test_outputs(output: Any, shown: str | None) -> None:
    assert only(code("run()", output)) == "```python\nrun()\n```" + (f"\n\n```\n{shown}\n```" if shown else "")


@pytest.mark.parametrize(
    ("metadata", "shown"),
    [
        ({"tags": ["remove-cell"]}, ""),
        ({"nbsphinx": "hidden"}, ""),
        ({"tags": ["remove-input"]}, "out"),
        ({"tags": ["hide_input"]}, "out"),
        ({"hide_input": True}, "out"),
        ({"tags": ["remove-output"]}, "code"),
        ({"tags": ["hide-cell"]}, "code out"),
        ({"tags": "remove-cell"}, "code out"),
        ({"tags": [["x"], 1]}, "code out"),
    ],
)
def test_tags(metadata: dict[str, Any], shown: str) -> None:
    text = only(markdown("before"), code("code", {"output_type": "stream", "text": "out"}, **metadata))
    assert [word for word in ("code", "out") if word in text] == shown.split()


def test_raw_cells_and_attachments_are_dropped() -> None:
    raw = {"cell_type": "raw", "source": "SECRET"}
    assert only(raw, markdown("a ![picture](attachment:image.png) ![p](data:image/png;base64,AAAA) b")) == "a   b"


def test_format_3() -> None:
    sheet = {
        "cells": [
            {"cell_type": "heading", "level": 2, "source": ["Old ", "style"]},
            {"cell_type": "code", "input": "x", "language": "python", "outputs": [{"output_type": "pyout", "text": "1"}]},
        ]
    }
    (section,) = sections(json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [sheet]}))
    assert (section.heading_path, section.text) == ("Old style", "```python\nx\n```\n\n```\n1\n```")


@pytest.mark.parametrize("open_", ["```py\nx", "<!-- never closed", "<div hidden>", "> quote", "- item", ":::note", "<script>", "<pre>"])
def test_what_a_cell_leaves_open_ends_with_it(open_: str) -> None:
    found = sections(notebook(markdown(open_), markdown("## Vital"), markdown("text"), code("x = 1")))
    assert found[-1].heading_path.endswith("Vital")
    assert found[-1].text == "text\n\n```python\nx = 1\n```"


def test_anchors_are_those_of_jupyter() -> None:
    found = sections(notebook(markdown("# The `Title`, *here*\n\nx\n\n## Own {#own}\n\ny\n\n## Twice\n\nz"), markdown("## Twice\n\nw")))
    assert [section.anchor for section in found] == ["The-Title,-here", "own", "Twice", "Twice"]
    assert len({(section.anchor, section.heading_path, section.nth) for section in found}) == 4


def test_a_title_in_the_metadata() -> None:
    assert extract_notebook(notebook(markdown("text"), title="Own  title"), "x.ipynb").title == "Own title"
    assert extract_notebook(notebook(markdown("text"), title={"a": 1}), "dir/x.ipynb").title == "x"


def test_halves_of_characters_are_replaced() -> None:
    page = extract_notebook('{"cells": [{"cell_type": "markdown", "source": "a \\ud83d b"}]}', "x.ipynb")
    assert "".join(section.text for section in chunk(page)).encode() == b"a ? b"


def test_hidden_characters_in_escapes_are_dropped() -> None:
    page = extract_notebook('{"cells": [{"cell_type": "markdown", "source": "a\\u200b\\u202eb"}]}', "x.ipynb")
    assert chunk(page)[0].text == "ab"


@pytest.mark.parametrize("text", ["", "[]", "5", "null", "{", "not json", '"x"', "[" * 100_000, '{"a":' * 100_000])
def test_what_is_no_notebook(text: str) -> None:
    with pytest.raises(NotContent):
        extract_notebook(text, "x.ipynb")


@pytest.mark.parametrize("text", ["{}", '{"cells": []}', '{"cells": 5}', '{"cells": [1, null, "x", [], {}]}', '{"worksheets": [5]}'])
def test_a_notebook_without_text(text: str) -> None:
    with pytest.raises(NotContent, match="no text"):
        extract_notebook(text, "x.ipynb")


def test_a_huge_notebook_takes_seconds_at_most() -> None:
    text = notebook(
        *[code("x = 1\n" * 20, {"output_type": "stream", "text": "line\n" * 2000}) for _ in range(500)], markdown("# T " * 20_000)
    )
    start = time.monotonic()
    assert extract_notebook(text, "x.ipynb").root.content
    assert time.monotonic() - start < 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from("cells cell_type source metadata tags outputs output_type data text level worksheets".split()),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"cell_type": st.sampled_from(["code", "markdown", "heading", "raw", 5])},
            optional={"source": JSON, "metadata": JSON, "outputs": JSON, "level": JSON},
        )
    ),
    JSON,
)
def test_whatever_json_comes_a_page_or_a_reason_comes_out(cells: list[Any], metadata: Any) -> None:
    try:
        page = extract_notebook(json.dumps({"cells": cells, "metadata": metadata}), "x.ipynb")
    except NotContent:
        return
    sections = chunk(page)
    assert page.title
    assert all(section.text.strip() and section.text.encode().decode() == section.text for section in sections)


def test_an_output_whose_kind_is_no_text_is_none() -> None:
    cells = [{"cell_type": "code", "source": "1", "outputs": [{"output_type": []}, {"output_type": {}}, {"output_type": 1}]}]
    page = extract_notebook(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}), "n.ipynb")
    assert page_markdown(page).strip().endswith("```")
