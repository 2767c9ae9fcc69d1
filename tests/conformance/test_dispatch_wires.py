"""Dispatch over the real providers and their real protocols: each failure, how often is asked again, and after which pauses."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from email.utils import formatdate

import anyio
import pytest

from citewell.llm.base import Content, Delta, ModelRef
from citewell.llm.dispatch import Ask, Dispatch, Listener
from citewell.llm.draft import Unwrapper
from citewell.llm.ledger import Ledger
from citewell.llm.outcomes import Cut, LimitReached, NoModel, Reply, ToolsUnsupported
from citewell.llm.prices import Price, Prices
from citewell.llm.registry import Endpoint, Registry
from citewell.llm.structured import ANSWER_SCHEMA, SchemaFault, StructuredAnswer, parse_answer
from citewell.settings import Settings
from citewell.testing.models import Asked, Error, ModelServer, Say, Think, Usage, Wait
from citewell.testing.models import Reply as Said
from citewell.types import Budget
from tests.conformance.provider_help import CANARY, KINDS, LOOK, NOW, Kind, ask, refused, saying

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)]

PROVIDERS = {"openai": "openai-compat", "anthropic": "anthropic", "gemini": "gemini"}
PRICES = Prices(bundled={"*": Price(1.0, 0.5, 2.0)})
BUDGET = Budget(16, 200_000, 300, max_usd=1.0)
USAGE = Usage(input=90, cached=40, output=7)
OK = saying("Use pip. [1]", usage=USAGE)


@dataclass
class Bench:
    """A server, two models on it, and a dispatch whose clock only sleeping moves."""

    kind: Kind
    server: ModelServer
    call_timeout: float = 20.0
    now: float = 0.0
    sleeps: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        provider = PROVIDERS[self.kind.name]
        field_name = provider.replace("-", "_")
        settings = Settings(
            **{f"{field_name}_base_url": self.server.url, f"{field_name}_api_key": CANARY, "models": f"{provider}:one,{provider}:two"}
        )
        self.registry = Registry(settings, make=self.make)
        self.dispatch = Dispatch(
            self.registry.fleet(), call_timeout=self.call_timeout, clock=lambda: self.now, sleep=self.sleep, jitter=lambda: 0.25
        )
        self.ledger = Ledger(BUDGET, PRICES, lambda: self.now)

    def make(self, endpoint: Endpoint) -> object:
        return self.kind.make(endpoint.base_url, endpoint.api_key, clock=lambda: NOW)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds

    @property
    def asked(self) -> str:
        return " ".join(map(model_of, self.server.requests))

    @property
    def outcomes(self) -> list[str]:
        return [attempt.outcome for attempt in self.ledger.usage().attempts]


def model_of(asked: Asked) -> str:
    return asked.body.get("model") or asked.path.rpartition("/")[2].partition(":")[0]


def limited(kind: Kind, retry_after: str | None) -> Said:
    return refused(kind, 429, "Slow down.", {} if retry_after is None else {"Retry-After": retry_after})


# What the server says, by the kind of provider → who is asked, and the pauses between.
ROWS: dict[str, tuple[Callable[[Kind], Sequence[Said]], str, list[float]]] = {
    "answers at once": (lambda kind: [OK], "one", []),
    "401": (lambda kind: [refused(kind, 401)], "one", []),
    "403": (lambda kind: [refused(kind, 403)], "one", []),
    "404": (lambda kind: [refused(kind, 404), OK], "one two", []),
    "400": (lambda kind: [refused(kind, 400), OK], "one two", []),
    "400 too long": (lambda kind: [refused(kind, 400, "prompt is too long: 9000 tokens > 8192 maximum"), OK], "one two", []),
    "429 with seconds": (lambda kind: [limited(kind, "7"), OK], "one one", [7.25]),
    "429 with a date": (lambda kind: [limited(kind, formatdate(NOW + 20, usegmt=True)), OK], "one one", [20.25]),
    "429 with a far date": (lambda kind: [limited(kind, formatdate(NOW + 90, usegmt=True)), OK], "one two", []),
    "429 with garbage": (lambda kind: [limited(kind, "abc"), OK], "one two", []),
    "429 with less than nothing": (lambda kind: [limited(kind, "-1"), OK], "one two", []),
    "429 without": (lambda kind: [limited(kind, None), OK], "one two", []),
    "500 once": (lambda kind: [refused(kind, 500), OK], "one one", [1]),
    "503 for ever": (lambda kind: [*[refused(kind, 503)] * 3, OK], "one one one two", [1, 2]),
    "529 on both": (lambda kind: [refused(kind, 529)] * 6, "one one one two two two", [1, 2, 1, 2]),
    "a reset before the first token": (lambda kind: [Said(end="reset"), OK], "one one", [1]),
    "a reset after it, shown to nobody": (lambda kind: [Said([Say("Use ")], end="reset"), OK], "one one", [1]),
    "an error event first": (lambda kind: [Said([Error()]), OK], "one one", [1]),
    "200 without choices": (lambda kind: [Said(body={}), OK], "one one", [1]),
    "empty text": (lambda kind: [Said(), OK], "one one", [1]),
    "no JSON in the stream": (lambda kind: [Said(body=b"data: {broken\n\n"), OK], "one one", [1]),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_failure_costs_so_many_calls_and_pauses(kind: Kind, name: str, caplog: pytest.LogCaptureFixture) -> None:
    replies, models, sleeps = ROWS[name]
    script = replies(kind)
    caplog.set_level(logging.DEBUG)
    with ModelServer(script) as server:
        bench = Bench(kind, server)
        outcome = await bench.dispatch.ask(Ask(ask(), bench.ledger))
        assert (bench.asked, bench.sleeps) == (models, sleeps)
        await bench.registry.aclose()
    usage = bench.ledger.usage()
    assert usage.llm_calls == len(usage.attempts) == len(script)
    assert usage.cost_usd is not None
    assert (script[-1] is OK) == isinstance(outcome, Reply)
    if isinstance(outcome, Reply):
        assert outcome.result.content == "Use pip. [1]"
        assert outcome.result.model == ModelRef(PROVIDERS[kind.name], models.split()[-1])
        assert usage.cached_tokens == 40
        assert usage.output_tokens >= 7
    else:
        assert isinstance(outcome, NoModel)
        assert len(outcome.troubles) == len(script)
    assert CANARY not in caplog.text + repr(outcome) + repr(bench.ledger.usage()) + repr(bench.registry)


async def test_a_time_out_is_tried_three_times_then_the_next_is_asked(kind: Kind) -> None:
    never = threading.Event()
    with ModelServer([*[replace(OK, hold=never)] * 3, OK]) as server:
        bench = Bench(kind, server, call_timeout=0.3)
        outcome = await bench.dispatch.ask(Ask(ask(), bench.ledger))
        assert isinstance(outcome, Reply)
        assert (bench.asked, bench.sleeps, bench.outcomes) == ("one one one two", [1, 2], ["timeout", "timeout", "timeout", "ok"])
        await bench.registry.aclose()


async def test_after_a_token_was_shown_nothing_takes_over(kind: Kind) -> None:
    shown = Unwrapper()

    def listen(model: ModelRef) -> Listener:
        def listener(piece: Delta) -> bool:
            return isinstance(piece, Content) and bool(shown.feed(piece.text))

        return listener

    with ModelServer([Said([Think("hm"), Say("Use `pip`. [1] Then "), Error()])]) as server:
        bench = Bench(kind, server)
        outcome = await bench.dispatch.ask(Ask(ask(), bench.ledger, listen=listen))
        assert isinstance(outcome, Cut)
        assert outcome.result.content == "Use `pip`. [1] Then "
        assert (bench.asked, bench.sleeps, bench.outcomes) == ("one", [], [outcome.trouble.kind])
        await bench.registry.aclose()


async def test_a_model_without_tools_or_schema_is_asked_in_its_way_and_remembered(kind: Kind) -> None:
    no_tools = "registry.ollama.ai/library/one:latest does not support tools"
    with ModelServer([refused(kind, 400, no_tools), OK]) as server:
        bench = Bench(kind, server)
        with_tools = ask(tools=(LOOK,))
        expected = ToolsUnsupported(ModelRef(PROVIDERS[kind.name], "one"))
        assert await bench.dispatch.ask(Ask(with_tools, bench.ledger)) == expected
        assert await bench.dispatch.ask(Ask(with_tools, bench.ledger)) == expected
        assert isinstance(await bench.dispatch.ask(Ask(ask(), bench.ledger)), Reply)
        assert (bench.asked, bench.outcomes) == ("one one", ["no_tools", "ok"])
        await bench.registry.aclose()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"answer_md": "Use pip. [1]"}', "Use pip. [1]"),
        ('<think>{maybe}</think>\n```json\n{"answer_md": "Use pip. [1]"}\n```', "Use pip. [1]"),
        ("Use pip. [1]", "Use pip. [1]"),
        ('{"answer_md": "Use pi', None),
    ],
)
async def test_a_structured_answer_comes_through_in_any_pieces(kind: Kind, content: str, expected: str | None) -> None:
    drafts: list[str] = []
    reply = Said([Say(char) for char in content], bytes_at_once=7)

    def listen(model: ModelRef) -> Listener:
        unwrapper = Unwrapper()

        def listener(piece: Delta) -> bool:
            drafts.append(unwrapper.feed(piece.text) if isinstance(piece, Content) else "")
            return bool(drafts[-1])

        return listener

    with ModelServer([reply]) as server:
        bench = Bench(kind, server)
        outcome = await bench.dispatch.ask(Ask(ask(schema=ANSWER_SCHEMA), bench.ledger, listen=listen))
        await bench.registry.aclose()
    assert isinstance(outcome, Reply)
    answer = parse_answer(outcome.result.content)
    if expected is None:
        assert isinstance(answer, SchemaFault)
    else:
        assert isinstance(answer, StructuredAnswer)
        assert answer.answer_md == expected
        assert "".join(drafts) == expected


async def test_a_client_that_goes_away_cancels_the_call_and_pays_for_what_came(kind: Kind) -> None:
    never, heard = threading.Event(), anyio.Event()

    def listen(model: ModelRef) -> Listener:
        return lambda piece: bool(heard.set())

    with ModelServer([Said([Say("Use "), Wait(never)])]) as server:
        bench = Bench(kind, server)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.dispatch.ask, Ask(ask(), bench.ledger, listen=listen))
            with anyio.fail_after(10):
                await heard.wait()
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(server.requests[0].hung_up.wait, 1)
        usage = bench.ledger.usage()
        assert (bench.outcomes, usage.output_tokens) == (["cancelled"], 2)
        assert usage.input_tokens > 0
        await bench.registry.aclose()


async def test_no_call_starts_beyond_the_limits(kind: Kind) -> None:
    with ModelServer([refused(kind, 500), saying("Use pip. [1]", usage=Usage(input=10**7, output=10**7))]) as server:
        bench = Bench(kind, server)
        assert isinstance(await bench.dispatch.ask(Ask(ask(), bench.ledger)), Reply)
        outcome = await bench.dispatch.ask(Ask(ask(), bench.ledger))
        assert isinstance(outcome, LimitReached)
        assert outcome.refusal.limit == "tokens"
        assert bench.ledger.usage().cost_usd == pytest.approx(30.0)
        await bench.registry.aclose()
