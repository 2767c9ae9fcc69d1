"""Pages of one documented thing, of builders that write its members as headings: each is a place, under the name that readers use."""

from __future__ import annotations

import pytest

from citewell.ingest.extract.html.page import extract_html
from tests.unit.ingest.ingest_help import html_page, markdown_of, of_html, read_html

RUSTDOC = """
<main><h1 class="fqn">Struct std::frobs::<a href="#">Frob</a><button id="copy-path">copy</button></h1>
<span><a class="srclink" href="../src/frob.rs.html#1">source</a></span>
<details class="top-doc" open><summary class="hideme"><span>Expand description</span></summary><p>A frob.</p></details>
<h2 id="implementations">Implementations<a href="#implementations" class="anchor"></a></h2>
<details class="toggle" open><summary><section id="impl-Frob" class="impl"><a class="srclink" href="../src/frob.rs.html#2">source</a>
  <h3 class="code-header">impl Frob</h3></section></summary>
 <div><details class="toggle" open><summary><section id="method.new" class="method"><span><span class="since">1.7.0</span> ·
   <a class="srclink" href="../src/frob.rs.html#3">source</a></span><a href="#method.new" class="anchor"></a>
   <h4 class="code-header">pub fn <a href="#method.new">new</a>() -&gt; Frob</h4></section></summary>
   <div class="docblock"><p>Makes one.</p></div></details>
  <section id="method.turn_on" class="method"><span><span class="since">1.9.0</span> · </span>
   <h4 class="code-header">pub fn turn_on(&amp;self)</h4></section></div></details>
<h2 id="traits">Traits</h2><p>None.</p></main>"""
JAVADOC = """
<main><div class="header"><h1 class="title">Class Frob&lt;T&gt;</h1></div><p>A frob.</p>
<ul class="summary-list"><li><section class="method-summary" id="method-summary"><h2>Method Summary</h2>
<div class="table-tabs" role="tablist"><button id="tab0" role="tab">All Methods</button></div>
<div id="panel" role="tabpanel" aria-labelledby="tab0"><div class="summary-table three-column-summary">
<div class="table-header col-first">Modifier and Type</div><div class="table-header col-second">Method</div>
<div class="table-header col-last">Description</div>
<div class="col-first"><code>static T</code></div><div class="col-second"><code>get()</code></div>
<div class="col-last"><div class="block">Gets a|b.</div></div>
<div class="col-first"><code>int</code></div><div class="col-second"><code>hashCode()</code></div><div class="col-last"></div>
</div></div></section></li>
<li><section class="method-details" id="method-detail"><h2>Method Details</h2><ul class="member-list"><li>
<section class="detail" id="get()"><h3>get</h3><div class="member-signature"><span>public static</span>&nbsp;T&nbsp;get()</div>
<div class="block">Gets it.</div></section></li></ul></section></li></ul></main>"""
DOXYGEN = """
<div id="top"><div id="titlearea"><table><tr id="projectrow"><td>
<div id="projectname">Frobs <span id="projectnumber">3.4.0</span></div></td></tr>
</table></div></div>
<div class="header"><div class="headertitle"><div class="title">frobs::Frob&lt; T &gt; Class Template Reference
  <div class="ingroups"><a href="g.html">Frob module</a></div></div></div></div>
<div class="contents"><table class="memberdecls">
<tr class="heading"><td colspan="2"><h2 class="groupheader"><a id="pub-methods"></a>Public Member Functions</h2></td></tr>
<tr class="memitem:a1" id="r_a1"><td class="memItemLeft">bool&#160;</td><td><a href="#a1">isEmpty</a> () const</td></tr>
</table><h2 class="groupheader">Member Function Documentation</h2><a id="a1"></a>
<h2 class="memtitle"><span class="permalink"><a href="#a1">&#9670;&#160;</a></span>isEmpty() <span class="overload">[1/2]</span></h2>
<div class="memitem"><div class="memproto"><div class="memtemplate">template&lt;T&gt;</div>
<table class="mlabels"><tr><td class="mlabels-left"><table class="memname"><tr><td class="memname">
bool frobs::Frob&lt; T &gt;::isEmpty</td>
<td>(</td><td class="paramname"></td><td>)</td><td> const</td></tr></table></td>
<td class="mlabels-right"><span class="mlabels"><span class="mlabel">inline</span
><span class="mlabel">static</span></span></td></tr></table></div>
<div class="memdoc"><p>Whether it is.</p>
<div class="fragment"><div class="line"
><a id="l1"></a><span class="lineno">    1</span>Frob f;</div>
<div class="line"><span class="lineno">    2</span>f.isEmpty();</div></div></div></div></div>"""


