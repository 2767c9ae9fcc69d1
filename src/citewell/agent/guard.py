"""Whether a question may be asked at all: length, language, topic. No model call, and an outcome rather than an error.

Topicality is membership in the documentation's embedding space and nothing else: an off-topic request and a bare injection get the
same refusal, because neither lies near anything that the documentation says.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import zip_longest

import anyio.to_thread

from citewell.agent.language import foreign_language
from citewell.errors import CitewellError
from citewell.ground.run import Deps
from citewell.ground.units import units
from citewell.index.embed import Embedder, vector_literal
from citewell.index.identifiers import identifiers
from citewell.index.store import CorpusInfo, Sample, Store
from citewell.types import HEADING_SEPARATOR, NO_FILTERS, Filters, GuardVerdict

DEFAULT_DISTANCE = 0.75  # for a corpus too small to calibrate on: only what is far from everything is stopped
_SAMPLES = 150
_FEWEST_SAMPLES = 25
_REFUSAL_WEIGHT = 3  # refusing a question that belongs here is so many times as bad as letting one pass that does not

_LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "zh": "Chinese"}
_log = logging.getLogger(__name__)


Measure = Callable[[], Awaitable[float | None]]


async def guard(
    question: str, deps: Deps, corpus: CorpusInfo, filters: Filters = NO_FILTERS, measure: Measure | None = None
) -> GuardVerdict:
    """The verdict on a raw question: the first of length, language and topicality that fails decides.

    `measure` gives the distance to the nearest section where somebody measures it anyway.
    """
    limit = deps.settings.max_question_chars
    if len(question) > limit:
        return GuardVerdict(
            False, "too_long", f"The question has {len(question)} characters; at most {limit} can be answered. Please shorten it."
        )
    languages = deps.profile.languages  # a doubtful case loads a model: half a second, once, and not on the event loop
    foreign = await anyio.to_thread.run_sync(foreign_language, question, languages, abandon_on_cancel=True)
    if foreign is not None:
        names = " or ".join(_LANGUAGES.get(code, code) for code in deps.profile.languages)
        return GuardVerdict(False, "not_english", f"I can search this documentation in {names} only. Please put the question in {names}.")
    return await _topicality(question, deps, corpus, filters, measure)


async def _topicality(question: str, deps: Deps, corpus: CorpusInfo, filters: Filters, measure: Measure | None) -> GuardVerdict:
    """Fails open: an empty index or any trouble in measuring lets the question pass."""
    if deps.embedder is None:
        return GuardVerdict(True)
    try:
        if measure is not None:
            distance = await measure()
        else:
            distance = await deps.store.nearest_distance(await deps.embedder.embed_query(question), filters=filters)
        if distance is None or distance <= _threshold(deps, corpus) or await deps.store.known_symbols(identifiers(question), filters):
            return GuardVerdict(True, distance=distance)
    except CitewellError as error:
        _log.warning("topicality could not be measured, the question passes: %s", error)
        return GuardVerdict(True)
    topic = deps.profile.description
    message = f"I answer questions about {topic}, and this does not seem to be one. Please ask about {topic}."
    return GuardVerdict(False, "off_topic", message, distance)


def _threshold(deps: Deps, corpus: CorpusInfo) -> float:
    """The first that is set: the environment's, the profile's, the corpus's own calibration."""
    for value in (deps.settings.topicality_max_distance, deps.profile.guard.max_distance, corpus.max_distance):
        if value is not None:
            return value
    return DEFAULT_DISTANCE


# ---- calibration ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calibration:
    """Distances of both kinds of phrases to the corpus, sorted; `overlap` is the share of them on the wrong side of the threshold."""

    threshold: float
    on_topic: Sequence[float]
    off_topic: Sequence[float]
    overlap: float


async def calibrate_corpus(store: Store, embedder: Embedder) -> Calibration:
    """The threshold by the corpus's own headings and first sentences, each against the rest of the corpus, and a bundled list of
    things nobody asks of documentation."""
    samples = await store.sample_sections(_SAMPLES)
    near = await _distances(store, embedder, [_phrase(sample) for sample in samples], [sample.section_id for sample in samples])
    return calibrated(near, await _distances(store, embedder, bundled_off_topic()))


async def calibrate_questions(store: Store, embedder: Embedder, on_topic: Sequence[str], off_topic: Sequence[str]) -> Calibration:
    """The threshold by questions that the caller knows to be on and off topic."""
    return calibrated(await _distances(store, embedder, on_topic), await _distances(store, embedder, off_topic), fewest=1)


async def _distances(store: Store, embedder: Embedder, phrases: Sequence[str], outside: Sequence[int] = ()) -> list[float]:
    """Each phrase's distance to the nearest section, the page of its own section in `outside` left out."""
    vectors = await embedder.embed(phrases) if phrases else ()
    found = []
    for vector, section_id in zip_longest(vectors, outside):
        distance = await store.nearest_distance(vector_literal(vector), outside_page_of=section_id)
        if distance is not None:
            found.append(distance)
    return found


def calibrated(on_topic: Sequence[float], off_topic: Sequence[float], fewest: int = _FEWEST_SAMPLES) -> Calibration:
    """The threshold with the least weighted share of phrases on its wrong side. Pure.

    Short headings lie far from everything, so the corpus's own phrases overlap with what is off topic more than real questions do: the
    line is drawn by weight, not by a share that must pass.
    """
    near, far = sorted(on_topic), sorted(off_topic)
    if len(near) < fewest or not far:
        return Calibration(DEFAULT_DISTANCE, near, far, _overlap(near, far, DEFAULT_DISTANCE))

    def badness(threshold: float) -> float:
        refused = (len(near) - bisect_right(near, threshold)) / len(near)
        return _REFUSAL_WEIGHT * refused + bisect_right(far, threshold) / len(far)

    best = min((*near, *far), key=badness)
    above = next((distance for distance in sorted((*near, *far)) if distance > best), best)
    middle = (best + above) / 2
    threshold = middle if middle < above else best
    return Calibration(threshold, near, far, _overlap(near, far, threshold))


def _overlap(near: Sequence[float], far: Sequence[float], threshold: float) -> float:
    wrong = sum(distance > threshold for distance in near) + sum(distance <= threshold for distance in far)
    return round(wrong / max(len(near) + len(far), 1), 4)


def bundled_off_topic() -> list[str]:
    text = resources.files("citewell").joinpath("data", "offtopic.txt").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _phrase(sample: Sample) -> str:
    """Something like a question about this section: its heading, or for every second section its first sentence."""
    sentence = next((sample.text[unit.start : unit.end] for unit in units(sample.text) if unit.kind in {"sentence", "item"}), "")
    heading = sample.heading_path.rsplit(HEADING_SEPARATOR, 1)[-1]
    return sentence if sample.section_id % 2 and len(sentence.split()) > 3 else heading
