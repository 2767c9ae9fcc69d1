"""What makes a corpus itself, as data: its name, languages, sources, where to refer, what code may import. No code of ours knows a
corpus by name; a new corpus is a new profile file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import SettingsError
from citewell.types import Kind

BUNDLED = ("generic", "pytorch")
TABLES = ("profile", "source", "referrals", "answers", "guard")


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
    """Where questions go that the documentation cannot answer. `docs_search` holds `{query}`."""

    repositories: tuple[str, ...] = ()
    docs_search: str = ""
    forum: str = ""


class Answers(_Table):
    import_roots: tuple[str, ...] = ()
    style: str = ""


class GuardTable(_Table):
    max_distance: Annotated[float | None, Field(ge=0, le=2, allow_inf_nan=False)] = None


class Profile(_Table):
    """A corpus. `description` is used in messages and prompts ("I answer questions about {description}")."""

    name: str = "docs"
    description: str = "this documentation"
    languages: tuple[str, ...] = ("en",)
    version: str = ""
    source: tuple[ProfileSource, ...] = ()
    referrals: Referrals = Referrals()
    answers: Answers = Answers()
    guard: GuardTable = GuardTable()

    def source_for(self, origin: str, name: str) -> ProfileSource:
        """The profile's entry for an origin, by name or by address; an empty one where it has none."""
        for entry in self.source:
            if (entry.name and entry.name == name) or origin.rstrip("/") in {entry.url.rstrip("/"), entry.path.rstrip("/")} - {""}:
                return entry
        return ProfileSource()


def load_profile(name: str | None = None, tables: Mapping[str, Any] | None = None) -> Profile:
    """The profile of that bundled name or file; without one, of the `tables` of `citewell.toml`, else `generic`.

    Raises `SettingsError` that names the file, the key and the remedy.
    """
    if name is None:
        return _parse(tables, "citewell.toml") if tables else load_profile("generic")
    if name in BUNDLED:
        text = resources.files("citewell").joinpath("data", "profiles", f"{name}.toml").read_text(encoding="utf-8")
        return _parse(tomllib.loads(text), name)
    path = Path(name).expanduser()
    if not path.is_file():
        raise SettingsError(f"There is no profile {name}.", hint=f"Name a file, or one of {', '.join(BUNDLED)}.")
    try:
        return _parse(tomllib.loads(path.read_text(encoding="utf-8")), name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"The profile {name} cannot be read: {error}", hint="Correct that line.") from error


def _parse(tables: Mapping[str, Any], where: str) -> Profile:
    unknown = sorted(set(tables) - set(TABLES))
    if unknown:
        raise SettingsError(f"{where}: {unknown[0]} is no table of a profile.", hint=f"It may have {', '.join(TABLES)}.")
    merged = dict(tables.get("profile", {})) | {key: value for key, value in tables.items() if key != "profile"}
    try:
        return Profile.model_validate(merged)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise SettingsError(
            f"{where}: {place} = {fault['input']!r} is not valid: {fault['msg']}.", hint="docs/profiles.md lists what a profile may say."
        ) from None
