"""The sections that a model is shown: numbered by the ledger, within a number of tokens, fenced so that no text can break out. Pure.

Each section is

    <docs-section>
    [3] its headings
    URL: its page and anchor
    Version: the documentation's, where known

    its text
    </docs-section>

in the ledger's order, so that a context grows at its end only and a prompt cache keeps what it has read. The parts are told apart by
lines that no text can forge (`neutral`): a header is what stands before the first empty line.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from citewell.ground.evidence import Evidence
from citewell.ground.excerpt import excerpt
from citewell.ground.neutral import CUT, SECTION, one_line, percent_encoded, quotation
from citewell.llm.tokens import estimate_text
from citewell.types import Section

MOST_CHARS = 2500  # of a section that nobody asked for by name

_LEAST_CHARS = 300  # of a section that is cut to fit; less than that is left out
_MOST_TRIES = 20
_MOST_TITLE = 300
_MOST_VERSION = 60


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is shown, and which numbers of the ledger it shows whole or `cut`, and which it leaves out for want of room."""

    text: str
    numbers: tuple[int, ...]
    cut: tuple[int, ...]
    left_out: tuple[int, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader of the answer should know about it."""
        said = []
        if self.cut:
            said.append(f"{len(self.cut)} long section(s) were shown to the model in part only.")
        if self.left_out:
            said.append(f"{len(self.left_out)} section(s) did not fit into what the model may read and were left out.")
        return tuple(said)


NO_CONTEXT = Context("", (), (), ())


@dataclass(frozen=True, slots=True)
class _Shown:
    text: str
    cost: int
    is_cut: bool


def build_context(evidence: Evidence, *, room: int, whole: Collection[int] = (), skip: Collection[int] = ()) -> Context:
    """The sections that fit into `room` tokens by the estimate of `llm.tokens`.

    They are taken best first: those that were asked for by name (`whole`, which are cut only where they do not fit), then in the order in
    which they were found. `skip` are those that the model has seen before; they count neither as shown nor as left out.
    """
    wanted = [(number, hit.section) for number, hit in evidence if number not in skip]
    left = room - estimate_text(_note(len(wanted), len(wanted)))
    shown: dict[int, _Shown] = {}
    for number, section in sorted(wanted, key=lambda entry: entry[0] not in whole):
        piece = _fitting(number, section, len(section.text) if number in whole else MOST_CHARS, left)
        if piece is not None:
            shown[number] = piece
            left -= piece.cost
    cut = tuple(number for number in sorted(shown) if shown[number].is_cut)
    left_out = tuple(number for number, _ in wanted if number not in shown)
    if not shown:
        return Context("", (), (), left_out)
    note = _note(len(cut), len(left_out)) if cut or left_out else ""
    return Context("".join(shown[number].text for number in sorted(shown)) + note, tuple(sorted(shown)), cut, left_out)


def _note(cut: int, left_out: int) -> str:
    return f"Not everything that was found is shown: {cut} section(s) are cut, {left_out} left out.\n\n"


def _fitting(number: int, section: Section, most: int, left: int) -> _Shown | None:
    """As much of a section as fits, at most so many characters of its text; None where too little would."""
    head = _head(number, section)
    around = estimate_text(_framed(head, "", 0))
    text = section.text.replace("\r\n", "\n").replace("\r", "\n")
    size = min(most, len(text), 3 * max(left, 0))  # no character costs less than a third of a token
    for _ in range(_MOST_TRIES):
        if size < min(_LEAST_CHARS, len(text)) or around > left:
            return None
        beginning, hidden = excerpt(text, size)
        framed = _framed(head, quotation(beginning), hidden)
        cost = estimate_text(framed)
        if cost <= left:
            return _Shown(framed, cost, hidden > 0)
        size = min(size * (left - around) // (cost - around), size * 15 // 16)
    return None


def _framed(head: str, text: str, hidden: int) -> str:
    cut = f"\n\n<{CUT}>{hidden} more characters of this section are not shown</{CUT}>" if hidden else ""
    return f"<{SECTION}>\n{head}\n\n{text}{cut}\n</{SECTION}>\n\n"


def _head(number: int, section: Section) -> str:
    address = f"{section.url}#{section.anchor}" if section.anchor else section.url
    lines = [
        f"[{number}] {one_line(section.heading_path or section.title, _MOST_TITLE)}",
        f"URL: {percent_encoded(address)}",
        f"Version: {one_line(section.version, _MOST_VERSION)}" if section.version else "",
    ]
    return "\n".join(line for line in lines if line)
