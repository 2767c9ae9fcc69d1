"""The scripted model server is strict, and says what it saw."""

from __future__ import annotations

import json
import threading

import httpx2
import pytest

from citewell.testing.models import Call, Error, ModelServer, Raw, Reply, Say, Think, Usage, Wait

CHAT = {"model": "m", "messages": [], "stream": True, "stream_options": {"include_usage": True}}


def post(server: ModelServer, path: str = "/v1/chat/completions", body: object = CHAT, **headers: str) -> httpx2.Response:
    return httpx2.post(server.url + path, json=body, headers=headers, trust_env=False)


def test_a_script_that_is_not_used_up_fails() -> None:
    with pytest.raises(AssertionError, match="2 replies are scripted, 1 were asked for"), ModelServer([Reply(), Reply()]) as server:
        post(server)


def test_more_than_the_script_holds_fails() -> None:
    with pytest.raises(AssertionError, match="0 replies are scripted, 1 were asked for"), ModelServer() as server:
        assert post(server).status_code == 418


def test_an_error_of_the_test_itself_comes_first() -> None:
    with pytest.raises(ZeroDivisionError), ModelServer([Reply()]):
        _ = 1 / 0


def test_requests_are_recorded() -> None:
    with ModelServer([Reply()], models=["a"]) as server:
        post(server, **{"X-Mine": "7"})
        listed = httpx2.get(server.url + "/v1/models", trust_env=False).json()
    (asked,) = server.requests
    assert (asked.path, asked.body, asked.headers["x-mine"], asked.hung_up.is_set()) == ("/v1/chat/completions", CHAT, "7", False)
    assert [found["id"] for found in listed["data"]] == ["a"]
    assert [found.path for found in server.listings] == ["/v1/models"]


@pytest.mark.parametrize(
    ("path", "headers", "last"),
    [
        ("/v1/chat/completions", {}, "data: [DONE]"),
        ("/v1/messages", {"anthropic-version": "2023-06-01"}, 'data: {"type": "message_stop"}'),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", {}, '"finishReason": "STOP"'),
    ],
)
def test_one_script_serves_three_protocols(path: str, headers: dict[str, str], last: str) -> None:
    steps = [Raw(b": hello\n\n"), Think("hm"), Say("ok"), Call("look", ['{"q": ', "1}"], "c1"), Error("over")]
    with ModelServer([Reply(steps, usage=Usage(9, 3, 4))]) as server:
        text = post(server, path, **headers).text
    assert [word in text for word in (": hello", '"hm"', '"ok"', '"look"', "c1", "over", last)] == [True] * 7
    for line in text.splitlines():
        assert not line.startswith("data: {") or isinstance(json.loads(line[6:]), dict)


def test_a_status_comes_with_its_body_and_headers() -> None:
    with ModelServer([Reply(status=429, body={"error": {}}, headers={"Retry-After": "3"}), Reply(body=b"\xff")]) as server:
        refused, odd = post(server), post(server)
    assert (refused.status_code, refused.headers["retry-after"], refused.json()) == (429, "3", {"error": {}})
    assert (odd.status_code, odd.content) == (200, b"\xff")


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_stream_may_break(end: str) -> None:
    with ModelServer([Reply([Say("a")], end=end)]) as server, pytest.raises(httpx2.TransportError):  # type: ignore[arg-type]
        post(server)


def test_it_waits_for_the_test_and_sees_who_hangs_up() -> None:
    go_on, never = threading.Event(), threading.Event()
    with (
        ModelServer([Reply([Say("a"), Wait(go_on), Say("b"), Wait(never)])]) as server,
        httpx2.stream("POST", server.url + "/v1/chat/completions", json=CHAT, trust_env=False) as response,
    ):
        lines = response.iter_lines()
        assert any('"a"' in line for line in lines)
        go_on.set()
        assert any('"b"' in line for line in lines)
        assert not server.requests[0].hung_up.is_set()
        response.close()
        assert server.requests[0].hung_up.wait(5)


def test_a_stream_is_written_in_pieces_of_any_size() -> None:
    with ModelServer([Reply([Say("🦔")]), Reply([Say("🦔")], bytes_at_once=1)]) as server:
        assert post(server).content == post(server).content
