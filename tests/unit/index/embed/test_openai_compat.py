"""The embedder behind an endpoint, against a scripted server: retries, batches, refusals, and what never leaves it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import anyio
import anyio.abc
import anyio.lowlevel
import numpy as np
import pytest
import stamina

from citewell.errors import EmbedderFailed
from citewell.index.embed import Endpoint, OpenAICompat
from citewell.index.embed.pace import Pace
from citewell.testing.embeddings import Embeddings, Refusal, serving, vector_of

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret-1234567890"
BUSY = Refusal(429, b'{"error": {"message": "Rate limit reached"}}', {"Retry-After": "7"})


@pytest.fixture
def server() -> Iterator[Embeddings]:
    with serving(Embeddings()) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_backoff() -> Iterator[None]:
    """Attempts follow each other at once; their number stays."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


class Waits:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        await anyio.lowlevel.checkpoint()
        self.now = max(self.now, until)


def embedder(server: Embeddings, waits: Waits | None = None, *, width: int = 0, **options: object) -> OpenAICompat:
    endpoint = Endpoint(server.url, "tiny", **{"api_key": KEY, **options})  # type: ignore[arg-type]
    waits = waits or Waits()
    return OpenAICompat(endpoint, width=width, pace=Pace(endpoint.per_minute, sleep=waits.sleep, clock=waits.clock), clock=waits.clock)


async def failure(model: OpenAICompat, texts: list[str] | None = None) -> EmbedderFailed:
    with pytest.raises(EmbedderFailed) as caught:
        await model.embed(texts or ["a text"])
    await model.aclose()
    assert caught.value.exit_code == 4
    assert caught.value.hint
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


async def test_a_request_is_what_the_protocol_says(server: Embeddings) -> None:
    model = embedder(server, dimensions=5)
    assert (await model.embed(["one", "two"])).shape == (2, 5)
    await model.aclose()
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "tiny", "input": ["one", "two"], "encoding_format": "float", "dimensions": 5}
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_without_a_key_no_header_is_sent(server: Embeddings) -> None:
    model = embedder(server, api_key="")
    await model.embed(["one"])
    await model.aclose()
    assert "authorization" not in server.asked[0].headers


async def test_its_name_tells_model_and_width_but_no_address(server: Embeddings) -> None:
    model = embedder(server)
    await model.open()
    await model.open()
    await model.aclose()
    assert (model.name, model.width, len(server.asked)) == ("openai-compat:tiny/8", 8, 1)


async def test_a_width_that_is_known_needs_no_request(server: Embeddings) -> None:
    model = embedder(server, width=8)
    await model.open()
    assert (model.name, server.asked) == ("openai-compat:tiny/8", [])


