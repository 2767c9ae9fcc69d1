"""What of an HTML page is never content: menus, buttons, permanent links, and what is not shown to a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

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
    # rustdoc, doxygen, Hugo, Antora, texinfo
    "srclink selflink hideme navpath navpath-footer tabs2 tabs3 toc-drawer td-sidebar td-toc td-page-meta nav-panel "
    "header-anchor anchor-link mlabels-right line-numbers-wrapper "
    # what is for screen readers only, and formulas drawn beside their source
    "sr-only visually-hidden screen-reader-text katex-html".split()
)
# What code has beside its lines: their numbers, and the lines that an example hides.
_NUMBERS = frozenset("boring linenos lineno linenumber line-number line-numbers-rows gutter rouge-gutter hljs-ln-numbers".split())
_IDS = frozenset("breadcrumbs footer navrow1 page-footer page-header site-footer sidebar side-nav titlearea toc tocframe".split())
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
_MARKS = frozenset("¶ ◆ # § ⚓ 🔗 ∞ ↩ ↩︎ ⤴ ^".split())
_OFFERS = re.compile(
    r"\[(?:source|docs|edit|view source|[-−+])\]"
    r"|(?:edit|improve|rate) this page|(?:edit|view|suggest edits) (?:this page )?on (?:github|gitlab)"
    r"|(?:view|show) (?:page )?source|skip to (?:main )?content|back to top",
    re.IGNORECASE,
)
_LONGEST_OFFER = 40
_FARTHEST = 200
_LONGEST_CLASSES = 200  # that are remembered


def hidden(node: LexborNode, attributes: Attributes, *, code: bool = False, look: bool = True) -> bool:
    """Whether an element is chrome, or not shown to a reader. In code, white is a colour like others: its ground may be dark.

    Without `look`, what depends on an element's inside is taken as content: looking again at each level of deep markup takes minutes.
    """
    tag = node.tag
    if not tag or tag in TAGS or tag[0] in "-!":
        return True
    if look and tag in {"header", "footer", "form"} and _frames(node, tag):
        return True
    if not attributes:
        return False
    classes = attributes.get("class")
    if classes:
        kind = _kind(classes, code) if len(classes) <= _LONGEST_CLASSES else _kind.__wrapped__(classes, code)
        if kind and (
            (kind == "chrome" and tag != "body")
            or (kind == "toc" and look and _lists_one_page(node))
            or (kind == "backref" and tag == "span")
        ):
            return True
        if len(attributes) == 1:
            return False
    role = attributes.get("role")
    if role and role.lower() in _ROLES:
        return True
    label = attributes.get("aria-label")
    if label and label.strip().lower() in _LABELS:
        return True
    if "hidden" in attributes and role != "tabpanel" and attributes["hidden"] != "until-found":
        return True
    if look and tag in {"div", "details"} and attributes.get("id") in _IDS and node.css_first("h1, h2, h3, h4, h5, h6") is None:
        return attributes["id"] != "toc" or _lists_one_page(node)
    return ("style" in attributes or tag == "font") and _unseen(node, attributes, code=code)


@lru_cache(maxsize=4096)
def _kind(classes: str, code: bool) -> str:
    """What an element is by its classes: chrome, a table of contents, a way back to a reference, or "" for content."""
    names = frozenset(classes.split())
    if not names.isdisjoint(_CLASSES) or (code and not names.isdisjoint(_NUMBERS)):
        return "chrome"
    return "toc" if "toc" in names else "backref" if "fn-backref" in names else ""


def _frames(node: LexborNode, tag: str) -> bool:
    """Whether a header, a footer or a form stands around the content rather than holding it."""
    if tag == "footer":
        return node.parent is None or node.parent.tag != "blockquote"
    if node.css_first("h1, h2, h3, h4, h5, h6, pre, dl" if tag == "form" else "h1, h2, h3, h4, h5, h6") is not None:
        return False
    return tag == "form" or not any(around.tag in {"article", "main", "section"} for around in _above(node))


def _above(node: LexborNode) -> Iterator[LexborNode]:
    """What a node stands in, from the inside, as far as any page nests."""
    around = node.parent
    for _ in range(_FARTHEST):
        if around is None or around.tag == "-document":
            return
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
    tool = (words in _MARKS and "#" in target) or (words.lower() == "source" and "src/" in target)
    return tool or (len(words) <= _LONGEST_OFFER and _OFFERS.fullmatch(words) is not None)
