"""Prices: which entry counts, and what is said of a file that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.cli.commands import app
from citewell.cli.common import dispatch
from citewell.errors import SettingsError
from citewell.llm.base import ModelRef, TokenUsage
from citewell.llm.prices import Price, Prices, load_prices


def of(prices: Prices, name: str) -> Price | None:
    provider, _, model = name.partition(":")
    return prices.of(ModelRef(provider, model))


def price(dollars: float) -> Price:
    return Price(dollars, dollars, dollars)


def test_the_nearest_name_counts() -> None:
    table = {"openai-compat:big": price(1), "big": price(2), "big*": price(3), "openai-compat:b*": price(4), "*": price(5)}
    prices = Prices(bundled=table)
    found = {name: of(prices, name) for name in ("openai-compat:big", "gemini:big", "gemini:bigger", "openai-compat:bag", "gemini:small")}
    assert [each.input for each in found.values() if each] == [1, 2, 3, 4, 5]
    assert of(Prices(bundled={"big": price(2)}), "gemini:bigger") is None


def test_your_table_comes_first_then_what_runs_here_is_free() -> None:
    prices = Prices(own={"g*": price(7)}, bundled={"gpt": price(1), "other": price(2)}, free={"openai-compat"})
    assert of(prices, "openai-compat:gpt") == price(7)
    assert of(prices, "openai-compat:other") == price(0)
    assert of(prices, "gemini:other") == price(2)


def test_cached_tokens_are_a_part_of_what_was_read() -> None:
    assert Price(3, 0.3, 15).usd(TokenUsage(1_000_000, 400_000, 100_000)) == pytest.approx(0.6 * 3 + 0.4 * 0.3 + 0.1 * 15)


def test_the_file_of_the_home_is_read(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('[prices]\n"mine" = { input = 1, output = 2.5 }\n', encoding="utf-8")
    prices = load_prices(tmp_path)
    assert of(prices, "gemini:mine") == Price(1, 1, 2.5)
    rows = prices.rows()
    assert (rows[0].model, rows[0].origin) == ("mine", "yours")
    assert {row.origin for row in rows[1:]} == {"bundled"}
    assert all(0 <= row.cached <= row.input <= row.output for row in rows[1:])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[prices", "cannot be read"),
        ('[prices]\n"m" = { input = 1 }', "prices.m.output is not valid: it is missing"),
        ('[prices]\n"m" = { input = "1", output = 1 }', "it must be a number of dollars"),
        ('[prices]\n"m" = { input = -1, output = 1 }', "greater than or equal to 0"),
        ('[prices]\n"m" = { input = nan, output = 1 }', "it must be a finite number"),
        ('[prices]\n"m" = { input = inf, output = 1 }', "prices.m.input"),
        ('[prices]\n"m" = { input = true, output = 1 }', "it must be a number of dollars"),
        ('[prices]\n"m" = { input = 1, output = 1, per = 2 }', "a price has input, cached and output"),
        ('[prices]\n"a*b" = { input = 1, output = 1 }', "'a*b' names no model"),
        ('[prices]\n" " = { input = 1, output = 1 }', "' ' names no model"),
        ('"m" = { input = 1, output = 1 }', "is not valid"),
        ("", "prices is not valid: it is missing"),
    ],
)
def test_a_file_that_is_no_table_of_prices_is_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "prices.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        load_prices(tmp_path)
    assert message in str(error.value)
    assert error.value.hint


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").mkdir()
    with pytest.raises(SettingsError, match="no file of prices"):
        load_prices(tmp_path)


def test_the_command_lists_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "prices.toml").write_text('[prices]\n"mine*" = { input = 1.5, output = 2 }\n', encoding="utf-8")
    assert dispatch(app, ["prices", "--json", "--home", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["prices"][0] == {"model": "mine*", "input": 1.5, "cached": 1.5, "output": 2.0, "origin": "yours"}
    assert document["file"] == str(tmp_path / "prices.toml")
    assert document["as_of"]
    assert dispatch(app, ["prices", "--home", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "mine*" in out
    assert str(tmp_path / "prices.toml") in out
