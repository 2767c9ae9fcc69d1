"""The implementations that each conformance suite runs on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.index.db import Database
from citewell.index.pg import PgStore
from citewell.index.store import Store
from tests.conftest import fresh_database


@pytest.fixture(params=["embedded", "tcp"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    with fresh_database(request.getfixturevalue(f"{request.param}_url")) as url:
        database = Database(url)
        await database.open()
        yield PgStore(database)
        await database.close()