async def test_a_server_that_is_busy_ten_times_loses_no_text_and_repeats_none(server: Embeddings) -> None:
    server.script = [BUSY] * 10
    waits, texts = Waits(), [f"text {n}" for n in range(200)]
    model = embedder(server, waits)
    vectors = await model.embed(texts)
    await model.aclose()
    expected = np.array([vector_of(text, 8) for text in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert sorted(server.answered) == sorted(texts)
    assert len(server.asked) == 10 + 4
    assert max(waits.slept) == 7  # as the server asked


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_an_error_of_the_server_is_tried_again(server: Embeddings, status: int) -> None:
    server.script = [Refusal(status, b"<html>oops</html>")] * 3
    model = embedder(server)
    assert (await model.embed(["one"])).shape == (1, 8)
    await model.aclose()
    assert len(server.asked) == 4


@pytest.mark.parametrize(("status", "hint"), [(400, "BASE_URL"), (401, "API_KEY"), (403, "API_KEY"), (404, "MODEL"), (302, "BASE_URL")])
async def test_a_refusal_is_final(server: Embeddings, status: int, hint: str) -> None:
    server.script = [Refusal(status, f'{{"error": {{"message": "no, {KEY} is bad"}}}}'.encode(), {"Location": "http://127.0.0.1:1/"})]
    error = await failure(embedder(server))
    assert f"answered {status}: no, *** is bad" in str(error)
    assert hint in error.hint
    assert len(server.asked) == 1


async def test_a_server_that_stays_busy_is_given_up(server: Embeddings) -> None:
    server.script = [BUSY] * 100
    error = await failure(embedder(server))
    assert "answered 429: Rate limit reached" in str(error)
    assert error.retry_after == 7
    assert len(server.asked) == 15


async def test_a_question_is_given_up_sooner(server: Embeddings) -> None:
    server.script = [BUSY] * 100
    model = embedder(server)
    with pytest.raises(EmbedderFailed):
        await model.embed_query("How?")
    await model.aclose()
    assert len(server.asked) == 3


async def test_a_server_that_asks_for_an_hour_is_not_waited_for(server: Embeddings) -> None:
    server.script = [Refusal(429, headers={"Retry-After": "3600"})]
    waits = Waits()
    error = await failure(embedder(server, waits))
    assert (error.retry_after, waits.slept, len(server.asked)) == (3600, [], 1)


async def test_an_address_where_nobody_listens_is_an_error_that_names_it() -> None:
    with serving(Embeddings()) as gone:
        pass
    error = await failure(embedder(gone))
    assert gone.url in str(error)
    assert "CITEWELL_EMBEDDINGS_BASE_URL" in error.hint


async def test_a_server_that_falls_silent_is_an_error() -> None:
    async def silent(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, silent)
        error = await failure(embedder(Embeddings(url=f"http://127.0.0.1:{port}"), timeout=0.05))
        tasks.cancel_scope.cancel()
    await listener.aclose()
    assert "did not answer within 0.05 seconds" in str(error)


async def test_requests_are_bounded_in_texts_characters_and_number(server: Embeddings) -> None:
    model = embedder(server)
    texts = ["short"] * 150 + ["x" * 30_000] * 5 + ["y" * 500_000]
    assert (await model.embed(texts)).shape == (156, 8)
    await model.aclose()
    assert max(len(asked.texts) for asked in server.asked) == 64
    assert max(sum(map(len, asked.texts)) for asked in server.asked) <= 64_000
    assert server.most_at_once <= 4


async def test_the_pace_of_the_settings_is_kept(server: Embeddings) -> None:
    waits = Waits()
    model = embedder(server, waits, per_minute=60, width=8)
    await model.embed(["text"] * 200)
    await model.aclose()
    assert waits.now == pytest.approx(3)  # four requests


async def test_a_batch_that_is_too_long_is_halved_and_no_text_is_embedded_twice(server: Embeddings) -> None:
    server.most_chars = 1000
    texts = [f"{n:03}" + "x" * 297 for n in range(20)]
    model = embedder(server)
    await model.embed(texts)
    await model.aclose()
    assert sorted(server.answered) == texts


async def test_a_text_that_is_too_long_by_itself_is_cut(server: Embeddings) -> None:
    server.most_chars = 1000
    model = embedder(server)
    vectors = await model.embed(["first", "y" * 7000, "last"])
    await model.aclose()
    assert vectors.shape == (3, 8)
    assert "y" * 875 in server.answered


async def test_a_server_that_finds_everything_too_long_is_given_up(server: Embeddings) -> None:
    server.script = [Refusal(413)] * 100
    assert "answered 413" in str(await failure(embedder(server), ["z" * 3000]))
    assert len(server.asked) == 5  # 3000, 1500, 750, 375, 187


@pytest.mark.parametrize(
    ("body", "why"),
    [(b"ok", "sent no JSON"), (b'{"data": []}', "sent 0 vectors for 1 texts"), (b"[" * 400_000, "more than vectors can need")],
)
async def test_an_answer_without_vectors_is_an_error_that_says_so(server: Embeddings, body: bytes, why: str) -> None:
    server.script = [Refusal(200, body)]
    assert why in str(await failure(embedder(server)))


async def test_another_width_than_before_is_refused(server: Embeddings) -> None:
    error = await failure(embedder(server, width=16))
    assert "vectors of 8 numbers where 16 are expected" in str(error)


@pytest.mark.parametrize(("base64", "shuffled"), [(True, False), (False, True), (True, True)])
async def test_answers_may_be_base64_and_in_any_order(server: Embeddings, base64: bool, shuffled: bool) -> None:
    server.base64, server.shuffled = base64, shuffled
    model = embedder(server)
    (vector, _) = await model.embed(["one", "two"])
    await model.aclose()
    expected = np.array(vector_of("one", 8))
    assert np.allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


async def test_a_question_is_asked_for_once(server: Embeddings) -> None:
    model = embedder(server)
    assert await model.embed_query("How?") == await model.embed_query("How?")
    await model.aclose()
    assert len(server.asked) == 1


def test_the_key_is_not_in_what_is_printed() -> None:
    assert KEY not in repr(Endpoint("http://127.0.0.1", "m", KEY))


async def test_a_password_in_the_address_is_not_shown(server: Embeddings) -> None:
    server.url = server.url.replace("//", "//ana:swordfish@")
    model = embedder(server, api_key="")
    assert "swordfish" not in await model.check()
    server.script = [Refusal(404)]
    assert "swordfish" not in str(await failure(model))
