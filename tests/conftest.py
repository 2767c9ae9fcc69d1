"""Fixtures for all: a real server, a database of its own for each test, corpora made of a few words."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import hypothesis
import psycopg
import pytest
from psycopg import sql

from citewell.index.embedded import EmbeddedServer
from citewell.index.migrate import migrate
from citewell.settings import Settings

# How long one example takes says nothing on a busy machine; each test has its time limit.
hypothesis.settings.register_profile("citewell", deadline=None)
hypothesis.settings.load_profile("citewell")

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the settings, the keys or the citewell.toml of whoever runs it."""
    for name in list(os.environ):
        ours = name.startswith(("CITEWELL_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "ROUTER_LLM_", "FINAL_LLM_"))
        if ours and not name.startswith("CITEWELL_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def server_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of an embedded server that runs for the whole session; its data goes with it."""
    home = tmp_path_factory.mktemp("server")
    yield home
    forget_cluster(home)


@pytest.fixture(scope="session")
def embedded_url(server_home: Path) -> Iterator[str]:
    server = EmbeddedServer(server_home)
    yield server.acquire()
    server.release()


@pytest.fixture(scope="session")
def tcp_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own as an administrator hands it out: an ordinary account with a password, owner of one database, the extensions
    installed for it."""
    home = tmp_path_factory.mktemp("tcp")
    server = EmbeddedServer(home)
    admin = server.acquire()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE ROLE tenant LOGIN CREATEDB PASSWORD 'tenant secret'")
        connection.execute("CREATE DATABASE handed_out OWNER tenant")
    with psycopg.connect(with_database(admin, "handed_out"), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    yield with_account(with_database(admin, "handed_out"), "tenant", "tenant%20secret")
    server.release()
    forget_cluster(home)


@pytest.fixture
def database(embedded_url: str) -> Iterator[str]:
    """The address of a new empty database."""
    with fresh_database(embedded_url) as url:
        yield url


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", database_url=database)


@dataclass(frozen=True)
class Outcome:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(database: str, tmp_path: Path) -> Callable[..., Outcome]:
    """The installed command, run as a process of its own against this test's database."""

    def run(*arguments: str, code: int | None = 0, **environment: str) -> Outcome:
        result = run_cli(*arguments, CITEWELL_DATABASE_URL=database, CITEWELL_HOME=str(tmp_path / "home"), **environment)
        assert code is None or result.code == code, f"exit {result.code}\n{result.out}\n{result.err}"
        return result

    return run


def run_cli(*arguments: str, cwd: Path | None = None, timeout: float = 120, **environment: str) -> Outcome:
    command = Path(sys.executable).with_name("citewell")
    done = subprocess.run(
        [str(command), *arguments],
        env=os.environ | environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


@contextmanager
def fresh_database(url: str) -> Iterator[str]:
    """A new database with the current schema, on the server of `url` and owned by its account, for as long as the block lasts."""
    name = sql.Identifier(f"test_{os.getpid()}_{next(_numbers)}")
    with psycopg.connect(with_database(url, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(name, sql.Identifier(_template(url))))
        yield with_database(url, name.as_string().strip('"'))
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@cache
def _template(url: str) -> str:
    """The database of that address, migrated once: copying it is far quicker than migrating each test's own."""
    migrate(url)
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])


def with_database(url: str, name: str) -> str:
    return url.rsplit("/", 1)[0] + "/" + name


def with_account(url: str, account: str, password: str) -> str:
    scheme, rest = url.split("://", 1)
    return f"{scheme}://{account}:{password}@{rest.rsplit('@', 1)[-1]}"


def forget_cluster(home: Path) -> None:
    """Stop a home's server and remove its data, wherever that lies."""
    import shutil

    EmbeddedServer(home).stop()
    data = home / "postgres"
    if data.is_symlink():
        shutil.rmtree(data.resolve(), ignore_errors=True)


PAGES = {
    "guide.md": "# Widget guide\n\nThe widget turns frobs into quuxes.\n\n## Time-outs\n\n"
    "The default time-out of the widget is 30 seconds. Set `WIDGET_TIMEOUT` to change the time-out.\n\n"
    "```sh\nexport WIDGET_TIMEOUT=60\n```\n\n"
    "## Example\n\nFirst example: run the widget.\n\n## Example\n\nSecond example: stop the widget.\n",
    "install.md": "# Installing the widget\n\nInstall the widget with `pip install widget`. The widget needs Python 3.11 or newer.\n",
    "api/spin.html": "<html><head><title>spin — Widget</title></head><body><nav><a href='/'>Home</a></nav><main><h1>spin</h1>"
    "<dl class='py function'><dt class='sig' id='widget.spin'>widget.spin(speed=3, *, reverse=False)</dt>"
    "<dd><p>Spin the widget. The speed is counted in turns a second.</p></dd></dl></main></body></html>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small documentation of an invented widget."""
    root = tmp_path / "widget"
    for name, text in PAGES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
