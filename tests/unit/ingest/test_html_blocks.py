"""Code, tables, definitions and footnotes of HTML pages."""

from __future__ import annotations

import pytest

from tests.unit.ingest.ingest_help import fences, markdown_of, of_html, text_of

# ---- code ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<div class='highlight-python3 notranslate'><div class='highlight'><pre>x</pre></div></div>", "python"),
        ("<div class='highlight-default'><div class='highlight'><pre>x</pre></div></div>", ""),
        ("<div class='highlight-pycon+sql'><div class='highlight'><pre>x</pre></div></div>", "pycon+sql"),
        ("<pre><code class='language-C++'>x</code></pre>", "c++"),
        ("<pre class='lang-js prettyprint'>x</pre>", "js"),
        ("<div class='language-ruby highlighter-rouge'><div class='highlight'><pre class='highlight'>x</pre></div></div>", "ruby"),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "shell"),
        ("<div class='sourceCode'><pre class='sourceCode haskell'><code class='sourceCode haskell'>x</code></pre></div>", "haskell"),
        ("<pre class='src src-emacs-lisp'>x</pre>", "emacs-lisp"),
        ("<pre class='brush: sql; toolbar: false'>x</pre>", "sql"),
        ("<pre><code data-lang='TOML'>x</code></pre>", "toml"),
        ("<pre class='language-a`b'>x</pre>", ""),
        ("<pre class='programlisting'>x</pre>", ""),
        ("<main class='lang-en'><div><pre>x</pre></div></main>", ""),
    ],
)
def test_code_keeps_its_language(markup: str, language: str) -> None:
    assert fences(markdown_of(markup)) == [(language, "x\n")]


@pytest.mark.parametrize(
    ("markup", "code"),
    [
        ("<pre>\n  a\n\n    b  \n\n</pre>", "  a\n\n    b  \n"),
        ("<pre>a &lt;b&gt; &amp;c</pre>", "a <b> &c\n"),
        ("<pre><span>a</span><br><span>b</span></pre>", "a\nb\n"),
        ("<pre><code><div>a</div><div>b</div></code></pre>", "\na\nb\n".lstrip()),
        ("<pre><span class='linenos'>1</span>a\n<span class='linenos'>2</span>b<button>Copy</button></pre>", "a\nb\n"),
        ("<pre>a&#13;&#10;b&#13;c</pre>", "a\nb\nc\n"),
        ("<pre>``` in it\n````</pre>", "``` in it\n````\n"),
        ("<pre># train loop\nfor e in r: pass</pre>", "# train loop\nfor e in r: pass\n"),
        ("<pre style='background:#000'>a <span style='color:white'>b</span></pre>", "a b\n"),
        (
            "<table class='highlight'><tr><td class='gutter'><pre>1</pre></td><td class='code'><pre>a</pre></td></tr></table>",
            "a\n",
        ),
    ],
)
def test_code_is_kept_as_it_is(markup: str, code: str) -> None:
    assert [content for _, content in fences(markdown_of(markup))] == [code]


