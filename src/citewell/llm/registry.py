"""From settings to providers: which models are asked, in which order, and who serves them. Clients are made when they are first needed.

Order: the models of CITEWELL_MODELS, then the default model of every other provider that has a key.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from citewell.errors import SettingsError
from citewell.llm.base import ModelRef, Provider, ProviderFault
from citewell.setting_types import PROVIDERS
from citewell.settings import Settings
from citewell.web import is_loopback

DEFAULT_MODELS = {"openai-compat": "gpt-5.4-mini", "anthropic": "claude-haiku-4-5", "gemini": "gemini-3.8-flash"}
UNNAMED = "default"  # the model of a local server that names none; those with one model take any name

_SDKS = {"openai-compat": "openai", "anthropic": "anthropic", "gemini": "google.genai"}
_EXTRAS = {"openai-compat": "openai", "anthropic": "anthropic", "gemini": "gemini"}
_KEYS = {"openai-compat": "OPENAI_COMPAT_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
_OFFLINE = "offline"
_LISTING_SECONDS = 5.0
_LISTED_FOR = 60.0  # seconds; a local server is started again with another model


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider is and the key for it. `local` means on this machine: no key is needed and nothing costs."""

    provider: str
    base_url: str
    api_key: SecretStr | None

    @property
    def local(self) -> bool:
        return is_loopback(self.base_url)

    @property
    def usable(self) -> bool:
        return self.api_key is not None or (self.local and self.provider == "openai-compat")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that is asked; `model` is None where the server is to say which it has."""

    provider: str
    model: str | None


def installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # its parent is missing
        return False


def endpoints(settings: Settings) -> dict[str, Endpoint]:
    """Every provider of models, in the order of preference."""
    return {
        "openai-compat": Endpoint("openai-compat", settings.openai_compat_base_url, settings.openai_compat_api_key),
        "anthropic": Endpoint("anthropic", settings.anthropic_base_url, settings.anthropic_api_key),
        "gemini": Endpoint("gemini", settings.gemini_base_url, settings.gemini_api_key),
    }


def choose(
    settings: Settings, *, provider: str | None = None, model: str | None = None, has: Callable[[str], bool] = installed
) -> tuple[Choice, ...]:
    """The models to ask, in order; none means offline. `provider` pins that one alone, `model` stands for CITEWELL_MODELS.

    Raises `SettingsError` for a choice that cannot be asked: no key, no SDK, no such provider.
    """
    found = endpoints(settings)
    usable = [name for name, endpoint in found.items() if endpoint.usable]
    ready = [name for name in usable if has(_SDKS[name])]
    preferred: str = settings.provider or next(iter([*ready, *usable]), _OFFLINE)
    if model is not None:
        named = [_named(model, provider or preferred)]
        if provider and named[0].provider != provider:
            raise SettingsError(f"{model} is no model of {provider}.", hint="Name a model of the provider that you pin.")
    elif (provider or settings.provider) == _OFFLINE or (not provider and preferred == _OFFLINE and not settings.models):
        return ()
    else:
        named = [choice for choice in (_named(name, preferred) for name in settings.models) if provider in (None, choice.provider)]
    first = [] if named else [provider or preferred]
    for name in dict.fromkeys([*(choice.provider for choice in named), *first]):
        _check(found[name], has)
    others = [] if provider else [name for name in ready if name not in {choice.provider for choice in named}]
    return (*dict.fromkeys(named), *(_default(found[name]) for name in dict.fromkeys([*first, *others])))


def _named(name: str, preferred: str) -> Choice:
    """`provider:model`, or a bare name (which may hold colons of its own) that belongs to the preferred provider."""
    provider, colon, model = name.partition(":")
    if not colon or provider not in PROVIDERS:
        provider, model = preferred, name
    if provider == _OFFLINE:
        raise SettingsError(f"{name} has no provider to ask.", hint="Set a key, such as ANTHROPIC_API_KEY, and name it as provider:model.")
    return Choice(provider, model.strip())


def _default(endpoint: Endpoint) -> Choice:
    listed = endpoint.local and endpoint.provider == "openai-compat"
    return Choice(endpoint.provider, None if listed else DEFAULT_MODELS[endpoint.provider])


def _check(endpoint: Endpoint, has: Callable[[str], bool]) -> None:
    name = endpoint.provider
    if not endpoint.usable:
        raise SettingsError(
            f"There is no key for {name}.", hint=f"Set {_KEYS[name]} (any word for a server that needs none), or choose another provider."
        )
    if not has(_SDKS[name]):
        raise SettingsError(f"The package that asks {name} is not installed.", hint=f'pip install "citewell[{_EXTRAS[name]}]"')


def build(endpoint: Endpoint) -> Provider:
    """The provider of an endpoint; it opens no connection yet."""
    from citewell.llm.anthropic import Anthropic
    from citewell.llm.gemini import Gemini
    from citewell.llm.openai_compat import OpenAICompat

    makers: dict[str, Callable[[str, SecretStr | None], Provider]] = {
        "openai-compat": OpenAICompat,
        "anthropic": Anthropic,
        "gemini": Gemini,
    }
    return makers[endpoint.provider](endpoint.base_url, endpoint.api_key)


class Registry:
    """The providers of a process, one client each. `clock` gives seconds and never goes back."""

    def __init__(
        self,
        settings: Settings,
        *,
        has: Callable[[str], bool] = installed,
        make: Callable[[Endpoint], Provider] = build,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._endpoints = endpoints(settings)
        self._has = has
        self._make = make
        self._clock = clock
        self._made: dict[str, Provider] = {}
        self._listed: dict[str, tuple[float, str]] = {}

    @property
    def free(self) -> frozenset[str]:
        """The providers that run on this machine."""
        return frozenset(name for name, endpoint in self._endpoints.items() if endpoint.local)

    def fleet(self, *, provider: str | None = None, model: str | None = None) -> ChosenFleet:
        """The models for a question. Raises `SettingsError`; see `choose`."""
        return ChosenFleet(self, choose(self._settings, provider=provider, model=model, has=self._has))

    def provider(self, name: str) -> Provider:
        if name not in self._made:
            self._made[name] = self._make(self._endpoints[name])
        return self._made[name]

    async def first_model(self, name: str, *, seconds: float) -> str:
        """The first model that a server lists, asked once a minute; `UNNAMED` where it lists none, so that asking it says what is wrong."""
        now = self._clock()
        if name in self._listed and now - self._listed[name][0] < _LISTED_FOR:
            return self._listed[name][1]
        try:
            models = await self.provider(name).models(seconds=min(seconds, _LISTING_SECONDS))
        except ProviderFault:
            return UNNAMED
        if not models:
            return UNNAMED
        self._listed[name] = (now, models[0])
        return models[0]

    async def aclose(self) -> None:
        """Close every client; the next request makes new ones."""
        made, self._made = self._made, {}
        for provider in made.values():
            await provider.aclose()


@dataclass(frozen=True, slots=True)
class ChosenFleet:
    """The models of one choice, served by the registry's providers."""

    registry: Registry
    choices: tuple[Choice, ...]

    @property
    def offline(self) -> bool:
        return not self.choices

    @property
    def named(self) -> tuple[ModelRef, ...]:
        """The models whose names are known before a server was asked; those that are not run on this machine."""
        return tuple(ModelRef(choice.provider, choice.model) for choice in self.choices if choice.model is not None)

    async def models(self, *, seconds: float) -> Sequence[ModelRef]:
        return [ModelRef(choice.provider, await self._name(choice, seconds)) for choice in self.choices]

    def provider(self, name: str) -> Provider:
        return self.registry.provider(name)

    async def _name(self, choice: Choice, seconds: float) -> str:
        return choice.model if choice.model is not None else await self.registry.first_model(choice.provider, seconds=seconds)
