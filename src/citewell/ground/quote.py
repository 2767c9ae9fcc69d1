"""The answer without a model: the sentences and the code of the evidence that answer best, word for word.

Extractive answering in the manner of query-focused summarisation: each unit of the best sections is scored by how much of the
question it covers (weighted by how telling each word is in this corpus), by its closeness in the embedding space, and by the rank
of its section; the answer is the few best, with the signature of a documented definition in front.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread

from citewell.ground.evidence import Evidence
from citewell.ground.prose import as_markdown, is_markdown
from citewell.ground.units import Unit, units
from citewell.index.embed import Embedder
from citewell.index.identifiers import identifiers, last_component, without_code
from citewell.index.lexical import STOP_WORDS, term_id, tokens
from citewell.index.store import Store, TermWeight
from citewell.types import HEADING_SEPARATOR, NO_FILTERS, Filters, Hit

MAX_UNITS = 6  # besides the signature of a definition
MAX_CHARS = 1300
_SECTIONS = 5  # sections that are read for quotations
_EMBEDDED = 24  # units whose meaning is compared with the question's
_CODE_CHARS = 900
_PROSE_CHARS = 700
_ENOUGH = 0.55  # of the best unit's score: what falls below that is not quoted
_NEAR = 0.62  # of the best section's score: a section below that is not quoted
_RANK = 1.0  # what the rank of its section adds to a unit, whose own words count up to 1
_HEADING = 0.3  # what a word counts that only the headings above the unit have
_NEIGHBOURS = 0.3
_ERROR_LINE = re.compile(r"\b\w*(?:Error|Exception|Traceback)\b.*[:(]|^\s*File \"")
_READ_CHARS = 20_000  # of a section that are looked at; a section has 2,000, unless it is one long line
_SHORT = 5  # words of a first sentence that answers the question of its heading and says nothing alone: "Yes, it can."
_NUMBERED = re.compile(r"(\d{1,9})([.)])[ \t]+$")
_WANTS_CODE = re.compile(r"\b(how (?:do|can|to|would|should)|example|snippet|code|write|implement|call|usage|syntax)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A unit worth quoting: `text` of evidence number `number`, written in Markdown or not. `mark` is what an item of a list begins with:
    its number, a hyphen, or nothing where the item has begun before."""

    number: int
    unit: Unit
    text: str
    score: float
    mark: str = "-"
    markdown: bool = False


@dataclass(frozen=True, slots=True)
class Quotations:
    """What was chosen, in reading order, and the question's names that occur nowhere in the corpus."""

    chosen: Sequence[Quoted]
    unknown: Sequence[str]
    coverage: float  # share of the question's telling words that the chosen sections hold, 0..1
    closeness: float  # cosine similarity of the best unit, 0..1


async def choose(question: str, evidence: Evidence, store: Store, embedder: Embedder | None, filters: Filters = NO_FILTERS) -> Quotations:
    """The quotations that answer a question best, from the evidence at hand."""
    hits = [(number, hit) for number, hit in evidence][:_SECTIONS]
    asked = [term for term in dict.fromkeys(tokens(question)) if term not in STOP_WORDS]
    weights = await store.term_weights([term_id(term) for term in asked])
    unknown = await _unknown(question, store, filters)
    top = max((hit.score for _, hit in hits), default=0.0) or 1.0
    near = [(number, hit) for number, hit in hits if hit.score >= _NEAR * top]
    pool = await anyio.to_thread.run_sync(_score_words, near, asked, weights, top, abandon_on_cancel=True)
    closeness: dict[tuple[int, int], float] = {}
    if embedder is not None and pool:
        closeness = await _closeness(question, pool, embedder)
    scored = [replace(quoted, score=quoted.score + closeness.get((quoted.number, quoted.unit.start), 0.0)) for quoted in pool]

    def pick() -> tuple[list[Quoted], float]:
        held = {term for _, hit in near for term in tokens(f"{hit.section.heading_path} {hit.section.text[:_READ_CHARS]}")}
        return _pick(_smoothed(scored), near, question), _share(asked, held, weights)

    chosen, coverage = await anyio.to_thread.run_sync(pick, abandon_on_cancel=True)
    return Quotations(chosen, unknown, coverage, max(closeness.values(), default=0.0))


