"""What the value of a setting may be: types that check a text from the environment or a value of `citewell.toml`. Pure.

A check that fails says what the value must be, as the end of a sentence that begins with the setting and its value.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

PROFILE_TABLES = ("profile", "source", "referrals", "answers", "guard")  # of citewell.toml: all else there is a setting

PROVIDERS = ("openai-compat", "anthropic", "gemini", "offline")


def _http_url(value: str) -> str:
    if value and not _is_http_url(value):
        raise ValueError("it must be an address that begins with http:// or https://")
    return value.rstrip("/")


def _is_http_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        _ = parts.port  # is read for its check
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"\s", value)


def _postgres_url(value: SecretStr | None) -> SecretStr | None:
    if value is None or not value.get_secret_value():
        return None
    if not re.match(r"postgres(?:ql)?://", value.get_secret_value(), re.IGNORECASE):
        raise ValueError("it must be an address that begins with postgresql://")
    return value


def _api_key(value: SecretStr | None) -> SecretStr | None:
    """What cannot stand in a header would fail in the middle of an answer, with the key in the error."""
    if value is not None and re.search(r"[^\x21-\x7e]", value.get_secret_value()):
        raise ValueError("it must be one word of plain letters, digits and signs")
    return value


def _switch(value: Any) -> Any:
    """The four words that turn something off, and their opposites; anything else is left for pydantic to refuse."""
    words = {"0": False, "false": False, "no": False, "off": False, "1": True, "true": True, "yes": True, "on": True}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):  # which pydantic takes for 0 and 1
        raise ValueError("it must be a number")  # noqa: TRY004 - pydantic reports a ValueError only
    return value


def _names(value: Any) -> Any:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return value
    return tuple(part.strip() for part in parts if part.strip())


def _models(value: tuple[str, ...]) -> tuple[str, ...]:
    for name in value:
        provider, colon, model = name.partition(":")
        if colon and provider in PROVIDERS and not model.strip():
            raise ValueError(f"{name} names a provider without a model")
    return value


HttpUrl = Annotated[str, AfterValidator(_http_url)]
PostgresUrl = Annotated[SecretStr | None, AfterValidator(_postgres_url)]
ApiKey = Annotated[SecretStr | None, AfterValidator(_api_key)]
ProviderName = Literal["", "openai-compat", "anthropic", "gemini", "offline"]
Models = Annotated[tuple[str, ...], BeforeValidator(_names), AfterValidator(_models)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Seconds = Annotated[float, BeforeValidator(_number), Field(gt=0, allow_inf_nan=False, description="seconds")]
Pause = Annotated[float, BeforeValidator(_number), Field(ge=0, allow_inf_nan=False, description="seconds")]
UpToTwo = Annotated[Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None, BeforeValidator(_number)]
Money = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, BeforeValidator(_number)]
Count = Annotated[int, BeforeValidator(_number), Field(ge=0)]
AtLeastOne = Annotated[int, BeforeValidator(_number), Field(ge=1)]
Dimensions = Annotated[Annotated[int, Field(ge=1, le=4000)] | None, BeforeValidator(_number)]
