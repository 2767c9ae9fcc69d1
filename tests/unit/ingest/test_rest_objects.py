"""What Sphinx's directives describe, as definitions with the anchors and signatures that Sphinx gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citewell.ingest.extract.base import Place, page_markdown
from citewell.ingest.extract.rest.page import extract_rest


def walk(place: Place) -> Iterator[Place]:
    yield place
    for below in place.places:
        yield from walk(below)


def defined(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Anchor, signature and names of all definitions."""
    root = extract_rest(f"T\n=\n\n{text}", "page.rst").root
    return [(place.anchor, place.signature, place.names) for place in walk(root) if place.signature]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".. function:: f(a, b=1)", ("f", "f(a, b=1)", ("f",))),
        (".. py:function:: os.f() -> int", ("os.f", "os.f() -> int", ("os.f",))),
        (".. module:: os.path\n\n.. function:: join(a, *p)", ("os.path.join", "os.path.join(a, *p)", ("os.path.join",))),
        (".. currentmodule:: os\n\n.. data:: sep\n   :type: str\n   :value: '/'", ("os.sep", "os.sep: str = '/'", ("os.sep",))),
        (".. class:: A(x)\n   :final:", ("A", "final class A(x)", ("A",))),
        (".. exception:: Bad", ("Bad", "exception Bad", ("Bad",))),
        (".. method:: dict.clear()", ("dict.clear", "dict.clear()", ("dict.clear",))),
        (".. decorator:: cached(x)", ("cached", "@cached(x)", ("cached",))),
        (".. coroutinefunction:: run(x)", ("run", "coroutine run(x)", ("run",))),
        (".. module:: _m\n\n.. function:: f()", ("m.f", "_m.f()", ("_m.f",))),
        (".. module:: netrc\n\n.. method:: netrc.hosts()", ("netrc.netrc.hosts", "netrc.hosts()", ("netrc.netrc.hosts",))),
        (".. function:: f(a)\n              g(b)", ("f", "f(a)\ng(b)", ("f", "g"))),
        (".. function:: f(a, \\\n              b)", ("f", "f(a, b)", ("f",))),
        (".. function:: f()\n   :noindex:", ("", "f()", ("f",))),
        (".. c:function:: PyObject* PyList_New(int n)", ("c.PyList_New", "PyObject* PyList_New(int n)", ("PyList_New",))),
        (".. c:macro:: Py_MIN(x, y)", ("c.Py_MIN", "Py_MIN(x, y)", ("Py_MIN",))),
        (".. c:type:: PyObject", ("c.PyObject", "type PyObject", ("PyObject",))),
        (".. cpp:function:: void std::f<T>(int x)", ("", "void std::f<T>(int x)", ("std::f",))),
        (".. js:function:: $.get(url)", ("$.get", "$.get(url)", ("$.get",))),
        (".. option:: -m <mod>, --module <mod>", ("cmdoption-m", "-m <mod>, --module <mod>", ("-m",))),
        (".. program:: git add\n\n.. option:: --all", ("cmdoption-git-add-all", "--all", ("--all",))),
        (".. option:: target", ("cmdoption-arg-target", "target", ("target",))),
        (".. envvar:: PYTHON_X", ("envvar-PYTHON_X", "PYTHON_X", ("PYTHON_X",))),
        (".. confval:: html_theme\n\n   x", ("confval-html_theme", "html_theme", ("html_theme",))),
        (".. setting:: task_x\n\n   x", ("setting-task_x", "task_x", ("task_x",))),
        (".. describe:: any thing\n\n   x", ("", "any thing", ("any",))),
        (".. rst:directive:: .. toctree:: x", ("directive-toctree", ".. toctree:: x", ("toctree",))),
        (".. rst:role:: ref", ("role-ref", ":ref:", ("ref",))),
        (".. glossary::\n\n   big term\n   other\n      Said.", ("term-big-term", "big term\nother", ("big term", "other"))),
    ],
)
def test_objects(text: str, found: tuple[str, str, tuple[str, ...]]) -> None:
    assert defined(text) == [found]


def test_what_is_inside_a_class_belongs_to_it() -> None:
    text = (
        ".. module:: m\n\n.. class:: A\n\n   .. method:: f(x)\n\n   .. attribute:: A.g\n\n   .. class:: B\n\n      .. method:: h()\n\n"
        ".. function:: after()\n\n.. c:struct:: S\n\n   .. c:member:: int n\n"
    )
    assert [(anchor, signature) for anchor, signature, _ in defined(text)] == [
        ("m.A", "class m.A"),
        ("m.A.f", "f(x)"),
        ("m.A.g", "g"),
        ("m.A.B", "class B"),
        ("m.A.B.h", "h()"),
        ("m.after", "m.after()"),
        ("c.S", "struct S"),
        ("c.S.n", "int n"),
    ]


def test_fields_are_lists_with_their_types() -> None:
    text = (
        ".. function:: f(a, b)\n\n   Does.\n\n   :param int a: first\n   :param b: second\n   :type b: str or None\n"
        "   :raises ValueError: if bad\n   :returns: a *thing*\n   :rtype: bool\n   :meta: x\n"
    )
    shown = page_markdown(extract_rest(text, "page.rst")).split("Does.\n\n")[1]
    assert shown == (
        "**Parameters:**\n- a (int) – first\n- b (str or None) – second\n\n**Raises:**\n- ValueError – if bad\n\n"
        "**Returns:**\n  a thing\n\n**Return type:**\n  bool\n\n**Meta:**\n  x\n"
    )


def test_the_options_of_a_setting_are_shown() -> None:
    text = ".. confval:: x\n   :type: bool\n   :default: ``True``\n\n   Said."
    assert "**Type:**\n  bool\n\n**Default:**\n  `True`\n\nSaid." in page_markdown(extract_rest(text, "page.rst"))


def test_module_anchors_and_labels() -> None:
    root = extract_rest(".. _lab_el:\n\nT\n=\n\n.. module:: os.path\n   :platform: Unix\n\ntext\n\n.. _in-text:\n\nmore", "page.rst").root
    assert root.ids == {"t", "lab-el", "module-os.path", "in-text"}


def test_the_members_of_two_classes_are_those_of_the_last() -> None:
    assert [anchor for anchor, _, _ in defined(".. class:: set()\n           frozenset()\n\n   .. method:: add(x)")] == [
        "set",
        "frozenset.add",
    ]


def test_a_label_of_the_sections_own_words_is_its_anchor() -> None:
    root = extract_rest("T\n=\n\nx\n\n.. _sub-title:\n\nSub title\n---------\n\ny", "page.rst").root
    assert root.places[0].anchor == "sub-title"


def test_same_named_headings_have_anchors_of_their_own() -> None:
    root = extract_rest("A\n=\n\nx\n\nB\n-\n\nx\n\nB\n-\n\ny", "page.rst").root
    assert [place.anchor for place in walk(root)] == ["a", "b", "id1"]
