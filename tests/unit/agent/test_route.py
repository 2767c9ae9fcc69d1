"""The router: what is asked of several sources goes to the loop, with what to search for; everything else is one shot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.phrases import MOST_PARTS
from citewell.agent.route import route
from tests.unit.agent.phrasings import LATER_MULTI, LATER_SINGLE, MULTI, SINGLE, Shape
from tests.unit.ground.hostile import slow

QUESTIONS = [question for _, question in (*MULTI, *LATER_MULTI)] + [*SINGLE, *LATER_SINGLE]
WORDS = [
    *(
        "what ",
        "which ",
        "how ",
        "how do I ",
        "difference between ",
        "compare ",
        "list ",
        "all ",
        "ways ",
        "should ",
        "where ",
        "implement a ",
    ),
    *(
        "and ",
        "or ",
        "vs ",
        "then ",
        "with ",
        "that ",
        "is ",
        "are ",
        ", ",
        ": ",
        "? ",
        ". ",
        "\n",
        "`a b` ",
        "torch.cat(x) ",
        "(y) ",
        "I'd ",
    ),
]


class TestSpecified:
    @pytest.mark.parametrize(
        ("question", "shape"),
        [
            ("What optimizers does X have?", "catalogue"),
            ("Show me every loss", "catalogue"),
            ("Enumerate the datasets", "catalogue"),
            ("Compare view and reshape", "comparison"),
            ("How do Adam and AdamW differ?", "comparison"),
            ("torch.cat v. torch.stack", "comparison"),
            ("Adam or SGD?", "comparison"),
            ("Implement a VAE", "recipe"),
            ("Fine-tune ResNet on my images", "recipe"),
            ("How do I train an LSTM on text?", "recipe"),
            ("Where is conv2d implemented?", "internals"),
        ],
    )
    def test_several_sources(self, question: str, shape: Shape) -> None:
        decision = route(question)
        assert (decision.route, decision.shape) == ("loop", shape)
        assert decision.parts

    @pytest.mark.parametrize(
        "question",
        [
            "How do I make my model deterministic?",
            "How do I write a model checkpoint to disk?",
            "Why does my train loss rise when my model overfits?",
            "Which GPUs are supported by CUDA 12?",
        ],
    )
    def test_one_source(self, question: str) -> None:
        decision = route(question)
        assert (decision.route, decision.shape, decision.parts) == ("single", "single", ())


class TestShares:
    """The bounds that are promised, over phrasings that were written before the rules and over later ones."""

    @pytest.mark.parametrize("phrasings", [MULTI, LATER_MULTI], ids=["first", "later"])
    def test_most_questions_of_several_sources_go_to_the_loop(self, phrasings: tuple[tuple[Shape, str], ...]) -> None:
        missed = [question for _, question in phrasings if route(question).route != "loop"]
        assert len(phrasings) >= 30
        assert len(missed) <= 0.05 * len(phrasings), missed

    @pytest.mark.parametrize("phrasings", [SINGLE, LATER_SINGLE], ids=["first", "later"])
    def test_few_questions_of_one_source_do(self, phrasings: tuple[str, ...]) -> None:
        misled = [question for question in phrasings if route(question).route != "single"]
        assert len(phrasings) >= 30
        assert len(misled) <= 0.05 * len(phrasings), misled

    def test_the_shape_is_told_apart(self) -> None:
        wrong = [(shape, question) for shape, question in (*MULTI, *LATER_MULTI) if route(question).shape != shape]
        assert len(wrong) <= 0.1 * len(MULTI + LATER_MULTI), wrong


class TestParts:
    @pytest.mark.parametrize(
        ("question", "parts"),
        [
            ("Compare view and reshape", ("view", "reshape")),
            ("Compare the `git fetch` with the `git pull`", ("`git fetch`", "`git pull`")),
            ("What's the difference between a Deployment and a StatefulSet?", ("Deployment", "StatefulSet")),
            ("How do Adam and AdamW differ?", ("Adam", "AdamW")),
            ("Should I go for SQLite or DuckDB for analytics?", ("SQLite analytics", "DuckDB analytics")),
            ("Which is better for queues, RabbitMQ or Kafka?", ("RabbitMQ queues", "Kafka queues")),
            ("mutex, semaphore or channel?", ("mutex", "semaphore", "channel")),
            ("json vs pickle vs marshal for objects", ("json objects", "pickle objects", "marshal objects")),
            ("Compare apples, pears, and plums.", ("apples", "pears", "plums")),
            ("What optimizers does X have?", ("optimizers", "optimizers X")),
            ("What kinds of joins are there?", ("joins",)),
            ("all sinks: file, remote host, and null", ("sinks", "file sinks", "remote host sinks", "null sinks")),
            ("Create a to-do app with Svelte and Supabase", ("to-do app", "Svelte", "Supabase")),
            ("How do I read a CSV, drop the duplicates, and then write Parquet?", ("read CSV", "drop duplicates", "Parquet")),
            ("Where is conv2d implemented?", ("conv2d",)),
        ],
    )
    def test_what_is_searched_for(self, question: str, parts: tuple[str, ...]) -> None:
        assert route(question).parts == parts

    def test_at_most_six(self) -> None:
        assert route("Compare a1, b2, c3, d4, e5, f6, g7 and h8").parts == ("a1", "b2", "c3", "d4", "e5", "f6")


class TestWhatAsks:
    """Only what is asked decides: not code, errors, logs, or the story before the question."""

    @pytest.mark.parametrize(
        "question",
        [
            "",
            "   \n",
            "?",
            "…",
            "hello",
            "thanks a lot!",
            "```python\n# compare a and b, then list all layers\nx = a or b\n```\nwhy does this fail?",
            'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: list all options\nwhat\'s wrong?',
            "I compared Adam and SGD, and then listed all the layers. Why is the loss nan?",
            "How many workers are started and why?",
            "Is it sync or async by default?",
            "Should I close the file or not?",
            "How do I compute the difference between two dates?",
            "What arguments does open take?",
            "Why is my script slower than yesterday?",
        ],
    )
    def test_one_source(self, question: str) -> None:
        assert route(question).route == "single"

    @pytest.mark.parametrize(
        "question",
        [
            "Hi! Could you please compare view and reshape?",
            "ok so, what’s the difference between view and reshape",
            "I use view a lot. It works. But what is the difference between view and reshape?",
            "I'd like to know: view vs. reshape?",
            "COMPARE VIEW AND RESHAPE",
        ],
    )
    def test_courtesy_and_story_do_not_hide_it(self, question: str) -> None:
        assert route(question).shape == "comparison"


class TestTotality:
    @given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(WORDS), max_size=60).map("".join)))
    def test_any_text_has_one_decision(self, text: str) -> None:
        decision = route(text)
        assert decision == route(text)
        assert (decision.route == "single") == (decision.shape == "single")
        assert decision.route in {"single", "loop"}
        assert decision.reason
        assert len(decision.parts) <= MOST_PARTS
        assert len(set(decision.parts)) == len(decision.parts)
        assert all(part.strip() and "\ue000" not in part for part in decision.parts)

    @given(
        st.sampled_from(QUESTIONS), st.sampled_from(["", "Hi, ", "Please ", "Hello! ", "  "]), st.sampled_from(["", " ", "\n", " Thanks!"])
    )
    def test_courtesies_change_nothing(self, question: str, before: str, behind: str) -> None:
        assert route(before + question + behind).route == route(question).route

    @pytest.mark.parametrize("size", [2_000, 20_000])
    def test_a_word_may_be_of_any_length(self, size: int) -> None:
        assert max(map(len, route(f"compare {'a' * size} and view").parts)) < 200

    def test_hostile_texts_take_linear_time(self) -> None:
        assert slow(route) == {}
        words = {word: word * (25_000 // len(word)) for word in WORDS}
        mixed = {f"{head}{tail}": head + tail * (25_000 // len(tail)) for head in WORDS[:4] for tail in WORDS[12:20]}
        assert slow(route, words | mixed) == {}
