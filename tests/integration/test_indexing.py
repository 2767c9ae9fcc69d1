"""A folder into the index and out again: what changes, what stays, what a crash leaves."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from citewell.app import Citewell
from citewell.errors import IngestError, SourceBusy, SourceConflict, UsageError
from citewell.index.embed import MiniLM
from citewell.index.store import SourceSpec
from citewell.ingest.discover.local import Local
from citewell.ingest.pipeline import IndexRequest, index_source
from citewell.profile import Profile, ProfileSource, load_profile
from citewell.settings import Settings
from citewell.types import Filters
from tests.conftest import PAGES, Outcome

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[Citewell]:
    async with Citewell(settings, load_profile("generic")) as opened:
        yield opened


async def texts(app: Citewell, query: str) -> list[str]:
    return [hit.section.text for hit in await app.search(query, k=3)]


async def test_a_folder_becomes_searchable_with_places_and_addresses(app: Citewell, folder: Path) -> None:
    report = await app.index(str(folder), base_url="https://widget.example/docs")
    assert (report.source, report.pages, report.added, report.unchanged, report.skipped) == ("widget", 3, 3, 0, ())
    assert report.embedded == report.sections > 0
    best = (await app.search("widget.spin"))[0].section
    assert (best.url, best.anchor, best.library, best.kind) == ("https://widget.example/docs/api/spin.html", "widget.spin", "widget", "api")
    assert best.text.startswith("`widget.spin(speed=3, *, reverse=False)`")
    both = [
        hit.section.anchor
        for hit in await app.search("second example stop, first example run")
        if hit.section.heading_path.endswith("Example")
    ]
    assert sorted(both) == ["example", "example-1"]


async def test_without_a_base_address_pages_have_no_path_of_this_machine(app: Citewell, folder: Path) -> None:
    (folder / "old notes (1).md").write_text("# Old notes\n\nThe widget was once a gizmo.\n")
    await app.index(str(folder), source="manual")
    best = (await app.search("gizmo"))[0].section
    assert best.url == "doc:manual/old%20notes%20%281%29.md"
    assert str(folder) not in repr(best)


async def test_indexing_again_changes_nothing(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    before = (await app.store.corpus()).index_version
    report = await app.index(str(folder))
    assert (report.unchanged, report.added, report.updated, report.embedded, report.reused) == (3, 0, 0, 0, 0)
    assert (await app.store.corpus()).index_version == before


async def test_what_a_second_run_does_not_say_stays_as_it_was(app: Citewell, folder: Path) -> None:
    await app.index(str(folder), source="manual", library="widget", kind="api", base_url="https://widget.example/")
    report = await app.index(str(folder), source="manual")
    assert (report.unchanged, report.updated) == (3, 0)
    best = (await app.search("time-out"))[0].section
    assert (best.url, best.library, best.kind) == ("https://widget.example/guide.md", "widget", "api")


async def test_a_changed_rule_of_kinds_reaches_pages_that_did_not_change(settings: Settings, folder: Path) -> None:
    rules = ProfileSource(name="manual", kind={"*.md": "tutorial"})
    async with Citewell(settings, Profile()) as app:
        await app.index(str(folder), source="manual")
        assert (await app.search("time-out"))[0].section.kind == "guide"
    async with Citewell(settings, Profile(source=(rules,))) as app:
        report = await app.index(str(folder), source="manual")
        assert (report.updated, report.unchanged, report.embedded) == (2, 1, 0)
        assert {hit.section.kind for hit in await app.search("time-out", filters=Filters(kinds=("tutorial",)))} == {"tutorial"}
        await app.index(str(folder), source="manual", kind="api")
        assert {hit.section.kind for hit in await app.search("widget")} == {"api"}


async def test_a_changed_fact_is_the_new_one_at_once(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    question = "What is the default time-out of the widget?"
    assert "30 seconds" in (await app.ask(question)).answer_md
    (folder / "guide.md").write_text(PAGES["guide.md"].replace("30 seconds", "45 seconds"))
    report = await app.index(str(folder))
    assert (report.updated, report.unchanged, report.embedded) == (1, 2, 1)
    answer = await app.ask(question)
    assert "45 seconds" in answer.answer_md
    assert "30 seconds" not in answer.answer_md


async def test_deleted_pages_go_and_come_back(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "install.md").unlink()
    assert (await app.index(str(folder))).deleted == 1
    assert not any("pip install widget" in text for text in await texts(app, "install the widget"))
    (folder / "install.md").write_text(PAGES["install.md"])
    assert (await app.index(str(folder))).added == 1
    assert any("pip install widget" in text for text in await texts(app, "install the widget"))


async def test_no_prune_keeps_what_is_gone(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "install.md").unlink()
    report = await app.index(str(folder), prune=False)
    assert (report.deleted, report.pages) == (0, 3)


async def test_what_is_there_but_cannot_be_read_is_kept(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "install.md").unlink()
    (folder / "install.md").symlink_to(folder / "nowhere.md")
    report = await app.index(str(folder))
    assert (report.deleted, report.pages, [skip.origin for skip in report.skipped]) == (0, 3, ["install.md"])


async def test_no_prune_moves_nothing_away(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "install.md").rename(folder / "setup.md")
    report = await app.index(str(folder), prune=False)
    assert (report.moved, report.added, report.pages) == (0, 1, 4)


async def test_a_new_page_of_a_large_corpus_is_not_called_undocumented(app: Citewell, folder: Path, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    (many / "a.md").write_text("# Many\n\n" + "".join(f"## Part {n}\n\nSome words about part {n}.\n\n" for n in range(200)))
    await app.index(str(many))
    (many / "b.md").write_text("# New\n\nCall `frobnicate_widget` to frob the widget.\n")
    await app.index(str(many))
    answer = await app.ask("How do I call frobnicate_widget?")
    assert (answer.status, "does not mention" in answer.answer_md) == ("answered", False)


@pytest.mark.parametrize("name", ["--all", "--from", "-a"])
async def test_nothing_is_said_of_names_that_are_made_of_stop_words(app: Citewell, folder: Path, name: str) -> None:
    (folder / "sync.md").write_text(f"# Sync\n\nUse `widget sync {name}` to sync everything of the widget.\n")
    await app.index(str(folder))
    answer = await app.ask(f"What does `widget sync {name}` do?", guarded=False)
    assert "does not mention" not in answer.answer_md


async def test_embedding_leaves_no_trace_in_the_users_home(folder: Path, tmp_path: Path, cli: Callable[..., Outcome]) -> None:
    (tmp_path / "user").mkdir()
    cli("index", str(folder), HOME=str(tmp_path / "user"), XDG_CACHE_HOME=str(tmp_path / "user"))
    assert list((tmp_path / "user").rglob("*")) == []


async def test_the_events_of_a_question_end_with_its_answer_and_can_be_left_early(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    async with app.ask_stream("What is the default time-out of the widget?") as events:
        seen = [type(event).__name__ async for event in events]
    assert (seen[0], seen[-3:]) == ("TraceEvent", ["SourcesEvent", "AnswerEvent", "DoneEvent"])
    async with app.ask_stream("What is the default time-out of the widget?") as events:
        async for _ in events:
            break
    await anyio.sleep(0)
    with pytest.raises(UsageError, match="empty"):
        async with app.ask_stream(" ") as events:
            assert [event async for event in events] == []


async def test_an_incomplete_listing_deletes_nothing(app: Citewell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await app.index(str(folder))
    walk = os.walk

    def half(top: Any, onerror: Any = None, **options: Any) -> Any:
        onerror(PermissionError(13, "Permission denied", str(folder / "api")))
        for entry in walk(top, **options):
            entry[1].clear()
            yield entry

    monkeypatch.setattr("citewell.ingest.discover.folder.os.walk", half)
    report = await app.index(str(folder))
    assert (report.deleted, report.pages) == (0, 3)
    assert [skip.origin for skip in report.skipped] == ["api"]


async def test_a_renamed_page_moves_without_embedding(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "install.md").rename(folder / "setup.md")
    report = await app.index(str(folder))
    assert (report.moved, report.added, report.deleted, report.embedded) == (1, 0, 0, 0)
    assert (await app.search("pip install widget"))[0].section.path == "setup.md"


async def test_a_page_that_breaks_is_skipped_with_a_reason_and_the_rest_indexed(app: Citewell, folder: Path) -> None:
    (folder / "binary.md").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "empty.md").write_text("")
    (folder / "paper.pdf").write_bytes(b"%PDF-1.4")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "broken.html").write_text("<html><body><div><p>The broken page still says zygote.<table><tr><td>")
    report = await app.index(str(folder))
    assert {skip.origin for skip in report.skipped} == {"binary.md", "empty.md", "paper.pdf"}
    assert all(skip.reason for skip in report.skipped)
    assert report.pages == 4
    assert "zygote" in (await texts(app, "zygote"))[0]


async def test_a_page_that_stops_being_content_goes(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    (folder / "api/spin.html").write_text('<html><head><meta http-equiv="refresh" content="0; url=x.html"></head><body>Moved</body></html>')
    report = await app.index(str(folder))
    assert (report.deleted, report.pages) == (1, 2)


class DyingEmbedder(MiniLM):
    """Breaks after a number of calls, as a model or an endpoint may."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    async def embed(self, texts: Sequence[str]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the embedder died")
        return await super().embed(texts)


