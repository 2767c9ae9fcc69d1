"""The key reaches the server in its header and nothing else: no log, no error, no cause of an error, no repr."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator

import pytest

from citewell.llm.base import ProviderFault
from citewell.testing.models import Error, Raw, Reply, Say
from tests.conformance.provider_help import CANARY, KEY, KINDS, Kind, ask, asked, call, refused, saying

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)]

ECHO = f"Incorrect API key provided: {CANARY}."


@pytest.fixture(autouse=True)
def _no_secret_in_any_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "anthropic", "google_genai", "httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    yield
    shown = [f"{record.getMessage()} {record.exc_text} {vars(record)}" for record in caplog.records]
    assert not [text for text in shown if CANARY in text]


def everything_in(fault: ProviderFault) -> str:
    """The fault as anybody may show it: with all its causes and contexts, and with the local variables of its frames."""
    parts: list[str] = []
    todo: list[BaseException | None] = [fault]
    while todo:
        error = todo.pop()
        if error is None or len(parts) > 100:
            continue
        parts += [repr(error), str(error), repr(vars(error)), *map(repr, error.args)]
        parts += traceback.TracebackException.from_exception(error, capture_locals=True).format()
        todo += [error.__cause__, error.__context__]
    return "\n".join(parts)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401, body={"error": {"message": ECHO}}),
        Reply(status=500, body=(ECHO + " x" * 500).encode()),
        Reply(status=429, body={"error": {"message": "x" * 285 + CANARY}}, headers={"X-Echo": CANARY, "Set-Cookie": f"k={CANARY}"}),
        Reply(status=302, headers={"Location": f"http://127.0.0.1:1/?key={CANARY}"}),
        Reply([Error(ECHO)]),
        Reply([Say("a"), Raw(f"data: {{{CANARY}\n\n".encode())]),
        Reply(body=f"<html>{CANARY}".encode()),
        Reply(end="reset"),
    ],
)
async def test_no_fault_holds_the_key(kind: Kind, reply: Reply) -> None:
    async with asked(kind, [reply]) as (provider, server):
        outcome = await call(provider)
        assert CANARY in str(server.requests[0].headers)
    assert outcome.fault is not None
    assert CANARY not in everything_in(outcome.fault)
    assert (outcome.fault.__cause__, outcome.fault.__context__) == (None, None)


async def test_a_listing_that_fails_does_not_hold_it_either(kind: Kind) -> None:
    async with asked(kind, [], models=refused(kind, 403, ECHO)) as (provider, _):
        with pytest.raises(ProviderFault) as raised:
            await provider.models(seconds=20)
    assert raised.value.kind == "auth"
    assert CANARY not in everything_in(raised.value)


async def test_no_repr_shows_it(kind: Kind) -> None:
    async with asked(kind, [saying("ok")]) as (provider, _):
        await call(provider)
        seen = [repr(provider), repr(vars(provider)), str(provider)]
        seen += [repr(vars(found)) for found in gc.get_objects() if type(found).__name__ in {"AsyncOpenAI", "AsyncAnthropic"}]
        assert CANARY not in "".join(seen)


async def test_nothing_of_the_environment_is_sent(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "from-outside")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Outside: from-outside")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "HTTP_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    async with asked(kind, [saying("ok")]) as (provider, server):
        assert (await call(provider)).done.content == "ok"
    sent = dict(server.requests[0].headers)
    assert "from-outside" not in str(server.requests[0])
    assert sent.pop("user-agent") == "citewell"
    known = "host connection accept accept-encoding content-type content-length anthropic-version authorization x-api-key x-goog-api-key"
    assert set(sent) <= set(known.split())


async def test_without_a_key_none_is_sent(kind: Kind) -> None:
    async with asked(kind, [saying("ok")]) as (_, server):
        provider = kind.make(server.url, None)
        assert (await call(provider)).done.content == "ok"
        await provider.aclose()
    assert not {"authorization", "x-api-key", "x-goog-api-key"} & set(server.requests[0].headers)


def test_the_sdk_is_imported_for_the_first_call_only(kind: Kind) -> None:
    module = type(kind.make("", KEY)).__module__
    code = f"import sys, {module}; print([m for m in ('openai', 'anthropic', 'google.genai', 'httpx2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


async def test_a_package_that_is_missing_is_named(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asked(kind, []) as (provider, _):
        monkeypatch.setattr(type(provider), "sdk", "a_package_that_is_not_there")
        outcome = await call(provider, ask())
        assert outcome.kind == "not_found"
        assert "pip install 'citewell[" in str(outcome.fault)
