"""What is no content: chrome, hidden text, stubs, index and search pages."""

from __future__ import annotations

import pytest

from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.html.page import extract_html
from tests.unit.ingest.ingest_help import html_page, markdown_of, of_html, text_of, words_of

# ---- hidden text --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "secret",
    [
        "<span style='display:none'>SECRET</span>",
        "<div style='DISPLAY : None !important'>SECRET</div>",
        "<p style='visibility:hidden'>SECRET</p>",
        "<span style='font-size:0'>SECRET</span>",
        "<span style='font-size:0.0px'>SECRET</span>",
        "<span style='opacity:0'>SECRET</span>",
        "<div style='position:absolute;left:-9999px'>SECRET</div>",
        "<div style='text-indent:-1000em'>SECRET</div>",
        "<span style='clip:rect(0,0,0,0)'>SECRET</span>",
        "<span style='color:#fff'>SECRET</span>",
        "<span style='color: WHITE'>SECRET</span>",
        "<span style='color:#ffffffff'>SECRET</span>",
        "<span style='color:rgb(255, 255, 255)'>SECRET</span>",
        "<span style='color:rgb(255 255 255 / 100%)'>SECRET</span>",
        "<span style='color:transparent'>SECRET</span>",
        "<font color='white'>SECRET</font>",
        "<div style='background:#000'><p style='background:#fff'><b style='color:#fff'>SECRET</b></p></div>",
        "<p hidden>SECRET</p>",
        "<p hidden='true'>SECRET</p>",
        "<span class='sr-only'>SECRET</span>",
        "<template>SECRET</template>",
        "<noscript>SECRET</noscript>",
        "<dialog>SECRET</dialog>",
        "<!-- SECRET -->",
        "<p>" + "".join(chr(0xE0000 + ord(c)) for c in "SECRET") + "</p>",
        "<p>" + "".join(f"&#{0xE0000 + ord(c)};" for c in "SECRET") + "</p>",
        "<table><tr><td>a</td><td style='display:none'>SECRET</td></tr><tr><td>b</td></tr></table>",
        "<dl><dt>a</dt><dd style='display:none'>SECRET</dd></dl>",
        "<div>" * 120 + "<p style='display:none'>SECRET</p>" + "</div>" * 120,
        "<b>" * 80 + "<i style='display:none'>SECRET</i>" + "</b>" * 80,
    ],
)
def test_what_a_reader_does_not_see_is_not_there(secret: str) -> None:
    text = text_of(of_html(f"<h1>T</h1><p>seen</p>{secret}<p>seen too</p>"))
    assert "SECRET" not in text
    assert "seen too" in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "shown",
    [
        "<span style='color:#fffbe6'>SHOWN</span>",
        "<span style='background-color:#fff;color:#000'>SHOWN</span>",
        "<span style='color:#fff;background:#000'>SHOWN</span>",
        "<div style='background:navy'><p><b style='color:white'>SHOWN</b></p></div>",
        "<table bgcolor='#003'><tr><td style='color:#fff'>SHOWN</td><td>x</td></tr></table>",
        "<span style='font-size:0.8em'>SHOWN</span>",
        "<span style='opacity:0.5'>SHOWN</span>",
        "<p hidden='until-found'>SHOWN</p>",
        "<details><p>SHOWN</p></details>",
        "<p aria-hidden='true'>SHOWN</p>",
        "<article><header><p>SHOWN</p></header></article>",
        "<blockquote>x<footer>SHOWN</footer></blockquote>",
    ],
)
def test_what_a_reader_sees_is_there(shown: str) -> None:
    assert "SHOWN" in text_of(of_html(f"<p>x</p>{shown}"))


# ---- chrome -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chrome",
    [
        "<nav>CHROME</nav>",
        "<div role='navigation'>CHROME</div>",
        "<div role='search'><p>CHROME</p></div>",
        "<ul aria-label='Breadcrumbs'><li>CHROME</li></ul>",
        "<footer><p>CHROME</p></footer>",
        "<header><p>CHROME</p></header>",
        "<div class='prev-next-area'><a>CHROME</a></div>",
        "<a href='#top'>Back to top</a><button>CHROME</button>",
        "<form><input value='CHROME'><label>CHROME</label></form>",
        "<script>CHROME</script><style>CHROME</style><svg><text>CHROME</text></svg><iframe>CHROME</iframe>",
        "<video>CHROME</video><select><option>CHROME</option></select>",
        "<div class='toc'><ul><li><a href='#a'>CHROME</a></li><li><a href='#b'>CHROME</a></li></ul></div>",
    ],
)
def test_chrome_is_left_out(chrome: str) -> None:
    assert markdown_of(f"<h1>T</h1><p>text</p>{chrome}") == "text"


