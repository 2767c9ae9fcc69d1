"""What a page shows for a piece of its stored text: as plain words, and as Markdown that shows the same and does nothing else. Pure.

Stored text of a Markdown page is its author's Markdown. That of every other page is text in which only code, footnotes and the label at the
head of a paragraph ("**Note:** …") are marked: a star, a bracket or an angle bracket elsewhere is what the page shows.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from citewell.ground.blocks import code_spans, is_escaped
from citewell.ground.inline import hide, links, outside

Piece = tuple[bool, str]

LABEL = re.compile(r"\s*(\*\*)(?=\S)[^*\n]{1,300}?(?<=\S)(\*\*)(?=\s|$)")

_MARKDOWN = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".ipynb")
_QUOTATION = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:?\s?")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WRITTEN = re.compile(r"\\([!-/:-@\[-`{-~])|&#?\w{1,32};")  # a character by its escape or by its name
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]{0,40}(?:\s[^<>]{0,1000})?/?>|<!--.{0,1000}?-->", re.DOTALL)
_RUN = re.compile(r"\*+|_+|~~?")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
# Where a character begins something in Markdown wherever it stands.
_SPECIAL = re.compile(r"[\[\]`]|\\(?=[!-/:-@\[-`{-~]|$)|<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
# What begins a block at the start of a line.
_BLOCK = re.compile(r"[#>|=]|[-+*](?=\s|$)|([-*_])(?:\s*\1){2,}\s*$|~(?=~~)")
_NUMBER = re.compile(r"(\d{1,9})(?=[.)](?:\s|$))")


def is_markdown(path: str) -> bool:
    """Whether the page of that path was written in Markdown."""
    return path.lower().removesuffix(".txt").endswith(_MARKDOWN)  # sites keep the sources of their pages as `page.md.txt`


def shown(text: str, *, markdown: bool) -> str:
    """The words of a piece of prose as its page shows them. White space stays."""
    return "".join(_code_words(piece) if is_code else piece for is_code, piece in _pieces(text, markdown=markdown))


def as_markdown(text: str, *, markdown: bool) -> str:
    """A piece of prose as one line of Markdown that shows what its page shows: its code as code, all else as plain words.

    Nothing in it is a tag, a link, a picture, emphasis, a footnote, a marker of ours, or the beginning of a block.
    """
    text = _QUOTATION.sub("", text)
    pieces = [(is_code, " ".join(piece.split()) if is_code else piece) for is_code, piece in _pieces(text, markdown=markdown)]
    joined, code = "", []
    for is_code, piece in pieces:
        words = piece if is_code else re.sub(r"\s+", " ", piece)
        words = words.lstrip(" ") if not joined or joined.endswith(" ") else words
        if is_code:
            code.append((len(joined), len(joined) + len(words)))
        joined += words
    return _escaped(joined.rstrip(" "), code)


def unescaped(markdown: str) -> str:
    """Markdown without the backslashes that keep its characters from meaning something, but for those in its code."""
    code = code_spans(markdown, 0, len(markdown))
    pieces, at = [], 0
    for match in outside(_ESCAPE, markdown, 0, len(markdown), code):
        pieces += [markdown[at : match.start()], match.group(1)]
        at = match.end()
    return "".join([*pieces, markdown[at:]])


def _pieces(text: str, *, markdown: bool) -> Iterator[Piece]:
    """The shown text in order, each stretch with whether it is a code span, which keeps its ticks."""
    code = code_spans(text, 0, len(text))
    hidden = bytearray(len(text))
    for note in outside(_FOOTNOTE, text, 0, len(text), code):
        hidden[note.start() : note.end()] = b"\1" * len(note.group(0))
    label = LABEL.match(text)
    if label and not markdown:
        for group in (1, 2):
            hidden[label.start(group) : label.end(group)] = b"\1\1"
    if markdown:
        for link in links(text, 0, len(text), code, None):
            hide(hidden, link)
        for tag in outside(_TAG, text, 0, len(text), code):
            hidden[tag.start() : tag.end()] = b"\1" * len(tag.group(0))
        for left, right in _emphasis(text, code, hidden):
            hidden[left:right] = b"\1" * (right - left)
    at = 0
    for left, right in [*code, (len(text), len(text))]:
        words = "".join(char for n, char in enumerate(text[at:left], start=at) if not hidden[n])
        yield False, _WRITTEN.sub(_meant, words) if markdown else words
        if right > left and not hidden[left]:
            yield True, text[left:right]
        at = right


def _meant(written: re.Match[str]) -> str:
    return written.group(1) or html.unescape(written.group(0))


def _code_words(span: str) -> str:
    words = span.strip("`")
    return words[1:-1] if words[:1] == words[-1:] == " " and words.strip() else words


def _emphasis(text: str, code: list[tuple[int, int]], hidden: bytearray) -> Iterator[tuple[int, int]]:
    """The marks of emphasis of a Markdown text, by the rules of CommonMark 6.2."""
    open_: list[list[int]] = []  # start and end of each run that may open emphasis, as much of it as is left
    for start, end, opens, closes in _runs(text, code):
        if hidden[start]:
            continue
        n = len(open_) - 1
        while closes and end > start and n >= 0:
            left, right = open_[n]
            if text[left] == text[start] and (text[start] != "~" or right - left == end - start):
                size = min(right - left, end - start, 2)
                yield right - size, right
                yield start, start + size
                start += size
                open_[n][1] -= size
                del open_[n + 1 :]
                if right - size > left:
                    continue
                del open_[n]
            n -= 1
        if opens and end > start:
            open_.append([start, end])


def _runs(text: str, code: list[tuple[int, int]]) -> Iterator[tuple[int, int, bool, bool]]:
    """Runs of stars, underscores and tildes with whether each may open and may close emphasis."""
    for run in outside(_RUN, text, 0, len(text), code):
        start, end = run.span()
        start += is_escaped(text, start)
        if start == end:
            continue
        before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
        left = not after.isspace() and (not _is_mark(after) or before.isspace() or _is_mark(before))
        right = not before.isspace() and (not _is_mark(before) or after.isspace() or _is_mark(after))
        if run.group(0)[0] == "_":
            yield start, end, left and (not right or _is_mark(before)), right and (not left or _is_mark(after))
        else:
            yield start, end, left, right


def _is_mark(char: str) -> bool:
    return char in _PUNCTUATION or (not char.isascii() and not char.isalnum() and not char.isspace())


def _escaped(line: str, code: list[tuple[int, int]]) -> str:
    """A line of plain words and code spans with a backslash before every character that would mean something."""
    places = {match.start() for match in outside(_SPECIAL, line, 0, len(line), code)}
    all_runs = list(_runs(line.replace("\\", "/"), code))  # here a backslash is a character like others
    for mark in "*_~":
        runs = [run for run in all_runs if line[run[0]] == mark]
        opening = next((start for start, _, opens, _ in runs if opens), None)
        if opening is not None and any(closes and start > opening for start, _, _, closes in runs):
            places.update(at for start, end, _, _ in runs for at in range(start, end))
    if not code or code[0][0] > 0:
        number = _NUMBER.match(line)
        places.update([number.end()] if number else [0] if _BLOCK.match(line) else [])
    return "".join("\\" + char if n in places else char for n, char in enumerate(line))
