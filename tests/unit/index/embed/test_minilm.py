"""The packaged model gives what its makers' plain recipe gives, in bounded batches."""

from __future__ import annotations

import threading

import anyio
import anyio.to_thread
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.index.embed import minilm
from citewell.index.embed.minilm import BATCH_TOKENS, MAX_TOKENS, WIDTH, MiniLM, by_length, cores, load, padded

pytestmark = pytest.mark.anyio


def plain(text: str) -> np.ndarray:
    """One text by itself: mean of its tokens' vectors, at unit length."""
    tokenizer, session = load()
    ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
    hidden = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})[0]
    mean = hidden[0].mean(axis=0)
    return mean / np.linalg.norm(mean)


async def test_vectors_equal_those_of_a_plain_computation() -> None:
    texts = [f"{'The widget turns. ' * (n % 9 * 6)}Section {n} tells of frob {n * n}." for n in range(40)]
    vectors = await MiniLM().embed(texts)
    assert vectors.shape == (40, WIDTH)
    assert min(float(vector @ plain(text)) for vector, text in zip(vectors, texts, strict=True)) > 0.99999


async def test_a_text_is_read_up_to_its_limit() -> None:
    start = "word " * MAX_TOKENS
    first, second, other = await MiniLM().embed([start + "one end", start + "another", "other " + start])
    assert np.allclose(first, second)
    assert not np.allclose(first, other)


@given(st.lists(st.integers(1, MAX_TOKENS), max_size=200))
def test_batches_hold_every_text_once_within_their_tokens(lengths: list[int]) -> None:
    batches = list(by_length(lengths, BATCH_TOKENS))
    assert sorted(n for batch in batches for n in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[n] for n in batch) <= BATCH_TOKENS for batch in batches)


@given(st.lists(st.lists(st.integers(1, 30_000), min_size=1, max_size=9), min_size=1, max_size=9))
def test_padding_is_masked(rows: list[list[int]]) -> None:
    ids, mask = padded(rows)
    assert ids.shape == mask.shape == (len(rows), max(map(len, rows)))
    assert [row[keep == 1].tolist() for row, keep in zip(ids, mask, strict=True)] == rows
    assert not ids[mask == 0].any()


async def test_what_is_cancelled_begins_no_other_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    running, go_on = threading.Semaphore(0), threading.Event()
    calls: list[int] = []

    def slow(_session: object, ids: np.ndarray, _mask: np.ndarray) -> np.ndarray:
        calls.append(len(ids))
        running.release()
        go_on.wait(10)
        return np.ones((len(ids), WIDTH), dtype=np.float32)

    monkeypatch.setattr(minilm, "pooled", slow)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(MiniLM().embed, ["word " * MAX_TOKENS] * 100)
        await anyio.to_thread.run_sync(running.acquire)
        tasks.cancel_scope.cancel()
    go_on.set()
    (after,) = await MiniLM().embed(["after"])
    assert after[0] == 1
    assert len(calls) <= cores() + 1
