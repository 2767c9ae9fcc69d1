"""reStructuredText to places and blocks, as Sphinx would show them: no text lost to an unknown directive or role, no message shown."""

from __future__ import annotations

import threading

import pytest
from docutils.parsers.rst import directives, roles

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.rest.page import extract_rest


def sections(text: str) -> list[Chunk]:
    return chunk(extract_rest(decode(text.encode()), "dir/page.rst"))


def only(text: str) -> str:
    (section,) = sections(text)
    return section.text


# ---- running text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("``a  b`` *em* **strong**", "`a b` em strong"),
        (":func:`open` :func:`~os.path.join` :meth:`a.b()` :class:`!Foo`", "`open()` `join()` `a.b()` `Foo`"),
        (":py:class:`the title <os.PathLike>` :c:func:`PyList_New`", "`the title` `PyList_New()`"),
        (":ref:`the title <label>` :ref:`other-label` :doc:`/guide/x`", "the title other-label /guide/x"),
        (":pep:`8` :pep:`484#type-aliases` :rfc:`2822` :pep:`Style <8>`", "PEP 8 PEP 484 § type aliases RFC 2822 Style"),
        (":option:`-m` :envvar:`PATH` :file:`/usr/{name}/x` :samp:`print({x})`", "`-m` `PATH` `/usr/name/x` `print(x)`"),
        (":menuselection:`File --> Open` :guilabel:`&Cancel` :kbd:`Ctrl+C`", "File ‣ Open Cancel `Ctrl+C`"),
        (":abbr:`LIFO (last-in, first-out)` :dfn:`term` :term:`shown <term>`", "LIFO (last-in, first-out) term shown"),
        (":math:`x^2` H\\ :sub:`2`\\ O 10\\ :sup:`-3`", "$x^2$ H2O 10^-3"),
        (":unknown:`text` :issue:`12` :what:`shown <target>`", "text 12 shown"),
        ("`text <https://x.example>`_ and name_ and `a b`_ and anonymous__", "text and name and a b and anonymous"),
        ("|version| and |sub|\n\n.. |sub| replace:: **more** ``code``", "|version| and more `code`"),
        ("default `os.path.join` and `words`", "default `os.path.join` and words"),
        ("unclosed *em and ``literal and `role and |sub", "unclosed *em and ``literal and `role and |sub"),
        ("text [#]_ and [1]_ and [CIT]_", "text [^2] and [^1] and [CIT]"),
        ("a |logo| b |today|\n\n.. |logo| image:: x.png\n.. |today| date::", "a b"),
        (":index:`words <single: entry>` x", "words x"),
    ],
)
def test_running_text(text: str, shown: str) -> None:
    note = "\n\n.. [#] auto\n.. [1] one" if "[#]_" in text else ""
    assert only(text + note).split("\n\n")[0] == shown


def test_a_reference_without_words_shows_the_title_of_its_section() -> None:
    found = sections("A\n=\n\nSee :ref:`inst`.\n\n.. _inst:\n\nHow to install\n==============\n\nx")
    assert found[0].text == "See How to install."
    assert (found[1].anchor, found[1].ids) == ("how-to-install", {"how-to-install", "inst"})


def test_substitutions_that_ask_for_millions_end() -> None:
    text = "\n".join(f".. |s{n}| replace:: {f'|s{n + 1}| ' * 10}" for n in range(12)) + "\n.. |s12| replace:: x\n\n|s0|"
    assert sum(len(section.text) for section in sections(text)) < 500_000


