"""What makes a corpus itself, as data: its name, languages, sources, where to refer, what code may import. No code of ours knows a
corpus by name; a new corpus is a new profile file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import SettingsError, near_miss
from citewell.setting_types import PROFILE_TABLES
from citewell.types import Kind

BUNDLED = ("generic", "pytorch")

_SHOWN_CHARS = 80
_WORDS = {
    "string_type": "it must be text in quotes",
    "tuple_type": "it must be a list",
    "dict_type": "it must be a table",
    "finite_number": "it must be a finite number",
}


def _web_address(value: str) -> str:
    if value and not re.match(r"https?://[^/\s]\S*$", value):
        raise ValueError("it must be an address that begins with http:// or https://")
    return value


def _search_address(value: str) -> str:
    if value and "{query}" not in value:
        raise ValueError("it must hold {query}, where the words go")
    return value


def _repository(value: str) -> str:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", value, re.ASCII):
        raise ValueError("it must be owner/name")
    return value


WebAddress = Annotated[str, AfterValidator(_web_address)]
Repository = Annotated[str, AfterValidator(_repository)]


def _some_text(value: str) -> str:
    if not value:
        raise ValueError("it must not be empty")
    return value


def _some_words(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values or not all(values):
        raise ValueError("it must name at least one, none of them empty")
    return values


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class ProfileSource(_Table):
    """One origin of the corpus. `kind` maps globs over the path to a kind; the first that matches decides."""

    url: str = ""
    path: str = ""
    name: str = ""
    library: str = ""
    kind: dict[str, Kind] = Field(default_factory=dict)
    version: str = ""
    schedule: str = ""

    def kind_of(self, path: str) -> Kind | None:
        return next((kind for glob, kind in self.kind.items() if fnmatchcase(path, glob)), None)


class Referrals(_Table):
    """Where questions go that the documentation cannot answer. `docs_search` holds `{query}`, and `forum` may."""

    repositories: tuple[Repository, ...] = ()
    docs_search: Annotated[WebAddress, AfterValidator(_search_address)] = ""
    forum: WebAddress = ""


class Answers(_Table):
    import_roots: tuple[str, ...] = ()
    style: str = ""


class GuardTable(_Table):
    max_distance: Annotated[float | None, Field(ge=0, le=2, allow_inf_nan=False)] = None


class Profile(_Table):
    """A corpus. `description` is used in messages and prompts ("I answer questions about {description}")."""

    name: Annotated[str, AfterValidator(_some_text)] = "docs"
    description: Annotated[str, AfterValidator(_some_text)] = "this documentation"
    languages: Annotated[tuple[str, ...], AfterValidator(_some_words)] = ("en",)
    version: str = ""
    source: tuple[ProfileSource, ...] = ()
    referrals: Referrals = Referrals()
    answers: Answers = Answers()
    guard: GuardTable = GuardTable()

    def source_for(self, origin: str, name: str) -> ProfileSource:
        """The profile's entry for an origin, by its name, else by its address or path; an empty one where it has none."""
        named = (entry for entry in self.source if name and entry.name == name)
        placed = (entry for entry in self.source if _place(origin) in {_place(entry.url), _place(entry.path)} - {""})
        return next(named, None) or next(placed, None) or ProfileSource()


def _place(origin: str) -> str:
    """An address or a path in the one form by which two of them are compared."""
    return origin.rstrip("/") if "://" in origin or not origin else os.path.abspath(os.path.expanduser(origin))  # noqa: PTH100, PTH111


def load_profile(name: str | None = None, tables: Mapping[str, Any] | None = None) -> Profile:
    """The profile of that bundled name or file; without one, of the `tables` of `citewell.toml`, else `generic`.

    Raises `SettingsError` that names the file, the key and the remedy.
    """
    if name is None:
        return _parse(tables, "citewell.toml") if tables else load_profile("generic")
    if name in BUNDLED:
        text = resources.files("citewell").joinpath("data", "profiles", f"{name}.toml").read_text(encoding="utf-8")
        return _parse(tomllib.loads(text), name)
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - pathlib's own raises where there is no such user
    if not os.path.isfile(path):  # noqa: PTH113 - pathlib's own raises where a folder is closed or the name too long
        raise SettingsError(f"There is no profile {name}.", hint=f"Name a file, or one of {', '.join(BUNDLED)}.")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"The profile {name} cannot be read: {error}", hint="Correct that line.") from error
    return _parse(tables, name)


def _parse(tables: Mapping[str, Any], where: str) -> Profile:
    for name, value in tables.items():
        if name in PROFILE_TABLES:
            continue
        if not isinstance(value, Mapping) and not (isinstance(value, list) and any(isinstance(item, Mapping) for item in value)):
            inner = name in Profile.model_fields
            hint = f"Write {name} below [profile]." if inner else "A profile holds tables only; settings stand in citewell.toml."
            raise SettingsError(f"{where}: {name} stands in no table.", hint=hint)
        hint = near_miss(name, PROFILE_TABLES) or f"It may have {', '.join(PROFILE_TABLES)}."
        raise SettingsError(f"{where}: {name} is no table of a profile.", hint=hint)
    head = tables.get("profile", {})
    if not isinstance(head, Mapping):
        raise SettingsError(f"{where}: profile is not one table.", hint="Write it once, as [profile].")
    try:
        return Profile.model_validate(dict(head) | {key: value for key, value in tables.items() if key != "profile"})
    except ValidationError as error:
        raise _explained(error, where) from None


def _explained(error: ValidationError, where: str) -> SettingsError:
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    hint = "docs/profiles.md lists what a profile may say."
    if fault["type"] == "extra_forbidden":
        return SettingsError(f"{where}: {place} is no key of a profile.", hint=near_miss(str(fault["loc"][-1]), _keys()) or hint)
    shown = re.sub(r"//\S*@", "//***@", repr(fault["input"]))
    shown = shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"
    said = fault["msg"].removeprefix("Value error, ").replace("Input should be", "it must be")
    said = "each source is a table [[source]]" if place == "source" else _WORDS.get(fault["type"], said)
    return SettingsError(f"{where}: {place} = {shown} is not valid: {said}.", hint=hint)


def _keys() -> set[str]:
    tables = (Profile, ProfileSource, Referrals, Answers, GuardTable)
    return {key for table in tables for key in table.model_fields}