def test_the_members_of_rustdoc_are_places_with_what_is_said_of_them() -> None:
    sections = of_html(RUSTDOC, "std/frobs/struct.Frob.html")
    top = "Struct std::frobs::Frob"
    assert [(s.anchor, s.heading_path, s.text, s.names) for s in sections] == [
        ("", top, "A frob.", ("std::frobs::Frob",)),
        ("method.new", f"{top} > Implementations > impl Frob > pub fn new() -> Frob", "1.7.0\n\nMakes one.", ("Frob::new",)),
        (
            "method.turn_on",
            f"{top} > Implementations > impl Frob > pub fn turn_on(&self)",
            "1.9.0",
            ("turn_on", "Frob::turn_on"),
        ),
        ("traits", f"{top} > Traits", "None.", ()),
    ]
    assert sections[1].ids >= {"implementations", "impl-Frob", "method.new"}


def test_the_members_of_javadoc_are_places_and_its_grids_are_tables() -> None:
    sections = of_html(JAVADOC, "org/Frob.html")
    assert [(s.anchor, s.heading_path, s.text, s.names) for s in sections] == [
        ("", "Class Frob<T>", "A frob.", ("Frob",)),
        (
            "method-summary",
            "Class Frob<T> > Method Summary",
            "**All Methods**\n\n| Modifier and Type | Method | Description |\n| --- | --- | --- |\n"
            "| `static T` | `get()` | Gets a\\|b. |\n| `int` | `hashCode()` |  |",
            (),
        ),
        ("get()", "Class Frob<T> > Method Details > get", "`public static T get()`\n\nGets it.", ("Frob.get",)),
    ]
    assert "tab0" in sections[1].ids | sections[0].ids


def test_the_members_of_doxygen_are_places_and_its_fragments_are_code() -> None:
    sections = of_html(DOXYGEN, "classfrobs_1_1Frob.html")
    top = "frobs::Frob< T > Class Template Reference"
    assert [(s.anchor, s.heading_path, s.text, s.names) for s in sections] == [
        ("top", top, "Frob module", ("frobs::Frob",)),
        ("pub-methods", f"{top} > Public Member Functions", "bool isEmpty () const", ()),
        ("", f"{top} > Member Function Documentation", "Member Function Documentation", ()),
        (
            "a1",
            f"{top} > isEmpty() [1/2]",
            "`template<T> bool frobs::Frob< T >::isEmpty ( ) const [inline, static]`\n\nWhether it is.\n\n```\nFrob f;\nf.isEmpty();\n```",
            ("isEmpty", "Frob::isEmpty"),
        ),
    ]
    page = extract_html(html_page(DOXYGEN, "<title>Frobs: frobs::Frob</title>"), "classfrobs_1_1Frob.html")
    assert (page.title, page.version) == (top, "3.4.0")
    assert "Frobs" not in sections[0].text
    assert {"projectrow", "l1", "r_a1"} <= {name for section in sections for name in section.ids}


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("<h2 id='a'><code>frob.turn(value[, again])</code></h2>", ("frob.turn",)),
        ("<h2 id='a'><code>new frob.Turner(options)</code></h2>", ("frob.Turner",)),
        ("<h2 id='a'>frob_turn ()</h2>", ("frob_turn",)),
        ("<h2 id='a'><code>frobs.turning</code></h2>", ("frobs.turning",)),
        ("<h3 id='a' class='fn'>[slot] void QFrob::turn(int by = 100)</h3>", ("QFrob::turn",)),
        ("<h3 id='a' class='memtitle'>operator()()</h3>", ()),
        ("<h2 id='a'><code>get</code></h2>", ()),  # a word like others, without a class
        ("<h2 id='a'><code>make all</code></h2>", ()),
        ("<h2 id='a'>Turning (draft)</h2>", ()),
        ("<h2 id='a'>Using <code>frob_turn</code></h2>", ()),
        ("<h2><code>frob_turn</code></h2>", ()),  # no place to link to
    ],
)
def test_a_heading_that_is_a_symbol_documents_it(heading: str, names: tuple[str, ...]) -> None:
    (section,) = of_html(f"<h1>Page</h1>{heading}<p>x</p>")
    assert section.names == names


