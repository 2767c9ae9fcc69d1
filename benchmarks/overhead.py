"""What a question costs beside its model: citewell's own work against the least that any such system does, in one run.

    python benchmarks/overhead.py --home HOME --questions FILE [--n 200] [--clients 16]

The model is scripted, in a process of its own, and answers at once with the first sentence it is shown. *Bare* embeds the question, runs
the one search statement and posts a request to the same server with a plain HTTP client. Prints one JSON document: milliseconds at the
median, each way in turn, and questions a second with several clients. Index something first; FILE has one question a line.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import time
from collections.abc import Awaitable, Callable
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import anyio
import httpx2

from citewell.app import Citewell
from citewell.index.identifiers import identifiers
from citewell.index.lexical import query_terms
from citewell.index.store import SearchQuery
from citewell.profile import load_profile
from citewell.settings import load_settings
from citewell.testing.models import Asked, ModelServer, Reply, Say, Usage

_SECTION = re.compile(r"<docs-section>\n\[(\d+)\][^\n]*\n.*?\n\n(.*?)\n</docs-section>", re.DOTALL)
_SENTENCE = re.compile(r"[A-Z][^.\n`]{20,200}\.(?=\s|$)")


class QuotingServer(ModelServer):
    """Answers with the first sentence of the first section that has one."""

    def reply(self, asked: Asked) -> Reply:
        shown = str(asked.body["messages"][-1]["content"])
        for number, text in _SECTION.findall(shown):
            found = _SENTENCE.search(text)
            if found:
                return Reply([Say(json.dumps({"answer_md": f"{found.group()} [{number}]"}))], usage=Usage(input=1000, output=30))
        return Reply([Say(json.dumps({"answer_md": "Nothing."}))], usage=Usage(input=1000, output=3))


def serve(pipe: Connection) -> None:
    server = QuotingServer(models=["scripted"])
    with server:
        pipe.send(server.url)
        pipe.recv()
        server.replies = [Reply()] * len(server.requests)


class Bare:
    """The least: one embedding, one search, one POST."""

    def __init__(self, app: Citewell, url: str, body: dict[str, Any]) -> None:
        self.app = app
        self.url = f"{url}/v1/chat/completions"
        self.body = body
        self.client = httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_connections=100))

    async def __call__(self, question: str) -> None:
        assert self.app.embedder is not None
        vector = await self.app.embedder.embed_query(question)
        found = await self.app.store.search(SearchQuery(query_terms(question), vector, identifiers(question)))
        await self.app.store.sections([candidate.section_id for candidate in found[:8]])
        response = await self.client.post(self.url, json=self.body)
        response.raise_for_status()


async def milliseconds(work: Callable[[str], Awaitable[Any]], question: str) -> float:
    started = time.perf_counter()
    await work(question)
    return 1000 * (time.perf_counter() - started)


async def rate(work: Callable[[str], Awaitable[Any]], questions: list[str], clients: int) -> float:
    """Questions a second when so many clients ask one after the other."""
    waiting = iter(questions)

    async def client() -> None:
        for question in waiting:
            await work(question)

    started = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(clients):
            tasks.start_soon(client)
    return len(questions) / (time.perf_counter() - started)


async def measure(options: argparse.Namespace, url: str) -> dict[str, Any]:
    asked = [line.strip() for line in options.questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    # A number makes each one new to the caches of vectors and of replies, and changes little else.
    questions = [f"{asked[n % len(asked)]} ({n})" for n in range(options.n)]
    settings = load_settings(options.home).model_copy(update={"openai_compat_base_url": f"{url}/v1", "models": ("scripted",)})
    async with Citewell(settings, load_profile("generic")) as app:
        statuses: dict[str, int] = {}

        async def citewell(question: str) -> None:
            answer = await app.ask(question)
            statuses[answer.status] = statuses.get(answer.status, 0) + 1

        body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "x" * 8000}]}
        bare = Bare(app, url, body)
        for question in questions[:10]:
            await bare(f"{question}!")
            await citewell(f"{question}?")
        pairs = [(await milliseconds(bare, f"{question} a"), await milliseconds(citewell, f"{question} b")) for question in questions]
        sections = sum(info.sections for info in await app.sources())
        return {
            "n": len(questions),
            "sections": sections,
            "bare_ms": round(median(first for first, _ in pairs), 1),
            "citewell_ms": round(median(second for _, second in pairs), 1),
            "added_ms": round(median(second - first for first, second in pairs), 1),
            "clients": options.clients,
            "bare_per_second": round(await rate(bare, [f"{question} c" for question in questions], options.clients), 1),
            "citewell_per_second": round(await rate(citewell, [f"{question} d" for question in questions], options.clients), 1),
            "statuses": statuses,
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "date": date.today().isoformat(),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    print(json.dumps(anyio.run(measure, options, ours.recv()), indent=2))
    ours.send(None)
    server.join()


if __name__ == "__main__":
    main()
