"""One frozen `Settings`, and the only reader of the environment and of `citewell.toml`.

Precedence: environment, then `citewell.toml` of the working directory, then the defaults below. Everything is checked here, at
start: an unknown key or a malformed value is a `SettingsError` that names the setting, the value and the remedy.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from citewell.errors import SettingsError

CONFIG_NAME = "citewell.toml"
PROVIDERS = ("openai-compat", "anthropic", "gemini", "offline")


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in {"http", "https"} or not parts.netloc):
        raise ValueError("must be an address that begins with http:// or https://")
    return value.rstrip("/")


def _postgres_url(value: SecretStr | None) -> SecretStr | None:
    if value is None or not value.get_secret_value():
        return None
    if urlsplit(value.get_secret_value()).scheme not in {"postgres", "postgresql"}:
        raise ValueError("must be an address that begins with postgresql://")
    return value


def _switch(value: Any) -> Any:
    """The four words that turn something off, and their opposites; anything else is left for pydantic to refuse."""
    words = {"0": False, "false": False, "no": False, "off": False, "1": True, "true": True, "yes": True, "on": True}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def _names(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


HttpUrl = Annotated[str, AfterValidator(_http_url)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


def _key(*names: str) -> Any:
    return Field(default=None, validation_alias=AliasChoices(*names))


def _plain(*names: str) -> Any:
    return Field(default="", validation_alias=AliasChoices(*names))


class _TomlSource(PydanticBaseSettingsSource):
    """The plain values of `citewell.toml`; its tables belong to the profile."""

    def __init__(self, settings_cls: type[BaseSettings], table: Mapping[str, Any]) -> None:
        super().__init__(settings_cls)
        self.table = table

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - pydantic's signature
        return self.table.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in self.table.items() if not _is_table(value)}


class Settings(BaseSettings):
    """Every setting, each a documented environment variable (`CITEWELL_` and the field's name unless an alias says otherwise)."""

    model_config = SettingsConfigDict(
        env_prefix="CITEWELL_",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        str_strip_whitespace=True,
        populate_by_name=True,
        enable_decoding=False,
    )

    home: Path = Field(default_factory=lambda: default_home())
    database_url: Annotated[SecretStr | None, AfterValidator(_postgres_url)] = None

    provider: Literal["", "openai-compat", "anthropic", "gemini", "offline"] = ""
    models: Names = ()
    openai_compat_base_url: HttpUrl = _plain("OPENAI_COMPAT_BASE_URL", "OPENAI_BASE_URL")
    openai_compat_api_key: SecretStr | None = _key("OPENAI_COMPAT_API_KEY", "OPENAI_API_KEY")
    anthropic_base_url: HttpUrl = _plain("ANTHROPIC_BASE_URL")
    anthropic_api_key: SecretStr | None = _key("ANTHROPIC_API_KEY")
    gemini_base_url: HttpUrl = _plain("GEMINI_BASE_URL")
    gemini_api_key: SecretStr | None = _key("GEMINI_API_KEY", "GOOGLE_API_KEY")

    max_calls: Annotated[int, Field(ge=1)] = 16
    max_tokens: Annotated[int, Field(ge=1)] = 60_000
    max_seconds: Seconds = 120.0
    max_usd: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    call_timeout: Seconds = 60.0
    agent_max_rounds: Count = 10

    guard: Switch = True
    topicality_max_distance: Annotated[float | None, Field(ge=0, le=2, allow_inf_nan=False)] = None
    max_question_chars: Annotated[int, Field(ge=1)] = 2000

    freshness: Switch = True
    freshness_ttl_seconds: Seconds = 3600.0
    crawl_delay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.2

    concurrency: Annotated[int, Field(ge=1)] = 16
    queue_size: Count = 64
    rate_limit: Count = 8
    rate_window_seconds: Seconds = 60.0
    query_log: Switch = True
    query_log_days: Annotated[int, Field(ge=1)] = 90

    router_llm_provider: str = _plain("ROUTER_LLM_PROVIDER")
    router_llm_model_name: str = _plain("ROUTER_LLM_MODEL_NAME")
    router_llm_base_url: HttpUrl = _plain("ROUTER_LLM_BASE_URL")
    router_llm_api_key: SecretStr | None = _key("ROUTER_LLM_API_KEY")
    router_llm_temperature: Annotated[float | None, Field(ge=0, le=2)] = _key("ROUTER_LLM_TEMPERATURE")
    final_llm_provider: str = _plain("FINAL_LLM_PROVIDER")
    final_llm_model_name: str = _plain("FINAL_LLM_MODEL_NAME")
    final_llm_base_url: HttpUrl = _plain("FINAL_LLM_BASE_URL")
    final_llm_api_key: SecretStr | None = _key("FINAL_LLM_API_KEY")
    final_llm_temperature: Annotated[float | None, Field(ge=0, le=2)] = _key("FINAL_LLM_TEMPERATURE")
    langfuse_secret_key: SecretStr | None = _key("LANGFUSE_SECRET_KEY")
    langsmith_api_key: SecretStr | None = _key("LANGSMITH_API_KEY")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic-settings' own
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _TomlSource(settings_cls, read_config())

    @model_validator(mode="before")
    @classmethod
    def _stripped(cls, values: dict[str, Any]) -> dict[str, Any]:
        """White space and newlines round a value are never meant; a value of nothing else is no value."""
        stripped = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
        return {name: value for name, value in stripped.items() if value != ""}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every secret value in force, for redaction: never printed."""
        fields = (getattr(self, name) for name in type(self).model_fields)
        return tuple(value.get_secret_value() for value in fields if isinstance(value, SecretStr))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def default_home() -> Path:
    """The platform's data folder; `/var/lib/citewell` as root, where the database server's own account can reach it."""
    return Path("/var/lib/citewell") if os.name == "posix" and os.geteuid() == 0 else platformdirs.user_data_path("citewell")


def read_config(path: Path | None = None) -> dict[str, Any]:
    """The tables of `citewell.toml`; empty when there is none. Raises `SettingsError` on a file that is no TOML."""
    path = path or Path(CONFIG_NAME)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path} cannot be read: {error}", hint="Correct that line, or move the file away.") from error


def profile_tables() -> dict[str, Any]:
    """The tables of `citewell.toml`, which make up a profile."""
    return {name: value for name, value in read_config().items() if _is_table(value)}


def load_settings(home: Path | None = None) -> Settings:
    """The settings in force, with `--home` on top. Raises `SettingsError` that names the setting, the value and the remedy."""
    _refuse_unknown_variables()
    try:
        settings = Settings() if home is None else Settings(home=home)
    except ValidationError as error:
        raise _explained(error) from None
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})


def _variables() -> dict[str, tuple[str, ...]]:
    """Field name to the environment variables that set it, the preferred one first."""
    names = {}
    for name, info in Settings.model_fields.items():
        alias = info.validation_alias
        names[name] = tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (f"CITEWELL_{name.upper()}",)
    return names


def _refuse_unknown_variables() -> None:
    known = {alias for aliases in _variables().values() for alias in aliases}
    for name in os.environ:
        if name.startswith("CITEWELL_") and not name.startswith("CITEWELL_TEST_") and name.upper() not in known:
            raise SettingsError(f"{name} is no setting of citewell.", hint=_nearest(name, known))


def _nearest(name: str, known: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"Did you mean {near[0]}?" if near else "docs/settings.md lists them all; unset this one."


def _explained(error: ValidationError) -> SettingsError:
    """The first fault of a validation, in a person's words, with secrets kept out."""
    fault = error.errors(include_url=False)[0]
    named = str(fault["loc"][0]) if fault["loc"] else ""
    field = next((name for name, aliases in _variables().items() if named in (name, *aliases)), named)
    aliases = _variables().get(field, (named,))
    variable = next((alias for alias in aliases if alias in os.environ), aliases[0])
    if fault["type"] == "extra_forbidden":
        return SettingsError(f"{field} in {CONFIG_NAME} is no setting of citewell.", hint=_nearest(field, set(Settings.model_fields)))
    secret = variable.endswith("_KEY") or field == "database_url"
    shown = "its value" if secret else repr(fault["input"])
    message = fault["msg"].removeprefix("Value error, ")
    return SettingsError(f"{variable}: {shown} is not valid: {message[0].lower()}{message[1:]}.", hint=_remedy(field, variable))


def _remedy(field: str, variable: str) -> str:
    if field == "provider":
        return f"Set it to one of {', '.join(PROVIDERS)}, or unset it."
    info = Settings.model_fields.get(field)
    default = None if info is None else info.get_default(call_default_factory=False)
    shown = "" if default in (None, "", ()) else f" (default: {default})"
    return f"Correct {variable} in the environment or in {CONFIG_NAME}, or unset it{shown}."
