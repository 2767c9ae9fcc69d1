"""The manual is true: its commands do what it shows, it names every setting, key, command, option and error that there is, and no other,
and its links lead somewhere. CONTRIBUTING.md says how to write examples.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer.main

from citewell import errors, types
from citewell.cli.commands import app
from citewell.index.embedded import EmbeddedServer
from citewell.ingest.extract.base import Place
from citewell.ingest.extract.markdown.page import extract_markdown
from citewell.profile import BUNDLED, Profile
from citewell.settings import Settings, variables
from citewell.sync import Citewell
from tests.conftest import forget_cluster

ROOT = Path(__file__).parents[2]
MANUAL = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *MANUAL]
ALL = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

# The documentation of an imaginary program, which the examples of the manual index.
GUIDE = {
    "install.md": "# Install Quill\n\nInstall Quill with the command `pip install quill`. Quill needs Python 3.11 or newer.\n\n"
    "## Upgrade\n\nUpgrade Quill with `pip install --upgrade quill`. An upgrade keeps your notes.\n",
    "sync.md": "# Sync notes\n\nQuill sends notes to a server every five minutes. Set `interval` to change that.\n\n"
    "## Offline work\n\nWithout a network, Quill keeps changes in a queue and sends them later.\n",
    "api.html": "<html><head><title>API</title></head><body><main><h1 id='api'>API</h1><p>The Python API of Quill.</p>"
    "<dl class='py class'><dt id='quill.Client'>class quill.<span class='descname'>Client</span>(url, timeout=30)</dt>"
    "<dd><p>A client for a Quill server.</p></dd></dl></main></body></html>",
    "notes.pdf": "no document that citewell reads",
}

_BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"((?:[A-Z_]+=\S+ )*(?:citewell|python \w+\.py)(?: .*?)?)(?:\s+# exit (\d+))?")
_VARYING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|\d+\.\d+")  # times, and decimal numbers such as seconds and scores


def text_of(page: str) -> str:
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


# ---- examples -----------------------------------------------------------------------------------------------------------------


@dataclass
class Step:
    """A command of a page, the exit code that the page promises, and the lines of output that it shows."""

    command: str
    code: int
    shown: list[str] = field(default_factory=list)


def steps_of(text: str) -> list[Step]:
    """The commands of the console blocks that can be run here: those of citewell, and of scripts that the page itself contains."""
    found: list[Step] = []
    for language, _, body in _BLOCK.findall(text):
        step = None
        for line in body.splitlines() if language == "console" else ():
            if line.startswith("$ "):
                match = _COMMAND.fullmatch(line[2:])
                step = Step(match.group(1), int(match.group(2) or 0)) if match else None
                found += [step] if step else []
            elif step and line.strip():
                step.shown.append(line)
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """The database of a home for all pages; making one takes seconds."""
    server = EmbeddedServer(tmp_path_factory.mktemp("home"))
    yield server
    server.release()
    forget_cluster(server.home)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds `guide` for all pages: what one page has indexed is unchanged for the next that shows no first indexing."""
    shared = tmp_path_factory.mktemp("shared").resolve()
    (shared / "guide").mkdir()
    for name, content in GUIDE.items():
        (shared / "guide" / name).write_text(content, encoding="utf-8")
    return shared


