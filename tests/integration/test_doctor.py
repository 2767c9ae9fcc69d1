"""The doctor asks each model what it can do, and says what to do about those that do not answer."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from citewell.doctor import doctor
from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.testing.models import Call, ModelServer, Reply, Say
from citewell.types import Check

pytestmark = pytest.mark.anyio

SPEAKS, CALLS, OBJECT = (
    Reply([Say("ready")]),
    Reply([Call("note_word", ['{"word": "ready"}'])], finish="tool_calls"),
    Reply([Say('{"word": "r"}')]),
)


async def providers(settings: Settings, server: ModelServer) -> list[Check]:
    given = {"openai_compat_base_url": server.url, "openai_compat_api_key": SecretStr("sk-canary-secret"), "models": ("tiny",)}
    checks = await doctor(settings.model_copy(update=given), load_profile())
    assert "canary" not in repr(checks)
    return [check for check in checks if check.name == "provider"]


async def test_a_model_that_can_do_everything(settings: Settings) -> None:
    with ModelServer([SPEAKS, CALLS, OBJECT]) as server:
        (check,) = await providers(settings, server)
    assert (check.ok, check.detail) == (True, "openai-compat:tiny: answers, streams, calls tools, answers as JSON")


async def test_a_model_that_only_speaks(settings: Settings) -> None:
    no_tools = Reply(status=400, body={"error": {"message": "tools are not supported by this model"}})
    with ModelServer([SPEAKS, no_tools, Reply([Say("The word is ready.")])]) as server:
        (check,) = await providers(settings, server)
    assert (check.ok, check.detail) == (True, "openai-compat:tiny: answers, streams; not: calls tools, answers as JSON")


async def test_a_wrong_key_is_a_failed_check_with_a_remedy(settings: Settings) -> None:
    with ModelServer([Reply(status=401, body={"error": {"message": "wrong key sk-canary-secret"}})]) as server:
        (check,) = await providers(settings, server)
    assert not check.ok
    assert check.remedy == "Check the key, and that it may use this model."


async def test_without_keys_answers_are_quotations(settings: Settings) -> None:
    checks = await doctor(settings, load_profile())
    assert [check.detail for check in checks if check.name == "provider"] == ["offline: answers are quotations, no model is asked"]