@pytest.mark.parametrize(
    ("title", "name", "names"),
    [
        ("Class Frob", "Frob.html", ("Frob",)),
        ("Class Hierarchy", "overview-tree.html", ()),
        ("Type conversions", "types.html", ()),
        ("Function std::frobs::turn", "fn.turn.html", ("std::frobs::turn",)),
        ("frobs::Frob Class Reference", "a1.html", ("frobs::Frob",)),
    ],
)
def test_a_title_documents_what_its_file_is_named_after(title: str, name: str, names: tuple[str, ...]) -> None:
    (section,) = of_html(f"<h1 id='a'>{title}</h1><p>x</p>", name)
    assert section.names == names


@pytest.mark.parametrize(
    ("term", "names"),
    [
        ("<dt id='o'>-a, --all</dt>", ("-a", "--all")),
        ("<dt id='o'><code>-C &lt;path&gt;</code>, <code>--chdir=&lt;path&gt;</code></dt>", ("-C", "--chdir")),
        ("<dt id='o'>-q | --quiet</dt>", ("-q", "--quiet")),
        ("<dt id='o'>-q or --quiet</dt>", ("-q", "--quiet")),
        ("<dt id='o'>--[no-]color[=WHEN]</dt>", ("--color", "--no-color")),
        ("<dt id='o'>-j N --jobs N</dt>", ("-j", "--jobs")),
        (
            "<dt class='sig' id='cmdoption-a'><span class='sig-name descname'>-a</span><span class='sig-prename descclassname'></span>"
            "<span class='sig-prename descclassname'>, </span><span class='sig-name descname'>--all</span></dt>",
            ("-a", "--all"),
        ),
        ("<dt id='o'>-a</dt><dt id='p'>--all</dt>", ("-a", "--all")),
        ("<dt id='o'>well-known, --odd</dt>", ("well-known, --odd",)),
    ],
)
def test_every_spelling_of_an_option_is_its_name(term: str, names: tuple[str, ...]) -> None:
    section = of_html(f"<h1>T</h1><dl>{term}<dd><p>x</p></dd></dl>")[-1]
    assert section.names == names


def test_a_member_that_begins_a_list_item_is_no_list_item() -> None:
    sections = of_html("<h1>T</h1><ul><li><h2 id='a'>A</h2><p>x</p></li></ul><ol><li><h2 id='s'>Start</h2><p>y</p></li></ol>")
    assert [(s.anchor, s.heading_path, s.text) for s in sections] == [("a", "T > A", "x"), ("s", "T > 1. Start", "y")]


def test_words_that_a_style_parts_do_not_run_into_each_other() -> None:
    assert read_html("<h1><a href='i'>Frobs</a><span class='sep'></span>turn</h1><p>x</p>").title == "Frobs turn"


def test_a_table_of_rows_under_a_heading_is_one_line_a_row() -> None:
    rows = "<tr><td>int&nbsp;</td><td><a href='#x'>x</a></td></tr><tr><td><p>a</p></td><td><p>b</p></td></tr>"
    assert markdown_of(f"<h1>T</h1><table role='presentation'>{rows}</table>") == "int x\n\na\n\nb"


def test_the_declarations_of_haddock_are_places() -> None:
    sections = of_html("""<h1 id="d">Documentation</h1>
<div class="top"><p class="src">
<a id="v:fromFrob" class="def">fromFrob</a> :: a -&gt; Frob a -&gt; a <a href="src/Frob.html#fromFrob" class="l">
Source</a> <a href="#v:fromFrob" class="selflink">#</a></p><div class="doc"><p>Takes it out.</p></div></div><p>After.</p>""")
    assert [(s.anchor, s.heading_path.rpartition(" > ")[2], s.text, s.names) for s in sections] == [
        ("d", "Documentation", "After.", ()),
        ("v:fromFrob", "fromFrob", "`fromFrob :: a -> Frob a -> a`\n\nTakes it out.", ("fromFrob",)),
    ]
