"""reStructuredText to docutils' tree, with directives and roles of our own: nothing is looked up in docutils' global registries.

Those are shared by a whole process, and an unknown name would lose its text. Every parse has state classes of its own, so that
pages can be parsed in several threads at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from docutils import frontend, nodes, statemachine, utils
from docutils.parsers.rst import Parser, states

from citewell.ingest.extract.rest import roles as rest_roles
from citewell.ingest.extract.rest.objects import Context

MAX_DEPTH = 16  # blocks nested deeper are taken as they are written
_LONGEST_PARAGRAPH = 4000  # characters whose inline markup is looked for at once: an unclosed mark costs no more than these
_FAULTS = 1000  # that a page may have, and one more for so many characters: beyond them it is no reStructuredText
_CHARS_A_FAULT = 500
_OPTION = re.compile(r":(?! )((?:\\.|[^:\\])+?):(?:\s+(.*)|$)")

_SETTINGS = frontend.get_default_settings(Parser)
_SETTINGS.report_level, _SETTINGS.halt_level, _SETTINGS.warning_stream = 5, 10, False
_SETTINGS.file_insertion_enabled = _SETTINGS.raw_enabled = False
_SETTINGS.auto_id_prefix = "id"
_SETTINGS.syntax_highlight = "none"


@dataclass(slots=True)
class Directive:
    """One directive as it is written: `.. name:: argument`, its options, its content as lines that can be parsed."""

    name: str
    argument: str
    options: dict[str, str]
    content: statemachine.StringList
    offset: int
    state: Any  # docutils' state, which parses what is nested
    parsing: Parsing

    @property
    def text(self) -> str:
        """The content as it is written."""
        return "\n".join(self.content)

    def words(self, text: str) -> list[nodes.Node]:
        """The inline markup of a text of the directive, read."""
        found, _ = self.state.inline_text(text, self.state.state_machine.abs_line_number())
        return list(found)

    def inside(self, *, titles: bool = False) -> list[nodes.Node]:
        """The nodes of the content."""
        return self.parse(self.content, self.offset, titles=titles)

    def parse(self, lines: statemachine.StringList, offset: int, *, titles: bool = False) -> list[nodes.Node]:
        """The nodes of some lines."""
        holder = nodes.Element()
        holder.document = self.state.document
        if lines:
            self.state.nested_parse(lines, offset, holder, match_titles=titles)
        return list(holder.children)


class TooManyFaults(Exception):
    """A text is so unlike reStructuredText that reading it as such makes no sense."""


class _Reporter(utils.Reporter):  # type: ignore[misc]  # docutils has no types
    """docutils' messages are not for the page's readers: they are counted, and keep the text that they are about."""

    def __init__(self, faults: int) -> None:
        super().__init__("page", report_level=5, halt_level=10, stream=False)
        self._left = faults

    def system_message(self, level: int, message: str, *children: nodes.Node, **attributes: Any) -> nodes.system_message:  # noqa: ARG002
        if level > self.INFO_LEVEL:
            self._left -= 1
            if self._left < 0:
                raise TooManyFaults
        return nodes.system_message(None, *children, level=level)


Handler = Callable[[Directive], list[nodes.Node]]


@dataclass(slots=True)
class Parsing:
    """What one parse knows: handlers by name (docutils' own directive classes in `standard`) and how deep it is."""

    handlers: Mapping[str, Handler]
    standard: Mapping[str, Any]
    other: Handler
    context: Context = field(default_factory=Context)
    depth: int = 0


def parse(text: str, handlers: Mapping[str, Handler], standard: Mapping[str, Any], other: Handler) -> nodes.document:
    """The document tree of a text, without docutils' transforms. Raises `RecursionError` for markup that nests too deeply,
    and `TooManyFaults`."""
    settings = copy(_SETTINGS)
    document = utils.new_document("page", settings)
    document.reporter = _Reporter(_FAULTS + len(text) // _CHARS_A_FAULT)
    machine = states.RSTStateMachine(state_classes=_state_classes(Parsing(handlers, standard, other)), initial_state="Body")
    lines = statemachine.string2lines(text, tab_width=settings.tab_width, convert_whitespace=True)
    machine.run(lines, document, inliner=_Inliner())
    return document


class _Inliner(states.Inliner):  # type: ignore[misc]  # docutils has no types
    """Inline markup with our own roles, at a cost that grows no faster than the text."""

    # docutils makes its patterns of what the class itself holds, not of what it inherits.
    vars().update({name: part for name, part in vars(states.Inliner).items() if isinstance(part, str) and not name.startswith("__")})

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> tuple[list[nodes.Node], list[nodes.Node]]:
        found: list[nodes.Node] = []
        while len(text) > _LONGEST_PARAGRAPH:
            end = text.rfind(" ", 0, _LONGEST_PARAGRAPH) + 1 or _LONGEST_PARAGRAPH
            found += super().parse(text[:end], lineno, memo, parent)[0]
            text = text[end:]
        found += super().parse(text, lineno, memo, parent)[0]
        return found, []

    def interpreted(self, rawsource: str, text: str, role: str, lineno: int) -> tuple[list[nodes.Node], list[nodes.Node]]:  # noqa: ARG002
        return rest_roles.shown(role or "", text), []


class _Lenient(dict[str, Any]):
    """The options of a standard directive; those that it does not know are taken and left alone."""

    def __missing__(self, key: str) -> Callable[[Any], Any]:
        return lambda value: value


def _state_classes(parsing: Parsing) -> tuple[type, ...]:
    """docutils' states for one parse. They are looked up by name, so the names stay."""
    classes: list[type] = []

    def init(state: Any, state_machine: Any, debug: bool = False) -> None:
        super(states.RSTState, state).__init__(state_machine, debug)
        state.nested_sm_kwargs = {"state_classes": tuple(classes), "initial_state": "Body"}

    def nested_parse(state: Any, block: Any, input_offset: int, node: Any = None, *args: Any, **kwargs: Any) -> int:
        if parsing.depth >= MAX_DEPTH:
            holder = state.state_machine.node if node is None else node
            holder += nodes.literal_block("", "\n".join(block))
            return int(input_offset + len(block))
        parsing.depth += 1
        try:
            return int(states.RSTState.nested_parse(state, block, input_offset, node, *args, **kwargs))
        finally:
            parsing.depth -= 1

    def directive(state: Any, match: re.Match[str], **presets: Any) -> tuple[list[nodes.Node], bool]:
        return _directive(state, match, parsing, presets)

    def parse_extension_options(state: Any, option_spec: Any, datalines: Any) -> Any:
        return states.Body.parse_extension_options(state, _Lenient(option_spec), datalines)

    explicit = copy(states.Body.explicit)
    explicit.constructs = [
        (directive if method is states.Body.directive else method, pattern) for method, pattern in states.Body.explicit.constructs
    ]
    for original in states.state_classes:
        own: dict[str, Any] = {"__init__": init, "nested_parse": nested_parse, "nested_sm_cache": []}
        if issubclass(original, states.Body):
            own |= {"directive": directive, "explicit": explicit, "parse_extension_options": parse_extension_options}
        classes.append(type(original.__name__, (original,), own))
    return tuple(classes)


def _directive(state: Any, match: re.Match[str], parsing: Parsing, presets: dict[str, Any]) -> tuple[list[nodes.Node], bool]:
    name = match.group(1).lower()
    if name in parsing.standard:
        found, blank = state.run_directive(parsing.standard[name], match, name, presets)
        return found, blank
    lines, _, offset, blank = state.state_machine.get_first_known_indented(match.end(), strip_top=0)
    argument, options, first = _head(lines)
    while first < len(lines) and not lines[first].strip():
        first += 1
    found = Directive(name, argument, options, lines[first:], offset + first, state, parsing)
    return parsing.handlers.get(name, parsing.other)(found), blank or state.state_machine.is_next_line_blank()


def _head(lines: statemachine.StringList) -> tuple[str, dict[str, str], int]:
    """Argument and options of a directive, and the line on which its content begins."""
    argument: list[str] = []
    options: dict[str, str] = {}
    open_, at = "", 0
    if lines and not lines[0].strip():
        at = 1
    while at < len(lines) and lines[at].strip():
        option = _OPTION.match(lines[at])
        if option:
            open_ = option.group(1).strip().lower()
            options[open_] = (option.group(2) or "").strip()
        elif open_ and lines[at].startswith(" "):
            options[open_] += f"\n{lines[at].strip()}"
        elif open_:
            break
        else:
            argument.append(lines[at])
        at += 1
    return "\n".join(argument).strip(), options, at
