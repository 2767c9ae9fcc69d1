"""How near is embedding to the model's own best? Several ways to embed the same texts, on the same cores, in one run.

    python benchmarks/embedding.py FOLDER [--texts 600] [--rounds 5] [--index]

Takes sections of the pages in FOLDER, short and long. Prints one JSON document: texts a second (median of the rounds, the ways in turn),
milliseconds of processor time a text, and ratios, each the median over the rounds of the ratio within a round, so that whatever else the
machine does meanwhile weighs on both sides. `--index` indexes FOLDER too, once a round, into a new home.

- best: only the model, on batches that were made before, each on a thread of its own.
- citewell: `MiniLM.embed`, from text to unit vectors.
- plain: 32 texts at a time in the order given, padded to the longest, all cores on each batch.
- indexing: `citewell index` as a whole: texts embedded a second, from the first file to the last vector.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import numpy as np
import onnxruntime

from citewell.app import Citewell
from citewell.index.embed import MiniLM, embedding_input, weights_folder
from citewell.index.embed.minilm import BATCH_TOKENS, by_length, cores, load, padded, pooled
from citewell.ingest.chunk import chunk
from citewell.ingest.extract import extractor_for
from citewell.ingest.extract.base import NotContent
from citewell.ingest.extract.decode import decode
from citewell.settings import Settings

_PLAIN = 32
Way = Callable[[], Awaitable[tuple[int, float]]]  # how many texts were embedded, and in how many seconds


def sections(folder: Path, count: int) -> list[str]:
    """Sections of pages chosen by chance, the same ones each time."""
    chance = random.Random(1)  # noqa: S311 - nothing is secret here
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    chance.shuffle(files)
    texts: list[str] = []
    for file in files:
        extractor = extractor_for(file.name)
        if extractor is None or len(texts) >= 3 * count:
            continue
        with suppress(NotContent):
            texts += [embedding_input(piece.heading_path, piece.text) for piece in chunk(extractor(decode(file.read_bytes()), file.name))]
    chance.shuffle(texts)
    return texts[:count]


def best(texts: list[str]) -> Way:
    tokenizer, session = load()
    rows = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
    batches = [padded([rows[n] for n in batch]) for batch in by_length([len(row) for row in rows], BATCH_TOKENS)][::-1]

    def one(batch: tuple[Any, Any]) -> None:
        ids, mask = batch
        session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})

    def run() -> tuple[int, float]:
        started = time.perf_counter()
        with ThreadPoolExecutor(cores()) as threads:
            list(threads.map(one, batches))
        return len(texts), time.perf_counter() - started

    return lambda: anyio.to_thread.run_sync(run)


def citewell(texts: list[str]) -> Way:
    model = MiniLM()

    async def run() -> tuple[int, float]:
        started = time.perf_counter()
        return len(await model.embed(texts)), time.perf_counter() - started

    return run


def plain(texts: list[str]) -> Way:
    tokenizer, _ = load()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores()
    session = onnxruntime.InferenceSession(str(weights_folder() / "onnx" / "model.onnx"), options, providers=["CPUExecutionProvider"])

    def run() -> tuple[int, float]:
        started = time.perf_counter()
        for start in range(0, len(texts), _PLAIN):
            pooled(session, *padded([encoding.ids for encoding in tokenizer.encode_batch(texts[start : start + _PLAIN])]))
        return len(texts), time.perf_counter() - started

    return lambda: anyio.to_thread.run_sync(run)


def indexing(folder: Path) -> Way:
    async def run() -> tuple[int, float]:
        with tempfile.TemporaryDirectory() as home:
            async with Citewell(Settings(home=Path(home))) as app:
                report = await app.index(str(folder))
                return report.embedded, report.seconds

    return run


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    texts = sections(options.folder, options.texts)
    ways = {"best": best(texts), "citewell": citewell(texts), "plain": plain(texts)}
    if options.index:
        ways["indexing"] = indexing(options.folder)
    rates: dict[str, list[float]] = {name: [] for name in ways}
    costs: dict[str, list[float]] = {name: [] for name in ways}
    await citewell(texts[:_PLAIN])()
    for number in range(options.rounds):
        for name in ways if number % 2 == 0 else reversed(ways):
            processor = time.process_time()
            embedded, seconds = await ways[name]()
            rates[name].append(embedded / seconds)
            costs[name].append(1000 * (time.process_time() - processor) / embedded)
    lengths = [len(encoding.ids) for encoding in load()[0].encode_batch_fast(texts)]

    def ratio(first: str, second: str) -> float:
        return round(median(a / b for a, b in zip(rates[first], rates[second], strict=True)), 3)

    return {
        "texts": len(texts),
        "mean_tokens": round(sum(lengths) / len(lengths), 1),
        "rounds": options.rounds,
        "texts_a_second": {name: round(median(found), 1) for name, found in rates.items()},
        "processor_ms_a_text": {name: round(median(found), 1) for name, found in costs.items()},
        "ratios": {f"{first}/{second}": ratio(first, second) for first, second in PAIRS if {first, second} <= ways.keys()},
        "cores": cores(),
        "load": round(os.getloadavg()[0], 1),
        "machine": f"{platform.machine()}, {platform.system()}, onnxruntime {onnxruntime.__version__}",
        "date": date.today().isoformat(),
    }


PAIRS = (("citewell", "best"), ("citewell", "plain"), ("best", "plain"), ("indexing", "best"), ("indexing", "plain"))

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--index", action="store_true", help="index the folder too")
    print(json.dumps(anyio.run(measure, parser.parse_args()), indent=2))
