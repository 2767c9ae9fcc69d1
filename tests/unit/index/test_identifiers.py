"""What looks like the name of code in a question, and what only looks like that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.index.identifiers import MOST, identifiers, last_component, without_code
from tests.unit.ground.hostile import slow

NAMES = [
    ("How does os.path.join work?", ["os.path.join"]),
    ("Does --no-cache-dir keep the cache?", ["--no-cache-dir"]),
    ("What is CUE_DEBUG_X for?", ["cue_debug_x"]),
    ("when to use std::move", ["std::move"]),
    ("torch.cat vs torch.stack", ["torch.cat", "torch.stack"]),
    ("torch.cat v. torch.stack?", ["torch.cat", "torch.stack"]),
    ("F.relu, nn.Linear(3, 4) and Tensor.T", ["f.relu", "nn.linear", "tensor.t"]),
    ("torch.log or math.log1p, logging.Logger", ["torch.log", "math.log1p", "logging.logger"]),
    ("torchvision.io and threading.Lock", ["torchvision.io", "threading.lock"]),
    ("Does response.json() raise?", ["response.json"]),
    ("call read_image() or len(x)", ["read_image", "len"]),
    ("the DataLoader, Conv2d, conv2d, utf8mb4 and iPhone", ["dataloader", "conv2d", "utf8mb4", "iphone"]),
    ("@torch.no_grad() and @property", ["torch.no_grad"]),
    ("scaled_dot_product_attention", ["scaled_dot_product_attention"]),
    ("__init__ and _private", ["__init__", "_private"]),
    ("Array#map", ["array#map"]),
    ("--web.enable-lifecycle, -Wall, --foo=bar, --one|--two", ["--web.enable-lifecycle", "-wall", "--foo", "--one", "--two"]),
    ("--jobs? --force! (--quiet) `--verbose`", ["--jobs", "--force", "--quiet", "--verbose"]),
    ("What does -k do in pytest? sphinx-build -a, (-h) or `-v`; -W/-b", ["-k", "-a", "-h", "-v", "-w", "-b"]),
    ("std::vector<int>::push_back", ["std::vector", "push_back"]),
    (
        "`with` and `dim=0`, `x[0]`, `@property`, `$HOME`, `cat(a, b)`, `torch.cat.`",
        ["with", "dim", "x", "property", "home", "cat", "torch.cat"],
    ),
    ("`git commit --amend` in `import torch.nn as nn`", ["--amend", "torch.nn"]),
    ("Is `os.path` the same as os.path?", ["os.path"]),
    ("see https://docs.pytorch.org/x/torch.cat.html, then torch.stack", ["torch.stack"]),
]

NONE = [
    "e.g. this, i.e. that, etc. in the U.S. at 5 p.m., w.r.t. it, a.k.a. so, Ph.D.",
    "python3.11, Python 3.11, CUDA 12.1, v1.2, 2.x, v2.x, Python 3.x, 2.0rc1, 0x1F, 16GB, 3D",
    "model.pt, data.tar.gz, checkpoint.best.pth, setup.py, README.MD, config.json, train.log, node.js, x.CPP",
    "http://example.com/a_b?c_d=e and docs.pytorch.org/docs or example.com, huggingface.co",
    "mail me.first@example.com",
    "it works.How do I go on? It fails.The end.",
    "Which GPUs, CPUs, APIs and IDs are there?",
    "the layer(s), tensor(s) and box(es)",
    "a - b, well-known, --, - x, 5-3",
    "e-mail, x - y, -1 and -5 degrees, f(-x), y=-x, a[-n], a-b, (a-b), X-ray, \u2212k",
    "C#, #hash, x.y, _em_, a_, ``, ` `, `=`, `3.11`, `[1, 2]`, `->`",
    "Größer als übung?",
    "",
]


@pytest.mark.parametrize(("question", "names"), NAMES)
def test_names_of_code_are_found(question: str, names: list[str]) -> None:
    assert identifiers(question) == names


@pytest.mark.parametrize("question", NONE)
def test_what_only_looks_like_one_is_none(question: str) -> None:
    assert identifiers(question) == []


@given(
    st.lists(
        st.sampled_from(["os.path.join", "--no-cache-dir", "CUE_DEBUG_X", "std::move", "DataLoader", "cat()"]), max_size=6, unique=True
    )
)
def test_all_of_them_in_their_order(names: list[str]) -> None:
    assert identifiers("Compare " + ", ".join(names) + "?") == [name.lower().removesuffix("()") for name in names]


def test_each_once_whatever_its_case() -> None:
    assert identifiers("torch.Cat, torch.cat and `torch.cat`") == ["torch.cat"]


def test_only_so_many() -> None:
    assert identifiers(" ".join(f"a_{number}" for number in range(50))) == [f"a_{number}" for number in range(MOST)]


@given(st.text())
def test_whatever_is_asked_they_are_lower_case_words(question: str) -> None:
    for name in identifiers(question):
        assert name == name.lower()
        assert len(name.split()) == 1


class TestWithoutCode:
    @pytest.mark.parametrize(
        "code",
        [
            "```python\nmy_model.run_it()\n```",
            "~~~\nmy_model\n~~~",
            "````md\n```\nmy_model\n```\n````",
            "```\nmy_model, never closed",
            "    my_model.run_it()",
            "\tmy_model",
            ">>> my_model.run_it()\n... other_model",
        ],
    )
    def test_what_the_asker_wrote_is_not_what_is_asked(self, code: str) -> None:
        assert identifiers(without_code(f"Why does torch.cat fail?\n\n{code}")) == ["torch.cat"]

    def test_what_comes_after_it_counts(self) -> None:
        assert identifiers(without_code("```\nmy_model\n```\nWhy does torch.cat fail?")) == ["torch.cat"]

    def test_names_in_the_line_stay(self) -> None:
        assert without_code("Is `my_model` a tensor?") == "Is `my_model` a tensor?"


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("torch.utils.data.DataLoader", "DataLoader"),
        ("std::move", "move"),
        ("Array#map", "map"),
        ("cat", "cat"),
        ("--web.enable-x", "enable-x"),
        ("a.", "a."),
        ("", ""),
    ],
)
def test_a_symbol_is_called_by_its_last_component(name: str, last: str) -> None:
    assert last_component(name) == last


@pytest.mark.parametrize("work", [identifiers, without_code])
def test_hostile_questions_take_no_time(work: Callable[[str], object]) -> None:
    assert slow(work) == {}