@pytest.mark.parametrize("page", [page for page in PAGES if steps_of(page.read_text(encoding="utf-8"))], ids=lambda page: page.name)
def test_commands_do_what_the_page_shows(page: Path, server: EmbeddedServer, shared: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (tmp_path / "guide").symlink_to(shared / "guide")
    for _, title, body in _BLOCK.findall(text):
        if title:
            (tmp_path / title).write_text(body, encoding="utf-8")
    steps = steps_of(text)
    first = next(step.shown for step in steps if step.code == 0)
    _forget(server.home, but="" if any(" added" in line for line in first) else "guide")
    places = {"CITEWELL_HOME": str(server.home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for step in steps:
        server.acquire()  # keeps it running: a start for each command would double the time
        done = subprocess.run(step.command, shell=True, env=os.environ | places, capture_output=True, text=True, timeout=120)
        output = done.stdout + done.stderr
        for place, name in ((shared, "/home/ana"), (tmp_path, "/home/ana"), (server.home, "/home/ana/.local/share/citewell")):
            output = output.replace(str(place), name)
        assert done.returncode == step.code, f"$ {step.command}\n{output}"
        missing = [line for line in step.shown if not _printed(line, output)]
        assert not missing, f"$ {step.command}\ndoes not print\n{missing}\nbut\n{output}"


def _forget(home: Path, *, but: str) -> None:
    with Citewell(Settings(home=home)) as citewell:
        for info in citewell.sources():
            if info.source != but:
                citewell.remove(info.source)


def _printed(shown: str, output: str) -> bool:
    pattern = ".*".join(re.escape(piece) for piece in _VARYING.sub("#", shown.rstrip()).split("…"))
    return any(re.fullmatch(pattern, _VARYING.sub("#", line.rstrip())) for line in output.splitlines())


def test_the_examples_are_read_as_meant() -> None:
    text = "```console\n$ citewell ask 'x'  # exit 3\nno\n$ pip install .\nlots\n$ A=1 citewell sources\n```\n```sh\n$ citewell no\n```\n"
    assert steps_of(text) == [Step("citewell ask 'x'", 3, ["no"]), Step("A=1 citewell sources", 0)]
    assert _printed("in 1.0 s…", "before\nin 23.45 s, done")
    assert not _printed("3 pages", "4 pages")


# ---- settings and profiles ----------------------------------------------------------------------------------------------------


def rows(text: str) -> list[list[str]]:
    """The cells of the table rows whose first cell is code."""
    cells = (line.strip().strip("|").split(" | ") for line in text.splitlines() if line.startswith("| `"))
    return [[cell.strip() for cell in row] for row in cells]


def test_every_setting_is_in_the_manual_with_its_default() -> None:
    documented = {tuple(re.findall(r"`(\w+)`", row[0])): row[1] for row in rows(text_of("settings.md"))}
    assert set(documented) == set(variables().values())
    for name, names in variables().items():
        default, stated = Settings.model_fields[name].default, documented[names].strip("`")
        if isinstance(default, bool):
            assert stated == ("on" if default else "off"), names
        elif isinstance(default, int | float):
            assert float(stated) == default, names
        elif name != "home":
            assert not default, names
            assert stated.startswith("not set"), names


def test_every_key_of_a_profile_is_in_the_manual() -> None:
    chapters = sections(text_of("profiles.md"), "## ")
    for name, info in Profile.model_fields.items():
        if name in {"source", "referrals", "answers", "guard"}:
            table = Profile.model_fields["source"].annotation.__args__[0] if name == "source" else info.annotation
            assert {row[0].strip("`") for row in rows(chapters[name.title()])} == set(table.model_fields)
    plain = set(Profile.model_fields) - {"source", "referrals", "answers", "guard"}
    assert {row[0].strip("`") for row in rows(chapters["Profile"])} == plain
    assert all(f"`{name}`" in chapters["The bundled profiles"] for name in BUNDLED)


# ---- commands and values ------------------------------------------------------------------------------------------------------


def sections(text: str, mark: str) -> dict[str, str]:
    """What stands under each heading of one level."""
    pieces = re.split(rf"^{mark}(.+)$", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def documented_options(text: str) -> set[str]:
    return {option for row in rows(text) for option in re.findall(r"`(--?[a-z][a-z-]*)", row[0])}


def options_of(command: Any) -> set[str]:
    named = [param for param in command.params if param.param_type_name == "option"]
    return {option for param in named for option in (*param.opts, *param.secondary_opts)} - {"--help"}


def leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
    for child, inner in (children or {}).items():
        yield from leaves(inner, f"{name} {child}")


def test_every_command_and_option_is_in_the_manual() -> None:
    chapters = sections(text_of("commands.md"), "## ")
    commands = dict(leaves(typer.main.get_command(app), "citewell"))
    assert {name for name in chapters if name.startswith("citewell ")} == set(commands)
    common = documented_options(chapters["Options of every command"])
    for name, command in commands.items():
        assert common <= options_of(command), name
        assert documented_options(chapters[name]) == options_of(command) - common, name


@pytest.mark.parametrize(
    ("value", "page"),
    [
        (types.Answer, "answers.md"),
        (types.Citation, "answers.md"),
        (types.IndexReport, "indexing.md"),
        (types.SourceInfo, "commands.md"),
        (types.DocumentPage, "commands.md"),
        (types.Check, "commands.md"),
    ],
)
def test_every_field_of_the_json_is_in_the_manual(value: Any, page: str) -> None:
    assert [item.name for item in fields(value) if f"`{item.name}`" not in text_of(page)] == []


def test_the_layers_are_those_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    assert "\n".join(contract["layers"]) in text_of("architecture.md")


# ---- errors -------------------------------------------------------------------------------------------------------------------


def error_classes(root: type[errors.CitewellError] = errors.CitewellError) -> list[type[errors.CitewellError]]:
    return [root, *(inner for child in root.__subclasses__() for inner in error_classes(child))]


def messages(names: Collection[str]) -> set[str]:
    """The messages with which the source makes errors of these names, "…" for what varies."""
    found = set()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                message = node.args[0]
                parts = message.values if isinstance(message, ast.JoinedStr) else [message]
                words = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
                found |= {words.rstrip(".")} if re.search(r"[a-z]", words) else set()
    return found


def test_every_error_is_in_the_manual() -> None:
    codes = {tuple(row[:3]) for row in rows(text_of("troubleshooting.md"))}
    assert codes == {(f"`{error.__name__}`", f"`{error.code}`", str(error.exit_code)) for error in error_classes()}
    assert sorted(messages([error.__name__ for error in error_classes()]) - set(sections(text_of("troubleshooting.md"), "### "))) == []


def test_every_reason_to_skip_a_page_is_in_the_manual() -> None:
    reasons = messages(["NotContent"]) - {"no extractor for this format"}  # the listing names the format before it comes to that
    assert [reason for reason in reasons if f"| {reason} |" not in text_of("indexing.md")] == []


def test_the_manual_explains_no_error_that_there_is_not() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "src").rglob("*.py"))) + "Invalid value: "
    pieces = {piece for title in sections(text_of("troubleshooting.md"), "### ") for piece in title.split("…")}
    assert sorted(piece for piece in pieces if piece.strip() not in source) == []


# ---- links --------------------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as citewell itself gives them."""

    def walk(place: Place) -> Iterator[str]:
        yield place.anchor
        for inner in place.places:
            yield from walk(inner)

    return set(walk(extract_markdown(page.read_text(encoding="utf-8"), page.name).root))


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`]*`", "", _BLOCK.sub("", page.read_text(encoding="utf-8")))
    targets = [target for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose) if not re.match(r"[a-z]+:", target)]
    for target in targets:
        name, _, anchor = unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_index_leads_to_every_page() -> None:
    assert [page.name for page in MANUAL if page.name != "index.md" and f"({page.name})" not in text_of("index.md")] == []
