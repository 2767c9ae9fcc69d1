"""Answers by quotation from real pages: replies with what they reply to, lists with their numbers, nothing that hostile pages hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from citewell.profile import load_profile
from citewell.render import answer_text
from citewell.settings import Settings
from citewell.sync import Citewell
from citewell.types import Answer

PAGES = {
    "faq.html": "<h1>Widget FAQ</h1><h2 id=a>Is the widget waterproof?</h2><p>Yes.</p><p>The seals hold down to ten metres.</p>"
    "<h2 id=b>Can the widget fly?</h2><p>No. It has no rotor, and its case is too heavy.</p>"
    "<h2 id=c>Does the widget need a licence?</h2><p>No.</p>",
    "panel.html": "<h1>Panel</h1><h2 id=d>How the widget panel escapes markup</h2><p>The widget panel escapes "
    "&lt;script&gt;alert(1)&lt;/script&gt;, ![x](https://evil.example/?q=1), [click](javascript:alert(1)), `, "
    "&amp;lt; and __init__ of *every* markup.</p>"
    "<table><tr><th>widget panel markup</th><th>escapes</th></tr>"
    "<tr><td>&lt;img src=x onerror=y&gt;</td><td>~~all~~ escapes</td></tr></table>",
    "notes.md": "# Notes\n\n## Markup in the notes of a gadget\n\nA gadget note takes **bold** markup, ![a picture](x.png) "
    "[a *link*](http://h/x) "
    'and <b onclick="x()">tags</b>.\n\n## Steps to mount a gadget\n\n3. Unpack the gadget to mount it.\n4. Mount the gadget on its rail.\n',
}
Ask = Callable[[str], Answer]
CLIENT = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@pytest.fixture
def ask(settings: Settings, tmp_path: Path) -> Iterator[Ask]:
    root = tmp_path / "pages"
    root.mkdir()
    for name, text in PAGES.items():
        body = f"<html><head><title>t</title></head><body>{text}</body></html>" if name.endswith("html") else text
        (root / name).write_text(body, encoding="utf-8")
    with Citewell(settings, load_profile("generic")) as app:
        app.index(str(root))
        yield lambda question: app.ask(question, guarded=False)


def kinds(answer: Answer) -> set[str]:
    """The kinds of things that a client makes of an answer."""
    tokens = CLIENT.parse(answer.answer_md)
    return {child.type for token in tokens for child in token.children or []} | {token.type for token in tokens if "html" in token.type}


def words(answer: Answer) -> str:
    children = [child for token in CLIENT.parse(answer.answer_md) for child in token.children or []]
    return "".join(child.content for child in children)


def test_a_reply_comes_with_what_follows_it(ask: Ask) -> None:
    assert ask("Is the widget waterproof?").answer_md.startswith("Yes. [1] The seals hold down to ten metres. [2]")
    assert "No. It has no rotor, and its case is too heavy. [1]" in ask("Can the widget fly?").answer_md.replace("No. [1] It", "No. It")
    alone = ask("Does the widget need a licence?")
    assert alone.answer_md.startswith("No. [1]")
    assert "Does the widget need a licence?" in answer_text(alone)  # its source says to what


def test_a_hostile_page_shows_what_it_shows(ask: Ask) -> None:
    answer = ask("How does the widget panel escape markup?")
    assert kinds(answer) <= {"text", "text_special", "code_inline", "softbreak"}
    shown = words(answer)
    for piece in (
        "<script>alert(1)</script>",
        "![x](https://evil.example/?q=1)",
        "[click](javascript:alert(1))",
        "__init__ of *every* markup",
    ):
        assert piece in shown
    assert all(claim.support == "supported" for claim in answer.claims)
    quotation = next(citation for citation in answer.citations if "script" in citation.quote)
    assert "<script>alert(1)</script>" in quotation.quote  # stored text stays as it is


def test_markdown_shows_what_its_page_shows(ask: Ask) -> None:
    answer = ask("Which markup does a gadget note take?")
    assert kinds(answer) <= {"text", "text_special", "code_inline", "softbreak"}
    assert "A gadget note takes bold markup, a link and tags." in words(answer)
    assert answer.status == "answered"


def test_lists_keep_their_numbers(ask: Ask) -> None:
    shown = words(ask("In which steps do I mount a gadget?"))
    assert "3. Unpack the gadget to mount it." in shown
    assert "4. Mount the gadget on its rail." in shown