# ---- blocks -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x::\n\n    a\n      b", "x:\n\n```\na\n  b\n```"),
        (">>> 1 + 1\n2", "```pycon\n>>> 1 + 1\n2\n```"),
        (".. code-block:: python\n   :linenos:\n   :caption: A ``cap``\n\n   x = 1", "**A `cap`**\n\n```python\nx = 1\n```"),
        (".. highlight:: c\n\n.. code-block::\n\n   int x;", "```c\nint x;\n```"),
        (".. sourcecode:: none\n\n   x", "```\nx\n```"),
        (".. doctest::\n   :hide:\n\n   >>> 1", "```pycon\n>>> 1\n```"),
        (".. parsed-literal::\n\n   a *b* |c|\n\n.. |c| replace:: d", "```\na b d\n```"),
        (".. math:: x = 1\n   + 2", "$x = 1 + 2$"),
        ("- a\n- b\n\n  - c\n\n1. d\n2. e", "- a\n- b\n\n  - c\n\n1. d\n2. e"),
        ("3. c\n4. d", "3. c\n4. d"),
        ("term : class\n   text\nother\n   more", "**term : class:**\n  text\n\n**other:**\n  more"),
        ("-a, --all  Everything.\n--file=F   A file.", "**`-a`, `--all`:**\n  Everything.\n\n**`--file=F`:**\n  A file."),
        ("| one\n| two\n|   three", "one\ntwo\nthree"),
        ("x\n\n   quoted\n\n   -- Author", "x\n\nquoted\n\n— Author"),
        (".. [1] note", "[^1]: note"),
        ("text\n\n..\n   a comment\n\n.. comment too", "text"),
        ("a\n\n----\n\nb", "a\n\nb"),
        (".. figure:: x.png\n   :alt: alt\n\n   The caption.\n\n   The legend.", "The caption.\n\nThe legend."),
        (".. image:: x.png\n   :alt: alt\n\ntext", "text"),
        (".. only:: latex\n\n   no\n\n.. only:: html\n\n   yes\n\n.. ifconfig:: x\n\n   too", "yes\n\ntoo"),
        (".. topic:: A title\n\n   text", "**A title**\n\ntext"),
        (".. rubric:: Footnotes\n\ntext", "**Footnotes**\n\ntext"),
        (
            ".. tabs::\n\n   .. group-tab:: Linux\n\n      apt\n\n   .. code-tab:: py Title\n\n      x",
            "**Linux**\n\napt\n\n**Title**\n\n```py\nx\n```",
        ),
        ("# no heading", "\\# no heading"),
    ],
)
def test_blocks(text: str, shown: str) -> None:
    assert only(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (".. note:: On the line.", "**Note:** On the line."),
        (".. note:: On the line\n   and the next.\n\n   More.", "**Note:** On the line and the next.\n\nMore."),
        (".. warning::\n   :class: x\n\n   Below.", "**Warning:** Below."),
        (".. seealso:: `X <y>`_", "**See also:** X"),
        (".. admonition:: Own *title*\n\n   - item", "**Own title:**\n\n- item"),
        (".. impl-detail:: CPython only.", "**CPython implementation detail:** CPython only."),
        (".. versionadded:: 3.9", "New in version 3.9."),
        (".. versionadded:: 3.9\n   The *x* parameter.", "New in version 3.9: The x parameter."),
        (".. versionchanged:: 3.10 Now ``fast``.", "Changed in version 3.10: Now `fast`."),
        (".. deprecated:: 3.1\n\n   Use y.\n\n   Really.", "Deprecated since version 3.1: Use y.\n\nReally."),
        (".. deprecated-removed:: 3.9 3.12\n\n   Gone.", "Deprecated since version 3.9, will be removed in version 3.12: Gone."),
        (".. versionremoved:: 4", "Removed in version 4."),
        (".. availability:: Unix.", "Availability: Unix."),
        (".. audit-event:: os.x path,mode os.x", "Raises an auditing event `os.x` with arguments `path`, `mode os.x`."),
    ],
)
def test_admonitions_and_changes(text: str, shown: str) -> None:
    assert only(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+",
        "=  =\na  b\n=  =\n1  2\n=  =",
        ".. list-table::\n   :header-rows: 1\n   :unknown: x\n\n   * - a\n     - b\n   * - 1\n     - 2",
        '.. csv-table::\n   :header: "a", "b"\n\n   "1", "2"',
    ],
)
def test_tables(text: str) -> None:
    assert only(text) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_spanned_cells_keep_columns_in_line() -> None:
    text = "+---+---+---+\n| a | b | c |\n+===+===+===+\n| 1     | 2 |\n+---+---+   |\n| x | y |   |\n+---+---+---+"
    assert only(text) == "| a | b | c |\n| --- | --- | --- |\n| 1 | 1 | 2 |\n| x | y | 2 |"


