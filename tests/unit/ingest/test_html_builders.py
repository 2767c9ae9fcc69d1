"""Pages as the builders of documentation write them, by hand and tiny: what is content comes out, their chrome does not."""

from __future__ import annotations

from citewell.ingest.extract.base import Text
from citewell.ingest.extract.html.page import extract_html
from tests.unit.ingest.ingest_help import markdown_of, of_html, text_of

NEW_SPHINX = """
<nav class="bd-breadcrumbs">Home / Guide</nav>
<div class="body" role="main">
  <section id="guide">
    <span id="label"></span><h1>Guide<a class="headerlink" href="#guide" title="Link to this heading">¶</a></h1>
    <p>Intro.</p>
    <section id="use"><h2>Use<a class="headerlink" href="#use">¶</a></h2>
      <div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="linenos">1</span><span>use</span>()
<span class="linenos">2</span>end()
</pre></div></div>
    </section>
    <p>Outro.</p>
  </section>
</div>
<footer class="prev-next-footer"><a class="left-prev" href="a">previous</a></footer>
"""
OLD_SPHINX = """
<div class="related"><h3>Navigation</h3><ul><li><a href="genindex.html">index</a></li></ul></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body">
  <div class="section" id="guide">
    <h1>Guide<a class="headerlink" href="#guide" title="Permalink to this headline">¶</a></h1>
    <p>Intro.</p>
    <div class="section" id="use"><h2>Use<a class="headerlink" href="#use">¶</a></h2>
      <div class="highlight-python"><table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1
2</pre></div></td><td class="code"><div class="highlight"><pre>use()
end()
</pre></div></td></tr></table></div>
    </div>
    <p>Outro.</p>
  </div>
</div></div></div>
<div class="sphinxsidebar"><h4>Previous topic</h4><p>menu</p></div></div>
<div class="footer">Copyright</div>
"""
MKDOCS = """
<header class="md-header"><nav>Site</nav></header>
<div class="md-container"><div class="md-sidebar"><ul><li>Nav</li></ul></div>
<main><article class="md-content__inner">
  <a class="md-content__button" href="edit" title="Edit this page">Edit</a>
  <h1 id="guide">Guide<a class="headerlink" href="#guide">¶</a></h1>
  <p>Intro.</p>
  <h2 id="use">Use</h2>
  <div class="language-python highlight"><table class="highlighttable"><tr><td class="linenos"><pre>1
2</pre></td><td class="code"><div><pre><span></span><code>use()
end()
</code></pre></div></td></tr></table></div>
  <aside class="md-source-file">Last update: today</aside>
</article></main></div>
"""
DOCUSAURUS = """
<nav class="navbar">Menu</nav>
<main><article>
  <nav aria-label="Breadcrumbs">Home</nav><span class="theme-doc-version-badge">Version: 2</span>
  <div class="theme-doc-toc-mobile"><button>On this page</button></div>
  <div class="theme-doc-markdown markdown"><header><h1 id="guide">Guide</h1></header>
    <p>Intro.</p>
    <h2 id="use">Use<a href="#use" class="hash-link" aria-label="Direct link to Use">&#8203;</a></h2>
    <div class="language-python codeBlockContainer"><div><pre class="language-python" style="color:#fff;background-color:#222"><code>\
<span class="line" style="color:#fff"><i style="color:#fff">use</i>()<br></span><span class="line">end()<br></span></code></pre>
      <div class="buttonGroup"><button>Copy</button></div></div></div>
  </div>
  <footer class="theme-doc-footer"><a href="e">Edit this page</a></footer>
</article><nav class="pagination-nav"><a>Next</a></nav></main>
"""


def test_the_same_page_by_four_builders() -> None:
    code = "```python\nuse()\nend()\n```"
    nested = [("guide", "Guide", "Intro.\n\nOutro."), ("use", "Guide > Use", code)]
    flat = [("guide", "Guide", "Intro."), ("use", "Guide > Use", code)]
    for page, expected in ((NEW_SPHINX, nested), (OLD_SPHINX, nested), (MKDOCS, flat), (DOCUSAURUS, flat)):
        assert [(s.anchor, s.heading_path, s.text) for s in of_html(page)] == expected


def test_sphinx_labels_lie_in_their_section() -> None:
    assert of_html(NEW_SPHINX)[0].ids == {"guide", "label"}


def test_docbook() -> None:
    sections = of_html("""
<div class="navheader"><table><tr><th>Chapter 3</th></tr><tr><td><a href="a">Prev</a></td></tr></table><hr></div>
<div class="sect1">
  <div class="titlepage"><div><div><h2 class="title" style="clear: both"><a name="opts"></a>Options</h2></div></div></div>
  <div class="toc"><dl class="toc"><dt><a href="#o1">one</a></dt><dt><a href="#o2">two</a></dt></dl></div>
  <div class="variablelist"><dl class="variablelist">
    <dt><a id="OPT-ONE"></a><span class="term"><code class="varname">one</code> (<code>int</code>)</span></dt><dd><p>The first.</p></dd>
    <dt><span class="term"><code class="option">-x</code></span></dt><dd><p>No id.</p></dd>
  </dl></div>
  <div class="warning" style="margin-left: 0.5in"><h3 class="title">Warning</h3><p>Mind it.</p></div>
  <pre class="programlisting">x
y</pre>
</div>
<div class="navfooter"><a href="b">Next</a></div>""")
    assert [(s.anchor, s.heading_path, s.text, s.names) for s in sections] == [
        ("opts", "Options", "**`-x`:**\n  No id.\n\n**Warning:** Mind it.\n\n```\nx\ny\n```", ()),
        ("OPT-ONE", "Options > one (int)", "`one (int)`\n\nThe first.", ("one (int)",)),
    ]


