"""What a model costs, in US dollars for a million tokens: a bundled table, and a file of yours that is asked first."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import SettingsError
from citewell.llm.base import ModelRef, TokenUsage

FILE_NAME = "prices.toml"

_MILLION = 1_000_000
_MOST_BYTES = 2**20
_DOCUMENTED = "docs/settings.md shows a file of prices."

Dollars = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False, strict=True)]


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    cached: float
    output: float

    def usd(self, usage: TokenUsage) -> float:
        """What these tokens cost, in dollars."""
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * self.cached + usage.output * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A line of `citewell prices`: `model` may end in `*`, `origin` says whose entry it is."""

    model: str
    input: float
    cached: float
    output: float
    origin: Literal["bundled", "yours"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input: Dollars
    output: Dollars
    cached: Dollars | None = None  # where it is not said, a cached token costs what any other does

    def price(self) -> Price:
        return Price(self.input, self.input if self.cached is None else self.cached, self.output)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    as_of: str = ""
    prices: dict[str, _Entry]


@dataclass(frozen=True, slots=True)
class Prices:
    """Two tables, and the providers that run on this machine and cost nothing.

    `own` is asked first, then whether the provider is `free`, then `bundled`. Within a table, `provider:model` comes before `model`, and
    both before the longest beginning that is written with `*`.
    """

    own: Mapping[str, Price] = field(default_factory=dict)
    bundled: Mapping[str, Price] = field(default_factory=dict)
    free: Collection[str] = ()
    as_of: str = ""

    def of(self, model: ModelRef) -> Price | None:
        """The price of a model; None where it is not known."""
        own = _find(self.own, model)
        if own is not None or model.provider not in self.free:
            return own or _find(self.bundled, model)
        return Price(0.0, 0.0, 0.0)

    def rows(self) -> list[PriceRow]:
        """Both tables, yours first, each by name."""
        tables: tuple[tuple[Literal["bundled", "yours"], Mapping[str, Price]], ...] = (("yours", self.own), ("bundled", self.bundled))
        return [PriceRow(name, p.input, p.cached, p.output, origin) for origin, table in tables for name, p in sorted(table.items())]


def _find(table: Mapping[str, Price], model: ModelRef) -> Price | None:
    for name in (str(model), model.model):
        if name in table:
            return table[name]
    of_provider = f"{model.provider}:"
    beginnings = [name for name in table if name.endswith("*") and model.model.startswith(name.removeprefix(of_provider)[:-1])]
    return table[max(beginnings, key=len)] if beginnings else None


def load_prices(home: Path, free: Collection[str] = ()) -> Prices:
    """The bundled table with `prices.toml` of the home in front of it. Raises `SettingsError` for a file that is no table of prices."""
    bundled = _parse(resources.files("citewell").joinpath("data", FILE_NAME).read_text(encoding="utf-8"), FILE_NAME)
    return Prices(_table(_own(home / FILE_NAME)), _table(bundled), free, bundled.as_of)


def _own(path: Path) -> _File:
    if not path.exists():
        return _File(prices={})
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:  # a pipe would be waited for
        raise SettingsError(f"{path} cannot be read: it is no file of prices.", hint="Move it away.")
    try:
        return _parse(path.read_text(encoding="utf-8-sig"), str(path))
    except (UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}", hint="Correct the file, or move it away.") from error


def _parse(text: str, where: str) -> _File:
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{where} cannot be read: {error}", hint=f"Correct that line. {_DOCUMENTED}") from error
    try:
        file = _File.model_validate(tables)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise SettingsError(f"{where}: {place} is not valid: {_said(fault['type'], fault['msg'])}.", hint=_DOCUMENTED) from None
    wrong = next((name for name in file.prices if not name.strip() or "*" in name.strip()[:-1]), None)
    if wrong is not None:
        raise SettingsError(f"{where}: {wrong!r} names no model.", hint=f"A * stands at the end only. {_DOCUMENTED}")
    return file


def _said(kind: str, message: str) -> str:
    words = {
        "extra_forbidden": "a price has input, cached and output",
        "missing": "it is missing",
        "float_type": "it must be a number of dollars for a million tokens",
        "finite_number": "it must be a finite number",
    }
    return words.get(kind, message.replace("Input should be", "it must be"))


def _table(file: _File) -> dict[str, Price]:
    return {name.strip(): entry.price() for name, entry in file.prices.items()}
