"""What all providers share: one client, one HTTP request a call, limits in time, and every error as a `ProviderFault` without secrets."""

from __future__ import annotations

import importlib
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from pydantic import SecretStr

from citewell.llm import faults
from citewell.llm.assemble import Assembly
from citewell.llm.base import Capability, ChatRequest, ChatResult, Delta, FaultKind, ModelRef, ProviderFault
from citewell.llm.structured import clean
from citewell.redact import Redactor

if TYPE_CHECKING:
    import httpx2

    from citewell.llm.http import Exchange

_T = TypeVar("_T")

NO_KEY = "unused"  # what SDKs are told: the key itself is known to the HTTP client alone
_LONGEST_NAME = 200
_MOST_NAMES = 10_000


class ErrorEvent(Exception):
    """An error that a server sent as part of its stream."""

    def __init__(self, said: object) -> None:
        super().__init__()
        self.said = said


class HttpProvider(ABC):
    """A provider over an SDK that takes an HTTP client. `clock` is in seconds since 1970, for dates in `Retry-After`."""

    sdk = ""  # the package, which is imported for the first request
    extra = ""  # of ours that brings it
    named_events = False  # whether the SDK needs the names of events

    def __init__(self, name: str, base_url: str, api_key: SecretStr | None, *, clock: Callable[[], float] = time.time) -> None:
        self.name = name
        self.base_url = base_url
        self._api_key = api_key
        self._clock = clock
        self._redact = Redactor([self.key] if self.key else [])
        self._http: httpx2.AsyncClient | None = None

    @property
    def key(self) -> str:
        return self._api_key.get_secret_value() if self._api_key else ""

    async def stream(
        self, model: str, request: ChatRequest, *, capability: Capability, seconds: float
    ) -> AsyncIterator[Delta | ChatResult]:
        """See `Provider.stream`."""
        await self._load()
        from citewell.llm.http import Exchange

        assembly = Assembly(ModelRef(self.name, model), frozenset(call.id for message in request.messages for call in message.tool_calls))
        exchange = Exchange(streams=True, named=self.named_events)
        deadline = anyio.current_time() + seconds
        asked = self._asked(request, capability)
        async with aclosing(self._pieces(model, request, capability, assembly)) as events:
            try:
                while True:
                    pieces, fault = await self._within(exchange, deadline, anext(events, None), asked)
                    if fault is not None and not assembly.complete:
                        fault.shown = assembly.shown
                        raise fault
                    if pieces is None:
                        assembly.complete = assembly.complete or exchange.done
                        break
                    for piece in pieces:
                        assembly.shown = True
                        yield piece
                yield self._result(assembly)
            finally:
                await exchange.aclose()

    async def models(self, *, seconds: float) -> list[str]:
        """See `Provider.models`."""
        await self._load()
        from citewell.llm.http import Exchange

        exchange = Exchange(streams=False)
        try:
            found, fault = await self._within(exchange, anyio.current_time() + seconds, self._names(), faults.Asked())
        finally:
            await exchange.aclose()
        if fault is not None:
            raise fault
        names = [name for name in found or [] if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable()]
        return list(dict.fromkeys(names))[:_MOST_NAMES]

    async def aclose(self) -> None:
        """Closes all connections; the next call opens new ones."""
        client, self._http = self._http, None
        self._forget()
        if client is not None:
            await client.aclose()

    async def _load(self) -> None:
        """Imports the SDK in a thread: that can take seconds, which neither other tasks nor the limit of the call shall pay for."""
        if self.sdk in sys.modules:
            return
        try:
            await anyio.to_thread.run_sync(importlib.import_module, self.sdk, abandon_on_cancel=True)
        except ImportError:
            words = f"needs a package that is not installed. Run pip install 'citewell[{self.extra}]'"
            missing = self._fault("not_found", words)
        else:
            return
        raise missing

    @abstractmethod
    def _pieces(
        self, model: str, request: ChatRequest, capability: Capability, assembly: Assembly
    ) -> AsyncGenerator[list[Delta] | None, None]:
        """Sends the request and reads each event into the assembly, giving what of it is to be passed on."""

    @abstractmethod
    async def _names(self) -> list[Any]:
        """The names in the first page of the provider's list of models, unchecked."""

    @abstractmethod
    def _event_error(self, error: Exception) -> object:
        """The error object of an event that an SDK raised as an error, None for any other error."""

    @abstractmethod
    def _secrets(self) -> Mapping[str, str]:
        """The headers that hold the key."""

    @abstractmethod
    def _forget(self) -> None:
        """Lets go of the SDK's client."""

    def _asked(self, request: ChatRequest, capability: Capability) -> faults.Asked:
        return faults.Asked.of(request, capability)

    def _client(self) -> httpx2.AsyncClient:
        """The one HTTP client, made for the first request."""
        from citewell.llm.http import new_client

        if self._http is None:
            self._http = new_client(self.base_url, self._secrets())
        return self._http

    def _result(self, assembly: Assembly) -> ChatResult:
        if assembly.begun and not assembly.complete:
            raise self._fault("connection", "ended before its reply was complete", shown=assembly.shown)
        return assembly.result()

    async def _within(
        self, exchange: Exchange, deadline: float, step: Awaitable[_T], asked: faults.Asked
    ) -> tuple[_T | None, ProviderFault | None]:
        """What a step gives, or the fault that it ended in: returned, because one raised within would hold the SDK's error, key and all,
        as its context."""
        try:
            with exchange.current(), anyio.fail_after(max(deadline - anyio.current_time(), 0)):
                return await step, None
        except ProviderFault as fault:
            return None, fault
        except TimeoutError:
            return None, self._fault("timeout", "did not finish in time")
        except Exception as error:
            fault_of_error = self._translated(error, exchange, asked)
            if fault_of_error is None:
                raise
            return None, fault_of_error

    def _translated(self, error: Exception, exchange: Exchange, asked: faults.Asked) -> ProviderFault | None:
        """The fault that an error of an SDK means; None for one that is no server's fault."""
        from citewell.llm.http import failure_of

        if exchange.broken is not None:
            return self._fault(*exchange.broken)
        response = exchange.response
        if response is not None and response.status_code != 200:
            return self._refusal(response, bytes(exchange.body), asked)
        said = error.said if isinstance(error, ErrorEvent) else self._event_error(error)
        if said is not None:
            kind = faults.kind_of_event(said, asked)
            words = faults.words_of(said)
            window = faults.window_in(words) if kind == "too_long" else None
            return self._fault(kind, "sent an error instead of its reply", faults.message_of(said), status=200, window=window)
        if failure := failure_of(error):
            return self._fault(*failure)
        return None if response is None else self._fault("stream", f"sent what is no proper reply ({type(error).__name__})")

    def _refusal(self, response: httpx2.Response, body: bytes, asked: faults.Asked) -> ProviderFault:
        status, said = response.status_code, faults.parsed(body)
        words = faults.words_of(said)
        kind = faults.kind_of(status, words, asked)
        wait = faults.wait_of(response.headers, said, self._clock())
        window = faults.window_in(words) if kind == "too_long" else None
        message = "" if 300 <= status < 400 else faults.message_of(said)
        what = f"answered {status}" + (", which leads elsewhere" if 300 <= status < 400 else "")
        return self._fault(kind, what, message, status=status, retry_after=wait, window=window)

    def _fault(self, kind: FaultKind, what: str, said: str = "", **more: Any) -> ProviderFault:
        at = f" at {self.base_url}" if self.base_url else ""
        text = f"{self.name}{at} {what}" + (f": {said}" if said else "")
        text = faults.shortened(clean(self._redact(text)))
        return ProviderFault(kind, text if text.endswith((".", "…", "!", "?")) else text + ".", **more)
