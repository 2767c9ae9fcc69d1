"""The frozen values that flow through citewell. Imports nothing of ours, so every layer may use them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Status = Literal["answered", "partial", "not_found", "refused", "failed"]
Reason = Literal[
    "",
    "too_long",
    "not_english",
    "off_topic",
    "no_sections",
    "unsupported",
    "budget",
    "deadline",
    "provider",
    "missing_context",
    "out_of_scope",
]
Support = Literal["supported", "weak", "unsupported"]
Route = Literal["single", "loop", "graph", "chat", "none"]
Protocol = Literal["native", "planner", "rules", "none"]
QuestionShape = Literal["single", "catalogue", "comparison", "recipe", "internals"]
Kind = Literal["api", "tutorial", "guide"]
Channel = Literal["dense", "keyword", "symbol"]

KINDS: tuple[Kind, ...] = ("api", "tutorial", "guide")
HEADING_SEPARATOR = " > "


# ---- the corpus ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """A named origin. `origin` is where its pages come from; `library` is the partition they live in."""

    id: int
    name: str
    origin: str
    library: str
    kind: str
    base_url: str
    version: str


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A source as `citewell sources` lists it; `vectors_pending` counts sections that only keywords can find so far."""

    source: str
    origin: str
    library: str
    pages: int
    sections: int
    indexed_at: datetime | None
    vectors_pending: int


@dataclass(frozen=True, slots=True)
class Document:
    """A stored page. `path` is relative to its source's origin, `text` is the whole page as Markdown."""

    source: str
    path: str
    url: str
    title: str
    library: str
    kind: str
    version: str
    content_hash: str
    fetched_at: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A stretch of a document's text from `offset` on; `next` is where the next one begins, None at the end."""

    source: str
    path: str
    title: str
    url: str
    text: str
    offset: int
    next: int | None


@dataclass(frozen=True, slots=True)
class Section:
    """A citable place of a page: one heading or one documented definition, or one part of a long one.

    `text` is what offsets of citations count in (code points); `heading_path` runs from the page title to this place.
    """

    id: int
    text_hash: str
    source: str
    path: str
    url: str
    anchor: str
    title: str
    heading_path: str
    library: str
    kind: str
    version: str
    part: int
    text: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True)
class Hit:
    """A section found by a search. `channels` gives the channels that found it and each one's own score, scaled to 0..1."""

    section: Section
    score: float
    channels: dict[Channel, float]
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search may see. Empty fields do not restrict."""

    libraries: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


NO_FILTERS = Filters()


# ---- one question -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Budget:
    """The worst case of a question, fixed before it starts."""

    max_calls: int
    max_tokens: int
    max_seconds: float
    max_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP request to a model provider."""

    provider: str
    model: str
    outcome: str
    status: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Usage:
    """What a question really cost. `cost_usd` is None where no price is known."""

    llm_calls: int = 0
    tool_calls: int = 0
    rounds: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """`reason` is empty when the question may pass; `message` is what the asker is told otherwise."""

    allowed: bool
    reason: Reason = ""
    message: str = ""
    distance: float | None = None


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """Where a question goes, by its shape. `parts` are what to search for to cover it, at most six; none for a single source."""

    route: Route
    shape: QuestionShape
    reason: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """`quote == section_text[start:end]`, offsets in code points of the stored section text."""

    number: int
    section_id: int
    section_hash: str
    source: str
    path: str
    url: str
    anchor: str
    title: str
    heading_path: str
    quote: str
    start: int
    end: int
    link: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, list item, table row or code block of the answer, with the citations it rests on."""

    text: str
    citations: tuple[int, ...]
    support: Support
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Referral:
    """An address beyond the documentation. Never a citation."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a driver hands to the terminus: the route it took and, unless the terminus is to write it, an answer with [n] markers
    that name the evidence ledger's numbers."""

    route: Route
    protocol: Protocol
    answer_md: str | None = None
    escalated: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a question, whatever happened. Made in one place only: `ground.terminus`."""

    status: Status
    reason: Reason
    question: str
    answer_md: str
    budget: Budget
    usage: Usage
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()
    referrals: tuple[Referral, ...] = ()
    symbols_used: tuple[str, ...] = ()
    docs_version: str = ""
    route: Route = "none"
    protocol: Protocol = "none"
    escalated: bool = False
    warnings: tuple[str, ...] = ()
    index_version: int = 0
    crawled_at: datetime | None = None
    trace_id: str = ""


# ---- indexing -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Skipped:
    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run of `index` did. `pages` and `sections` count what the source holds now; the rest counts this run. `complete` says
    whether all was seen that it was to look at."""

    source: str
    pages: int
    sections: int
    added: int
    updated: int
    unchanged: int
    deleted: int
    moved: int
    skipped: tuple[Skipped, ...]
    embedded: int
    reused: int
    seconds: float
    warnings: tuple[str, ...] = field(default=())
    complete: bool = True


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """What one run of `refresh` did: a report for each source that was looked at, and the sources that failed, with what happened and,
    in a second line, what to do."""

    sources: tuple[IndexReport, ...]
    failed: tuple[Skipped, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `citewell doctor`."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


# ---- events -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RouteEvent:
    route: Route
    protocol: Protocol


@dataclass(frozen=True, slots=True)
class TraceEvent:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingEvent:
    """A piece of what a model thinks; for debugging alone."""

    text: str


@dataclass(frozen=True, slots=True)
class DraftEvent:
    """A piece of an answer that is not verified yet."""

    delta: str


@dataclass(frozen=True, slots=True)
class SourcesEvent:
    read: tuple[str, ...]
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    answer: Answer


@dataclass(frozen=True, slots=True)
class DoneEvent:
    tool_calls: int
    seconds: float


Event = RouteEvent | TraceEvent | ThinkingEvent | DraftEvent | SourcesEvent | AnswerEvent | DoneEvent