def test_a_table_with_a_title_code_and_bars() -> None:
    text = ".. table:: The title\n\n   ====  =======\n   a     ``b|c``\n   1     2\n   ====  ======="
    assert only(text) == "**The title**\n\n|  |  |\n| --- | --- |\n| a | `b\\|c` |\n| 1 | 2 |"


@pytest.mark.parametrize(
    "text", ["=====  =\na  b\nlonger than its column\n=====  =", "+--+\n| broken", ".. list-table::\n\n   * - a\n   * - b\n     - c"]
)
def test_a_broken_table_keeps_its_text(text: str) -> None:
    shown = only(text)
    assert "System Message" not in shown
    assert any(word in shown for word in ("longer", "broken", "- c"))


# ---- unknown and harmful ------------------------------------------------------------------------------------------------------


def test_an_unknown_directive_keeps_its_text() -> None:
    assert only(".. sparkle:: Some words here\n   :option: x\n\n   The *content*.") == "Some words here\n\nThe content."


def test_what_is_not_here_is_dropped_silently() -> None:
    text = (
        "text\n\n.. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\n.. automodule:: x\n   :members:\n\n.. index:: x\n\n.. contents::\n\n"
        ".. raw:: html\n\n   <b>SECRET</b>\n\n.. include:: /etc/passwd\n\n"
        ".. csv-table::\n   :file: /etc/passwd\n\n.. literalinclude:: /etc/passwd\n\n"
        ".. role:: raw-html(raw)\n   :format: html\n\n:raw-html:`<b>SECRET</b>`\n\n.. default-role:: math\n\n.. meta::\n   :keywords: x\n"
    )
    assert only(text) == "text"


def test_fields_before_the_title_are_none_of_the_page() -> None:
    assert [(s.heading_path, s.text) for s in sections(":orphan:\n:author: X\n\nTitle\n=====\n\ntext")] == [("Title", "text")]


def test_nothing_is_registered_for_the_process() -> None:
    before = set(directives._directives), dict(roles._roles)
    only(".. role:: own\n.. default-role:: own\n\n:own:`x` `y`\n\n.. tabs::\n\n   z")
    assert (set(directives._directives), dict(roles._roles)) == before


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    sections("*a\n\n.. foo::\n\n`x\n\nA\n==\n\nB\n-\n\n.. image::\n")
    assert capfd.readouterr() == ("", "")


def test_pages_are_read_in_several_threads() -> None:
    texts = [f"T{n}\n==\n\n.. module:: m{n}\n\n.. function:: f\n\n   - a\n\n     - :func:`x{n}`\n" * 20 for n in range(6)]
    expected = [sections(text) for text in texts]
    found: dict[int, list[Chunk]] = {}

    def read(n: int) -> None:
        found[n] = sections(texts[n])

    threads = [threading.Thread(target=read, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[n] for n in range(6)] == expected


@pytest.mark.parametrize(
    "text", ["x" * 20_000, "- " * 500 + "x", "\n\n".join("  " * n + f"word{n}" for n in range(300)), "*a " * 3000 + "\n\n" + "word " * 30]
)
def test_what_docutils_cannot_read_is_plain_text(text: str) -> None:
    assert text.split()[-1] in "".join(section.text for section in sections(text)).replace("\n", "")


@pytest.mark.parametrize("text", ["", "\n", ".. comment", ".. toctree::\n\n   a", ":orphan:", ".. |x| replace:: y", "----"])
def test_a_page_without_text_is_no_content(text: str) -> None:
    with pytest.raises(NotContent, match="no text"):
        extract_rest(text, "page.rst")
