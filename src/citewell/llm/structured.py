"""The structured answer that models are asked for, and the reading of what they answer. Pure; whatever a model writes, nothing here raises.

Only `answer_md` is required. Members that are not as they should be are left out rather than asked for again: a second call costs more than
they are worth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from citewell.llm.base import OutputSchema
from citewell.llm.json_stream import MemberStream
from citewell.llm.objects import object_of, objects_in, said_in

_MOST_ITEMS = 100
_LONGEST_TEXT = 2000
_WRAPPERS = ("arguments", "parameters", "input")  # where a model wrote the call that it was to make

_MARKER = re.compile(r"\[\d{1,4}(?:\s?,\s?\d{1,4})*\]")
_FENCED = re.compile(r"\A\s*(```+|~~~+)(?:markdown|md)?[ \t]*\n(.*?)\n?\1\s*\Z", re.DOTALL | re.IGNORECASE)
_JSON_BEGINS = re.compile(r"\A\s*(?:(?:```+|~~~+)[ \t]*\w*[ \t]*\n\s*)?(?:\[\s*)?\{\s*\"")
_TEXT = {"type": "string"}


def _object_schema(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


ANSWER_SCHEMA = OutputSchema(
    name="submit_answer",
    description="The answer to the question, from the numbered sections alone.",
    schema=_object_schema(
        answer_md=_TEXT
        | {"description": "The answer in Markdown; every sentence ends with the numbers of its sections, as [1] or [2][3]."},
        symbols_used=_list_of(_TEXT) | {"description": "Names of code that the answer uses."},
        docs_version=_TEXT | {"description": "The version of the documentation, where a section states it; else empty."},
        referrals=_list_of(_object_schema(url=_TEXT, reason=_TEXT)) | {"description": "Where to look for what the sections do not say."},
        citations=_list_of(_object_schema(url=_TEXT, anchor=_TEXT, title=_TEXT)) | {"description": "The places that the answer rests on."},
    ),
)


def clean(text: str) -> str:
    """The text without what cannot be stored or sent: half characters become U+FFFD, and NUL goes."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", "")


def _word(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return clean(value).strip()[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _words(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(filter(None, (_word(item) for item in items[:_MOST_ITEMS])))


def _with_url(value: Any) -> tuple[dict[str, Any], ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(
        item for item in items[:_MOST_ITEMS] if isinstance(item, dict) and isinstance(item.get("url"), str) and item["url"].strip()
    )


_Word = Annotated[str, BeforeValidator(_word)]


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ReferralWish(_Read):
    """An address beyond the documentation that a model would refer to; not checked."""

    url: _Word
    reason: _Word = ""


class CitationWish(_Read):
    """A place that a model says it cites; not checked."""

    url: _Word
    anchor: _Word = ""
    title: _Word = ""


def _text(value: Any) -> Any:
    if isinstance(value, str) and not clean(value).strip():
        raise ValueError("it is empty")
    return clean(value) if isinstance(value, str) else value


class StructuredAnswer(_Read):
    """What a model answers. `answer_md` is never blank."""

    answer_md: Annotated[str, BeforeValidator(_text)]
    symbols_used: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    docs_version: _Word = ""
    referrals: Annotated[tuple[ReferralWish, ...], BeforeValidator(_with_url)] = ()
    citations: Annotated[tuple[CitationWish, ...], BeforeValidator(_with_url)] = ()


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A reply that is no answer: why, in words for the model that is asked again, and the Markdown that it may be after all."""

    message: str
    text: str = ""


def parse_answer(text: str) -> StructuredAnswer | SchemaFault:
    """The answer that a reply holds: an object, or plain Markdown with [n] markers in its place."""
    found = [answer for answer in map(_answer_in, objects_in(text)) if answer is not None]
    if found:
        return _validated(found[0])
    said = clean(said_in(text)).strip()
    if not said:
        return SchemaFault("The reply is empty.")
    if _JSON_BEGINS.match(said) and not (objects_in(said) and _MARKER.search(said.rpartition("}")[2])):
        written, _ = MemberStream("answer_md").feed(said[said.index("{") :])
        return SchemaFault('The reply is not one complete JSON object with the member "answer_md".', clean(written))
    fenced = _FENCED.match(said)
    said = fenced[2] if fenced else said
    if not _MARKER.search(said):
        return SchemaFault("The reply is neither a JSON object nor Markdown with [n] markers.", said)
    return StructuredAnswer(answer_md=said)


def _answer_in(value: dict[str, Any]) -> dict[str, Any] | None:
    """The object that holds `answer_md`, whether it is this one or the arguments of a call that was written out."""
    if "answer_md" in value:
        return value
    inner = (object_of(value[name]) for name in _WRAPPERS if name in value)
    return next((found for found in inner if found is not None and "answer_md" in found), None)


def _validated(value: dict[str, Any]) -> StructuredAnswer | SchemaFault:
    try:
        return StructuredAnswer.model_validate(value)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        return SchemaFault(f"{place}: {fault['msg'].removeprefix('Value error, ')}.")
