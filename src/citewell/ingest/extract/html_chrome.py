"""What of an HTML page is never content: menus, buttons, permanent links, and what is not shown to a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

Attributes = dict[str, str | None]

TAGS = frozenset(
    "area audio base button canvas dialog embed head iframe input link map meta meter nav noscript object param progress script select "
    "source style svg template textarea track video".split()
)
_CLASSES = frozenset(
    # Sphinx and its themes
    "headerlink viewcode-link sphinxsidebar related contents-local toc-backref-list copybtn backrefs footer "
    "sphx-glr-download-link-note sphx-glr-footer sphx-glr-signature sphx-glr-thumbnail-title prev-next-area bd-breadcrumbs bd-footer "
    "edit-this-page pytorch-breadcrumbs-wrapper pytorch-left-menu pytorch-right-menu rst-footer-buttons rst-versions wy-breadcrumbs "
    # DocBook, MkDocs, Docusaurus and others
    "navheader navfooter md-sidebar md-source-file md-content__button md-feedback md-skip md-footer md-header footnote-backref "
    "footnote-back data-footnote-backref theme-doc-breadcrumbs theme-doc-footer theme-doc-version-badge theme-doc-toc-mobile "
    "pagination-nav pagination navigation breadcrumb breadcrumbs skip-link test-arrow "
    # what is for screen readers only, and formulas drawn beside their source
    "sr-only visually-hidden screen-reader-text katex-html".split()
)
_NUMBERS = frozenset("linenos lineno linenumber line-number line-numbers-rows gutter rouge-gutter hljs-ln-numbers".split())
_ROLES = frozenset("banner contentinfo navigation search tablist tooltip".split())
_LABELS = frozenset(("breadcrumb", "breadcrumbs", "pagination", "on this page", "table of contents"))
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])"
    r"|(?<![-\w])(?:left|top|text-indent)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]",
    re.IGNORECASE,
)
_WHITE = r"(?:#f{3,4}(?![\da-f])|#f{6}(?:ff)?(?![\da-f])|white(?![-\w])|rgba?\(\s*255[\s,]+255[\s,]+255)"
_WHITE_TEXT = re.compile(rf"(?<![-\w])color\s*:\s*(?:{_WHITE}|transparent)", re.IGNORECASE)
_GROUND = re.compile(r"(?<![-\w])background(?:-color|-image)?\s*:\s*(?!none|transparent|inherit)(?=[^\s;])([^;]*)", re.IGNORECASE)
_MARKS = frozenset("¶ # § ⚓ 🔗 ∞ ↩ ↩︎ ⤴ ^".split())
_OFFERS = re.compile(
    r"\[(?:source|docs|edit|view source)\]|(?:edit|improve|rate) this page|(?:edit|view|suggest edits) (?:this page )?on (?:github|gitlab)"
    r"|(?:view|show) (?:page )?source|skip to (?:main )?content|back to top",
    re.IGNORECASE,
)
_LONGEST_OFFER = 40


def hidden(node: LexborNode, attributes: Attributes, *, code: bool = False) -> bool:
    """Whether an element is chrome, or not shown to a reader. In code, white is a colour like others: its ground may be dark."""
    tag = node.tag
    if tag is None or tag in TAGS or tag.startswith(("-", "!")):
        return True
    if tag in {"header", "footer", "form"} and _frames(node, tag):
        return True
    if not attributes:
        return False
    role = (attributes.get("role") or "").lower()
    if role in _ROLES or (attributes.get("aria-label") or "").strip().lower() in _LABELS:
        return True
    if "hidden" in attributes and role != "tabpanel" and attributes["hidden"] != "until-found":
        return True
    classes = (attributes.get("class") or "").split()
    if classes and tag != "body" and not (_NUMBERS | _CLASSES if code else _CLASSES).isdisjoint(classes):
        return True
    if ("toc" in classes and _lists_one_page(node)) or (tag == "span" and "fn-backref" in classes):
        return True
    return _unseen(node, attributes, code=code)


def _frames(node: LexborNode, tag: str) -> bool:
    """Whether a header, a footer or a form stands around the content rather than holding it."""
    if tag == "footer":
        return node.parent is None or node.parent.tag != "blockquote"
    if node.css_first("h1, h2, h3, h4, h5, h6, pre, dl" if tag == "form" else "h1, h2, h3, h4, h5, h6") is not None:
        return False
    return tag == "form" or not any(around.tag in {"article", "main", "section"} for around in _above(node))


def _above(node: LexborNode) -> Iterator[LexborNode]:
    around = node.parent
    while around is not None and around.tag != "-document":
        yield around
        around = around.parent


def _lists_one_page(node: LexborNode) -> bool:
    """Whether a table of contents only repeats one page's headings; that of a chapter may be all that its page has."""
    return len({(link.attributes.get("href") or "").partition("#")[0] for link in node.css("a[href]")}) <= 1


def _unseen(node: LexborNode, attributes: Attributes, *, code: bool) -> bool:
    style = attributes.get("style") or ""
    if style and _UNSEEN.search(style):
        return True
    color = f"color:{attributes['color']}" if node.tag == "font" and attributes.get("color") else style
    return not code and _WHITE_TEXT.search(color) is not None and _on_white(node)


def _on_white(node: LexborNode) -> bool:
    """Whether the nearest ground that a style gives is white, as it is where none does."""
    for around in (node, *_above(node)):
        values = around.attributes
        ground = _GROUND.search(f"{values.get('style') or ''};background:{values.get('bgcolor') or ''}")
        if ground:
            return re.match(_WHITE, ground.group(1).strip(), re.IGNORECASE) is not None
    return True


def offers(text: str, target: str) -> bool:
    """Whether a link is the page's tool and no part of its text: a permanent link to a place, or `[source]`."""
    words = text.strip()
    return (words in _MARKS and "#" in target) or (len(words) <= _LONGEST_OFFER and _OFFERS.fullmatch(words) is not None)
