"""citewell with an embedding endpoint instead of the packaged model: indexing, searching, the guard, and what becomes of a change."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.app import Citewell
from citewell.doctor import doctor
from citewell.errors import EmbedderMissing, SettingsError
from citewell.index.embed import chosen
from citewell.profile import load_profile
from citewell.settings import Settings
from citewell.testing.embeddings import Embeddings, Refusal, serving
from citewell.types import Check

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[Embeddings]:
    with serving(Embeddings(width=24)) as server:
        yield server


def using(settings: Settings, server: Embeddings, model: str = "tiny") -> Settings:
    return settings.model_copy(update={"embeddings_model": model, "embeddings_base_url": server.url})


async def embedder_check(settings: Settings) -> Check:
    return next(check for check in await doctor(settings, load_profile()) if check.name == "embedder")


async def test_pages_questions_and_the_guard_use_the_same_endpoint(settings: Settings, server: Embeddings, folder: Path) -> None:
    async with Citewell(using(settings, server)) as app:
        report = await app.index(str(folder))
        assert report.embedded > 0
        assert (await app.store.corpus()).embedder == "openai-compat:tiny/24"
        assert (await app.store.corpus()).max_distance is not None
        hits = await app.search("time-out of the widget")
        assert hits[0].section.path == "guide.md"
        assert "dense" in hits[0].channels
        answer = await app.ask("What is the default time-out of the widget?", guarded=False)
        assert "30 seconds" in answer.answer_md
    assert "time-out of the widget" in server.answered
    assert await embedder_check(using(settings, server)) == Check("embedder", True, f"openai-compat:tiny/24, {server.url} answers")


async def test_a_later_run_knows_the_width_without_asking(settings: Settings, server: Embeddings, folder: Path) -> None:
    async with Citewell(using(settings, server)) as app:
        await app.index(str(folder))
    asked = len(server.asked)
    async with Citewell(using(settings, server)) as app:
        report = await app.index(str(folder))
    assert (report.unchanged, len(server.asked)) == (report.pages, asked)


@pytest.mark.parametrize("other", ["packaged", "bigger"])
async def test_another_model_finds_by_keywords_only_and_says_what_to_do(
    settings: Settings, server: Embeddings, folder: Path, other: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Citewell(using(settings, server)) as app:
        await app.index(str(folder))
    changed = settings if other == "packaged" else using(settings, server, other)
    with caplog.at_level(logging.WARNING):
        async with Citewell(changed) as app:
            hits = await app.search("time-out of the widget")
            assert "dense" not in hits[0].channels
            (folder / "new.md").write_text("# New\n\nA page that is new.\n", encoding="utf-8")
            report = await app.index(str(folder))
            assert (report.added, report.embedded) == (1, 0)
            assert report.warnings
            with pytest.raises(EmbedderMissing, match="made with the embedding model openai-compat:tiny/24"):
                await app.calibrate()
    assert "made with the embedding model openai-compat:tiny/24" in caplog.text
    check = await embedder_check(changed)
    assert not check.ok
    assert "openai-compat:tiny/24" in check.detail
    assert "set CITEWELL_EMBEDDINGS_MODEL to tiny" in check.remedy


async def test_an_index_of_the_packaged_model_is_not_mixed_with_an_endpoint(settings: Settings, server: Embeddings, folder: Path) -> None:
    async with Citewell(settings) as app:
        await app.index(str(folder))
    check = await embedder_check(using(settings, server))
    assert "all-MiniLM-L6-v2/256/1" in check.detail
    assert "unset CITEWELL_EMBEDDINGS_MODEL" in check.remedy


async def test_doctor_says_when_the_endpoint_does_not_answer(settings: Settings, server: Embeddings) -> None:
    server.script = [Refusal(401)]
    check = await embedder_check(using(settings, server))
    assert not check.ok
    assert "answered 401" in check.detail
    assert "CITEWELL_EMBEDDINGS_API_KEY" in check.remedy


async def test_an_endpoint_that_fails_keeps_the_text_and_the_next_run_goes_on(settings: Settings, server: Embeddings, folder: Path) -> None:
    named = using(settings, server)
    async with Citewell(named) as app:
        await app.index(str(folder))
        (folder / "new.md").write_text("# Novelty\n\nThe gadget whirrs.\n", encoding="utf-8")
        server.script = [Refusal(401)]
        with pytest.raises(Exception, match="answered 401"):
            await app.index(str(folder))
        assert (await app.search("gadget whirrs"))[0].section.path == "new.md"
        assert (await app.index(str(folder))).embedded == 1


@pytest.mark.parametrize("half", ["embeddings_model", "embeddings_base_url"])
def test_an_endpoint_named_by_half_is_refused(settings: Settings, half: str) -> None:
    with pytest.raises(SettingsError) as caught:
        chosen(settings.model_copy(update={half: "http://127.0.0.1:9"}))
    assert "CITEWELL_EMBEDDINGS" in caught.value.hint
