"""Settings: names, defaults, precedence, and what is told about a value that cannot be meant."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from citewell.errors import SettingsError
from citewell.settings import PROVIDERS, Settings, default_home, load_settings, profile_tables, read_config, variables

Patch = pytest.MonkeyPatch

DEFAULTS: dict[str, Any] = {
    "CITEWELL_DATABASE_URL": None,
    "CITEWELL_PROVIDER": "",
    "CITEWELL_MODELS": (),
    "OPENAI_COMPAT_BASE_URL": "",
    "OPENAI_COMPAT_API_KEY": None,
    "ANTHROPIC_API_KEY": None,
    "ANTHROPIC_BASE_URL": "",
    "GEMINI_API_KEY": None,
    "GEMINI_BASE_URL": "",
    "CITEWELL_EMBEDDINGS_MODEL": "",
    "CITEWELL_EMBEDDINGS_BASE_URL": "",
    "CITEWELL_EMBEDDINGS_API_KEY": None,
    "CITEWELL_EMBEDDINGS_DIMENSIONS": None,
    "CITEWELL_EMBEDDINGS_PER_MINUTE": 0,
    "CITEWELL_MAX_CALLS": 16,
    "CITEWELL_MAX_TOKENS": 60_000,
    "CITEWELL_MAX_SECONDS": 120,
    "CITEWELL_MAX_USD": None,
    "CITEWELL_CALL_TIMEOUT": 60,
    "CITEWELL_GUARD": True,
    "CITEWELL_TOPICALITY_MAX_DISTANCE": None,
    "CITEWELL_MAX_QUESTION_CHARS": 2000,
    "CITEWELL_AGENT_MAX_ROUNDS": 10,
    "CITEWELL_FRESHNESS": True,
    "CITEWELL_FRESHNESS_TTL_SECONDS": 3600,
    "CITEWELL_CONCURRENCY": 16,
    "CITEWELL_QUEUE_SIZE": 64,
    "CITEWELL_RATE_LIMIT": 8,
    "CITEWELL_RATE_WINDOW_SECONDS": 60,
    "CITEWELL_CRAWL_DELAY": 0.2,
    "CITEWELL_CRAWL_MAX_PAGES": 20_000,
    "CITEWELL_QUERY_LOG": True,
    "CITEWELL_QUERY_LOG_DAYS": 90,
} | {
    f"{role}_LLM_{name}": default
    for role in ("ROUTER", "FINAL")
    for name, default in (("PROVIDER", ""), ("MODEL_NAME", ""), ("BASE_URL", ""), ("API_KEY", None), ("TEMPERATURE", None))
}
OTHERS = {"CITEWELL_HOME", "LANGFUSE_BASE_URL", "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "LANGSMITH_ENDPOINT", "LANGSMITH_PROJECT"}
OTHERS |= {"LANGSMITH_API_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"}


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: Patch, tmp_path: Path) -> None:
    for names in variables().values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def field(variable: str) -> str:
    return next(name for name, names in variables().items() if variable in names)


def value(variable: str) -> Any:
    found = getattr(load_settings(), field(variable))
    return found.get_secret_value() if isinstance(found, SecretStr) else found


def toml(text: str) -> None:
    Path("citewell.toml").write_text(text, encoding="utf-8")


def refused(home: Path | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_settings(home)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(("variable", "default"), DEFAULTS.items())
def test_each_setting_has_its_documented_default(variable: str, default: object) -> None:
    assert value(variable) == default


def test_there_are_no_other_settings() -> None:
    assert {names[0] for names in variables().values()} == DEFAULTS.keys() | OTHERS


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("CITEWELL_PROVIDER", "gemini\n", "gemini"),
        ("CITEWELL_MODELS", " gemini:flash, anthropic:claude-x ,,llama3:8b\n", ("gemini:flash", "anthropic:claude-x", "llama3:8b")),
        ("OPENAI_COMPAT_API_KEY", " sk-abc\r\n", "sk-abc"),
        ("OPENAI_COMPAT_BASE_URL", "http://127.0.0.1:8000/v1/\n", "http://127.0.0.1:8000/v1"),
        ("CITEWELL_MAX_CALLS", " 3 ", 3),
        ("CITEWELL_MAX_SECONDS", "1.5", 1.5),
        ("CITEWELL_MAX_USD", "0", 0.0),
        ("CITEWELL_RATE_LIMIT", "0", 0),
        ("CITEWELL_CRAWL_DELAY", "0", 0.0),
        ("CITEWELL_FRESHNESS_TTL_SECONDS", "0", 0.0),
        ("CITEWELL_AGENT_MAX_ROUNDS", "0", 0),
        ("CITEWELL_DATABASE_URL", "postgresql://u:pw@h/db\n", "postgresql://u:pw@h/db"),
        ("CITEWELL_DATABASE_URL", "postgres:///db?host=/run/pg", "postgres:///db?host=/run/pg"),
        ("ROUTER_LLM_TEMPERATURE", "0.3", 0.3),
        ("FINAL_LLM_PROVIDER", "openai-compat ", "openai-compat"),
    ],
)
def test_values_are_stripped_and_read(monkeypatch: Patch, variable: str, text: str, expected: object) -> None:
    monkeypatch.setenv(variable, text)
    assert value(variable) == expected


@pytest.mark.parametrize("word", ["0", "false", "no", "off", "FALSE", " Off\n", "No"])
@pytest.mark.parametrize("variable", ["CITEWELL_GUARD", "CITEWELL_FRESHNESS", "CITEWELL_QUERY_LOG"])
def test_four_words_turn_a_switch_off(monkeypatch: Patch, variable: str, word: str) -> None:
    monkeypatch.setenv(variable, word)
    assert value(variable) is False


@pytest.mark.parametrize("word", ["1", "true", "yes", "on", "ON "])
def test_their_opposites_leave_it_on(monkeypatch: Patch, word: str) -> None:
    monkeypatch.setenv("CITEWELL_GUARD", word)
    assert value("CITEWELL_GUARD") is True


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_provider_can_be_preferred(monkeypatch: Patch, provider: str) -> None:
    monkeypatch.setenv("CITEWELL_PROVIDER", provider)
    assert value("CITEWELL_PROVIDER") == provider


@pytest.mark.parametrize(
    ("preferred", "other"),
    [
        ("OPENAI_COMPAT_API_KEY", "OPENAI_API_KEY"),
        ("OPENAI_COMPAT_BASE_URL", "OPENAI_BASE_URL"),
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        ("LANGFUSE_BASE_URL", "LANGFUSE_HOST"),
    ],
)
def test_a_second_name_serves_where_the_first_is_not_set(monkeypatch: Patch, preferred: str, other: str) -> None:
    monkeypatch.setenv(other, "http://second")
    assert value(preferred) == "http://second"
    monkeypatch.setenv(preferred, " \n")
    assert value(preferred) == "http://second"
    monkeypatch.setenv(preferred, "http://first")
    assert value(preferred) == "http://first"


class TestPrecedence:
    def test_the_environment_goes_before_the_file_and_the_file_before_the_default(self, monkeypatch: Patch) -> None:
        assert value("CITEWELL_MAX_CALLS") == 16
        toml("max_calls = 5\nguard = false\nmodels = ['a', ' b ', '']\n")
        assert (value("CITEWELL_MAX_CALLS"), value("CITEWELL_GUARD"), value("CITEWELL_MODELS")) == (5, False, ("a", "b"))
        monkeypatch.setenv("CITEWELL_MAX_CALLS", "7")
        assert value("CITEWELL_MAX_CALLS") == 7

    @pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    def test_by_whatever_name_the_environment_sets_it(self, monkeypatch: Patch, variable: str) -> None:
        toml("gemini_api_key = 'from-the-file'\n")
        monkeypatch.setenv(variable, "from-the-environment")
        assert value("GEMINI_API_KEY") == "from-the-environment"

    @pytest.mark.parametrize("blank", ["", " ", "\n"])
    def test_an_empty_variable_sets_nothing(self, monkeypatch: Patch, blank: str) -> None:
        toml("max_calls = 5\n")
        monkeypatch.setenv("CITEWELL_MAX_CALLS", blank)
        monkeypatch.setenv("CITEWELL_DATABASE_URL", blank)
        assert (value("CITEWELL_MAX_CALLS"), value("CITEWELL_DATABASE_URL")) == (5, None)

    def test_the_home_on_the_command_line_goes_before_all(self, monkeypatch: Patch, tmp_path: Path) -> None:
        monkeypatch.setenv("CITEWELL_HOME", str(tmp_path / "environment"))
        assert load_settings().home == tmp_path / "environment"
        assert load_settings(tmp_path / "option").home == tmp_path / "option"


class TestHome:
    def test_without_one_it_is_the_platforms(self) -> None:
        assert load_settings().home == default_home()
        assert default_home().is_absolute()

    def test_as_root_it_is_where_the_servers_account_can_reach_it(self, monkeypatch: Patch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        assert default_home() == Path("/var/lib/citewell")
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        assert default_home() != Path("/var/lib/citewell")

    def test_it_is_absolute_and_a_tilde_is_somebodys_home(self, monkeypatch: Patch, tmp_path: Path) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("CITEWELL_HOME", "~/data")
        assert load_settings().home == tmp_path / "data"
        assert load_settings(Path("here")).home == tmp_path / "here"

    def test_nobodys_home_is_an_error(self) -> None:
        error = refused(Path("~nobody-of-that-name/data"))
        assert "CITEWELL_HOME" in str(error)
        assert "~nobody-of-that-name" in str(error)


class TestMalformed:
    @pytest.mark.parametrize(
        ("variable", "text", "says"),
        [
            ("CITEWELL_MAX_SECONDS", "1h", "a number of seconds, such as 60"),
            ("CITEWELL_CALL_TIMEOUT", "60s", "a number of seconds, such as 60"),
            ("CITEWELL_RATE_WINDOW_SECONDS", "nan", "greater than 0"),
            ("CITEWELL_MAX_SECONDS", "inf", "a finite number"),
            ("CITEWELL_MAX_SECONDS", "0", "greater than 0"),
            ("CITEWELL_CRAWL_DELAY", "-1", "greater than or equal to 0"),
            ("CITEWELL_CRAWL_DELAY", "-inf", "greater than or equal to 0"),
            ("CITEWELL_FRESHNESS_TTL_SECONDS", "an hour", "a number of seconds, such as 60"),
            ("CITEWELL_MAX_USD", "nan", "a finite number"),
            ("CITEWELL_MAX_USD", "$1", "a number"),
            ("CITEWELL_TOPICALITY_MAX_DISTANCE", "nan", "a finite number"),
            ("CITEWELL_TOPICALITY_MAX_DISTANCE", "2.1", "less than or equal to 2"),
            ("CITEWELL_MAX_CALLS", "16.5", "a whole number"),
            ("CITEWELL_MAX_CALLS", "0", "greater than or equal to 1"),
            ("CITEWELL_MAX_TOKENS", "many", "a whole number"),
            ("CITEWELL_QUEUE_SIZE", "-1", "greater than or equal to 0"),
            ("CITEWELL_EMBEDDINGS_BASE_URL", "localhost:11434/v1", "begins with http:// or https://"),
            ("CITEWELL_EMBEDDINGS_DIMENSIONS", "4001", "less than or equal to 4000"),
            ("CITEWELL_EMBEDDINGS_DIMENSIONS", "0", "greater than or equal to 1"),
            ("CITEWELL_EMBEDDINGS_PER_MINUTE", "-1", "greater than or equal to 0"),
            ("CITEWELL_GUARD", "maybe", "on or off"),
            ("CITEWELL_PROVIDER", "gemni", "one of openai-compat, anthropic, gemini, offline"),
            ("ROUTER_LLM_PROVIDER", "gemni", "one of openai-compat, anthropic, gemini, offline"),
            ("CITEWELL_MODELS", "gemini:", "a provider without a model"),
            ("FINAL_LLM_TEMPERATURE", "hot", "a number"),
            ("OPENAI_COMPAT_BASE_URL", "localhost:11434/v1", "begins with http:// or https://"),
            ("OPENAI_BASE_URL", "api.example.com/v1", "begins with http:// or https://"),
            ("ANTHROPIC_BASE_URL", "ftp://h/v1", "begins with http:// or https://"),
            ("GEMINI_BASE_URL", "http://:80", "begins with http:// or https://"),
            ("GEMINI_BASE_URL", "http://h:port", "begins with http:// or https://"),
            ("GEMINI_BASE_URL", "http://[::1", "begins with http:// or https://"),
            ("GEMINI_BASE_URL", "http://two hosts/", "begins with http:// or https://"),
        ],
    )
    def test_the_setting_the_value_and_the_remedy_are_named(self, monkeypatch: Patch, variable: str, text: str, says: str) -> None:
        monkeypatch.setenv(variable, text)
        error = refused()
        assert str(error).startswith(f"{variable}: {text!r} is not valid: ")
        assert says in str(error)
        assert variable in error.hint
        assert error.exit_code == 2

    def test_the_remedy_names_the_default(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv("CITEWELL_MAX_SECONDS", "1h")
        assert refused().hint == "Correct CITEWELL_MAX_SECONDS, or unset it (default: 120.0)."

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("max_seconds = true", "a number"),
            ("max_calls = false", "a number"),
            ("max_seconds = nan", "greater than 0"),
            ("max_calls = '1h'", "a whole number"),
            ("guard = 'perhaps'", "on or off"),
            ("provider = 'gemni'", "one of"),
            ("models = 5", "a list of names"),
            ("models = [5]", "a valid string"),
            ("gemini_api_key = 5", "a valid string"),
        ],
    )
    def test_in_the_file_too(self, line: str, says: str) -> None:
        toml(line)
        error = refused()
        assert str(error).startswith(f"{line.split(' = ')[0]} in citewell.toml: ")
        assert says in str(error)

    def test_a_value_is_shown_no_longer_than_it_helps(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv("CITEWELL_MAX_CALLS", "9" * 6000)
        assert len(str(refused())) < 300

    @settings(deadline=None)  # a busy machine is no fault
    @given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=40))
    def test_no_text_for_a_number_is_anything_but_a_number_or_an_error(self, text: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CITEWELL_MAX_SECONDS", text)
            with suppress(SettingsError):
                assert 0 < load_settings().max_seconds < float("inf")


class TestUnknown:
    @pytest.mark.parametrize(
        ("variable", "hint"),
        [
            ("CITEWELL_MAX_CALL", "Did you mean CITEWELL_MAX_CALLS?"),
            ("citewell_max_calls", "Did you mean CITEWELL_MAX_CALLS?"),
            ("CITEWELL_GEMINI_API_KEY", "Did you mean GEMINI_API_KEY?"),
            ("ROUTER_LLM_MODEL", "Did you mean ROUTER_LLM_MODEL_NAME?"),
            ("CITEWELL_QQQQQQQQQQQQQQQQQQQQQQQQ", "docs/settings.md lists them all; unset this one."),
        ],
    )
    def test_a_variable_that_is_no_setting_is_refused_with_the_one_that_was_meant(
        self, monkeypatch: Patch, variable: str, hint: str
    ) -> None:
        monkeypatch.setenv(variable, "1")
        error = refused()
        assert str(error) == f"{variable} is no setting of citewell."
        assert error.hint == hint

    @pytest.mark.parametrize("variable", ["CITEWELL_TEST_DATA", "CITEWELL_TEST_ANYTHING", "OPENAI_ORGANIZATION", "OTEL_SERVICE_NAME"])
    def test_variables_of_the_tests_and_of_others_are_none_of_our_business(self, monkeypatch: Patch, variable: str) -> None:
        before = load_settings().max_calls
        monkeypatch.setenv(variable, "1")
        assert load_settings().max_calls == before

    @pytest.mark.parametrize(
        ("text", "message", "hint"),
        [
            ("max_call = 5", "max_call in citewell.toml is no setting of citewell.", "Did you mean max_calls?"),
            ("MAX_TOKENS = 5", "MAX_TOKENS in citewell.toml is no setting of citewell.", "Did you mean max_tokens?"),
            ("CITEWELL_HOME = '/x'", "CITEWELL_HOME in citewell.toml is no setting of citewell.", "Did you mean home?"),
            ("[gaurd]\nmax_distance = 1", "gaurd in citewell.toml is no table of citewell.", "Did you mean guard?"),
            ("profile = 'pytorch'", "profile in citewell.toml is no setting of citewell.", "Write it as a table, [profile]."),
            ("zzzzzz = 1", "zzzzzz in citewell.toml is no setting of citewell.", "docs/settings.md lists them all."),
        ],
    )
    def test_a_key_of_the_file_that_is_no_setting_too(self, text: str, message: str, hint: str) -> None:
        toml(text)
        error = refused()
        assert (str(error), error.hint) == (message, hint)


class TestFile:
    def test_its_tables_are_the_profile_and_none_of_the_settings(self) -> None:
        toml("max_calls = 5\n[profile]\nname = 'x'\n[[source]]\nurl = 'https://x/'\n[guard]\nmax_distance = 0.5\n")
        assert load_settings().max_calls == 5
        assert set(profile_tables()) == {"profile", "source", "guard"}

    def test_no_sources_is_a_list_of_none(self) -> None:
        toml("source = []\n")
        load_settings()
        assert profile_tables() == {"source": []}

    @pytest.mark.parametrize("data", [b"max_calls = ", b"max_calls = 5\nmax_calls = 6", b"\xff\xfe\x00", b"name = 'unclosed"])
    def test_a_file_that_is_no_toml_is_refused(self, data: bytes) -> None:
        Path("citewell.toml").write_bytes(data)
        error = refused()
        assert str(error).startswith("citewell.toml cannot be read: ")

    def test_a_folder_of_that_name_is_refused(self) -> None:
        Path("citewell.toml").mkdir()
        assert "cannot be read" in str(refused())

    def test_it_may_begin_with_a_byte_order_mark(self) -> None:
        Path("citewell.toml").write_bytes(b"\xef\xbb\xbfmax_calls = 5\n")
        assert value("CITEWELL_MAX_CALLS") == 5

    def test_another_file_can_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "other.toml").write_text("x = 1", encoding="utf-8")
        assert read_config(tmp_path / "other.toml") == {"x": 1}
        assert read_config(tmp_path / "missing.toml") == {}


SECRETS = [name for names in variables().values() for name in names if name.endswith("_KEY") and name != "LANGFUSE_PUBLIC_KEY"]


class TestSecrets:
    @pytest.mark.parametrize("variable", SECRETS)
    def test_a_key_is_known_for_redaction_and_shown_nowhere(self, monkeypatch: Patch, variable: str) -> None:
        monkeypatch.setenv(variable, "k3y-0f-mine")
        settings = load_settings()
        assert settings.secrets == ("k3y-0f-mine",)
        assert "k3y-0f-mine" not in f"{settings!r} {settings} {settings.model_dump()}"

    @pytest.mark.parametrize("variable", SECRETS)
    def test_a_key_that_cannot_stand_in_a_header_is_an_error_that_does_not_show_it(self, monkeypatch: Patch, variable: str) -> None:
        monkeypatch.setenv(variable, "“k3y-0f-mine”")
        error = refused()
        assert str(error) == f"{variable}: its value is not valid: it must be one word of plain letters, digits and signs."
        assert "k3y" not in f"{error.hint} {error.__cause__}"

    def test_an_unknown_key_of_the_file_is_named_without_its_value(self) -> None:
        toml("openai_key = 'k3y-0f-mine'")
        error = refused()
        assert "k3y" not in f"{error} {error.hint}"

    def test_the_passwords_of_addresses_are_known_as_written_and_decoded(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv("CITEWELL_DATABASE_URL", "postgresql://user:p%40ss%2Fword@h/db?sslpassword=more%21")
        monkeypatch.setenv("OPENAI_BASE_URL", "https://me:hunter22@h/v1")
        assert {"p%40ss%2Fword", "p@ss/word", "more!", "hunter22"} <= set(load_settings().secrets)
        assert "h/db" in load_settings().secrets[0]

    def test_a_password_with_an_unencoded_at_sign_is_known_whole(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv("CITEWELL_DATABASE_URL", "postgresql://user:p@ss@h/db")
        assert "p@ss" in load_settings().secrets

    def test_the_values_of_headers_are_known(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abcdef,x-team=blue")
        assert {"Basic%20abcdef", "Basic abcdef", "blue"} <= set(load_settings().secrets)

    def test_the_password_in_an_address_is_not_shown(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "https://me:hunter22@h/v1")
        settings = load_settings()
        assert "hunter22" not in f"{settings!r} {settings}"
        assert "https://***@h/v1" in repr(settings)

    @pytest.mark.parametrize("url", ["ftp://me:hunter22@h/v1", "https://me:hunter22/x@h:port", "me:hunter22@h", "http://me:hunt er22@h"])
    @pytest.mark.parametrize("variable", ["CITEWELL_DATABASE_URL", "OPENAI_BASE_URL"])
    def test_nor_in_the_error_about_it(self, monkeypatch: Patch, variable: str, url: str) -> None:
        monkeypatch.setenv(variable, url)
        error = refused()
        assert str(error).startswith(f"{variable}: ")
        assert "hunt" not in f"{error} {error.hint}"

    def test_made_by_hand_a_bad_value_is_not_shown_either(self) -> None:
        with pytest.raises(ValidationError) as caught:
            Settings(gemini_api_key="two words")  # type: ignore[arg-type]
        assert "two words" not in str(caught.value)

    def test_without_any_there_are_none(self) -> None:
        assert load_settings().secrets == ()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load_settings().max_calls = 5  # type: ignore[misc]