# ---- tables -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        (
            "<thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody>",
            ["| a | b |", "| --- | --- |", "| 1 | 2 |"],
        ),
        ("<thead><tr><td>a</td><td>b</td></tr></thead><tr><td>1</td><td>2</td></tr>", ["| a | b |", "| --- | --- |", "| 1 | 2 |"]),
        ("<tr><td>1</td><td>2</td></tr>", ["|  |  |", "| --- | --- |", "| 1 | 2 |"]),
        ("<tr><th>a</th><td>1</td></tr><tr><th>b</th><td>2</td></tr>", ["|  |  |", "| --- | --- |", "| a | 1 |", "| b | 2 |"]),
        (
            "<tr><th>k</th><th>v</th><th>w</th></tr><tr><td rowspan='2'>a</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>"
            "<tr><td>b</td><td colspan='2'>5</td></tr>",
            ["| k | v | w |", "| --- | --- | --- |", "| a | 1 | 2 |", "| a | 3 | 4 |", "| b | 5 | 5 |"],
        ),
        (
            "<tr><th colspan='2'>k</th><th rowspan='2'>v</th></tr><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td><td>3</td></tr>",
            ["| k | k | v |", "| x | y | v |", "| --- | --- | --- |", "| 1 | 2 | 3 |"],
        ),
        (
            "<tr><td>a</td><td rowspan='2'>z</td></tr><tr></tr><tr><td>b</td><td>c</td></tr>",
            ["|  |  |", "| --- | --- |", "| a | z |", "| b | c |"],
        ),
        ("<tr><td>a</td></tr><tr><td>b</td><td>c</td></tr>", ["|  |  |", "| --- | --- |", "| a |  |", "| b | c |"]),
        ("<tr><td>a|b</td><td><code>x | y</code></td></tr>", ["|  |  |", "| --- | --- |", "| a\\|b | `x \\| y` |"]),
        ("<tr><td><p>a</p><p>b</p></td><td><ul><li>c</li><li>d</li></ul></td></tr>", ["|  |  |", "| --- | --- |", "| a b | c d |"]),
        ("<tr><td>a<br>b</td><td><pre>c\nd</pre></td></tr>", ["|  |  |", "| --- | --- |", "| a b | `c d` |"]),
    ],
)
def test_columns_stay_in_line(markup: str, lines: list[str]) -> None:
    assert markdown_of(f"<table>{markup}</table>").split("\n") == lines


def test_a_table_keeps_its_caption() -> None:
    text = markdown_of("<table><caption>Modes<a class='headerlink' href='#t'>¶</a></caption><tr><th>a</th><th>b</th></tr></table>")
    assert text == "**Modes**\n\n| a | b |\n| --- | --- |"


def test_an_empty_table_is_nothing() -> None:
    assert markdown_of("<p>x</p><table></table><table><tr></tr></table><table><tr><td></td><td> </td></tr></table>") == "x"


def test_a_table_in_a_list_is_indented_with_it() -> None:
    assert markdown_of("<ul><li>a<table><tr><th>k</th><th>v</th></tr></table></li></ul>") == "- a\n\n  | k | v |\n  | --- | --- |"


def test_row_55_of_an_option_table_still_has_its_column_names() -> None:
    rows = "".join(f"<tr><td>--option-{n}</td><td>what it does, at some length, number {n}</td><td>{n}</td></tr>" for n in range(60))
    sections = of_html(f"<h1>Options</h1><table><tr><th>Option</th><th>Meaning</th><th>Default</th></tr>{rows}</table>")
    assert len(sections) > 1
    for section in sections:
        assert section.text.startswith("| Option | Meaning | Default |\n| --- | --- | --- |\n| --option-")
        assert len(section.text) <= 2000
    assert "| --option-55 | what it does, at some length, number 55 | 55 |" in text_of(sections)


# ---- definitions --------------------------------------------------------------------------------------------------------------


def test_a_definition_is_a_place_under_its_parent() -> None:
    sections = of_html("""
<section id="m"><h1>m</h1><p>Intro.</p>
<dl class="py class"><dt class="sig sig-object py" id="m.Frob">
<em class="property">class </em><span class="sig-prename descclassname">m.</span><span class="sig-name descname">Frob</span>
<span class="sig-paren">(</span><em>x=1</em><span class="sig-paren">)</span><a href="s"><span class="viewcode-link">[source]</span></a>
<a class="headerlink" href="#m.Frob">¶</a></dt>
<dd><p>A frob.</p><dl class="py method"><dt id="m.Frob.run"><span class="descname">run</span>()<a href="s">[source]</a></dt>
<dd><p>Runs it.</p><dl class="field-list"><dt>Parameters:</dt><dd><p>none</p></dd></dl></dd></dl><p>More.</p></dd></dl>
<p>Outro.</p></section>""")
    assert [(s.anchor, s.heading_path, s.text, s.names) for s in sections] == [
        ("m", "m", "Intro.\n\nOutro.", ()),
        ("m.Frob", "m > m.Frob", "`class m.Frob (x=1)`\n\nA frob.\n\nMore.", ("m.Frob",)),
        ("m.Frob.run", "m > m.Frob > m.Frob.run", "`run()`\n\nRuns it.\n\n**Parameters:**\n  none", ("m.Frob.run",)),
    ]


