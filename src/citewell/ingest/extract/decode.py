"""A file's bytes as clean text: in the encoding that it declares or shows, line ends as LF, without characters that no reader sees."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from citewell.index.visible import clean
from citewell.ingest.extract.base import NotContent

_SAMPLE = 200_000  # bytes that a guess looks at
_HEAD = 8192  # bytes that tell a text from a binary file
_CONTROL_SHARE = 0.1  # more control characters than this are no text
_DAMAGED_SHARE = 0.05  # of the bytes beyond ASCII: with more that mean nothing in it, an encoding was named wrongly
_FOREIGN_SHARE = 0.2  # of the letters beyond ASCII: below it a text is in a western language, whose encoding on the web is cp1252
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the mark of UTF-16, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""<(?:meta[^<>]*?\bcharset|\?xml[^<>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
# What an editor reads in one of the first two lines: `-*- coding: latin-1 -*-`.
_CODING = re.compile(rb"\A(?:[^\n]{0,200}\n)?[^\n]{0,200}?coding[:=][ \t]*([\w.-]{1,40})")
_WIDE = re.compile(r"utf[-_]?(?:16|32)(?:[-_]?[lb]e)?", re.IGNORECASE)
# What a page may name, by Python's names. Supersets stand for what browsers take them for.
_ENCODINGS = {
    **{name: name for name in "koi8-r koi8-u shift_jis cp932 euc_jp euc_kr cp949 gb18030 big5 big5hkscs mac-roman cp866 cp874".split()},
    **{f"cp125{n}": f"cp125{n}" for n in range(9)},
    **{f"iso8859-{n}": f"iso8859-{n}" for n in range(2, 17)},
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
}
# What a page in another script is likely to be in where it says nothing.
_GUESSES = "cp1251 koi8_r shift_jis cp932 euc_jp euc_kr gb18030 big5 cp1253 cp1255 cp1256 cp874 cp1250 cp1252".split()
# How files begin that are no text, whatever their name, and whether or not a zero stands near.
_BINARY = re.compile(
    rb"\s{0,64}%PDF-\d\.\d|PK(?:\x01\x02|\x03\x04|\x05\x06|\x07\x08)|\x7fELF|GIF8[79]a[^\n]{0,64}?[^\x09-\x0d\x20-\x7e]|\x89PNG\r\n"
    rb"|\xff\xd8\xff|\x1f\x8b\x08|BZh[1-9]1AY&SY|7z\xbc\xaf\x27\x1c|\xfd7zXZ|Rar!\x1a\x07|\xd0\xcf\x11\xe0|wOF[F2][^\x09-\x0d\x20-\x7e]"
)
_ASCII = bytes(range(128))
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\r\f\b\x1b")


def decode(data: bytes, *, charset: str = "") -> str:
    """The text of a file, which came with the declaration of that encoding, if any. Raises `NotContent` for binary data."""
    return clean(_text(data, charset).replace("\r\n", "\n").replace("\r", "\n"))


def _text(data: bytes, charset: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    head = data[:_HEAD]
    if _BINARY.match(head):
        raise NotContent("binary file")
    if b"\x00" in head and (wide := _wide(head, charset)):
        return data.decode(wide, errors="replace")
    if b"\x00" in head or len(head) - len(head.translate(None, _CONTROLS)) > len(head) * _CONTROL_SHARE:
        raise NotContent("binary file")
    if b"\x1b$" in data and data.isascii() and _decodes(data, "iso2022_jp"):
        return data.decode("iso2022_jp")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_encoding(data, charset), errors="replace")


def _wide(head: bytes, charset: str) -> str:
    """The encoding of a text whose characters take two or four bytes each, if it is declared or plain from where the zeros stand."""
    if _WIDE.fullmatch(charset):
        return charset
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 4 > len(head) and min(even, odd) * 20 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    return ""


def _encoding(data: bytes, charset: str) -> str:
    """The encoding of bytes that are not entirely UTF-8: damaged UTF-8, a declared one in which they make sense, or the likeliest."""
    as_utf8 = data.decode("utf-8", errors="replace")
    damaged = as_utf8.count("\ufffd")
    if len(as_utf8) - len(as_utf8.encode("ascii", errors="ignore")) > 2 * damaged:
        return "utf-8"
    server = _known(charset)
    declared = [_known(found.group(1).decode("ascii")) for pattern in (_DECLARED, _CODING) if (found := pattern.search(data[:_HEAD]))]
    # Servers name the encoding of western Europe for everything that they were told nothing about.
    for name in filter(None, (server.replace("cp1252", ""), *declared)):
        if _fits(data[:_SAMPLE], name):
            return name
    return _likeliest(re.sub(rb"<[^<>]*>", b"", data[:_SAMPLE]))


def _known(charset: str) -> str:
    """The encoding that a declaration means; "" for one that no page has."""
    try:
        return _ENCODINGS.get(codecs.lookup(charset.strip().strip("\"'")).name, "") if charset else ""
    except (LookupError, ValueError):
        return ""


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _fits(data: bytes, encoding: str) -> bool:
    """Whether nearly all of the bytes mean something in an encoding."""
    text = data.decode(encoding, errors="replace")
    damaged = text.count("\ufffd")
    return damaged - 1 <= len(data.translate(None, _ASCII)) * _DAMAGED_SHARE


def _likeliest(data: bytes) -> str:
    high = len(data.translate(None, _ASCII))
    if high < _FOREIGN_SHARE * len(data.translate(None, _NO_LETTERS)):
        return "cp1252"
    best = from_bytes(data, cp_isolation=_GUESSES).best()
    return best.encoding if best else "cp1252"
