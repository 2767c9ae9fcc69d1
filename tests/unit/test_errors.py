"""The error tree: every error has a stable code, an exit code and a hint, and the tree drawn at the top is the tree."""

from __future__ import annotations

import pickle
import re

import pytest

from citewell import errors
from citewell.errors import CitewellError, UsageError, near_miss

TREE = re.findall(r"^\s*[│├└─ ]*(?:├── |└── )(\w+)\s+(\w+)\s+(\d)", errors.__doc__ or "", re.MULTILINE)
CLASSES = {name: thing for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, CitewellError)}


def test_the_tree_that_is_drawn_is_the_tree_that_is_raised() -> None:
    drawn = {name: (code, int(exit_code)) for name, code, exit_code in TREE}
    assert drawn == {name: (error.code, error.exit_code) for name, error in CLASSES.items() if error is not CitewellError}


def test_codes_are_unique() -> None:
    codes = [error.code for error in CLASSES.values()]
    assert len(codes) == len(set(codes))


def test_exit_codes_are_those_of_the_command_line() -> None:
    assert {error.exit_code for error in CLASSES.values()} <= {1, 2, 4, 5, 6}


@pytest.mark.parametrize("error", CLASSES.values())
def test_an_error_says_what_happened_and_what_to_do_even_from_another_process(error: type[CitewellError]) -> None:
    raised = pickle.loads(pickle.dumps(error("It broke.", hint="Mend it.", retry_after=2.5)))
    assert type(raised) is error
    assert (str(raised), raised.hint, raised.retry_after) == ("It broke.", "Mend it.", 2.5)


def test_an_error_needs_no_hint() -> None:
    assert (UsageError("No.").hint, UsageError("No.").retry_after) == ("", None)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("referals", "referrals"), ("MAX_TOKENS", "max_tokens"), ("max-calls", "max_calls"), ("Guard", "guard")],
)
def test_a_near_miss_is_named_as_it_is_spelt(written: str, meant: str) -> None:
    assert near_miss(written, ["max_calls", "max_tokens", "referrals", "guard"]) == f"Did you mean {meant}?"


def test_what_is_near_nothing_gets_no_guess() -> None:
    assert near_miss("zebra", ["max_calls", "guard"]) == ""
    assert near_miss("zebra", []) == ""
