"""One document in every format: the same title, headings, code, table, list, admonition and definition, each as its format writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

HTML = """<!doctype html><html><head><title>Widgets</title></head><body><main>
<h1 id="widgets">Widgets</h1>
<p>Widgets turn <code>gears</code>.</p>
<h2 id="install">Install</h2>
<p>Run this:</p>
<pre><code class="language-sh">pip install widgets
# no heading</code></pre>
<h2 id="options">Options</h2>
<table><thead><tr><th>Name</th><th>Default</th></tr></thead>
<tbody><tr><td>speed</td><td>fast</td></tr><tr><td>depth</td><td>7</td></tr></tbody></table>
<h3 id="limits">Limits</h3>
<ul><li>first limit</li><li>second limit</li></ul>
<div class="admonition warning"><p class="admonition-title">Warning</p><p>Never turn it twice.</p></div>
<h2 id="end">End</h2>
<p>The last words.</p>
</main></body></html>
"""

MARKDOWN = """# Widgets

Widgets turn `gears`.

## Install

Run this:

```sh
pip install widgets
# no heading
```

## Options

| Name | Default |
| --- | --- |
| speed | fast |
| depth | 7 |

### Limits

- first limit
- second limit

> [!WARNING]
> Never turn it twice.

## End

The last words.
"""

MDX = (
    "import Tabs from '@theme/Tabs';\n\n"
    + MARKDOWN.replace("> [!WARNING]\n> Never turn it twice.", ":::warning\n\nNever turn it twice.\n\n:::").replace(
        "Run this:", "<Steps>\n  <Step>\n    Run this:\n  </Step>\n</Steps>"
    )
    + "\nexport const x = 1;\n"
)

REST = """Widgets
=======

Widgets turn ``gears``.

Install
-------

Run this:

.. code-block:: sh

   pip install widgets
   # no heading

Options
-------

===== =======
Name  Default
===== =======
speed fast
depth 7
===== =======

Limits
~~~~~~

- first limit
- second limit

.. warning:: Never turn it twice.

End
---

The last words.
"""

TEXT = """Widgets
=======

Widgets turn gears.

Install
-------

Run this:

    pip install widgets
    # no heading

Options
-------

Name      Default
speed     fast
depth     7

Limits
~~~~~~

- first limit
- second limit

Warning: Never turn it twice.

End
---

The last words.
"""


def _notebook() -> str:
    before, rest = MARKDOWN.split("```sh\n")
    code, after = rest.split("\n```\n", 1)
    number = count()
    cells = [
        {"id": str(next(number)), "cell_type": "markdown", "metadata": {}, "source": before.splitlines(keepends=True)},
        {"id": str(next(number)), "cell_type": "code", "metadata": {}, "source": code, "outputs": [], "execution_count": None},
        {"id": str(next(number)), "cell_type": "markdown", "metadata": {}, "source": after.splitlines(keepends=True)},
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": "sh"}}, "cells": cells}, indent=1)


@dataclass(frozen=True)
class Format:
    """A format with the document in it. `marks` says whether it can name languages, admonitions and anchors at all; `unclosed` are
    constructs that a writer forgot to end, after which nothing may be lost."""

    name: str
    document: str
    unclosed: tuple[str, ...]
    end: str
    marks: bool = True
    escape: Callable[[str], str] = str

    def with_unclosed(self, construct: str) -> str:
        """The document in which something before the last heading is never ended."""
        return self.document.replace(self.end, construct + self.escape("\n\n") + self.end, 1)


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


_OPEN_MARKDOWN = (
    "```py\nx = 1",
    ":::note",
    ":::{note} Title",
    "```{tip}",
    "> quote",
    "1. item",
    "<div>",
    "**bold",
    "[link](",
    "`code",
    "| a | b",
    "!!! note",
    "<!--",
)
FORMATS = [
    Format("page.html", HTML, ("<div>", "<ul><li>", "<pre>x", "<table><tr><td>", "<b>"), '<h2 id="end">'),
    Format("page.md", MARKDOWN, _OPEN_MARKDOWN[:-1], "## End"),
    Format("page.mdx", MDX, (*_OPEN_MARKDOWN[:-1], "<Tabs>", "<Tab title='x'", "{/* x"), "## End"),
    Format(
        "page.rst",
        REST,
        (
            ".. note::",
            ".. code-block:: sh",
            "``code",
            "`role",
            ":func:`x",
            "*a",
            "|sub",
            "- item",
            "===  ===\na    b",
            ".. unknown:: a\n   :b: c",
            "x::",
        ),
        "End\n---",
    ),
    Format(
        "page.ipynb", _notebook(), tuple(map(_in_json, ("```py\nx = 1", ":::note", "> quote", "<div>", "`code"))), "## End", escape=_in_json
    ),
    Format("page.txt", TEXT, ("- item", "    code", '"quote', "Name   Value"), "End\n---", marks=False),
]
