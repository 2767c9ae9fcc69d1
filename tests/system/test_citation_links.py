"""A citation's link opens its page at the quoted words: in a real browser, over real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.sync import Citewell

pytestmark = pytest.mark.system

# What stops Chromium from asking its maker's servers for anything.
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"

FILLER = "".join(f"<p>Paragraph {n} is about something else, at some length.</p>" for n in range(120))
FACTS = {
    "How long is the time-out of the gearbox?": "The time-out of the gearbox is 45 seconds — unless, of course, "
    "<code>slow_start</code> is set &amp; honoured.",
    "Which emoji does the gearbox print?": "🙂👩‍💻 The gearbox prints a smiling emoji, then stops; it never prints "
    "a frowning one (see the well-known table of 2,000 signs).",
}
CODE = "How do I start the gearbox in code? Show an example."


SHAPES = """
<h2 id="modes">Modes of the clutch</h2><table><tr><th>mode</th><th>grip</th><th>meaning</th></tr>
<tr><td>dry mode</td><td>7</td><td>The clutch grips without any oil.</td></tr></table>
<h2 id="noted">Wear of the clutch</h2><p>The clutch wears out<sup><a class="footnote-reference" href="#n1">1</a></sup>
after nine thousand turns<a class="footnote-reference" href="#n2">[2]</a> on a dry road, and sooner on a wet one.</p>
<h2 id="warned">Heat of the clutch</h2><div class="admonition warning"><p class="admonition-title">Warning</p>
<p>The clutch may melt at *high* heat, &lt;see&gt; [2][3] of __init__.</p></div>
<h2 id="steps">Bleeding the clutch</h2><ol><li><p>Bleed the clutch as here:</p><pre>clutch.bleed(all=True)
clutch.close()</pre></li></ol>
"""
# A question, a word of the quotation that answers it, and what a browser has to show.
SHAPED = [
    ("Which clutch mode grips without any oil?", "without any oil", "The clutch grips without any oil."),
    ("After how many turns does the clutch wear out?", "nine thousand turns", "after nine thousand turns"),
    ("At which heat may the clutch melt?", "melt", "The clutch may melt at"),
    ("How do I bleed the clutch? Show the code.", "clutch.bleed(", "clutch.bleed("),
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        return None


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A page as long as a book, served on loopback."""
    root = tmp_path / "site"
    root.mkdir()
    facts = "".join(f"<h2 id='part-{n}'>Part {n}</h2>{FILLER}<p>{fact}</p>{FILLER}" for n, fact in enumerate(FACTS.values()))
    code = (
        f"<h2 id='start'>Starting the gearbox in code</h2>{FILLER}<p>Start the gearbox in code as in this example.</p>"
        f"<pre>gear = Gearbox(ratio=3)\ngear.start()</pre>{FILLER}"
    )
    (root / "shapes.html").write_text(
        f"<html><head><meta charset=utf-8></head><body><h1>Shapes of text</h1>{FILLER}{SHAPES}{FILLER}</body></html>", encoding="utf-8"
    )
    (root / "gearbox.html").write_text(
        f"<html><head><meta charset=utf-8></head><body><h1>Gearbox</h1>{facts}{code}</body></html>", encoding="utf-8"
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser_page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS.split())
        yield browser.new_page()
        browser.close()


def shown(page: Page, words: str) -> bool:
    """Whether these words are inside the window."""
    script = """words => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (!node.data.includes(words)) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            if (box.bottom > 0 && box.top < innerHeight) return true;
        }
        return false;
    }"""
    return bool(page.evaluate(script, words))


@pytest.mark.parametrize(
    ("question", "words"),
    [*zip(FACTS, ("The time-out of the gearbox", "prints a smiling emoji"), strict=True), (CODE, "gear = Gearbox")],
)
def test_a_link_opens_at_the_quoted_words(
    address: str, tmp_path: Path, settings: Settings, browser_page: Page, question: str, words: str
) -> None:
    with Citewell(settings, load_profile("generic")) as app:
        app.index(str(tmp_path / "site"), base_url=address)
        answer = app.ask(question)
    citation = next(citation for citation in answer.citations if words in citation.quote)
    assert_opens(browser_page, citation.link, citation.url, words)


def test_a_link_opens_at_every_shape_of_text(address: str, tmp_path: Path, settings: Settings, browser_page: Page) -> None:
    """Table rows, sentences with notes, labels, what only looks like markup, code in lists; by the text fragment alone."""
    with Citewell(settings, load_profile("generic")) as app:
        app.index(str(tmp_path / "site"), base_url=address)
        answers = [(app.ask(question, guarded=False), quoted, words) for question, quoted, words in SHAPED]
    for answer, quoted, words in answers:
        citation = next(citation for citation in answer.citations if quoted in citation.quote)
        link = f"{citation.url}#{citation.link.partition('#')[2][len(citation.anchor) :]}"
        assert link.startswith(f"{citation.url}#:~:text=")
        assert_opens(browser_page, link, citation.url, words)


def assert_opens(page: Page, link: str, url: str, words: str) -> None:
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_timeout(300)
    assert shown(page, words), link
    page.goto("about:blank")
    page.goto(url)
    assert not shown(page, words)  # without the link's fragment it is far away: the check can fail
