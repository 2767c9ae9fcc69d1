"""Includes: what a document takes from its folder, how far that goes, and that it never reaches outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.discover import includes
from citewell.ingest.discover.includes import MAX_DEPTH, with_includes
from citewell.ingest.extract.base import NotContent


def folder(tmp_path: Path, **files: str) -> Path:
    """A folder of documentation; `a__b_md` is the file `a/b.md`."""
    root = tmp_path / "docs"
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return root


def expanded(tmp_path: Path, page: str, name: str = "page.md", **files: str) -> str:
    root = folder(tmp_path, **files)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(page.encode())
    return with_includes(root / name, root).decode()


@pytest.mark.parametrize("data", [b"# A\r\n\ntext\xff", b"", b"\xff\xfeA\x00", b"an include of nothing {{#"])
def test_a_document_without_includes_is_its_own_bytes(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "page.md"
    file.write_bytes(data)
    assert with_includes(file, tmp_path) == data


@pytest.mark.parametrize(
    ("page", "result"),
    [
        ('a\n--8<-- "part.md"\nb', "a\none\ntwo\nthree\nb"),
        ("a\n  -8<- 'part.md'\nb", "a\n  one\n  two\n  three\nb"),
        ('--8<-- "part.md:2"', "two\nthree"),
        ('--8<-- "part.md:2:2"', "two"),
        ("--8<--\npart.md\n; part.md\nsub/other.md\n--8<--\nb", "one\ntwo\nthree\nother\nb"),
        ('--8<-- "code.py:here"', "x = 1"),
        ("a {{#include part.md:2}} b", "a two b"),
        ("{{#include part.md:2:3}}", "two\nthree"),
        ("{{#include part.md::2}}", "one\ntwo"),
        ("```rust\n{{#include lib.rs:main}}\n```", "```rust\nfn main() {}\n```"),
        ("\\{{#include part.md}}", "\\{{#include part.md}}"),
        ("```{include} part.md\n:start-line: 1\n```\nb", "two\nthree\nb"),
        ("```{include} part.md\n```", "one\ntwo\nthree"),
        (":::{include} part.md\n:end-before: three\n:::", "one\ntwo"),
        ("```{literalinclude} code.py\n:language: python\n:lines: 2\n```", "````````````python\nx = 1\n````````````"),
        ("{% include 'part.md' %}", "{% include 'part.md' %}"),
    ],
)
def test_includes_of_markdown(tmp_path: Path, page: str, result: str) -> None:
    files = {
        "part_md": "one\ntwo\nthree\n",
        "sub__other_md": "other",
        "code_py": "# --8<-- [start:here]\nx = 1\n# --8<-- [end:here]\ny = 2\n",
        "lib_rs": "// ANCHOR: main\nfn main() {}\n// ANCHOR_END: main\n",
    }
    assert expanded(tmp_path, page, **files) == result


@pytest.mark.parametrize(
    ("page", "result"),
    [
        (".. include:: part.rst\n\nb", "one\n\ntwo\n\nb"),
        (".. note::\n\n   .. include:: part.rst\n      :start-after: one", ".. note::\n\n   \n   two".replace("   \n", "\n")),
        (
            ".. literalinclude:: code.py\n   :language: python\n   :pyobject: A.f\n   :dedent:\n   :emphasize-lines: 1\n\nb",
            ".. code-block:: python\n\n   def f(self):\n       return 1\n\n\nb",
        ),
        (".. literalinclude:: /code.py\n   :lines: 5-\n   :caption: A *c*", ".. code-block::\n   :caption: A *c*\n\n   z = 1\n"),
        (".. include:: <isonum.txt>", ".. include:: <isonum.txt>"),
    ],
)
def test_includes_of_restructuredtext(tmp_path: Path, page: str, result: str) -> None:
    files = {"part_rst": "one\n\ntwo\n", "code_py": "class A:\n    def f(self):\n        return 1\n\nz = 1\n"}
    assert expanded(tmp_path, page, "sub/page.rst" if "/code" in page else "page.rst", **files) == result


def test_a_path_is_looked_for_in_the_folders_above(tmp_path: Path) -> None:
    assert expanded(tmp_path, '--8<-- "snippets/x.md"', "a/b/page.md", snippets__x_md="found") == "found"


@pytest.mark.parametrize("target", ["../secret.md", "/../secret.md", "link.md", "linked/secret.md", "{secret}", "https://x.example/a.md"])
def test_nothing_outside_of_the_folder_is_read(tmp_path: Path, target: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.md").write_text("SECRET")
    (tmp_path / "secret.md").write_text("SECRET")
    root = folder(tmp_path)
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "linked").symlink_to(tmp_path / "out")
    page = f'a\n--8<-- "{target.replace("{secret}", str(tmp_path / "secret.md"))}"\nb'
    assert expanded(tmp_path, page) == page


@pytest.mark.parametrize("target", [".git/config", ".env"])
def test_no_file_with_keys_is_read(tmp_path: Path, target: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / target).write_text("token")
    (tmp_path / "link.md").symlink_to(tmp_path / target)
    (tmp_path / "a.md").write_text(f'--8<-- "{target}"\n--8<-- "link.md"\n')
    assert b"token" not in with_includes(tmp_path / "a.md", tmp_path)


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    root = folder(tmp_path, real_md="real")
    (root / "link.md").symlink_to(root / "real.md")
    assert expanded(tmp_path, '--8<-- "link.md"') == "real"


def test_a_pipe_and_a_folder_are_not_read(tmp_path: Path) -> None:
    root = folder(tmp_path, sub__x_md="x")
    os.mkfifo(root / "pipe.md")
    page = '--8<-- "pipe.md"\n--8<-- "sub"'
    assert expanded(tmp_path, page) == page
    with pytest.raises(NotContent, match="not a regular file"):
        with_includes(root / "pipe.md", root)


def test_loops_end(tmp_path: Path) -> None:
    files = {"a_md": 'a\n--8<-- "b.md"', "b_md": 'b\n--8<-- "a.md"\n--8<-- "page.md"'}
    assert expanded(tmp_path, '--8<-- "a.md"', **files) == 'a\nb\n--8<-- "a.md"\n--8<-- "page.md"'


def test_includes_go_five_deep(tmp_path: Path) -> None:
    files = {f"f{n}_md": f'{n}\n--8<-- "f{n + 1}.md"' for n in range(1, 9)}
    text = expanded(tmp_path, '--8<-- "f1.md"', **files)
    assert text == "\n".join(["1", "2", "3", "4", "5", '--8<-- "f6.md"'])
    assert MAX_DEPTH == 5


def test_the_bytes_of_a_document_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includes, "MAX_BYTES", 1000)
    text = expanded(tmp_path, '--8<-- "big.md"\n' * 20, big_md="x" * 100)
    assert text.count("x" * 100) == 6
    with pytest.raises(NotContent, match="too large"):
        expanded(tmp_path, "x" * 1001)


def test_doubling_includes_stay_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includes, "_MOST_INCLUDES", 50)
    files = {f"f{n}_md": f'--8<-- "f{n + 1}.md"\n' * 10 for n in range(5)} | {"f5_md": "x"}
    assert expanded(tmp_path, '--8<-- "f0.md"', **files).count("\nx") <= 50


def test_what_is_missing_is_left_as_written(tmp_path: Path) -> None:
    page = "a {{#include none.md}} b\n```{include} none.md\n```\n--8<--\nnone.md\n--8<--\n"
    assert expanded(tmp_path, page) == page


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            ['--8<-- "page.md"', "--8<--", "{{#include page.md:", "}}", "```{include} p", ":x: y", ".. include:: page.md", "\0", "é"]
        )
    )
)
def test_whatever_a_page_includes_it_ends(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    root = tmp_path_factory.mktemp("docs")
    for name in ("page.md", "page.rst"):
        (root / name).write_text("\n".join(parts))
        assert isinstance(with_includes(root / name, root), bytes)


def test_a_long_line_of_what_could_be_a_mark_costs_no_time(tmp_path: Path) -> None:
    line = "-" * 200_000
    assert expanded(tmp_path, '--8<-- "long.md"', long_md=f"{line}8<\n{'ANCHOR ' * 30_000}").startswith(line)
