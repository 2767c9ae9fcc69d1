"""An embedder behind any endpoint that speaks OpenAI's `/embeddings`: a server of one's own, a gateway, a vendor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import stamina

from citewell.errors import EmbedderFailed, ungrouped
from citewell.index.embed import wire
from citewell.index.embed.base import QueryCache
from citewell.index.embed.pace import Pace
from citewell.redact import Redactor
from citewell.web import retry_after

if TYPE_CHECKING:
    import httpx2

    from citewell.index.embed.base import Vectors

PREFIX = "openai-compat:"
_BATCH_TEXTS = 64
_BATCH_CHARS = 64_000
_MOST_CHARS = 32_000  # of one text: no section is longer, and a question is cut
_FEWEST_CHARS = 200  # a text that is too long even so is not the fault of its length
_AT_ONCE = 4
_ATTEMPTS = 15
_QUERY_ATTEMPTS = 3  # somebody waits
_PATIENCE = 900.0  # seconds for all attempts of one request
_LONGEST_HOLD = 120.0  # seconds; a server that asks for more is not waited for
_ERROR_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and what to ask. `dimensions` None leaves the width to the model, `per_minute` 0 sets no limit to requests; `timeout` is in
    seconds for one request."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    dimensions: int | None = None
    per_minute: int = 0
    timeout: float = 60.0


class _Again(Exception):
    """What another attempt may mend; `wait` seconds later where the server says so."""

    def __init__(self, failure: EmbedderFailed, wait: float | None = None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.wait = wait


class _TooLong(Exception):
    """The server takes fewer or shorter texts."""

    def __init__(self, failure: EmbedderFailed) -> None:
        super().__init__(str(failure))
        self.failure = failure


class OpenAICompat:
    """`width` is that of an earlier run where it is known. `clock` is in seconds since 1970."""

    def __init__(self, endpoint: Endpoint, *, width: int = 0, pace: Pace | None = None, clock: Callable[[], float] = time.time) -> None:
        self.endpoint = endpoint
        self.width = endpoint.dimensions or width
        self._pace = pace or Pace(endpoint.per_minute)
        self._clock = clock
        self._redact = Redactor([endpoint.api_key])
        self._queries = QueryCache()
        self._slots = anyio.Semaphore(_AT_ONCE)
        self._client: httpx2.AsyncClient | None = None

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.endpoint.model}/{self.width}"

    async def open(self) -> None:
        if not self.width:
            await self._embed(["width"], _QUERY_ATTEMPTS)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        batches = list(_batches(texts))
        found: dict[int, Vectors] = {}

        async def embed(number: int) -> None:
            found[number] = await self._embed([texts[n][:_MOST_CHARS] for n in batches[number]], _ATTEMPTS)

        with ungrouped():
            async with anyio.create_task_group() as tasks:
                for number in range(len(batches)):
                    tasks.start_soon(embed, number)
        vectors = np.empty((len(texts), self.width), dtype=np.float32)
        for number, batch in enumerate(batches):
            vectors[batch] = found[number]
        return vectors

    async def embed_query(self, text: str) -> str:
        return self._queries.get(text) or self._queries.put(text, (await self._embed([text[:_MOST_CHARS]], _QUERY_ATTEMPTS))[0])

    async def check(self) -> str:
        await self._embed(["width"], 1)
        return self._redact(f"{self.endpoint.base_url} answers")

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _embed(self, texts: list[str], attempts: int) -> Vectors:
        """The vectors of one batch; halves of it, or of its only text, when the server finds it too long."""
        import numpy as np

        try:
            vectors = await self._persist(texts, attempts)
        except _TooLong as error:
            if len(texts) > 1:
                half = len(texts) // 2
                return np.concatenate([await self._embed(texts[:half], attempts), await self._embed(texts[half:], attempts)])
            if len(texts[0]) <= _FEWEST_CHARS:
                raise error.failure from None
            return await self._embed([texts[0][: len(texts[0]) // 2]], attempts)
        return self._checked(vectors)

    def _checked(self, vectors: Vectors) -> Vectors:
        """The vectors, if they have the width of all others; the first ones say what that is."""
        width = vectors.shape[1]
        self.width = self.width or width
        if width != self.width:
            raise EmbedderFailed(
                f"The embedding endpoint made vectors of {width} numbers where {self.width} are expected.",
                hint="Correct CITEWELL_EMBEDDINGS_MODEL or CITEWELL_EMBEDDINGS_DIMENSIONS; another width needs an index of its own.",
            )
        return vectors

    async def _persist(self, texts: list[str], attempts: int) -> Vectors:
        """The vectors of one request, repeated while that may help. Raises `EmbedderFailed` and `_TooLong`."""
        try:
            async for attempt in stamina.retry_context(on=self._backoff, attempts=attempts, timeout=_PATIENCE, wait_max=30.0):
                with attempt:
                    async with self._slots:
                        await self._pace.turn()
                        return await self._request(texts)
        except _Again as error:
            raise error.failure from error
        raise AssertionError("unreachable")

    def _backoff(self, error: Exception) -> bool | float:
        """Whether and when to try again, as stamina asks. What the server says about waiting holds for every request."""
        if not isinstance(error, _Again):
            return False
        if error.wait is None:
            return True
        if error.wait > _LONGEST_HOLD:
            return False
        self._pace.hold(error.wait)
        return 0.0

    async def _request(self, texts: list[str]) -> Vectors:
        import httpx2

        body = wire.request_body(self.endpoint.model, texts, self.endpoint.dimensions)
        try:
            with anyio.fail_after(self.endpoint.timeout):
                async with self._opened().stream("POST", f"{self.endpoint.base_url}/embeddings", json=body) as response:
                    most = wire.longest_answer(len(texts)) if response.status_code == 200 else _ERROR_BYTES
                    return self._vectors(response, await _read(response, most), len(texts))
        except TimeoutError as error:
            raise _Again(self._failure(f"did not answer within {self.endpoint.timeout:g} seconds")) from error
        except httpx2.InvalidURL as error:
            raise self._failure(f"has an address that is none: {error}") from error
        except httpx2.RequestError as error:
            raise _Again(self._failure(f"cannot be reached: {error or type(error).__name__}")) from error

    def _vectors(self, response: httpx2.Response, body: bytes | None, count: int) -> Vectors:
        """What an answer holds. Raises `_Again`, `_TooLong` or `EmbedderFailed` for one that holds no vectors."""
        status = response.status_code
        if status == 200:
            if body is None:
                raise self._failure("sent more than vectors can need")
            try:
                return wire.read_vectors(body, count)
            except wire.Malformed as error:
                raise self._failure(f"sent {error}") from error
        said = wire.what_it_said(body or b"")
        failure = self._failure(f"answered {status}{': ' if said else ''}{said}", status)
        if status == 429 or status >= 500:
            failure.retry_after = retry_after(response.headers.get("retry-after", ""), self._clock())
            raise _Again(failure, failure.retry_after)
        if wire.is_too_long(status, said):
            raise _TooLong(failure)
        raise failure

    def _failure(self, what: str, status: int = 0) -> EmbedderFailed:
        hints = {
            401: "Correct CITEWELL_EMBEDDINGS_API_KEY.",
            403: "Correct CITEWELL_EMBEDDINGS_API_KEY.",
            404: "Correct CITEWELL_EMBEDDINGS_BASE_URL (it often ends in /v1) or CITEWELL_EMBEDDINGS_MODEL.",
            429: "Wait and run this again; CITEWELL_EMBEDDINGS_PER_MINUTE slows the requests down.",
        }
        hint = hints.get(status, "Check that CITEWELL_EMBEDDINGS_BASE_URL is right and its server runs; then run this again.")
        return EmbedderFailed(self._redact(f"The embedding endpoint {self.endpoint.base_url} {what}.").replace("..", "."), hint=hint)

    def _opened(self) -> httpx2.AsyncClient:
        """The one client, made for the first request."""
        import httpx2

        if self._client is None:
            headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
            if self.endpoint.api_key:
                headers["Authorization"] = f"Bearer {self.endpoint.api_key}"
            self._client = httpx2.AsyncClient(headers=headers, timeout=self.endpoint.timeout)
        return self._client


async def _read(response: httpx2.Response, most: int) -> bytes | None:
    """The body; None for one that is larger than it may be."""
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > most:
            return None
    return bytes(body)


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Indices in order, in batches within the limits of texts and characters."""
    batch: list[int] = []
    chars = 0
    for n, text in enumerate(texts):
        length = min(len(text), _MOST_CHARS)
        if batch and (len(batch) == _BATCH_TEXTS or chars + length > _BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(n)
        chars += length
    if batch:
        yield batch
