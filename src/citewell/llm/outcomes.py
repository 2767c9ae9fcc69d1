"""How a request to the models of a house can end. Expected ends are values of a closed kind; only bugs and cancellation are raised."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.llm.base import ChatResult, FaultKind, ModelRef
from citewell.llm.ledger import Refusal


@dataclass(frozen=True, slots=True)
class Trouble:
    """One HTTP request that gave no reply, in words without secrets."""

    model: ModelRef
    kind: FaultKind
    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply. `cached` says that it was given before and cost nothing; `troubles` are those on the way to it."""

    result: ChatResult
    cached: bool = False
    troubles: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """A reply that broke off after a piece of it was shown, so that no other model could take over. `result` is what had come."""

    result: ChatResult
    trouble: Trouble


@dataclass(frozen=True, slots=True)
class ToolsUnsupported:
    """The model whose turn it is takes no tools; ask again without them."""

    model: ModelRef


@dataclass(frozen=True, slots=True)
class LimitReached:
    """The ledger let no further call start."""

    refusal: Refusal
    troubles: tuple[Trouble, ...] = ()


@dataclass(frozen=True, slots=True)
class NoModel:
    """No model gave a reply; `troubles` is empty where there is none to ask."""

    troubles: tuple[Trouble, ...] = ()


Outcome = Reply | Cut | ToolsUnsupported | LimitReached | NoModel
