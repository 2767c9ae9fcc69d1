"""From settings to the models that are asked: every combination of keys, preferences and pins."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from citewell.errors import SettingsError
from citewell.llm.anthropic import Anthropic
from citewell.llm.base import ModelRef, Provider
from citewell.llm.gemini import Gemini
from citewell.llm.openai_compat import OpenAICompat
from citewell.llm.registry import DEFAULT_MODELS, UNNAMED, Endpoint, Registry, choose, installed
from citewell.settings import Settings
from citewell.web import is_loopback
from tests.unit.llm.fleet import A1, House, Scripted, fault

OPENAI, CLAUDE, GEMINI = (f"{name}:{model}" for name, model in DEFAULT_MODELS.items())
K, A, G = ({f"{name}_api_key": "k"} for name in ("openai_compat", "anthropic", "gemini"))
LOCAL = {"openai_compat_base_url": "http://127.0.0.1:11434/v1"}


def everything(package: str) -> bool:
    return True


def chosen(given: dict[str, Any], **options: Any) -> list[str]:
    settings = Settings(**given)
    return [f"{choice.provider}:{choice.model or '?'}" for choice in choose(settings, **({"has": everything} | options))]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, []),
        (A, [CLAUDE]),
        (G | K | A, [OPENAI, CLAUDE, GEMINI]),
        (G | K | {"provider": "gemini"}, [GEMINI, OPENAI]),
        (G | K | {"provider": "offline"}, []),
        (LOCAL, ["openai-compat:?"]),
        (LOCAL | A, ["openai-compat:?", CLAUDE]),
        ({"openai_compat_base_url": "https://far.example/v1"} | A, [CLAUDE]),
        (A | {"models": ["one", "anthropic:two", "one"]}, ["anthropic:one", "anthropic:two"]),
        (A | G | {"models": "gemini:x,llama3.2:3b"}, ["gemini:x", "anthropic:llama3.2:3b"]),
        (A | K | {"models": "gpt", "provider": "openai-compat"}, ["openai-compat:gpt", CLAUDE]),
        (A | K | G | {"models": "anthropic:x"}, ["anthropic:x", OPENAI, GEMINI]),
        (LOCAL | {"models": "llama3.2:3b"}, ["openai-compat:llama3.2:3b"]),
    ],
)
def test_the_order_of_models(given: dict[str, Any], expected: list[str]) -> None:
    assert chosen(given) == expected


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        (A | K, {"provider": "anthropic"}, [CLAUDE]),
        (A | K, {"provider": "offline"}, []),
        (A | K | {"provider": "offline"}, {"provider": "anthropic"}, [CLAUDE]),
        (A | K | {"models": "anthropic:x,openai-compat:y"}, {"provider": "anthropic"}, ["anthropic:x"]),
        (A | K | {"models": "y"}, {"provider": "anthropic"}, [CLAUDE]),
        (A | K | {"models": "y"}, {"model": "z"}, ["openai-compat:z", CLAUDE]),
        (A | K, {"model": "anthropic:z"}, ["anthropic:z", OPENAI]),
        (A | K | {"provider": "offline"}, {"model": "anthropic:z"}, ["anthropic:z", OPENAI]),
        (A | K, {"provider": "anthropic", "model": "z"}, ["anthropic:z"]),
        ({"models": "gemini:x"}, {"provider": "offline"}, []),
        (K | G, {"has": lambda package: package == "google.genai"}, [GEMINI]),
        (K | G | {"models": "gemini:x"}, {"has": lambda package: package == "google.genai"}, ["gemini:x"]),
    ],
)
def test_what_the_command_line_chooses(given: dict[str, Any], options: dict[str, Any], expected: list[str]) -> None:
    assert chosen(given, **options) == expected


@pytest.mark.parametrize(
    ("given", "options", "message", "hint"),
    [
        ({"provider": "anthropic"}, {}, "There is no key for anthropic", "ANTHROPIC_API_KEY"),
        (K, {"provider": "gemini"}, "There is no key for gemini", "GEMINI_API_KEY"),
        (K | {"models": "anthropic:x"}, {}, "There is no key for anthropic", "ANTHROPIC_API_KEY"),
        ({"openai_compat_base_url": "https://far.example/v1", "provider": "openai-compat"}, {}, "no key for openai-compat", "any word"),
        ({"models": "x"}, {}, "x has no provider to ask", "provider:model"),
        (K | {"models": "offline:x"}, {}, "offline:x has no provider to ask", "provider:model"),
        (K, {"provider": "offline", "model": "x"}, "x has no provider to ask", "provider:model"),
        (K | A, {"provider": "anthropic", "model": "openai-compat:x"}, "is no model of anthropic", "pin"),
        (A, {"has": lambda package: False}, "The package that asks anthropic is not installed", 'pip install "citewell[anthropic]"'),
        (K | {"provider": "openai-compat"}, {"has": lambda package: False}, "asks openai-compat", 'pip install "citewell[openai]"'),
    ],
)
def test_a_choice_that_cannot_be_asked_is_told(given: dict[str, Any], options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SettingsError, match=message) as error:
        chosen(given, **options)
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1", True),
        ("http://LOCALHOST./v1", True),
        ("http://a.localhost", True),
        ("http://127.9.9.9:80/v1", True),
        ("http://[::1]:8080", True),
        ("http://localhost.example", False),
        ("http://192.168.0.2", False),
        ("http://0.0.0.0", False),
        ("", False),
    ],
)
def test_what_runs_on_this_machine(url: str, local: bool) -> None:
    assert is_loopback(url) is local


def test_the_sdks_are_looked_for_without_importing_them() -> None:
    assert installed("openai")
    assert installed("google.genai")
    assert not installed("no_such_package.inner")
    assert not installed("no_such_package")


def test_each_provider_is_made_once_and_only_when_it_is_asked() -> None:
    made: list[Endpoint] = []

    def make(endpoint: Endpoint) -> Provider:
        made.append(endpoint)
        return Scripted(endpoint.provider, House({}))

    registry = Registry(Settings(**A, **G), has=everything, make=make)
    fleet = registry.fleet()
    assert fleet.named == (ModelRef("anthropic", DEFAULT_MODELS["anthropic"]), ModelRef("gemini", DEFAULT_MODELS["gemini"]))
    assert not made
    assert fleet.provider("gemini") is registry.fleet(provider="gemini").provider("gemini")
    assert made == [Endpoint("gemini", "", SecretStr("k"))]
    assert "'k'" not in repr(made)


@pytest.mark.anyio
async def test_the_real_providers_are_built_and_closed() -> None:
    registry = Registry(Settings(**K, **A, **G))
    kinds = {"openai-compat": OpenAICompat, "anthropic": Anthropic, "gemini": Gemini}
    assert {name: type(registry.provider(name)) for name in kinds} == kinds
    before = registry.provider("gemini")
    await registry.aclose()
    assert registry.provider("gemini") is not before


@pytest.mark.anyio
async def test_a_local_server_says_which_model_it_has() -> None:
    now = [0.0]
    listings: list[list[str] | Exception] = [fault("connection"), [], ["llama", "other"], ["qwen"]]

    class Server(Scripted):
        async def models(self, *, seconds: float) -> list[str]:
            assert seconds == 5
            listing = listings.pop(0)
            if isinstance(listing, Exception):
                raise listing
            return listing

    registry = Registry(Settings(**LOCAL), make=lambda endpoint: Server("openai-compat", House({A1: []})), clock=lambda: now[0])
    fleet = registry.fleet()
    assert (fleet.named, fleet.offline, registry.free) == ((), False, {"openai-compat"})
    names = [(await fleet.models(seconds=60))[0].model for _ in range(4)]
    assert names == [UNNAMED, UNNAMED, "llama", "llama"]
    now[0] = 60
    assert [str(ref) for ref in await fleet.models(seconds=60)] == ["openai-compat:qwen"]


@pytest.mark.anyio
async def test_without_a_key_nobody_is_asked() -> None:
    fleet = Registry(Settings()).fleet()
    assert fleet.offline
    assert await fleet.models(seconds=1) == []
