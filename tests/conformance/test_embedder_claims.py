"""Whose vectors a store holds, and how wide: settled by the first embedder, on the embedded server and on one reached over TCP."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator

import pytest

from citewell.errors import EmbedderFailed
from citewell.index.db import Database
from citewell.index.lexical import query_terms, section_weights
from citewell.index.pg import PgStore
from citewell.index.queries import statement
from citewell.index.store import NewPage, NewSection, SearchQuery, SourceSpec
from citewell.types import Source
from tests.conftest import fresh_database

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["embedded", "tcp"])
async def database(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    with fresh_database(request.getfixturevalue(f"{request.param}_url")) as url:
        database = Database(url)
        await database.open()
        yield database
        await database.close()


@pytest.fixture
def store(database: Database) -> PgStore:
    return PgStore(database)


async def fill(store: PgStore, library: str, count: int = 1) -> Source:
    """A source with a page of so many sections, none of which has a vector."""
    source = await store.bind_source(SourceSpec(library, f"/{library}", library))
    sections = [
        NewSection(
            hashlib.sha256(f"{n}".encode()).digest()[:16],
            n,
            f"a{n}",
            f"Guide {n}",
            0,
            f"widget {n}",
            f"hash {n}",
            section_weights("Guide", "widget"),
        )
        for n in range(count)
    ]
    await store.put_page(source, NewPage("a.md", "doc:a", "A", "guide", "", "hash", "text", sections, (), ""))
    return source


def hot(place: int, width: int) -> str:
    return "[" + ",".join("1" if n == place % width else "0" for n in range(width)) + "]"


async def embed(store: PgStore, source: Source, width: int) -> int:
    """Give each section that has none a vector; how many have one afterwards."""
    pending = await store.pending(source, 1000)
    await store.put_vectors(source, [(item.section_id, f"{item.section_id}", hot(item.section_id, width)) for item in pending])
    return len(pending) - len(await store.pending(source, 1000))


async def test_the_embedder_is_claimed_by_the_first_vectors(store: PgStore) -> None:
    source = await fill(store, "widget")
    assert await store.claim_embedder("first/384", 384) == "first/384"
    assert (await store.corpus()).embedder == ""  # no vectors yet
    assert await embed(store, source, 384) == 1
    assert await store.claim_embedder("second/384", 384) == "first/384"
    assert await store.claim_embedder("third/8", 8) == "first/384"
    assert await store.claim_embedder("first/384", 384) == "first/384"
    assert (await store.corpus()).embedder == "first/384"


async def test_another_width_is_taken_while_there_are_no_vectors(store: PgStore) -> None:
    before = await fill(store, "before")
    assert await store.claim_embedder("first/384", 384) == "first/384"
    await store.set_threshold(0.5)
    assert await store.claim_embedder("wide/1536", 1536) == "wide/1536"
    assert (await store.corpus()).max_distance is None  # it was measured with the other one
    after = await fill(store, "after")  # its partition is made now
    assert await embed(store, before, 1536) == await embed(store, after, 1536) == 1
    found = await store.search(SearchQuery(query_terms("nothing of that"), hot(1, 1536)))
    assert len(found) == 2


async def test_a_corpus_that_lost_its_vectors_may_change_its_embedder(store: PgStore) -> None:
    source = await fill(store, "widget")
    await store.claim_embedder("first/384", 384)
    await embed(store, source, 384)
    await store.remove_source("widget")
    assert await store.claim_embedder("second/8", 8) == "second/8"
    assert await embed(store, await fill(store, "widget"), 8) == 1


async def test_an_embedder_that_was_overtaken_writes_nothing(store: PgStore, database: Database) -> None:
    source = await fill(store, "widget")
    await store.claim_embedder("first/384", 384)
    await PgStore(database).claim_embedder("second/384", 384)
    assert await embed(store, source, 384) == 0
    await store.claim_embedder("second/384", 384)
    assert await embed(store, source, 384) == 1


async def test_a_query_of_any_width_finds_by_keywords_while_there_are_no_vectors(store: PgStore) -> None:
    await fill(store, "widget")
    await store.claim_embedder("first/384", 384)
    assert len(await store.search(SearchQuery(query_terms("widget"), hot(1, 12)))) == 1
    assert await store.nearest_distance(hot(1, 12)) is None


async def test_vectors_too_wide_for_the_index_are_refused(store: PgStore) -> None:
    with pytest.raises(EmbedderFailed, match="4001 numbers; the database can index 4000") as caught:
        await store.claim_embedder("huge/4001", 4001)
    assert "CITEWELL_EMBEDDINGS_DIMENSIONS" in caught.value.hint
    assert await store.claim_embedder("wide/4000", 4000) == "wide/4000"


@pytest.mark.parametrize("width", [384, 48])
async def test_the_search_uses_the_index_of_every_partition(store: PgStore, database: Database, width: int) -> None:
    early = await fill(store, "early", 120)
    await store.claim_embedder(f"some/{width}", width)
    late = await fill(store, "late", 120)
    assert await embed(store, early, width) == await embed(store, late, width) == 120
    scope = {"libraries": None, "kinds": None, "sources": None}
    values = {"terms": [1], "vector": hot(1, width), "symbols": [], "lasts": [], "depth": 10, "candidates": 100} | scope
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL enable_seqscan = off")  # which is cheaper for so few rows
        await connection.execute("SET LOCAL enable_bitmapscan = off")
        cursor = await connection.execute(b"EXPLAIN (FORMAT JSON)\n" + statement("search").encode(), values)
        plan = json.dumps((await cursor.fetchall())[0])
    assert plan.count("_embedding_idx") == 2