@pytest.mark.parametrize("mark", ["¶", "#", "§", "🔗", " ¶ "])
def test_permanent_links_are_left_out(mark: str) -> None:
    (section,) = of_html(f"<h1 id='a'>Title<a href='#a'>{mark}</a></h1><p>C# and <a href='#a'>{mark}</a></p>")
    assert (section.heading_path, section.text) == ("Title", "C# and")


@pytest.mark.parametrize("offer", ["[source]", "[edit]", "Edit this page", "Edit on GitHub", "View page source", "Rate this Page"])
def test_the_tools_of_a_page_are_left_out(offer: str) -> None:
    assert markdown_of(f"<p>text <a href='x'>{offer}</a></p>") == "text"


@pytest.mark.parametrize("link", ["source", "docs", "the source of it", "edit"])
def test_ordinary_links_are_words(link: str) -> None:
    assert markdown_of(f"<p>text <a href='x'>{link}</a></p>") == f"text {link}"


def test_a_menu_before_the_first_heading_is_left_out() -> None:
    menu = "".join(f"<li><a href='{n}'>Chapter {n}</a></li>" for n in range(9))
    assert markdown_of(f"<ul>{menu}</ul><p><a href='1'>a</a> | <a href='2'>b</a> | <a href='3'>c</a></p><h1>T</h1><p>text</p>") == "text"


def test_links_are_content_where_they_are_all_there_is_or_stand_under_a_heading() -> None:
    links = "<p><a href='1'>a</a> | <a href='2'>b</a> | <a href='3'>c</a></p>"
    assert markdown_of(links) == "a | b | c"
    assert markdown_of(f"<h1>T</h1>{links}") == "a | b | c"
    assert text_of(of_html("<p><a href='1'>One link</a></p><h1>T</h1><p>x</p>")) == "One link\n\nx"


def test_a_navigation_block_that_a_hundred_pages_share_is_in_none_of_them() -> None:
    menu = "<div role='navigation'>" + "".join(f"<li><a href='{n}.html'>How to frob {n}</a></li>" for n in range(100)) + "</div>"
    for n in range(100):
        assert markdown_of(f"{menu}<h1>Page {n}</h1><p>Text {n}.</p>") == f"Text {n}."


# ---- pages without content ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "genindex.html",
        "genindex-A.html",
        "a/genindex.html",
        "genindex/index.html",
        "py-modindex.html",
        "cpp-modindex.html",
        "404.html",
        "404/index.html",
    ],
)
def test_index_pages_are_no_content(name: str) -> None:
    with pytest.raises(NotContent, match="index page"):
        extract_html(html_page("<h1>Index</h1><p>words</p>"), name)


@pytest.mark.parametrize("name", ["search.html", "search/index.html", "api/Search.html"])
def test_a_search_page_is_no_content(name: str) -> None:
    with pytest.raises(NotContent, match="search page"):
        extract_html(html_page("<h1>Search</h1><p>Please activate JavaScript.</p>"), name)
    with pytest.raises(NotContent, match="search page"):
        extract_html(html_page(f"<h1>Search</h1><p>{'word ' * 200}</p><div id='search-results'></div>"), name)


def test_a_page_about_searching_is_content() -> None:
    assert extract_html(html_page(f"<h1>Search</h1><p>{'How to search. ' * 40}</p>"), "guide/search.html").title == "Search"


@pytest.mark.parametrize(
    "refresh",
    ['<meta http-equiv="refresh" content="0; url=new.html">', "<META HTTP-EQUIV=Refresh CONTENT='0;URL=new.html'>"],
)
def test_a_stub_that_leads_elsewhere_is_no_content(refresh: str) -> None:
    with pytest.raises(NotContent, match="redirect"):
        extract_html(html_page("<p>This page has <a href='new.html'>moved</a>.</p>", refresh), "old.html")


@pytest.mark.parametrize(
    "head",
    [
        "<link rel='canonical' href='https://example.org/stable/page.html'>",
        "<meta http-equiv='refresh' content='300'>",
        "<noscript><meta http-equiv='refresh' content='0; url=nojs.html'></noscript>",
    ],
)
def test_a_real_page_is_no_redirect(head: str) -> None:
    assert extract_html(html_page("<h1>T</h1><p>text</p>", head), "page.html").title == "T"


