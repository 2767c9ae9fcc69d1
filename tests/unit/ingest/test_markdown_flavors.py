"""What documentation tools add to Markdown: MkDocs, MyST, Docusaurus, GitHub, Hugo, Jekyll, MDX."""

from __future__ import annotations

import pytest

from citewell.ingest.chunk import Chunk, chunk
from citewell.ingest.extract.decode import decode
from citewell.ingest.extract.markdown.page import extract_markdown, extract_mdx
from tests.unit.ingest.ingest_help import of_markdown


def only(text: str) -> str:
    (section,) = of_markdown(text)
    return section.text


def of_mdx(text: str) -> list[Chunk]:
    return chunk(extract_mdx(decode(text.encode()), "page.mdx"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("> [!NOTE]\n> Text *here*.\n> More.", "**Note:** Text *here*.\nMore."),
        ("> [!WARNING] Own title\n> Text.", "**Own title:** Text."),
        ("> [!tip]- Folded\n>\n> Text.", "**Folded:** Text."),
        ("> [!NOTE]\n> - a\n> - b\n>\n> ```sh\n> ls\n> ```", "**Note:**\n\n- a\n- b\n\n```sh\nls\n```"),
        ("> [!NOTE]", "**Note:**"),
        ("> quoted [!NOTE]", "> quoted [!NOTE]"),
        ("> [link]\n> text", "> [link]\n> text"),
    ],
)
def test_alerts(text: str, shown: str) -> None:
    assert only(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (":::tip\n\nText.\n\n:::", "**Tip:** Text."),
        (":::tip My title\nText.\n:::", "**My title:** Text."),
        (":::note[In *brackets*]{.x}\nText.\n:::", "**In *brackets*:** Text."),
        ("::: details Open\nText.\n:::", "**Open**\n\nText."),
        ("::::info\n:::note\nInner.\n:::\nOuter.\n::::", "**Info:**\n\n**Note:** Inner.\n\nOuter."),
        (":::{note}\n:class: x\nText.\n:::", "**Note:** Text."),
        ("```{warning} On the line\nText.\n```", "**On the line:** Text."),
        ("````{admonition} Title\n---\nclass: x\n---\n```py\nx\n```\n````\nafter", "**Title:**\n\n```py\nx\n```\n\nafter"),
        ("```{versionadded} 3.9\nText.\n```", "**New in version 3.9:** Text."),
        ("```{deprecated} 2.0 Use y.\n```", "Deprecated since version 2.0: Use y."),
        ("```{code-block} python\n:linenos:\n\nx = 1\n```", "```python\nx = 1\n```"),
        (":::{code-block} sh\nls\n:::", "```sh\nls\n```"),
        ("```{code-cell}\n:tags: [hide-input]\nx = 1\n```", "```python\nx = 1\n```"),
        ("```{toctree}\na\nb\n```\ntext", "text"),
        ("```{tab-item} Linux\nText.\n```", "**Linux**\n\nText."),
        ("```{eval-rst}\n.. note:: See :func:`f`.\n```", "**Note:** See `f()`."),
        ("/// warning | My title\n    type: x\n\nText.\n///", "**My title:** Text."),
        ("/// html | div.result\nText.\n///", "Text."),
        (
            '=== "Linux"\n\n    Run:\n\n    ```sh\n    apt\n    ```\n\n=== "Mac"\n    brew',
            "**Linux:** Run:\n\n```sh\napt\n```\n\n**Mac:** brew",
        ),
        ('??? note "Outer"\n    ??? tip\n        Inner.', "**Outer:**\n\n**Tip:** Inner."),
        ("{{< note >}}\nText.\n{{< /note >}}", "**Note:** Text."),
        ('{{% alert title="Mind" color="warning" %}}\nText.\n{{% /alert %}}', "**Mind:** Text."),
        ("{{< highlight go >}}\nx := 1\n{{< /highlight >}}", "```go\nx := 1\n```"),
        ('See {{< ref "x" >}} here.', "See  here."),
        ("{% highlight ruby %}\nputs 1\n{% endhighlight %}", "```ruby\nputs 1\n```"),
        ("{% raw %}\ntext {{ page.title }}\n{% endraw %}", "text {{ page.title }}"),
        ("[TOC]\n\ntext\n{: .no_toc }", "text"),
        ("[link](x){ .md-button } and *em*{: .x }", "[link](x) and *em*"),
        (":material-check: Yes :octicons-x-16: no", "Yes no"),
        ("a {py:func}`~os.path.join` and {ref}`the title <x>`", "a `join()` and the title"),
        ('--8<-- "missing.md"\ntext {{#include missing}}', "text {{#include missing}}"),
        ("a\n\n:::note", "a\n\n**Note:**"),
        (":::image type='x':::\n\ntext", "text"),
    ],
)
def test_blocks_of_tools(text: str, shown: str) -> None:
    assert only(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        '```md\n:::note\n=== "x"\n{{< note >}}\n--8<-- "x"\n{% raw %}\n[TOC]\n```',
        "`{py:func}` and `:material-check:` and `{: .x }`",
        "a `{x}` {y} {1, 2}",
        "``` not a fence ``` :::",
        "text ::: and /// there",
        "/// path/x",
    ],
)
def test_code_and_other_text_are_left_alone(text: str) -> None:
    assert only(text) == text