async def test_text_is_searchable_while_vectors_are_missing_and_the_next_run_goes_on(app: Citewell, folder: Path) -> None:
    spec = SourceSpec("widget", str(folder.resolve()), "widget")
    with pytest.raises(RuntimeError, match="died"):
        await index_source(app.store, DyingEmbedder(0), IndexRequest(Local(folder, folder.parent), spec))
    assert (await app.sources())[0].vectors_pending > 0
    assert "30 seconds" in (await texts(app, "default time-out"))[0]
    report = await app.index(str(folder))
    assert (report.unchanged, report.embedded) == (3, report.sections)
    assert (await app.sources())[0].vectors_pending == 0


async def test_a_second_indexer_of_the_same_source_is_told(app: Citewell, folder: Path) -> None:
    await app.index(str(folder))
    async with app.store.indexing("widget"):
        with pytest.raises(SourceBusy, match="Another process is indexing 'widget'"):
            await app.index(str(folder))


async def test_two_sources_are_indexed_at_once(app: Citewell, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "gadget"
    other.mkdir()
    (other / "a.md").write_text("# Gadget\n\nThe gadget bleeps.\n")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(app.index, str(folder))
        tasks.start_soon(app.index, str(other))
    assert [(info.source, info.pages) for info in await app.sources()] == [("gadget", 1), ("widget", 3)]


async def test_one_name_two_origins_is_refused_naming_both(app: Citewell, folder: Path, tmp_path: Path) -> None:
    await app.index(str(folder))
    other = tmp_path / "elsewhere" / "widget"
    other.mkdir(parents=True)
    (other / "a.md").write_text("# Other\n\nAnother widget.\n")
    with pytest.raises(SourceConflict) as raised:
        await app.index(str(other))
    assert str(folder.resolve()) in str(raised.value)
    assert str(other.resolve()) in str(raised.value)


async def test_what_cannot_be_indexed_is_said(app: Citewell, tmp_path: Path) -> None:
    (tmp_path / "void").mkdir()
    (tmp_path / "tool.exe").write_bytes(b"MZ\x00")
    for origin, words in (
        (tmp_path / "void", "holds no documents"),
        (tmp_path / "nowhere", "nothing at"),
        (tmp_path / "tool.exe", "cannot be indexed"),
    ):
        with pytest.raises(IngestError, match=words):
            await app.index(str(origin))
    with pytest.raises(UsageError, match="no web address"):
        await app.index(str(tmp_path), base_url="ftp://x")
    assert await app.sources() == []


async def test_four_questions_find_four_pages_although_all_share_one_menu(app: Citewell, tmp_path: Path) -> None:
    folder = tmp_path / "menu"
    folder.mkdir()
    names = [f"topic{n}" for n in range(100)]
    facts = {
        7: "The zebra eats thistles.",
        23: "The violin has four strings.",
        51: "The harbour freezes in March.",
        88: "The comet returns every decade.",
    }
    menu = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in names[::4]) + "<li>zebra violin harbour comet</li>"
    for n, name in enumerate(names):
        fact = facts.get(n, f"Nothing much about number {n}.")
        page = f"<html><body><div class='menu'><ul>{menu}</ul></div><h1>{name}</h1><p>{fact}</p></body></html>"
        (folder / f"{name}.html").write_text(page)
    await app.index(str(folder))
    questions = {
        "What does the zebra eat?": 7,
        "How many strings has the violin?": 23,
        "When does the harbour freeze?": 51,
        "When does the comet return?": 88,
    }
    first = {question: (await app.search(question))[0].section.path for question in questions}
    assert first == {question: f"topic{n}.html" for question, n in questions.items()}


async def test_without_weights_keywords_serve_and_it_is_said(app: Citewell, folder: Path) -> None:
    app.embedder = None
    report = await app.index(str(folder))
    assert report.embedded == 0
    assert "only keywords" in report.warnings[0]
    answer = await app.ask("What is the default time-out of the widget?")
    assert answer.status == "answered"
    assert "30 seconds" in answer.answer_md
