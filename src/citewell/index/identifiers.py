"""The names of code in a question: `torch.cat`, `--no-cache-dir`, `std::move`, `DataLoader`, `scaled_dot_product_attention`. Pure.

What is found here only looks like a symbol; the index decides whether it is one.
"""

from __future__ import annotations

import re

MOST = 12
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://\S+", re.IGNORECASE)
_SPAN = re.compile(r"`([^`\n]{1,120})`")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]{1,60}(?=[\s=,.;:?!)\]'\"`]|$)")
_NAME = re.compile(r"@?[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*(?=(\(\)?)?)")
_CAMEL = re.compile(r"^(?:[A-Z][a-z0-9]+){2,}\w*$|^[a-z0-9]+[A-Z]\w*$|^[A-Z]{2,}[a-z]\w*$|^[A-Za-z]+\d+[A-Za-z]\w*$")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "u.s", "u.k", "a.m", "p.m", "etc", "vs", "ph.d"})
_FILE_ENDINGS = frozenset(
    "py pt txt md rst html json yaml yml toml cfg ini csv tsv zip gz tar png jpg exe dll so c h cpp js ts sh log com org net io dev".split()
)


def without_code(text: str) -> str:
    """A question without the code its asker wrote: fenced and indented lines, whose names are the asker's own."""
    prose = re.sub(r"(`{3,}|~{3,}).*?(?:\1|\Z)", "\n", text, flags=re.DOTALL)
    return re.sub(r"^(?: {4,}|\t|>>> ).*$", "", prose, flags=re.MULTILINE)


def identifiers(text: str) -> list[str]:
    """The identifiers of a question in lower case, in order, each once, at most `MOST`; without call brackets."""
    text = _URL.sub(" ", text)
    found: dict[str, None] = {}
    for span in _SPAN.findall(text):
        name = span.strip().split("(")[0].strip()
        if name and " " not in name:
            found[name.lstrip("@").lower()] = None
    for flag in _FLAG.findall(text):
        found[flag.lower()] = None
    for match in _NAME.finditer(text):
        name = match.group(0).lstrip("@")
        if _looks_like_code(name, called=bool(match.group(1))):
            found[name.lower()] = None
    return list(found)[:MOST]


def _looks_like_code(name: str, *, called: bool) -> bool:
    lower = name.lower()
    if lower in _ABBREVIATIONS or len(name) < 2:
        return False
    if "." in name:
        last = lower.rsplit(".", 1)[-1]
        return not (last in _FILE_ENDINGS and lower.count(".") == 1) and all(len(part) > 1 or part == "_" for part in lower.split("."))
    return called or "::" in name or "_" in name.strip("_") or name.startswith("__") or bool(_CAMEL.match(name))


def last_component(name: str) -> str:
    """What a symbol is called by: `DataLoader` of `torch.utils.data.DataLoader`."""
    return re.split(r"::|[.#]", name)[-1] or name