async def _unknown(question: str, store: Store, filters: Filters) -> list[str]:
    """The identifiers of a question's prose that are neither a documented symbol nor a word of any section, as the asker wrote them.

    Names in error messages and in the asker's own code are not what is asked for.
    """
    prose = "\n".join(line for line in without_code(question).split("\n") if not _ERROR_LINE.search(line))
    names = identifiers(prose)
    known = await store.known_symbols(names, filters)
    words = {name: _whole_term(name) for name in names if name not in known}
    held = await store.known_terms([term for term in words.values() if term is not None], filters)
    missing = [name for name, term in words.items() if term is not None and term not in held]
    return [_as_written(name, prose) for name in missing]


def _whole_term(name: str) -> int | None:
    """The term under which a name, or the last part of a dotted one, is indexed as a whole; None where nothing can be said of it: one with
    hyphens is indexed by its parts only, a stop word (`--all`) not at all, and a letter (`-k`) is found anywhere."""
    bare = last_component(name).lstrip("-")
    terms = tokens(bare)
    return term_id(terms[0]) if terms and len(bare) > 1 and "-" not in bare and terms[0] not in STOP_WORDS else None


def _as_written(name: str, prose: str) -> str:
    at = prose.lower().find(name)
    return prose[at : at + len(name)] if at >= 0 else name


def _smoothed(scored: Sequence[Quoted]) -> list[Quoted]:
    """Each unit lifted by its neighbours in the section: an answer stands in a passage, not in scattered sentences."""
    smooth = []
    for place, quoted in enumerate(scored):
        beside = [scored[n].score for n in (place - 1, place + 1) if 0 <= n < len(scored) and scored[n].number == quoted.number]
        smooth.append(replace(quoted, score=quoted.score + _NEIGHBOURS * sum(beside) / 2))
    return smooth


def _share(asked: Sequence[str], held: set[str], weights: Mapping[int, TermWeight]) -> float:
    idf = {term: weights[term_id(term)].idf if term_id(term) in weights else 0.0 for term in asked}
    total = sum(idf.values())
    return sum(value for term, value in idf.items() if term in held) / total if total else 0.0


def _score_words(hits: Sequence[tuple[int, Hit]], asked: Sequence[str], weights: Mapping[int, TermWeight], top: float) -> list[Quoted]:
    found = []
    for number, hit in hits:
        text = hit.section.text
        context = set(tokens(hit.section.heading_path))
        for place, (unit, question) in enumerate(_with_questions(text, hit.section.heading_path)):
            piece = text[unit.start : unit.end]
            if unit.kind == "signature" or (_idle(piece, unit) and not question):
                continue
            words = set(tokens(f"{question} {piece}"))
            covered = _share(asked, words, weights) + _HEADING * _share(asked, context - words, weights)
            early = 0.12 if place <= 2 else 0.05 if place <= 5 else 0.0
            penalty = 0.25 if unit.kind == "code" else 0.0
            score = covered + early + _RANK * hit.score / top - penalty
            found.append(Quoted(number, unit, piece, score, _mark(text, unit), is_markdown(hit.section.path)))
    return found


def _with_questions(text: str, heading_path: str) -> Iterator[tuple[Unit, str]]:
    """The units of a section. A short reply to a question, its heading's or one in the text, is one unit with the sentence after it and
    comes with the question; others come with ""."""
    found = [unit for unit in units(text[: _READ_CHARS + 1]) if unit.end <= _READ_CHARS]
    question = heading_path.rpartition(HEADING_SEPARATOR)[2]
    n = 0
    while n < len(found):
        unit = found[n]
        piece = text[unit.start : unit.end]
        is_reply = _asks(question) and unit.kind in {"sentence", "item"} and len(piece.split()) <= _SHORT and not _asks(piece)
        if is_reply and n + 1 < len(found):
            after = found[n + 1]
            goes_on = after.kind == unit.kind and after.end - unit.start <= _PROSE_CHARS and not _asks(text[after.start : after.end])
            unit, n = (Unit(unit.kind, unit.start, after.end), n + 1) if goes_on else (unit, n)
        yield unit, question if is_reply else ""
        question = piece
        n += 1


def _asks(text: str) -> bool:
    return text.strip("*_# ").endswith("?")