def test_the_contents_of_a_chapter_are_kept_where_they_are_all_that_its_page_has() -> None:
    toc = "<dl class='toc'><dt><a href='abort.html'>ABORT</a> — end it</dt><dt><a href='begin.html'>BEGIN</a> — start it</dt></dl>"
    assert markdown_of(f"<h1>Commands</h1><div class='toc'>{toc}</div>") == "- ABORT — end it\n- BEGIN — start it"


def test_every_tab_is_content_under_its_label() -> None:
    sphinx = """
<div role="tablist"><button role="tab" id="t1">Bash</button><button role="tab" id="t2">CMD</button></div>
<div role="tabpanel" aria-labelledby="t1"><pre>export A</pre></div>
<div role="tabpanel" aria-labelledby="t2" hidden="true"><pre>set A</pre></div>"""
    docusaurus = """
<ul role="tablist" class="tabs"><li role="tab">Bash</li><li role="tab">CMD</li></ul>
<div><div role="tabpanel"><pre>export A</pre></div><div role="tabpanel" hidden><pre>set A</pre></div></div>"""
    material = """
<div class="tabbed-set"><input type="radio"><div class="tabbed-labels"><label>Bash</label><label>CMD</label></div>
<div class="tabbed-content">
<div class="tabbed-block"><pre>export A</pre></div><div class="tabbed-block"><pre>set A</pre></div></div></div>"""
    expected = "**Bash**\n\n```\nexport A\n```\n\n**CMD**\n\n```\nset A\n```"
    assert [markdown_of(markup) for markup in (sphinx, docusaurus, material)] == [expected] * 3


def test_sphinx_gallery_says_a_title_once_and_offers_no_downloads() -> None:
    text = markdown_of("""
<h1>Example</h1>
<div class="sphx-glr-download-link-note admonition note"><p class="admonition-title">Note</p><p>Go to the end to download it.</p></div>
<p>Text.</p>
<div class="sphx-glr-thumbcontainer" tooltip="t"><p><a href="o.html"><span>Other</span></a></p>
  <div class="sphx-glr-thumbnail-title">Other</div></div>
<div class="sphx-glr-footer"><p><a href="x.py">Download source</a></p></div><p class="sphx-glr-signature">Gallery generated</p>""")
    assert text == "Text.\n\nOther"


def test_anchors_in_chrome_are_still_places_of_the_page() -> None:
    sections = of_html("<h1 id='a'>A</h1><p>x</p><div class='sphx-glr-footer' id='download'><p id='py'>Download</p></div>")
    assert sections[-1].ids >= {"download", "py"}


def test_xhtml_closes_its_elements_itself() -> None:
    text = "<?xml version='1.0'?><html><head><script src='a'/><title>T</title></head><body><a id='a'/><p>text</p><br/></body></html>"
    page = extract_html(text, "p.xhtml")
    assert (page.title, page.root.content) == ("T", [Text("text")])


def test_layout_tables_are_what_they_hold() -> None:
    sections = of_html(
        "<table><tr><td><a href='1'>x</a></td><td><h1>T</h1><p>text</p><pre>a\nb</pre><table><tr><th>k</th></tr><tr><td>v</td></tr></table>"
        "</td></tr></table>"
    )
    assert text_of(sections[1:]) == "text\n\n```\na\nb\n```\n\n| k |\n| --- |\n| v |"


def test_an_admonition_laid_out_as_a_table_is_an_admonition() -> None:
    note = """<div class="tip"><table summary="Tip"><tr><td rowspan="2"><img src="tip.png" alt="[Tip]"></td><th>Tip</th></tr>
<tr><td><p>Mind it.</p><p>And this.</p></td></tr></table></div>"""
    assert markdown_of(f"<h1>T</h1>{note}") == "**Tip:** Mind it.\n\nAnd this."
    data = "<div class='note'><table><tr><th>a</th></tr><tr><td><img src='x'>b</td></tr><tr><td>c</td></tr></table></div>"
    assert markdown_of(f"<h1>T</h1>{data}") == "**A:** b\n\nc"


def test_vitepress_boxes_have_their_titles_and_its_code_no_numbers() -> None:
    text = markdown_of("""<h1>T</h1><div class="tip custom-block"><p class="custom-block-title">TIP</p><p>Mind it.</p></div>
<div class="language-python line-numbers-mode"><button title="Copy Code" class="copy"></button>
<pre class="shiki"><code><span class="line">x = 1</span>
<span class="line">y = 2</span></code></pre>
<div class="line-numbers-wrapper" aria-hidden="true"><span>1</span><br><span>2</span><br></div></div>""")
    assert text == "**TIP:** Mind it.\n\n```python\nx = 1\ny = 2\n```"


def test_the_lines_that_an_example_of_mdbook_hides_are_left_out() -> None:
    code = '<span class="boring">fn main() {\n</span>let x = 1;\n<span class="boring">}</span>'
    assert markdown_of(f'<pre><code class="language-rust">{code}</code></pre>') == "```rust\nlet x = 1;\n```"
    assert markdown_of("<p>A <span class='boring'>boring</span> word.</p>") == "A boring word."


def test_what_stands_under_a_heading_that_opens_and_closes_it_is_its_own() -> None:
    sections = of_html(
        "<h1 id='t'>T</h1><details><summary><h2 id='a'>A</h2></summary><p>x</p></details><p>y</p>"
        "<details><summary id='m'>More</summary><p>z</p></details>"
    )
    assert [(s.anchor, s.heading_path, s.text) for s in sections] == [("t", "T", "y\n\n**More**\n\nz"), ("a", "T > A", "x")]