def test_a_menu_makes_no_page_of_a_stub() -> None:
    menu = "<div class='sidebar'>" + "<p>Some other page of the site</p>" * 50 + "</div>"
    with pytest.raises(NotContent, match="redirect"):
        extract_html(
            html_page(f"{menu}<main><h1>Old</h1><p>Moved.</p></main>", "<meta http-equiv=refresh content='3; url=n.html'>"), "o.html"
        )


def test_a_long_page_that_will_move_is_content() -> None:
    body = f"<h1>Old</h1><p>{'Still true. ' * 100}</p>"
    assert extract_html(html_page(body, "<meta http-equiv=refresh content='60; url=n.html'>"), "o.html").title == "Old"


@pytest.mark.parametrize(
    "text", ["", " \n", "<html></html>", "<body><nav>x</nav></body>", "<p style='display:none'>x</p>", "<img alt='x'>"]
)
def test_a_page_without_text_is_no_content(text: str) -> None:
    with pytest.raises(NotContent, match="no text"):
        extract_html(text, "page.html")


MENU = "<ul{0}><li><a href='a.html'>Alpha</a></li><li><a href='b.html'{1}>Beta</a></li><li><a href='c.html'>Gamma</a></li></ul>"


@pytest.mark.parametrize("marks", [(" class='nav'", ""), ("", " class='nav-b active'"), ("", " aria-current='page'")])
def test_a_menu_under_a_heading_is_left_out_but_for_its_ids(marks: tuple[str, str]) -> None:
    (section,) = of_html(f"<h1 id='t'>T</h1>{MENU.format(*marks)}<div id='i'></div><p>text</p>")
    assert (section.text, section.ids) == ("text", {"t", "i"})


@pytest.mark.parametrize(
    "listing",
    [
        MENU.format("", ""),
        "<ul class='nav'><li><a href='#a'>Alpha</a></li><li><a href='#b'>Beta</a></li><li><a href='#c'>Gamma</a></li></ul>",
        "<ul class='menu'><li>Alpha</li><li>Beta</li><li>Gamma</li></ul>",
        "<ul class='nav'><li><a href='a.html'>Alpha</a><p>Beta and Gamma.</p></li></ul>",
    ],
)
def test_a_list_that_is_no_menu_is_content(listing: str) -> None:
    assert {"Alpha", "Beta", "Gamma"} <= words_of(of_html(f"<h1>T</h1>{listing}"))


@pytest.mark.parametrize(
    "ways",
    [
        "<p><a href='a'>&lt;-previous</a><a href='t'>Table of Contents</a><a href='b'>next-&gt;</a></p>",
        "<p>[<a href='a'>Prev</a>] [<a href='b'>Next</a>] [<a href='u'>Up</a>]</p>",
        "<table><tr><td>[<a href='a'> &lt;&lt; </a>]</td><td></td><td>[<a href='t'>Top</a>]</td><td>[<a href='i'>A</a>]</td></tr></table>",
        "<div id='footer'>Last updated today</div>",
        "<div id='titlearea'><table><tr><td>Frobs 1.0</td></tr></table></div>",
        "<details id='toc'><summary>Contents</summary><ul><li><a href='#a'>A</a></li><li><a href='#b'>B</a></li></ul></details>",
    ],
)
def test_the_ways_to_the_pages_around_are_left_out(ways: str) -> None:
    assert markdown_of(f"<h1>T</h1><p>text</p>{ways}") == "text"


@pytest.mark.parametrize(
    "shown",
    [
        "<p><a href='n'>Next</a></p>",
        "<p>Click <a href='p'>Previous</a> or <a href='n'>Next</a>.</p>",
        "<table><tr><td>[a]</td><td>[b]</td></tr><tr><td>[c]</td><td>[d]</td></tr></table>",
        "<div class='section' id='footer'><h2>Footer</h2><p>How to set it.</p></div>",
        "<div id='toc'><a href='a.html'>Alpha</a> <a href='b.html'>Beta</a></div>",
    ],
)
def test_what_only_looks_like_a_way_is_content(shown: str) -> None:
    text = " ".join(f"{section.heading_path} {section.text}" for section in of_html(f"<h1>T</h1><p>text</p>{shown}"))
    assert len(text.split()) > len("T text".split())


def test_the_anchor_of_a_heading_is_not_in_the_chrome_before_it() -> None:
    (section,) = of_html("<div class='breadcrumbs'><span id='crumb'>Home</span></div><h1>T</h1><p>x</p>")
    assert section.anchor == ""
    (section,) = of_html("<a id='t' aria-hidden='true' style='visibility:hidden'></a><h1>T</h1><p>x</p>")
    assert section.anchor == "t"