def _mark(text: str, unit: Unit) -> str:
    """What stands before an item on its line: its number, written so that no list counts it anew; a hyphen for a bullet."""
    before = text[text.rfind("\n", 0, unit.start) + 1 : unit.start]
    number = _NUMBERED.search(before)
    return f"{number.group(1)}\\{number.group(2)}" if number else "-" if before.strip(" \t>") else ""


def _idle(piece: str, unit: Unit) -> bool:
    """Pieces that say nothing alone: labels, lead-ins to what is not quoted with them, fragments."""
    bare = piece.strip("*_ ")
    if unit.kind == "code":
        return len(piece) > _CODE_CHARS
    return len(bare.split()) < 3 or bare.endswith(":") or len(piece) > _PROSE_CHARS or bare.endswith("?")


async def _closeness(question: str, pool: Sequence[Quoted], embedder: Embedder) -> dict[tuple[int, int], float]:
    best = sorted(pool, key=lambda q: -q.score)[:_EMBEDDED]
    vectors = await embedder.embed([question, *(q.text for q in best)])
    similar = vectors[1:] @ vectors[0]
    return {(q.number, q.unit.start): float(value) for q, value in zip(best, similar, strict=True)}


def _pick(scored: Sequence[Quoted], hits: Sequence[tuple[int, Hit]], question: str) -> list[Quoted]:
    """The best units within the limits, at most one block of code, put in reading order: best section first."""
    ranked = sorted(scored, key=lambda q: -q.score)
    if not ranked:
        return []
    floor = ranked[0].score * _ENOUGH
    chosen: list[Quoted] = []
    size = 0
    for quoted in ranked:
        is_code = quoted.unit.kind == "code"
        if quoted.score < floor or len(chosen) >= MAX_UNITS or (is_code and any(q.unit.kind == "code" for q in chosen)):
            continue
        if size + len(quoted.text) > MAX_CHARS or any(q.text == quoted.text for q in chosen):
            continue
        chosen.append(quoted)
        size += len(quoted.text)
    if _WANTS_CODE.search(question) and not any(q.unit.kind == "code" for q in chosen):
        code = [q for q in ranked if q.unit.kind == "code" and q.number == chosen[0].number][:1]
        chosen = chosen[: MAX_UNITS - len(code)] + code
    return _in_order(_signatures(chosen, hits) + chosen)


def _signatures(chosen: Sequence[Quoted], hits: Sequence[tuple[int, Hit]]) -> list[Quoted]:
    """The signature of the definition that the best unit comes from: names and defaults, which prose often leaves out."""
    best = chosen[0]
    text = next(hit.section.text for number, hit in hits if number == best.number)[:_READ_CHARS]
    found = [unit for unit in units(text) if unit.kind == "signature"][:1]
    return [Quoted(best.number, unit, text[unit.start : unit.end], best.score) for unit in found]


def _in_order(chosen: Sequence[Quoted]) -> list[Quoted]:
    order = {number: place for place, number in enumerate(dict.fromkeys(q.number for q in chosen))}
    return sorted(chosen, key=lambda q: (order[q.number], q.unit.start))


def compose(chosen: Sequence[Quoted]) -> str:
    """The quotations as Markdown, each sentence with the marker of its evidence number."""
    return "\n\n".join(_block(quoted) for quoted in chosen)


def _block(quoted: Quoted) -> str:
    kind = quoted.unit.kind
    if kind == "code":
        return f"{_dedent(quoted.text)}\n[{quoted.number}]"
    if kind == "signature":
        return f"{quoted.text} [{quoted.number}]"
    if kind == "row":
        cells = re.split(r"(?<!\\)\|", quoted.text.strip().strip("|"))
        shown = [as_markdown(cell.replace("\\|", "|"), markdown=quoted.markdown) for cell in cells]
        text = "- " + " · ".join(filter(None, shown))
    else:
        mark = f"{quoted.mark} " if kind == "item" and quoted.mark else ""
        text = mark + as_markdown(quoted.text, markdown=quoted.markdown)
    for unit in reversed(units(text)):  # a table row may hold several sentences
        text = f"{text[: unit.end]} [{quoted.number}]{text[unit.end :]}"
    return text


def _dedent(code: str) -> str:
    indent = re.match(r"[ >]*", code)
    width = len(indent.group(0)) if indent else 0
    return "\n".join(line[width:] for line in code.split("\n")) if width else code
