"""The names of code in a question: `torch.cat`, `--no-cache-dir`, `std::move`, `DataLoader`, `scaled_dot_product_attention`. Pure.

What is found here only looks like a symbol; the index decides whether it is one. Names of files, hosts, versions and abbreviations
look like it too, and are none.
"""

from __future__ import annotations

import re

MOST = 12
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://\S+|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+", re.IGNORECASE)  # and of mail
_SPAN = re.compile(r"`([^`\n]{1,120})`")
_SPAN_NAME = re.compile(r"[@$%&!]?(-{0,2}\w[\w.:#-]*)")
_FLAG_END = r"(?=[\s=,.;:?!)\]'\"`|/]|$)"
_FLAG = re.compile(
    rf"(?<![\w-])--?[A-Za-z][\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{0,4}}{_FLAG_END}"
    rf"|(?<![^\s'\"`/,|(])(?<!\w\()-[A-Za-z]{_FLAG_END}"  # `-k`; not the negative in `f(-x)`, `y=-x`
)
_NAME = re.compile(r"(?<!\w)[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*(?=(\((?!e?s\)))?)")  # "tensor(s)" is a plural, no call
_JOINT = re.compile(r"::|[.#]")
_CAMEL = re.compile(r"^(?:[A-Z][a-z0-9]+){2,}\w*$|^[a-z0-9]+[A-Z]\w*$|^[A-Z]{2,}[a-z]\w*$|^[A-Za-z]+\d+[A-Za-z]\w*$")
_ACRONYMS = re.compile(r"^[A-Z]{2,}s$")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "u.s", "u.k", "a.m", "p.m", "etc", "vs", "ph.d", "et.al"})
_NO_SYMBOL_ENDS = frozenset(
    "bash bat bin bz2 c cfg cpp css csv dll dockerfile exe gif gz h hpp htm html ini ipynb jpeg jpg js json jsonl md mp3 mp4 npy npz onnx "
    "parquet pdf pickle pkl png ps1 pt pth py pyi rb rst safetensors sh so sql svg tar tgz toml ts tsv tsx txt wav whl xlsx xml yaml yml "
    "zip ai co com edu gov net org".split()  # and hosts
)
_LOGS = frozenset("access app build console crash debug error errors install out output run server system test train training".split())
# Words that begin the next sentence where the blank before it was forgotten: "it fails.How do I …"
_OPENERS = frozenset("and any but does how however i if is it please so thanks the then there this what why".split())


def without_code(text: str) -> str:
    """A question without the code its asker wrote: fenced and indented lines, whose names are the asker's own."""
    prose = re.sub(r"(`{3,}|~{3,}).*?(?:\1|\Z)", "\n", text, flags=re.DOTALL)
    return re.sub(r"^(?: {4,}|\t|>>> |\.\.\. ).*$", "", prose, flags=re.MULTILINE)


def identifiers(text: str) -> list[str]:
    """The identifiers of a question in lower case, in order, each once, at most `MOST`; without call brackets."""
    text = _ADDRESS.sub(" ", text)
    found: list[tuple[int, str]] = []
    for span in _SPAN.finditer(text):
        name = _SPAN_NAME.match(span.group(1).strip())
        if name and " " not in span.group(1).strip().split("(")[0] and any(map(str.isalpha, name.group(1))):
            found.append((span.start(), name.group(1).rstrip(".:#-")))
    found.extend((flag.start(), flag.group(0)) for flag in _FLAG.finditer(text))
    names = _NAME.finditer(_FLAG.sub(lambda flag: " " * len(flag.group(0)), text))
    found.extend((name.start(), name.group(0)) for name in names if _looks_like_code(name.group(0), called=bool(name.group(1))))
    return list(dict.fromkeys(name.lower() for _, name in sorted(found)))[:MOST]


def _looks_like_code(name: str, *, called: bool) -> bool:
    if name.lower() in _ABBREVIATIONS or len(name) < 2:
        return False
    if called or "::" in name or "#" in name:
        return True
    if "." in name:
        return _looks_dotted(name.split("."))
    underscored = "_" in name.strip("_") or name.startswith("__") or (name.startswith("_") and not name.endswith("_"))
    return underscored or (bool(_CAMEL.match(name)) and not _ACRONYMS.match(name))


def _looks_dotted(parts: list[str]) -> bool:
    """`F.relu`, `torch.log`; not "U.S", "model.pt", "data.tar.gz", "train.log", "pytorch.org", "2.x", "works.How"."""
    last = parts[-1]
    shouted = len(last) > 1 and last.isupper()  # README.MD
    if all(len(part) == 1 for part in parts) or (last.lower() if shouted else last) in _NO_SYMBOL_ENDS:
        return False
    if len(parts) == 2 and ((last == "log" and parts[0].lower() in _LOGS) or last.lower() in _OPENERS):
        return False
    return not (last == "x" and parts[-2][-1].isdigit())


def last_component(name: str) -> str:
    """What a symbol is called by: `DataLoader` of `torch.utils.data.DataLoader`."""
    return _JOINT.split(name)[-1] or name
