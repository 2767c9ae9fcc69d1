"""What every store must remember of a site from one crawl to the next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.index.store import PageAt, SourceSpec, Store, Visit
from citewell.types import Filters
from tests.conformance.test_store import page, section

pytestmark = pytest.mark.anyio

SPEC = SourceSpec("site.example/docs", "https://site.example/docs/", "widget")
HOME = Visit("https://site.example/docs/", "index.html", etag='"1"', last_modified="Mon, 30 Nov 2026 10:00:00 GMT", made_by="recipe")
OLD = Visit("https://site.example/docs/old", target="https://site.example/docs/new")
STUB = Visit("https://site.example/docs/stub", "stub", reason="no text", made_by="recipe")


async def test_visits_are_kept_as_they_were_and_are_done_in_the_crawl_under_way(store: Store) -> None:
    source = await store.bind_source(SPEC)
    assert await store.begin_crawl(source) == {}
    await store.put_visits(source, [HOME, OLD, STUB])
    assert await store.visits(source) == {visit.url: replace(visit, done=True) for visit in (HOME, OLD, STUB)}


async def test_what_a_page_leads_to_waits_to_be_visited(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.begin_crawl(source)
    further = "https://site.example/docs/further"
    await store.put_visits(source, [replace(HOME, found=(further, OLD.url)), OLD])
    visits = await store.visits(source)
    assert visits[further] == Visit(further)
    assert visits[OLD.url].done, "an address that was visited at the same time does not wait"
    await store.put_visits(source, [replace(HOME, found=(OLD.url,))])
    assert (await store.visits(source))[OLD.url].target == OLD.target


async def test_a_crawl_that_was_broken_off_goes_on_and_a_complete_one_begins_anew(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.begin_crawl(source)
    await store.put_visits(source, [HOME])
    await store.finish_source(source, complete=False)
    assert (await store.sources())[0].indexed_at is None
    assert (await store.begin_crawl(source))[HOME.url].done
    await store.finish_source(source)
    completed = (await store.sources())[0].indexed_at
    assert completed is not None
    await store.finish_source(source, complete=False)
    assert (await store.sources())[0].indexed_at == completed
    assert not (await store.begin_crawl(source))[HOME.url].done


async def test_the_last_visit_counts(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.begin_crawl(source)
    await store.put_visits(source, [HOME, replace(HOME, etag='"2"')])
    await store.put_visits(source, [replace(HOME, etag='"3"', reason="gone")])
    assert (await store.visits(source))[HOME.url] == replace(HOME, etag='"3"', reason="gone", done=True)


async def test_a_confirmed_page_counts_as_fetched_now(store: Store) -> None:
    source = await store.bind_source(SPEC)
    for path in ("index.html", "other.html"):
        await store.put_page(source, page(path, section(f"Text of {path}.")))
    before = {path: (await store.read_document(f"{SPEC.name}/{path}")).fetched_at for path in ("index.html", "other.html")}
    await store.put_visits(source, [HOME])
    assert (await store.read_document(f"{SPEC.name}/index.html")).fetched_at > before["index.html"]
    assert (await store.read_document(f"{SPEC.name}/other.html")).fetched_at == before["other.html"]


async def test_pages_are_found_by_their_address_within_the_libraries_one_may_see(store: Store) -> None:
    source = await store.bind_source(SPEC)
    url = "https://site.example/docs/a.html"
    await store.put_page(source, replace(page("a.html", section("Text.")), url=url))
    assert await store.pages_at([url, "https://site.example/docs/b.html"]) == [PageAt(url, SPEC.name, "a.html")]
    assert await store.pages_at([url], Filters(libraries=("other",))) == []


async def test_a_removed_source_forgets_its_visits(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_visits(source, [HOME])
    await store.remove_source(SPEC.name)
    assert await store.visits(await store.bind_source(SPEC)) == {}


@pytest.mark.parametrize("name", ["site.example/docs/a/b.html", "SITE.example/docs/A/b.html"])
async def test_a_document_of_a_source_whose_name_has_slashes(store: Store, name: str) -> None:
    outer = await store.bind_source(replace(SPEC, name="site.example", origin="https://site.example/"))
    await store.put_page(outer, page("docs/a/b.html", section("Of the outer one.")))
    inner = await store.bind_source(SPEC)
    await store.put_page(inner, page("a/b.html", section("Of the inner one.")))
    assert (await store.read_document(name)).source == SPEC.name, "of two that a name may mean, the one with the longer source"
