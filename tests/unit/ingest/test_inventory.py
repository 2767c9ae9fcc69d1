"""Sphinx's inventory: which symbols stand where; a broken one costs its symbols, never the pages."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from citewell.ingest.discover import inventory
from citewell.ingest.discover.inventory import Entry, Inventory, read_inventory

HEADER = b"# Sphinx inventory version 2\n# Project: Frob\n# Version: 1.2\n# The remainder of this file is compressed using zlib.\n"
LINES = b"""frob.spin py:function 1 api.html#$ -
frob py:module 0 api.html#module-frob -
frob.Wheel py:class 1 api/wheel.html#frob.Wheel Wheel
--fast std:cmdoption 1 guide/#cmdoption-fast -
top c:function 1 #c.top -
f\xc3\xbcr py:function 1 gr%C3%BC%C3%9Fe.html#id -
a label std:label -1 api.html#label A label
x py:parameter 1 api.html#frob.spin - x
"""


def stored(folder: Path, data: bytes) -> Path:
    file = folder / "objects.inv"
    file.write_bytes(data)
    return file


def test_symbols_by_their_page(tmp_path: Path) -> None:
    found, skipped = read_inventory(stored(tmp_path, HEADER + zlib.compress(LINES)))
    assert not skipped
    assert found.version == "1.2"
    assert found.pages == {
        "api.html": (Entry("frob.spin", "py:function", "frob.spin"), Entry("frob", "py:module", "module-frob")),
        "api/wheel.html": (Entry("frob.Wheel", "py:class", "frob.Wheel"),),
        "guide/index.html": (Entry("--fast", "std:cmdoption", "cmdoption-fast"),),
        "index.html": (Entry("top", "c:function", "c.top"),),
        "grüße.html": (Entry("für", "py:function", "id"),),
    }


def test_no_inventory_is_an_empty_one(tmp_path: Path) -> None:
    assert read_inventory(tmp_path / "objects.inv") == (Inventory(), [])
    (tmp_path / "objects.inv").mkdir()
    assert read_inventory(tmp_path / "objects.inv") == (Inventory(), [])


def test_a_pipe_is_no_inventory(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "objects.inv")
    assert read_inventory(tmp_path / "objects.inv") == (Inventory(), [])


@pytest.mark.parametrize(
    "data",
    [
        HEADER,
        HEADER + b"not zlib",
        HEADER + zlib.compress(LINES)[:-9],
        HEADER.replace(b"version 2", b"version 9") + b"\x00\xff",
        HEADER + zlib.compress(b"\xff\xfe\xfd"),
    ],
)
def test_an_unreadable_inventory_is_a_line_of_report(tmp_path: Path, data: bytes) -> None:
    found, skipped = read_inventory(stored(tmp_path, data))
    assert found.pages == {}
    assert [line.origin for line in skipped] == ["objects.inv"]
    reason = skipped[0].reason.removeprefix("unreadable inventory: ")
    assert len(reason.split()) > 3, "in words"


@pytest.mark.parametrize("data", [b"", b"no inventory at all", b"\x00" * 1000, b"<!DOCTYPE html><title>Not found</title>"])
def test_something_else_of_that_name_is_no_inventory(tmp_path: Path, data: bytes) -> None:
    assert read_inventory(stored(tmp_path, data)) == (Inventory(), [])


def test_an_inventory_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "_MAX_BYTES", 1000)
    found, skipped = read_inventory(stored(tmp_path, HEADER + zlib.compress(LINES * 100)))
    assert not found.pages
    assert skipped[0].reason == "unreadable inventory: too large or cut short"
