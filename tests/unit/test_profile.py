"""Profiles: what makes a corpus itself, as data; a mistake in one is named with its place and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.errors import SettingsError
from citewell.profile import BUNDLED, Profile, ProfileSource, load_profile

COMPLETE = """
[profile]
name = "widget"
description = "the widget"
languages = ["en", "de"]
version = "2.1"

[[source]]
url = "https://widget.example/docs/"
name = "manual"
library = "widget"
kind = { "api/*" = "api", "tutorials/*" = "tutorial", "*" = "guide" }
version = "2.1"
schedule = "daily"

[[source]]
path = "./extra"

[referrals]
repositories = ["widget/widget", "widget/widget.github.io"]
docs_search = "https://widget.example/search?q={query}"
forum = "https://forum.widget.example/"

[answers]
import_roots = ["widget"]
style = "terse"

[guard]
max_distance = 0.6
"""


def refused(**tables: Any) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_profile(tables=tables)
    assert str(caught.value).startswith("citewell.toml: ")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("name", BUNDLED)
def test_the_bundled_profiles_are_named_without_a_path(name: str) -> None:
    profile = load_profile(name)
    assert profile.description
    assert "en" in profile.languages


def test_the_pytorch_profile_knows_its_sources_and_where_to_refer() -> None:
    profile = load_profile("pytorch")
    assert profile.name == "pytorch"
    assert profile.source_for("https://docs.pytorch.org/docs/stable", "").library == "torch"
    assert "pytorch/pytorch" in profile.referrals.repositories
    assert "torch" in profile.answers.import_roots


def test_without_a_profile_there_is_a_generic_one() -> None:
    assert load_profile() == load_profile("generic") == Profile()
    assert load_profile(tables={}) == load_profile("generic")
    assert load_profile().answers.import_roots == ()


def test_a_file_may_say_everything(tmp_path: Path) -> None:
    file = tmp_path / "widget.toml"
    file.write_text(COMPLETE, encoding="utf-8")
    profile = load_profile(str(file))
    assert (profile.name, profile.description, profile.languages, profile.version) == ("widget", "the widget", ("en", "de"), "2.1")
    assert [source.name for source in profile.source] == ["manual", ""]
    assert profile.source[0].schedule == "daily"
    assert profile.referrals.docs_search == "https://widget.example/search?q={query}"
    assert profile.answers.style == "terse"
    assert profile.guard.max_distance == 0.6


def test_the_tables_of_the_configuration_are_one_too() -> None:
    assert load_profile(tables={"profile": {"name": " x "}, "guard": {"max_distance": 1}}).name == "x"


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_bytes(b"\xef\xbb\xbf" + COMPLETE.encode())
    assert load_profile(str(file)).name == "widget"


@pytest.mark.parametrize("name", ["pytorh", "", "~nobody-of-that-name/p.toml", "missing/p.toml", "."])
def test_a_profile_that_is_not_there_is_named_with_those_that_are(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_profile(name)
    assert str(caught.value) == f"There is no profile {name}."
    assert "generic, pytorch" in caught.value.hint


@pytest.mark.parametrize("data", [b"[profile", b"\xff\xfe", b"[profile]\nname = 1\nname = 2"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "broken.toml"
    file.write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        load_profile(str(file))
    assert str(caught.value).startswith(f"The profile {file} cannot be read: ")


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("[profile]\nnam = 'x'\n", encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_profile(str(file))
    assert str(caught.value) == f"{file}: nam is no key of a profile."
    assert caught.value.hint == "Did you mean name?"


class TestMistakes:
    @pytest.mark.parametrize(("name", "hint"), [("referals", "Did you mean referrals?"), ("x", "It may have profile, source, ")])
    def test_an_unknown_table(self, name: str, hint: str) -> None:
        error = refused(**{name: {}})
        assert str(error) == f"citewell.toml: {name} is no table of a profile."
        assert error.hint.startswith(hint)

    @pytest.mark.parametrize(
        ("tables", "place", "hint"),
        [
            ({"profile": {"nam": "x"}}, "nam", "Did you mean name?"),
            ({"source": [{"urls": "x"}]}, "source.0.urls", "Did you mean url?"),
            ({"referrals": {"repos": []}}, "referrals.repos", "docs/profiles.md lists what a profile may say."),
            ({"answers": {"import-roots": []}}, "answers.import-roots", "Did you mean import_roots?"),
            ({"profile": {"max_calls": 5}}, "max_calls", "docs/profiles.md lists what a profile may say."),
        ],
    )
    def test_an_unknown_key(self, tables: dict[str, Any], place: str, hint: str) -> None:
        error = refused(**tables)
        assert str(error) == f"citewell.toml: {place} is no key of a profile."
        assert error.hint == hint

    @pytest.mark.parametrize(
        ("tables", "says"),
        [
            ({"guard": {"max_distance": float("nan")}}, "guard.max_distance = nan is not valid: it must be a finite number"),
            ({"guard": {"max_distance": 3}}, "guard.max_distance = 3 is not valid: it must be less than or equal to 2"),
            ({"source": [{"kind": {"*": "apii"}}]}, "source.0.kind.* = 'apii' is not valid: it must be 'api', 'tutorial' or 'guide'"),
            ({"source": [{"kind": "api"}]}, "source.0.kind = 'api' is not valid: it must be a table"),
            ({"source": {"url": "https://x/"}}, "each source is a table [[source]]"),
            ({"profile": {"version": 2.1}}, "version = 2.1 is not valid: it must be text in quotes"),
            ({"profile": {"languages": "en"}}, "languages = 'en' is not valid: it must be a list"),
            ({"referrals": {"docs_search": "https://x/"}}, "it must hold {query}, where the words go"),
            ({"referrals": {"docs_search": "javascript:alert('{query}')"}}, "it must be an address that begins with http:// or https://"),
            ({"referrals": {"forum": "forum.example"}}, "it must be an address that begins with http:// or https://"),
            ({"referrals": {"repositories": ["pytorch"]}}, "referrals.repositories.0 = 'pytorch' is not valid: it must be owner/name"),
            ({"referrals": {"repositories": ["a/b?x=1"]}}, "it must be owner/name"),
        ],
    )
    def test_a_value_that_cannot_be_meant(self, tables: dict[str, Any], says: str) -> None:
        assert says in str(refused(**tables))

    @pytest.mark.parametrize("head", [[{"name": "x"}], "x", 5])
    def test_a_head_that_is_not_one_table(self, head: object) -> None:
        error = refused(profile=head)
        assert str(error) == "citewell.toml: profile is not one table."
        assert error.hint == "Write it once, as [profile]."

    def test_a_password_in_an_address_is_not_shown(self) -> None:
        assert "hunter2" not in str(refused(source=[{"url": ["https://me:hunter2@h/"]}]))

    def test_a_long_value_is_cut(self) -> None:
        assert len(str(refused(guard={"max_distance": "x" * 5000}))) < 300


class TestSources:
    PROFILE = load_profile(
        tables={
            "source": [
                {"url": "https://h/docs/", "name": "web"},
                {"path": "docs", "name": "local", "kind": {"api/*": "api", "*": "guide"}},
                {"url": "https://h/other/"},
            ]
        }
    )

    @pytest.mark.parametrize(
        ("origin", "name", "found"),
        [
            ("https://h/docs", "", "web"),
            ("https://h/docs/", "anything", "web"),
            ("docs", "", "local"),
            ("./docs/", "", "local"),
            ("https://h/docs/", "local", "local"),  # the name that was asked for decides
            ("elsewhere", "web", "web"),
            ("elsewhere", "", ""),
            ("", "", ""),
            ("https://h/docs/deeper/", "", ""),
        ],
    )
    def test_an_origin_finds_its_entry_by_name_or_by_place(self, origin: str, name: str, found: str) -> None:
        assert self.PROFILE.source_for(origin, name).name == found

    def test_an_absolute_path_is_the_same_place(self) -> None:
        assert self.PROFILE.source_for(str(Path("docs").absolute()), "").name == "local"

    def test_an_origin_without_an_entry_has_an_empty_one(self) -> None:
        assert load_profile().source_for("docs", "x") == ProfileSource()

    @pytest.mark.parametrize(("path", "kind"), [("api/x/y.html", "api"), ("index.html", "guide")])
    def test_the_first_rule_that_matches_a_path_decides_its_kind(self, path: str, kind: str) -> None:
        assert self.PROFILE.source[1].kind_of(path) == kind

    def test_without_a_rule_there_is_no_kind(self) -> None:
        assert self.PROFILE.source[0].kind_of("api/x.html") is None


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_profile().name = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("home = 5", "home stands in no table.", "citewell.toml"),
        ("languages = ['en']", "languages stands in no table.", "below [profile]"),
        ("[profile]\nlanguages = []", "languages = [] is not valid: it must name at least one", "docs/profiles.md"),
        ("[profile]\nlanguages = ['']", "it must name at least one, none of them empty", "docs/profiles.md"),
        ("[profile]\ndescription = ' '", "description = ' ' is not valid: it must not be empty.", "docs/profiles.md"),
    ],
)
def test_what_says_nothing_is_refused(tmp_path: Path, text: str, says: str, hint: str) -> None:
    file = tmp_path / "p.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_profile(str(file))
    assert says in str(caught.value)
    assert hint in caught.value.hint