@pytest.mark.parametrize(
    ("term", "name"),
    [
        ("<dt id='c.Py_New'>PyObject *<span class='descname'>Py_New</span>(int n)</dt>", "Py_New"),
        ("<dt id='c.T.field'>int <span class='descname'>field</span></dt>", "T.field"),
        ("<dt id='_CPPv41f'><span class='descclassname'>ns::</span><span class='descname'>f</span>()</dt>", "ns::f"),
        ("<dt id='confval-html_theme'><code class='descname'>html_theme</code></dt>", "html_theme"),
        ("<dt id='envvar-FROB_HOME'><code>FROB_HOME</code></dt>", "FROB_HOME"),
        ("<dt id='cmdoption-f'><span class='descname'>--frob</span> N</dt>", "--frob"),
        ("<dt id='term-garbage'>garbage</dt>", "garbage"),
        ("<dt id='term-0'>...</dt>", "..."),
        ("<dt><a name='OPT'></a>opt (int)</dt>", "opt (int)"),
        ("<dt id='m.a'>a</dt>", "m.a"),
    ],
)
def test_a_definition_is_called_what_readers_call_it(term: str, name: str) -> None:
    (section,) = of_html(f"<dl>{term}<dd>text</dd></dl>")
    assert section.names == (name,)
    assert section.heading_path == name


def test_all_forms_of_a_definition_are_its_signature_and_its_names() -> None:
    (section,) = of_html(
        "<dl><dt id='f.get'>f.get(n)</dt><dt id='f.set'>f.set(n)</dt><dd><p>Get or set.</p></dd><dd><p>Both.</p></dd></dl>"
    )
    assert section.text == "`f.get(n)`\n`f.set(n)`\n\nGet or set.\n\nBoth."
    assert section.ids == {"f.get", "f.set"}
    assert section.names == ("f.get(n)", "f.set(n)")


@pytest.mark.parametrize("identifier", ["id4", "index-12"])
def test_the_numbers_that_builders_give_to_references_define_nothing(identifier: str) -> None:
    (section,) = of_html(f"<h1>T</h1><dl><dt><span id='{identifier}'></span>A term</dt><dd>Words</dd></dl>")
    assert section.text == "**A term:**\n  Words"
    assert identifier in section.ids


# ---- footnotes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "note",
    [
        "<aside class='footnote brackets' id='n' role='note'><span class='label'><span>[</span><a role='doc-backlink' href='#r'>1</a>"
        "<span>]</span></span><span class='backrefs'>(<a href='#r'>1</a>,<a href='#s'>2</a>)</span><p>See it.</p></aside>",
        "<dl class='footnote brackets'><dt class='label' id='n'><span class='brackets'><a class='fn-backref' href='#r'>1</a></span></dt>"
        "<dd><p>See it.</p></dd></dl>",
        "<table class='docutils footnote' id='n'><tbody><tr><td class='label'>[1]</td><td>See it.</td></tr></tbody></table>",
    ],
)
def test_footnotes_have_the_mark_that_refers_to_them(note: str) -> None:
    reference = "<a class='footnote-reference brackets' href='#n' id='r'>[1]</a>"
    text = markdown_of(f"<p>So it is {reference}.</p>{note}")
    assert text == "So it is [^1].\n\n[^1]: See it."


def test_a_footnote_without_brackets_does_not_run_into_the_word_before_it() -> None:
    assert markdown_of("<p>So it is<sup><a class='footnote-ref' href='#fn:1'>1</a></sup>.</p>") == "So it is[^1]."


def test_a_citation_keeps_its_label() -> None:
    text = markdown_of("<p>x</p><div class='citation'><span class='label'>[Knuth 1968]</span><p>The Art.</p></div>")
    assert text == "x\n\n[Knuth 1968] The Art."
