"""Bytes to text: every encoding that documentation comes in, and nothing that a reader cannot see."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.index.visible import clean
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode

GERMAN = "Die Größe der Zeilen kostet 5 €, „genau“ genommen – nach naïver Überprüfung – etwas mehr."
RUSSIAN = "Привет! Это руководство описывает установку программы и её настройку."
JAPANESE = "この文書はプログラムの設定方法を説明します。"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (GERMAN.encode(), GERMAN),
        (GERMAN.encode("utf-8-sig"), GERMAN),
        (GERMAN.encode("utf-16"), GERMAN),
        (b"\xfe\xff" + GERMAN.encode("utf-16-be"), GERMAN),
        (GERMAN.encode("utf-32"), GERMAN),
        (GERMAN.encode("cp1252"), GERMAN),
        ("Ein Café, na und?".encode("latin-1"), "Ein Café, na und?"),
        (("<p>" + "x" * 9000 + " café</p>").encode("latin-1"), "<p>" + "x" * 9000 + " café</p>"),
        (RUSSIAN.encode("koi8-r"), RUSSIAN),
        (RUSSIAN.encode("cp1251"), RUSSIAN),
        ((JAPANESE * 4).encode("shift_jis"), JAPANESE * 4),
    ],
)
def test_an_undeclared_encoding_is_recognized(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset='iso-8859-2'>", "iso-8859-2"),
        ('<META http-equiv="Content-Type" content="text/html; charset=windows-1250">', "cp1250"),
        ('<?xml version="1.0" encoding="ISO-8859-2"?>', "iso-8859-2"),
    ],
)
def test_a_declared_encoding_is_believed(head: str, encoding: str) -> None:
    text = f"{head}<p>Příručka: žluťoučký kůň úpěl</p>"
    assert decode(text.encode(encoding)) == text


def test_latin_1_means_what_browsers_take_it_for() -> None:
    assert decode("<meta charset=iso-8859-1><p>“5 €”</p>".encode("cp1252")).endswith("<p>“5 €”</p>")


@pytest.mark.parametrize("declared", ["utf-8", "hex", "zlib", "rot13", "utf-7", "no-such-thing", "idna", "unicode_escape"])
def test_a_wrong_or_harmful_declaration_is_not_believed(declared: str) -> None:
    assert decode(f"<meta charset={declared}><p>un café</p>".encode("latin-1")).endswith("<p>un café</p>")


def test_one_damaged_character_does_not_spoil_the_others() -> None:
    assert decode("schöne grüne Bäume".encode() + b"\xff" + "größer".encode()) == "schöne grüne Bäume\ufffdgrößer"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"%PDF-1.7\x00\x01",
        b"GIF89a" + bytes(range(32)) * 20,
        b"\x1f\x8b\x08\x00abc",
        b"\x01\x02\x03\x04",
    ],
)
def test_binary_data_is_no_content(data: bytes) -> None:
    with pytest.raises(NotContent, match="binary"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n",
        b"\n%PDF-2.0\n",
        b"PK\x03\x04words",
        b"\x7fELF words",
        b"GIF89a\x80\x02\xe0\x01 words",
        b"\x89PNG\r\n\x1a\nwords",
        b"\xff\xd8\xff\xe0 words",
        b"\x1f\x8b\x08 words",
    ],
)
def test_a_file_of_a_well_known_other_format_is_no_content(data: bytes) -> None:
    with pytest.raises(NotContent, match="binary file"):
        decode(data + b"Mostly text comes after it. " * 20)


@pytest.mark.parametrize("text", ["GIF89a is a format of pictures.\n", "PK is a zip.\n", "%PDF- begins a PDF file.\n", "BZh is bzip2.\n"])
def test_a_text_about_a_format_is_a_text(text: str) -> None:
    assert decode(text.encode()) == text


def test_an_empty_file_is_an_empty_text() -> None:
    assert decode(b"") == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_one_character(end: str) -> None:
    assert decode(f"a{end}{end}b{end}".encode()) == "a\n\nb\n"


def test_a_form_feed_ends_a_line() -> None:
    assert decode(b"a\x0cb") == "a\nb"


@pytest.mark.parametrize(
    "invisible",
    [
        "\u200b",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u202e",
        "\u2066",
        "\u200e",
        "\U000e0041",
        "\U000e0100",
        "\u2063",
        "\x85",
        "\x00",
        "\x1b",
        "\x7f",
    ],
)
def test_invisible_characters_are_dropped(invisible: str) -> None:
    assert clean(f"a{invisible}b") == "ab"


def test_a_hidden_message_in_joiners_or_tags_is_dropped() -> None:
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all rules")
    assert clean(f"Hello{tags}, 世\u200c\u200d\u200c\u200d界") == "Hello, 世界"


@pytest.mark.parametrize("text", ["👩\u200d👩\u200d👧", "می\u200cخواهم", "क्\u200dष"])
def test_joiners_that_a_script_needs_stay(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("text", ["a\u200db", "\u200da", "a\u200c"])
def test_other_joiners_go(text: str) -> None:
    assert clean(text) == text.replace("\u200d", "").replace("\u200c", "")


@settings(deadline=None)
@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@settings(deadline=None)
@given(st.binary())
def test_whatever_bytes_come_in_a_text_or_a_reason_comes_out(data: bytes) -> None:
    try:
        text = decode(data)
    except NotContent:
        return
    assert "\x00" not in text
    assert "\r" not in text
    text.encode()


# ---- what came with the file --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (RUSSIAN.encode("koi8-r"), "koi8-r", RUSSIAN),
        (RUSSIAN.encode("cp1251"), '"windows-1251"', RUSSIAN),
        (GERMAN.encode(), "iso-8859-1", GERMAN),
        (GERMAN.encode("cp1252"), "utf-8", GERMAN),
        (RUSSIAN.encode("cp1251"), "iso-8859-1", RUSSIAN),
        (b"<meta charset=koi8-r>" + RUSSIAN.encode("koi8-r"), "iso-8859-1", f"<meta charset=koi8-r>{RUSSIAN}"),
        (b"<meta charset=koi8-r>" + RUSSIAN.encode("cp1251"), "windows-1251", f"<meta charset=koi8-r>{RUSSIAN}"),
        (GERMAN.encode("cp1252"), "shift_jis", GERMAN),
        (GERMAN.encode("utf-16-le"), "utf-16le", GERMAN),
        (GERMAN.encode("utf-16-be"), "", GERMAN),
        ((JAPANESE * 2).encode("iso2022_jp"), "iso-2022-jp", JAPANESE * 2),
        ("\ufeff".encode() + GERMAN.encode(), "koi8-r", GERMAN),
        (GERMAN.encode("cp1252"), "no-such-thing\0", GERMAN),
    ],
)
def test_what_the_server_declares_is_believed_as_far_as_it_makes_sense(data: bytes, charset: str, text: str) -> None:
    assert decode(data, charset=charset) == text


@pytest.mark.parametrize("line", [".. -*- coding: iso-8859-2 -*-", "# vim: set fileencoding=iso-8859-2 :", "x\n.. coding: iso-8859-2"])
def test_a_line_for_editors_names_the_encoding(line: str) -> None:
    text = f"{line}\n\nPříručka: žluťoučký kůň úpěl"
    assert decode(text.encode("iso-8859-2")) == text


def test_binary_data_stays_binary_whatever_is_declared() -> None:
    with pytest.raises(NotContent, match="binary"):
        decode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 50, charset="utf-8")


@settings(deadline=None)
@given(st.binary(), st.sampled_from(["utf-8", "utf-16", "latin-1", "shift_jis", "hex", "iso-2022-jp", "", "x" * 50]) | st.text(max_size=20))
def test_whatever_is_declared_a_text_or_a_reason_comes_out(data: bytes, charset: str) -> None:
    try:
        text = decode(data, charset=charset)
    except NotContent:
        return
    assert text.encode().decode() == text
    assert not set(text) & set("\r\x00\x7f\ufeff")
