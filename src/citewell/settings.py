"""One frozen `Settings`, and the only reader of the environment and of `citewell.toml`.

Precedence: environment, then `citewell.toml` of the working directory, then the defaults below. Everything is checked here, at
start: an unknown key or a malformed value is a `SettingsError` that names the setting, the value and the remedy.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from citewell.errors import SettingsError, near_miss
from citewell.setting_types import (
    PROFILE_TABLES,
    PROVIDERS,
    ApiKey,
    AtLeastOne,
    Count,
    Dimensions,
    HttpUrl,
    Models,
    Money,
    Pause,
    PostgresUrl,
    ProviderName,
    Seconds,
    Switch,
    UpToTwo,
)

CONFIG_NAME = "citewell.toml"

_OURS = ("CITEWELL_", "ROUTER_LLM_", "FINAL_LLM_")  # a variable that begins so and is no setting is a misspelt one
_SHOWN_CHARS = 80
_ACCOUNT = re.compile(r"^(['\"]?(?:[\w+.-]+://)?).*@", re.DOTALL)
_WORDS = {
    "bool_parsing": "it must be on or off",
    "bool_type": "it must be on or off",
    "finite_number": "it must be a finite number",
    "float_parsing": "it must be a number",
    "float_type": "it must be a number",
    "int_parsing": "it must be a whole number",
    "int_type": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "tuple_type": "it must be a list of names",
    "literal_error": f"it must be one of {', '.join(PROVIDERS)}",
}


def _named(default: Any, *variables: str) -> Any:
    return Field(default=default, validation_alias=AliasChoices(*variables))


class _Given(PydanticBaseSettingsSource):
    """The settings of one origin by field name, those left empty dropped so that the next origin may set them."""

    def __init__(self, settings_cls: type[BaseSettings], given: Mapping[str, Any]) -> None:
        super().__init__(settings_cls)
        self.given = _stripped(given)

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - pydantic's signature
        return self.given.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self.given


class Settings(BaseSettings):
    """Every setting, each a documented environment variable (`CITEWELL_` and the field's name unless an alias says otherwise)."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True, populate_by_name=True, hide_input_in_errors=True
    )

    home: Path = Field(default_factory=lambda: default_home())
    database_url: PostgresUrl = None

    provider: ProviderName = ""
    models: Models = ()
    openai_compat_base_url: HttpUrl = _named("", "OPENAI_COMPAT_BASE_URL", "OPENAI_BASE_URL")
    openai_compat_api_key: ApiKey = _named(None, "OPENAI_COMPAT_API_KEY", "OPENAI_API_KEY")
    anthropic_base_url: HttpUrl = _named("", "ANTHROPIC_BASE_URL")
    anthropic_api_key: ApiKey = _named(None, "ANTHROPIC_API_KEY")
    gemini_base_url: HttpUrl = _named("", "GEMINI_BASE_URL")
    gemini_api_key: ApiKey = _named(None, "GEMINI_API_KEY", "GOOGLE_API_KEY")

    embeddings_model: str = ""
    embeddings_base_url: HttpUrl = ""
    embeddings_api_key: ApiKey = None
    embeddings_dimensions: Dimensions = None
    embeddings_per_minute: Count = 0

    max_calls: AtLeastOne = 16
    max_tokens: AtLeastOne = 60_000
    max_seconds: Seconds = 120.0
    max_usd: Money = None
    call_timeout: Seconds = 60.0
    agent_max_rounds: Count = 10

    guard: Switch = True
    topicality_max_distance: UpToTwo = None
    max_question_chars: AtLeastOne = 2000

    freshness: Switch = True
    freshness_ttl_seconds: Pause = 3600.0
    crawl_delay: Pause = 0.2
    crawl_max_pages: AtLeastOne = 20_000

    concurrency: AtLeastOne = 16
    queue_size: Count = 64
    rate_limit: Count = 8
    rate_window_seconds: Seconds = 60.0
    query_log: Switch = True
    query_log_days: AtLeastOne = 90

    router_llm_provider: ProviderName = _named("", "ROUTER_LLM_PROVIDER")
    router_llm_model_name: str = _named("", "ROUTER_LLM_MODEL_NAME")
    router_llm_base_url: HttpUrl = _named("", "ROUTER_LLM_BASE_URL")
    router_llm_api_key: ApiKey = _named(None, "ROUTER_LLM_API_KEY")
    router_llm_temperature: UpToTwo = _named(None, "ROUTER_LLM_TEMPERATURE")
    final_llm_provider: ProviderName = _named("", "FINAL_LLM_PROVIDER")
    final_llm_model_name: str = _named("", "FINAL_LLM_MODEL_NAME")
    final_llm_base_url: HttpUrl = _named("", "FINAL_LLM_BASE_URL")
    final_llm_api_key: ApiKey = _named(None, "FINAL_LLM_API_KEY")
    final_llm_temperature: UpToTwo = _named(None, "FINAL_LLM_TEMPERATURE")

    langfuse_base_url: HttpUrl = _named("", "LANGFUSE_BASE_URL", "LANGFUSE_HOST")
    langfuse_public_key: str = _named("", "LANGFUSE_PUBLIC_KEY")
    langfuse_secret_key: ApiKey = _named(None, "LANGFUSE_SECRET_KEY")
    langsmith_endpoint: HttpUrl = _named("", "LANGSMITH_ENDPOINT")
    langsmith_project: str = _named("", "LANGSMITH_PROJECT")
    langsmith_api_key: ApiKey = _named(None, "LANGSMITH_API_KEY")
    otel_exporter_otlp_endpoint: HttpUrl = _named("", "OTEL_EXPORTER_OTLP_ENDPOINT")
    otel_exporter_otlp_headers: SecretStr | None = _named(None, "OTEL_EXPORTER_OTLP_HEADERS")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic-settings' own
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, _Given(settings_cls, _environment()), _Given(settings_cls, _plain(read_config()))

    @model_validator(mode="before")
    @classmethod
    def _strip(cls, values: dict[str, Any]) -> dict[str, Any]:
        return _stripped(values)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _ACCOUNT.sub(r"\1***@", value) if isinstance(value, str) else value

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every secret value in force, for redaction: keys, the passwords within addresses, the values of headers."""
        found: list[str] = []
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                value = value.get_secret_value()
                found.append(value)
            if isinstance(value, str):
                found += _inside(name, value)
        return tuple(dict.fromkeys(secret for secret in found if secret))


def _inside(name: str, value: str) -> list[str]:
    """The secrets that are a part of a value, as they stand there and decoded."""
    if name == "otel_exporter_otlp_headers":
        parts = [pair.partition("=")[2].strip() for pair in value.split(",")]
    else:
        account = re.match(r"[^/]*//[^:@/]*:(.*)@", value)  # up to the last @: people do not encode the one in a password
        query = parse_qsl(value.partition("?")[2])
        parts = [account.group(1) if account else "", *(text for key, text in query if "password" in key)]
    return [text for part in parts for text in (part, unquote(part))]


def _stripped(given: Mapping[str, Any]) -> dict[str, Any]:
    """White space and newlines round a value are never meant; a value of nothing else is no value."""
    stripped = {name: value.strip() if isinstance(value, str) else value for name, value in given.items()}
    return {name: value for name, value in stripped.items() if value != ""}


def default_home() -> Path:
    """The platform's data folder; `/var/lib/citewell` as root, where the database server's own account can reach it."""
    return Path("/var/lib/citewell") if os.name == "posix" and os.geteuid() == 0 else platformdirs.user_data_path("citewell")


def read_config(path: Path | None = None) -> dict[str, Any]:
    """What `citewell.toml` holds; empty when there is none. Raises `SettingsError` on a file that is no TOML."""
    path = path or Path(CONFIG_NAME)
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise SettingsError(f"{path} cannot be read: it is no file.", hint="Move it away, or run citewell in another folder.")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}", hint="Correct that line, or move the file away.") from error


def _is_table(name: str, value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and name in PROFILE_TABLES)


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if not _is_table(name, value)}


def profile_tables() -> dict[str, Any]:
    """The tables of `citewell.toml`, which make up a profile."""
    return {name: value for name, value in read_config().items() if _is_table(name, value)}


def load_settings(home: Path | None = None) -> Settings:
    """The settings in force, with `--home` on top. Raises `SettingsError` that names the setting, the value and the remedy."""
    _refuse_unknown()
    try:
        settings = Settings() if home is None else Settings(home=home)
    except ValidationError as error:
        raise _explained(error) from None
    try:
        return settings.model_copy(update={"home": settings.home.expanduser().absolute()})
    except RuntimeError:
        raise SettingsError(f"CITEWELL_HOME: nobody's home is known for {settings.home}.", hint="Name the folder without ~.") from None


def variables() -> dict[str, tuple[str, ...]]:
    """Field name to the environment variables that set it, the preferred one first."""
    names = {}
    for name, info in Settings.model_fields.items():
        alias = info.validation_alias
        names[name] = tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (f"CITEWELL_{name.upper()}",)
    return names


def _environment() -> dict[str, str]:
    """What the environment sets, by field name; of two variables for one setting the first that is not empty."""
    given = {name: value for name, value in os.environ.items() if value.strip()}
    found = {field: next((name for name in names if name in given), None) for field, names in variables().items()}
    return {field: given[name] for field, name in found.items() if name is not None}


def _refuse_unknown() -> None:
    known = {name for names in variables().values() for name in names}
    for name in os.environ:
        if name not in known and name.upper().startswith(_OURS) and not name.upper().startswith("CITEWELL_TEST_"):
            bare = name.upper().removeprefix("CITEWELL_")
            hint = near_miss(bare if bare in known else name, known) or "docs/settings.md lists them all; unset this one."
            raise SettingsError(f"{name} is no setting of citewell.", hint=hint)
    for name, value in read_config().items():
        table = _is_table(name, value)
        if name not in (PROFILE_TABLES if table else Settings.model_fields):
            words = {*Settings.model_fields, *PROFILE_TABLES} - {name}
            hint = f"Write it as a table, [{name}]." if name in PROFILE_TABLES else near_miss(name.lower().removeprefix("citewell_"), words)
            kind = "table" if table else "setting"
            raise SettingsError(f"{name} in {CONFIG_NAME} is no {kind} of citewell.", hint=hint or "docs/settings.md lists them all.")


def _explained(error: ValidationError) -> SettingsError:
    """The first fault of a validation, in a person's words, with secrets kept out."""
    fault = error.errors(include_url=False)[0]
    named = str(fault["loc"][0])
    field = next(name for name, names in variables().items() if named in (name, *names))
    info = Settings.model_fields[field]
    given = next((name for name in variables()[field] if os.environ.get(name, "").strip()), None)
    place = given or (f"{field} in {CONFIG_NAME}" if field in read_config() else variables()[field][0])
    shown = "its value" if "SecretStr" in str(info.annotation) else _shown(fault["input"])
    said = fault["msg"].removeprefix("Value error, ")
    words = _WORDS.get(fault["type"], said.replace("Input should be", "it must be"))
    if info.description and fault["type"] == "float_parsing":
        words += f" of {info.description}, such as 60"
    default = "" if info.default in (None, "", ()) or info.is_required() else f" (default: {info.default})"
    return SettingsError(f"{place}: {shown} is not valid: {words}.", hint=f"Correct {place}, or unset it{default}.")


def _shown(value: Any) -> str:
    text = _ACCOUNT.sub(r"\1***@", repr(value))
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
