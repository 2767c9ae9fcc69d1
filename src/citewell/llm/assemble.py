"""A reply put together from its pieces. Pure; nothing that a server sends is trusted to be what the protocol says."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any, NoReturn

from citewell.llm.base import ChatResult, Content, Delta, Finish, ModelRef, ProviderFault, Thinking, TokenUsage, ToolCall

MADE = "call-"  # how the ids begin that are made here, where a provider gave none
_MOST_CALLS = 128
_MOST_TOKENS = 10**9
_LONGEST_NAME = 200


@dataclass(slots=True)
class Fragment:
    """One tool call on its way."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    signature: str = ""

    @property
    def whole(self) -> bool:
        """Whether its arguments came complete, in one piece."""
        return len(self.arguments) == 1 and bool(self.arguments[0].strip()) and not parse_arguments(self.arguments[0])[1]


@dataclass(slots=True)
class Assembly:
    """What has come of a reply. `earlier` are the ids of the calls that the conversation holds already: those made here are new in it.

    `complete` says that the provider has ended the reply; `usage` and `finish` are as it said last.
    """

    model: ModelRef
    earlier: frozenset[str] = frozenset()
    finish: Finish = "stop"
    complete: bool = False
    usage: TokenUsage | None = None
    shown: bool = False
    _content: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _calls: list[Fragment] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether anything of a reply has come."""
        return bool(self._content or self._thinking or self._calls)

    @property
    def calls(self) -> int:
        """How many tool calls have begun."""
        return len(self._calls)

    def say(self, text: object) -> list[Delta]:
        """Adds to the content what is text and not empty, and returns it as pieces to pass on."""
        if not isinstance(text, str) or not text:
            return []
        self._content.append(clean(text))
        return [Content(self._content[-1])]

    def think(self, text: object) -> list[Delta]:
        """Like `say`, of the thinking."""
        if not isinstance(text, str) or not text:
            return []
        self._thinking.append(clean(text))
        return [Thinking(self._thinking[-1])]

    def call(
        self, *, index: object = None, call_id: object = None, name: object = None, arguments: object = None, signature: str = ""
    ) -> None:
        """Adds a piece of a tool call: to the call of that index or id, else to the last one, else as a new one.

        Servers number calls, or give them ids, or send them whole one by one; some give every call the index 0.
        """
        number = index if type(index) is int else None
        known, said = text_of(call_id), text_of(name)
        fragment = self._fragment(number, known, said)
        fragment.id = fragment.id or known
        fragment.signature = fragment.signature or signature
        if said and said != fragment.name and not fragment.arguments:
            fragment.name = (fragment.name + said)[:_LONGEST_NAME]
        if isinstance(arguments, str):
            fragment.arguments += [arguments] * bool(arguments)
        elif arguments is not None:
            fragment.arguments.append(json.dumps(arguments))

    def _fragment(self, index: int | None, call_id: str, name: str) -> Fragment:
        for fragment in reversed(self._calls):
            same_index = index is not None and fragment.index == index
            if same_index and not (call_id and fragment.id and call_id != fragment.id):
                return fragment
            if index is None and call_id and fragment.id == call_id and not (name and fragment.whole):
                return fragment
        if index is None and not call_id and not name and self._calls:
            return self._calls[-1]
        if len(self._calls) == _MOST_CALLS:
            raise ProviderFault("stream", f"{self.model} asked for more than {_MOST_CALLS} tools at once.")
        self._calls.append(Fragment(index=index))
        return self._calls[-1]

    def result(self) -> ChatResult:
        """The whole reply. Raises `ProviderFault` for one with neither text nor calls, unless the model refused."""
        content, calls = "".join(self._content), self._tool_calls()
        if not content.strip() and not calls and self.finish != "refused":
            spent = " The limit of its output was spent before any text." if self.finish == "length" else ""
            raise ProviderFault("empty", f"{self.model} replied with neither text nor a tool call.{spent}", shown=self.shown)
        finish: Finish = "tool_calls" if calls and self.finish == "stop" else self.finish
        if finish == "tool_calls" and not calls:
            finish = "stop"
        return ChatResult(content, "".join(self._thinking), calls, finish, self.usage, self.model)

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        calls: list[ToolCall] = []
        taken: set[str] = set()
        given = self.earlier | {fragment.id for fragment in self._calls}
        made = (name for number in itertools.count(1) if (name := f"{MADE}{number}") not in given)
        for fragment in self._calls:
            raw = clean("".join(fragment.arguments))
            arguments, error = parse_arguments(raw)
            if not fragment.name:
                error = "the call names no tool"
            call_id = fragment.id if fragment.id and fragment.id not in taken else next(made)
            taken.add(call_id)
            calls.append(ToolCall(call_id, fragment.name, {} if error else arguments, error, raw, fragment.signature))
        return tuple(calls)


def parse_arguments(raw: str) -> tuple[dict[str, Any], str]:
    """The object that a model wrote as arguments, and why it is none; nothing at all is an empty object, and an object within a string
    is taken out of it."""
    if not raw.strip():
        return {}, ""
    try:
        found = _loads(raw)
        if isinstance(found, str):
            found = _loads(found) if found.strip() else {}
    except ValueError as error:
        return {}, f"the arguments are no valid JSON: {error}"
    except RecursionError:
        return {}, "the arguments are nested too deeply"
    if not isinstance(found, dict):
        return {}, f"the arguments must be a JSON object, not {_KINDS.get(type(found), 'a number')}"
    return found, ""


_KINDS = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}


def _loads(text: str) -> Any:
    found = json.loads(text, parse_constant=_no_number)
    return json.loads(clean(json.dumps(found, ensure_ascii=False))) if "\\u" in text else found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def clean(text: str) -> str:
    """The text without halves of characters, which no output could write."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_of(value: object) -> str:
    """A name or an id, "" for what is none."""
    return clean(value.strip())[:_LONGEST_NAME] if isinstance(value, str) else ""


def fields_of(value: object) -> dict[str, Any]:
    """A JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    """A JSON list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def count_of(value: object) -> int:
    """A number of tokens, 0 for what is none."""
    return min(max(value, 0), _MOST_TOKENS) if type(value) is int else 0
