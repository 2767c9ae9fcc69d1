"""Jupyter notebooks (nbformat 3 and 4) to places and blocks: their Markdown as one page, code in the kernel's language, short outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from citewell.index.visible import clean
from citewell.ingest.extract.base import Code, NotContent, Page
from citewell.ingest.extract.markdown.page import extract_pieces
from citewell.ingest.extract.markdown.text import NotebookAnchors

_OUTPUT_LINES = 10
_OUTPUT_CHARS = 1000
_MOST_CELLS = 20_000
_LONGEST_TITLE = 300
_MOST_OUTPUTS = 50  # of one cell
_LONGEST_SOURCE = 1_000_000  # characters of one cell or output that are looked at
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.|\[(?:\d{1,3};)*\d{1,3}m")
_HIDDEN_CELL = frozenset("remove-cell remove_cell hide-cell-all hidden nbsphinx-hidden remove".split())
_HIDDEN_INPUT = frozenset("remove-input remove_input hide_input hide-input-all".split())
_HIDDEN_OUTPUT = frozenset("remove-output remove_output hide_output remove-stdout".split())
_LANGUAGES = {**dict.fromkeys(("python3", "ipython", "ipython3", "python2"), "python"), "ir": "r"}
_MAGIC_CELL = re.compile(r"%%(bash|sh|html|javascript|js|latex|perl|ruby|sql|R|cython|writefile)\b")
_STAND_IN = re.compile(r"\s*<[^\n]*>\s*|\s*[\w.]+\([^\n]*\)\s*")  # for a picture or a widget: `<Figure size 640x480 with 1 Axes>`
_OBJECT = re.compile(r"\s*[\[(]?<[^\n]* at 0x[\da-fA-F]+>[\])]?\s*")  # which says nothing but where it lay in memory
_ATTACHMENT = re.compile(r"!\[[^\[\]\n]*\]\((?:attachment|data):[^()\n]*\)")


def extract_notebook(text: str, name: str) -> Page:
    """The page of a notebook. Raises `NotContent` for what is no notebook or holds no text."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotContent("not a Jupyter notebook") from error
    cells = list(_cells(data))
    if not cells and not isinstance(data, dict):
        raise NotContent("not a Jupyter notebook")
    metadata = _mapping(_mapping(data).get("metadata"))
    pieces = [piece for cell in cells[:_MOST_CELLS] for piece in _cell(cell, _language(metadata))]
    title = " ".join(clean(_string(metadata.get("title"))).split())[:_LONGEST_TITLE]
    return extract_pieces(pieces, name, title, slugs=NotebookAnchors())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    """A text, which notebooks keep whole or in lines."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    if not isinstance(value, str):
        return ""
    text = value[:_LONGEST_SOURCE].replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", errors="replace").decode()  # JSON can hold halves of characters


def _cells(data: Any) -> Iterator[dict[str, Any]]:
    """The cells of a notebook; those of format 3 lie in worksheets."""
    notebook = _mapping(data)
    sheets = _sequence(notebook.get("worksheets"))
    for holder in (notebook, *(_mapping(sheet) for sheet in sheets)):
        yield from (cell for cell in _sequence(holder.get("cells")) if isinstance(cell, dict))


def _language(metadata: dict[str, Any]) -> str:
    info, kernel = _mapping(metadata.get("language_info")), _mapping(metadata.get("kernelspec"))
    named = _string(info.get("name")) or _string(kernel.get("language")) or _string(kernel.get("name"))
    named = named.lower().split("-")[0]
    named = _LANGUAGES.get(named, named)
    return named if re.fullmatch(r"[\w+#.-]{1,30}", named) else "python" if not named else ""


def _cell(cell: dict[str, Any], language: str) -> Iterator[str | Code]:
    """A cell as Markdown."""
    kind = cell.get("cell_type")
    metadata = _mapping(cell.get("metadata"))
    tags = {tag for tag in _sequence(metadata.get("tags")) if isinstance(tag, str)}
    tags |= {key for key in ("hide_input", "hide_output", "nbsphinx") if metadata.get(key) in (True, "hidden")}
    if tags & (_HIDDEN_CELL | {"nbsphinx"}) or (_mapping(metadata.get("jupyter")).get("source_hidden") is True and kind != "code"):
        return
    source = clean(_string(cell.get("source", cell.get("input"))))
    if kind == "heading":
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {' '.join(source.split())}"
    elif kind == "markdown":
        yield _ATTACHMENT.sub("", source).strip("\n")
    elif kind == "code":
        if not tags & _HIDDEN_INPUT and source.strip():
            magic = _MAGIC_CELL.match(source)
            yield Code(source.strip("\n"), magic.group(1).lower() if magic else language)
        if not tags & _HIDDEN_OUTPUT:
            for output in _sequence(cell.get("outputs"))[:_MOST_OUTPUTS]:
                shown = _output(_mapping(output))
                if shown.strip():
                    yield Code(shown)


def _output(output: dict[str, Any]) -> str:
    """What an output shows as text, cut where it is long; "" for pictures, widgets and markup."""
    kind = _string(output.get("output_type"))
    if kind == "stream":
        return _cut(_string(output.get("text")))
    if kind in {"error", "pyerr"}:
        lines = [line for line in _cut(_string(output.get("evalue"))).split("\n") if line.strip()]
        return ": ".join(filter(None, (clean(_string(output.get("ename")))[:200], lines[-1] if lines else "")))
    if kind in {"execute_result", "display_data", "pyout"}:
        data = _mapping(output.get("data", output))
        text = _string(data.get("text/plain", data.get("text")))
        pictured = any(key.startswith(("image/", "application/vnd", "text/html")) or key in {"png", "jpeg", "svg", "html"} for key in data)
        return "" if _OBJECT.fullmatch(text) or (pictured and _STAND_IN.fullmatch(text)) else _cut(text)
    return ""


def _cut(text: str) -> str:
    """The first lines of an output, and a sign where there is more."""
    whole = clean(_ANSI.sub("", text)).strip("\n")
    lines = [line.rstrip() for line in whole.split("\n")]
    shown = "\n".join(lines[:_OUTPUT_LINES])
    more = len(lines) > _OUTPUT_LINES or len(shown) > _OUTPUT_CHARS
    return f"{shown[:_OUTPUT_CHARS].rstrip()}\n…" if more else shown