def test_labels_are_anchors() -> None:
    sections = of_markdown("# A\n\n(in_text)=\nx\n\n(the-label)=\n## B\n\ny {#not-a-label}")
    assert [(section.anchor, section.ids) for section in sections] == [("a", {"a", "in-text"}), ("b", {"b", "the-label"})]


def test_directives_that_describe_are_definitions() -> None:
    text = "# T\n\n```{py:module} m\n```\n\n````{py:class} A(x)\nSaid.\n\n```{py:method} f()\nMore.\n```\n````\n\nAfter.\n\n## Next\n\nend"
    assert [(section.anchor, section.heading_path, section.names) for section in of_markdown(text)] == [
        ("t", "T", ()),
        ("m.A", "T > m.A", ("m.A",)),
        ("m.A.f", "T > m.A > m.A.f", ("m.A.f",)),
        ("next", "T > Next", ()),
    ]


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("sidebar_label: Side", "Side"),
        ("sidebar_label: Side\ntitle: Main", "Main"),
        ("linkTitle: 'Short'", "Short"),
        ("description: x", "page"),
    ],
)
def test_titles_in_front_matter(front: str, title: str) -> None:
    assert extract_markdown(f"---\n{front}\n---\n\ntext", "page.md").title == title


MDX = """---
title: Page
---
import Tabs from '@theme/Tabs';
import {
  A,
} from './a';

export const x = {
  y: 1,
};

{/* a comment
over lines */}

# Page

Text with <Term to="/x">a component</Term> and `<Tabs>`.

<Tabs groupId="os" values={[{a: 1}, {b: 2}]}>
  <TabItem value="linux" label="Linux">

    Run this:

    ```jsx
    <Tabs>
    import x
    ```

  </TabItem>
</Tabs>

<Admonition type="warning" title="Mind">
  Careful.
</Admonition>

<Image
  src="x.png"
  alt="no"
/>

## Sub {/* #own-id */}

import this is a sentence.

end
"""


def test_mdx() -> None:
    first, second = of_mdx(MDX)
    assert first.text == (
        "Text with a component and `<Tabs>`.\n\n**Linux**\n\nRun this:\n\n```jsx\n<Tabs>\nimport x\n```\n\n**Mind:** Careful."
    )
    assert (second.anchor, second.heading_path, second.text) == ("own-id", "Page > Sub", "end")


def test_indentation_is_no_code_in_mdx() -> None:
    assert of_mdx("<Steps>\n\n      1. one\n\n</Steps>\n\n    text")[0].text.split() == ["1.", "one", "text"]


@pytest.mark.parametrize(
    "text", ["<Tabs>\n\n<Tab label='x'\n\ntext", "{/* never\n\ntext", "<Tab a={\n\ntext", "export const x = {\n\ntext", "</Tabs>\n\ntext"]
)
def test_what_mdx_leaves_open_hides_nothing(text: str) -> None:
    assert "text" in " ".join(section.text for section in of_mdx(text))
