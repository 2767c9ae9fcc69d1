"""What every embedder must do: the packaged model, and an endpoint reached over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from citewell.index.embed import Embedder, Endpoint, MiniLM, OpenAICompat, vector_literal
from citewell.testing.embeddings import Embeddings, serving

pytestmark = pytest.mark.anyio

TEXTS = ["Install the widget with pip.", "a" * 40, "🦔 hedgehogs roll", "The default time-out is 30 seconds.\n\nSet it higher.", "x"]


@pytest.fixture(params=["packaged", "endpoint"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "packaged":
        yield MiniLM()
        return
    with serving(Embeddings(width=24, shuffled=True)) as server:
        endpoint = OpenAICompat(Endpoint(server.url, "tiny"))
        yield endpoint
        await endpoint.aclose()


def close(first: np.ndarray, second: np.ndarray) -> bool:
    return bool(np.min(np.sum(first * second, axis=-1)) > 0.99999)


async def test_name_and_width_are_known_once_it_is_open(embedder: Embedder) -> None:
    await embedder.open()
    name, width = embedder.name, embedder.width
    vectors = await embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), width)
    assert (embedder.name, embedder.width) == (name, width)
    assert str(width) in name or isinstance(embedder, MiniLM)


async def test_vectors_have_unit_length_and_single_precision(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_rows_are_in_the_order_of_the_texts(embedder: Embedder) -> None:
    forward, backward = await embedder.embed(TEXTS), await embedder.embed(TEXTS[::-1])
    assert close(forward, backward[::-1])
    assert not close(forward[:1], forward[1:2])


async def test_many_texts_come_back_in_order(embedder: Embedder) -> None:
    texts = [f"Number {n} {'is long ' * (n % 7 * 5)}" for n in range(150)]
    vectors = await embedder.embed(texts)
    for n in (0, 1, 63, 64, 149):
        assert close(vectors[n], (await embedder.embed([texts[n]]))[0])


async def test_the_same_text_has_the_same_vector_beside_whatever_it_stands(embedder: Embedder) -> None:
    alone = await embedder.embed(["The widget hums."])
    beside = await embedder.embed(["The widget hums.", "long " * 300, "The widget hums."])
    assert close(alone[0], beside[0])
    assert close(alone[0], beside[2])


async def test_no_texts_make_no_rows(embedder: Embedder) -> None:
    await embedder.open()
    assert (await embedder.embed([])).shape == (0, embedder.width)


@pytest.mark.parametrize("text", ["", "   ", "word " * 20_000, "🦔" * 5000, "\x00\ufffd\u202e", "日本語のテキスト"])
async def test_odd_texts_have_a_vector_too(embedder: Embedder, text: str) -> None:
    vectors = await embedder.embed([text, "Install the widget."])
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_query_is_a_literal_of_the_same_vector(embedder: Embedder) -> None:
    (vector,) = await embedder.embed(["How do I install it?"])
    literal = await embedder.embed_query("How do I install it?")
    assert close(np.array(literal.strip("[]").split(","), dtype=np.float32), vector)
    assert literal.count(",") == vector_literal(vector).count(",") == embedder.width - 1


async def test_it_works_again_after_it_was_closed(embedder: Embedder) -> None:
    before = await embedder.embed(["again"])
    await embedder.aclose()
    assert close(before, await embedder.embed(["again"]))
    assert await embedder.check()
