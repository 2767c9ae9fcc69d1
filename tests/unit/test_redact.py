"""Secrets are masked wherever they stand; prose, code and documentation are left as they are."""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.redact import MASK, RedactingFilter, Redactor

redact = Redactor()

CREDENTIALS = [  # a text and the part of it that must go; what stands round it stays
    ("Authorization: Bearer abcdef", "abcdef"),
    ("authorization=bearer abcd1234", "abcd1234"),
    ('{"Authorization": "Bearer xyzw"}', "xyzw"),
    ("(b'Authorization', b'Bearer tok_en')", "tok_en"),
    ("{'authorization': 'Token abcdef'}", "abcdef"),
    ("Proxy-Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("Authorization: 3fa94b1c22", "3fa94b1c22"),
    ("Bearer sk-or-v1-abc…", "sk-or-v1-abc"),
    ("sent Bearer 0a1b2c3d4e to it", "0a1b2c3d4e"),
    ("Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln"),
    ("Bearer abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
    ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ("basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    ("Incorrect API key provided: sk-ant-api03-abcdef.", "sk-ant-api03-abcdef"),
    ("key sk-proj-AbCd_efgh-1234", "sk-proj-AbCd_efgh-1234"),
    ("https://h/v1beta/models?key=AIzaSyA-1234567_890abc&alt=sse", "AIzaSyA-1234567_890abc"),
    ("token hf_AbCdEfGhIjKlMnOp", "AbCdEfGhIjKlMnOp"),
    ("token hf_abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
    ("x-api-key: whatever", "whatever"),
    ("{'X-Api-Key': 'whatever1'}", "whatever1"),
    ("(b'x-api-key', b'whatever')", "whatever"),
    ("x-goog-api-key=whatever", "whatever"),
    ("postgres://user:secret@h/db", "secret"),
    ("postgresql+psycopg://user:pa/ss?word@h:5432/db", "pa/ss?word"),
    ("postgresql://user:p@ss@h/db", "p@ss"),
    ("redis://:hunter2@cache:6379/0", "hunter2"),
    ("GET https://me:hunter2@example.com/x failed", "hunter2"),
    ("https://me:p%40ss@example.com/x", "p%40ss"),
    ("https://example.com/login?password=hunter2x&next=/", "hunter2x"),
    ("connection failed: host=h port=5432 user=u password=swordfish dbname=d", "swordfish"),
    ("password='s3cretpw9'", "s3cretpw9"),
    ('"client_secret": "a1b2c3d4e5"', "a1b2c3d4e5"),
    ("OPENAI_API_KEY=ab12cd34ef", "ab12cd34ef"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("xoxb-12345678-abcdefgh", "xoxb-12345678-abcdefgh"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
]

ORDINARY = [
    "A basic understanding of tensors helps; basic usage follows.",
    "Basic BatchNorm2d usage, basic DataLoader, Basic AdaptiveAvgPool2d example",
    "Use Bearer authentication. A bearer token is sent; bearer tokens and Bearer token/JWT, Bearer auth.",
    "the Authorization: header; authorization: required for admins",
    "Authorization: Bearer {token}, Authorization: Bearer <token>, Authorization: Bearer $TOKEN",
    "x-api-key: <your key>; the x-api-key, Authorization headers; x-api-key: ${KEY}",
    "scikit-learn, sk-learn-contrib, task-management, risk-assessment, disk-cache-entry",
    "hf_tokenizer, hf_hub_download(repo), hf_transformer(x), hf_dataset",
    "def connect(user: str, password: str = None, api_key: Optional[str] = None)",
    "connect(password=password, user=user); f(password=None); login(secret=secret)",
    "secret = hashlib.sha256(b'x'); access_token = response.json()['access_token']",
    "password: the password of the user; secret: settings.SECRET_KEY1; Set the secret key in `SECRET_KEY`.",
    "http://localhost:8080/@vite/client https://registry.npmjs.org:443/@types/node",
    'ssh://git@github.com/x.git {"url":"http://localhost:8080","email":"me@example.com"}',
    "mailto:me@example.com, @decorator, 10:30@noon, a://b:c",
    "torch.nn.functional.scaled_dot_product_attention(query, key, value)",
    "AIza, sk-, hf_, Bearer, Basic, x-api-key",
    "Die Basic-Programmierung; 基本 Bearer；",
]


class TestShapes:
    @pytest.mark.parametrize(("text", "secret"), CREDENTIALS)
    def test_a_credential_is_masked_and_nothing_else(self, text: str, secret: str) -> None:
        assert redact(text) == text.replace(secret, MASK)

    @pytest.mark.parametrize(("text", "secret"), CREDENTIALS)
    def test_within_other_text(self, text: str, secret: str) -> None:
        assert secret not in redact(f"Some words before.\n{text}\nand some behind, Basic and Bearer.")

    @pytest.mark.parametrize("text", ORDINARY)
    def test_ordinary_text_is_left_as_it_is(self, text: str) -> None:
        assert redact(text) == text

    @given(st.text(max_size=300))
    def test_what_is_masked_stays_as_it_is(self, text: str) -> None:
        assert redact(redact(text)) == redact(text)

    @given(st.lists(st.sampled_from([text for text, _ in CREDENTIALS] + ORDINARY), max_size=6))
    def test_texts_do_not_shield_each_other(self, texts: list[str]) -> None:
        assert redact("\n".join(texts)) == "\n".join(map(redact, texts))

    @given(st.text("abcdefghijklmnopqrstuvwxyz ,.\n", max_size=300))
    def test_plain_words_are_never_masked(self, text: str) -> None:
        words = " ".join(word[:15] for word in text.split(" "))
        assert redact(words) == words


class TestKnownSecrets:
    def test_they_are_masked_wherever_they_stand(self) -> None:
        assert Redactor(["correct horse"])("the key correct horse, incorrect horses") == "the key ***, in***s"

    def test_in_every_form_in_which_they_are_written(self) -> None:
        secret = "p@ss/wörd\"x'"
        masked = Redactor([secret])
        for text in (secret, "p%40ss%2Fw%C3%B6rd%22x%27", repr(secret), f"{{'key': {secret!r}}}", '{"key": "p@ss/w\\u00f6rd\\"x\'"}'):
            assert "rd" not in masked(text)
            assert MASK in masked(text)

    def test_the_longer_one_first(self) -> None:
        assert Redactor(["abcdef", "abcdefgh"])("abcdefgh") == MASK

    @pytest.mark.parametrize("dummy", ["", "x", "abc", "ollama", "EMPTY", "postgres", "secret", "password"])
    def test_dummies_and_scraps_are_not_taken_for_secrets(self, dummy: str) -> None:
        text = "Run ollama or postgres, EMPTY or not: x and abc, with a secret and a password."
        assert Redactor([dummy])(text) == text

    def test_a_short_one_is_masked_as_a_whole_word(self) -> None:
        assert Redactor(["k3y"])("k3y") == "k3y"
        assert Redactor(["k3y1"])("k3y1 k3y12 ak3y1 (k3y1)") == "*** k3y12 ak3y1 (***)"

    def test_characters_of_patterns_are_only_characters(self) -> None:
        assert Redactor(["a.b*c(d"])("a.b*c(d axbbc(d") == "*** axbbc(d"

    @given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=6, max_size=30), st.text(max_size=50), st.text(max_size=50))
    def test_any_secret_in_any_text(self, secret: str, before: str, after: str) -> None:
        masked = Redactor([secret])(f"{before}{secret}{after}")
        assert secret not in masked or secret in before + MASK + after or secret.lower() in {"docker", "citewell"}


def refuse() -> None:
    raise OSError("postgres://u:hunter22@h/db refused")


def fail_twice() -> None:
    try:
        refuse()
    except OSError as cause:
        raise RuntimeError("with my very own key") from cause


@pytest.fixture
def logged() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger that is redacted, and what it wrote."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    handler.addFilter(RedactingFilter(Redactor(["my very own key"])))
    logger = logging.Logger("redacted")
    logger.addHandler(handler)
    yield logger, stream
    handler.close()


class TestLogs:
    def test_message_and_arguments(self, logged: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = logged
        logger.warning("sent %s and Bearer 0a1b2c3d, %s", "my very own key", {"k": "sk-abcdef12"})
        assert stream.getvalue() == "WARNING sent *** and Bearer ***, {'k': '***'}\n"

    def test_the_traceback_and_its_causes(self, logged: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = logged
        try:
            fail_twice()
        except RuntimeError:
            logger.exception("it failed")
        told = stream.getvalue()
        assert "OSError: postgres://u:***@h/db refused" in told
        assert "RuntimeError: with ***" in told
        assert "hunter22" not in told
        assert "my very own key" not in told

    def test_groups_of_errors_and_notes(self, logged: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = logged
        error = ValueError("x-api-key: whatever1")
        error.add_note("also Bearer 0a1b2c3d4e")
        logger.error("all failed", exc_info=ExceptionGroup("several", [error]))
        assert "whatever1" not in stream.getvalue()
        assert "0a1b2c3d4e" not in stream.getvalue()
        assert "several" in stream.getvalue()

    def test_the_stack(self, logged: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = logged
        logger.error("here", stack_info=True, extra={"note": "my very own key"})  # this line is a part of the stack
        assert "Stack (most recent call last)" in stream.getvalue()
        assert "my very own key" not in stream.getvalue()

    def test_fields_that_a_caller_adds(self) -> None:
        record = logging.makeLogRecord({"msg": "x", "url": "https://u:hunter22@h/", "count": 3})
        assert RedactingFilter(redact).filter(record)
        assert (record.url, record.count) == ("https://u:***@h/", 3)  # type: ignore[attr-defined]

    def test_nothing_is_left_for_a_formatter_to_print_again(self) -> None:
        error = ValueError("my very own key")
        record = logging.makeLogRecord({"msg": "x", "exc_info": (ValueError, error, None)})
        RedactingFilter(Redactor(["my very own key"])).filter(record)
        assert (record.exc_info, record.exc_text) == (None, "ValueError: ***")

    def test_arguments_that_do_not_fit_neither_raise_nor_leak(self, logged: tuple[logging.Logger, io.StringIO]) -> None:
        logger, stream = logged
        logger.warning("%d of %s", "sk-abcdef12")
        assert stream.getvalue() == "WARNING %d of %s ('***',)\n"

    def test_twice_is_once(self) -> None:
        record = logging.makeLogRecord({"msg": "100%% %s", "args": ("Bearer 0a1b2c3d",)})
        for _ in range(2):
            RedactingFilter(redact).filter(record)
        assert record.getMessage() == "100% Bearer ***"


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "bearer ",
        "basic AAAA",
        "a://",
        "a://b:",
        "a://b:c@",
        "x-api-key:",
        "password=",
        "authorization: ",
        "eyJ",
        "hf_",
        "AKIA",
        "-",
        "A",
    ],
)
def test_a_long_hostile_text_takes_no_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    redact(text)
    redact("bearer" + " " * 100_000)
    assert time.process_time() - started < 1
