"""What every store must do, run on the embedded server and on one reached over TCP as an ordinary account with a password."""

from __future__ import annotations

import hashlib

import pytest

from citewell.errors import NotFound, SourceBusy, SourceConflict
from citewell.index.lexical import query_terms, section_weights
from citewell.index.store import NewPage, NewSection, NewSymbol, SearchQuery, SourceSpec, Store
from citewell.types import Filters, Source

pytestmark = pytest.mark.anyio

EVERYTHING = Filters()
SPEC = SourceSpec("manual", "/somewhere/manual", "widget")


def section(text: str, heading: str = "Guide", anchor: str = "guide", part: int = 0, ordinal: int = 0) -> NewSection:
    key = hashlib.sha256(f"{anchor}{heading}{part}".encode()).digest()[:16]
    return NewSection(
        key, ordinal, anchor, heading, part, text, hashlib.sha256(text.encode()).hexdigest()[:32], section_weights(heading, text)
    )


def page(path: str, *sections: NewSection, kind: str = "guide", symbols: tuple[NewSymbol, ...] = (), moved_from: str = "") -> NewPage:
    text = "\n\n".join(item.text for item in sections)
    return NewPage(path, f"doc:manual/{path}", path, kind, "1.0", f"hash of {text}", text, sections, symbols, moved_from)


def vector(*hot: int) -> str:
    values = ["0"] * 384
    for place in hot:
        values[place] = "1"
    return f"[{','.join(values)}]"


async def found(
    store: Store, query: str, *, near: str | None = None, filters: Filters = EVERYTHING, symbols: tuple[str, ...] = ()
) -> list[str]:
    """The texts that a search leads to, best first by keywords, then by closeness."""
    candidates = await store.search(SearchQuery(query_terms(query), near, symbols, filters))
    ranked = sorted(candidates, key=lambda item: (-item.symbol, -item.keyword, -(item.dense or 0)))
    return [item.text for item in await store.sections([item.section_id for item in ranked])]


async def vectors(store: Store, source: Source, hot: dict[str, int]) -> None:
    """Give every pending section the vector that its text says."""
    pending = await store.pending(source, 1000)
    await store.put_vectors(source, [(item.section_id, f"hash of {item.text}", vector(hot[item.text])) for item in pending])


async def test_a_page_is_found_as_soon_as_it_is_published(store: Store) -> None:
    source = await store.bind_source(SPEC)
    assert await store.put_page(source, page("a.md", section("The frobnicator hums."))) is True
    assert await found(store, "frobnicator") == ["The frobnicator hums."]
    assert (await store.corpus()).index_version == 1


async def test_a_shorter_page_loses_its_old_tail(store: Store) -> None:
    source = await store.bind_source(SPEC)
    words = "ant bee cat dog eel fox gnu hen ibis".split()
    nine = [section(f"About the {word}.", f"Guide > {word}", word, ordinal=n) for n, word in enumerate(words)]
    await store.put_page(source, page("a.md", *nine))
    assert await store.put_page(source, page("a.md", *nine[:2])) is False
    assert await found(store, "ibis") == []
    assert (await store.sources())[0].sections == 2


async def test_unchanged_sections_keep_their_id_and_their_vector(store: Store) -> None:
    source = await store.bind_source(SPEC)
    first, second = section("Alpha text.", "G > A", "a"), section("Beta text.", "G > B", "b", ordinal=1)
    await store.put_page(source, page("a.md", first, second))
    await vectors(store, source, {"Alpha text.": 1, "Beta text.": 2})
    before = {item.section_id for item in await store.search(SearchQuery(query_terms("alpha"), None))}
    await store.put_page(
        source, page("a.md", section("New first.", "G > N", "n"), first, section("Beta reworded.", "G > B", "b", ordinal=2))
    )
    assert {item.section_id for item in await store.search(SearchQuery(query_terms("alpha"), None))} == before
    assert {item.text for item in await store.pending(source, 10)} == {"New first.", "Beta reworded."}


async def test_a_deleted_page_is_gone_and_comes_back_when_added_again(store: Store) -> None:
    source = await store.bind_source(SPEC)
    the_page = page("a.md", section("The frobnicator hums."), symbols=(NewSymbol("frob.hum", "py:function", section("").key),))
    await store.put_page(source, the_page)
    await vectors(store, source, {"The frobnicator hums.": 3})
    assert await store.delete_pages(source, ["a.md"]) == 1
    assert await found(store, "frobnicator", near=vector(3), symbols=("frob.hum",)) == []
    assert await store.page_hashes(source) == {}
    assert await store.put_page(source, the_page) is True
    assert await found(store, "frobnicator") == ["The frobnicator hums."]


async def test_a_moved_page_keeps_its_sections_and_vectors(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_page(source, page("old.md", section("The frobnicator hums.")))
    await vectors(store, source, {"The frobnicator hums.": 3})
    await store.put_page(source, page("new.md", section("The frobnicator hums."), moved_from="old.md"))
    assert list(await store.page_hashes(source)) == ["new.md"]
    assert await store.pending(source, 10) == []
    (hit,) = await store.sections([item.section_id for item in await store.search(SearchQuery(query_terms("frobnicator"), None))])
    assert (hit.path, hit.url) == ("new.md", "doc:manual/new.md")


async def test_a_failed_update_leaves_the_old_version_answering(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_page(source, page("a.md", section("The frobnicator hums.")))
    broken = section("Twice the same key.")
    with pytest.raises(Exception, match="duplicate key"):
        await store.put_page(source, page("a.md", broken, section("Other", "Other", "other"), section("Again", "Other", "other")))
    assert await found(store, "frobnicator") == ["The frobnicator hums."]
    assert (await store.corpus()).index_version == 1


async def test_one_indexer_a_source(store: Store) -> None:
    source = await store.bind_source(SPEC)
    other = await store.bind_source(SourceSpec("other", "/elsewhere", "widget"))
    async with store.indexing(source.name):
        with pytest.raises(SourceBusy, match="manual"):
            async with store.indexing(source.name):
                raise AssertionError("two indexers at once")
        with pytest.raises(SourceBusy, match="manual"):
            await store.remove_source(source.name)
        async with store.indexing(other.name):
            pass
    async with store.indexing(source.name):
        pass


async def test_a_name_belongs_to_one_origin(store: Store) -> None:
    first = await store.bind_source(SPEC)
    assert (await store.bind_source(SourceSpec("manual", "/somewhere/manual", "widget", base_url="https://w.example/"))).id == first.id
    with pytest.raises(SourceConflict, match=r"/somewhere/manual.*not /elsewhere"):
        await store.bind_source(SourceSpec("manual", "/elsewhere", "widget"))
    with pytest.raises(SourceConflict, match="library"):
        await store.bind_source(SourceSpec("manual", "/somewhere/manual", "gadget"))


async def test_removing_a_source_leaves_the_others(store: Store) -> None:
    source = await store.bind_source(SPEC)
    other = await store.bind_source(SourceSpec("other", "/elsewhere", "widget"))
    await store.put_page(source, page("a.md", section("The frobnicator hums.")))
    await store.put_page(other, page("a.md", section("The frobnicator sings.")))
    assert await store.remove_source("manual") == 1
    assert await found(store, "frobnicator") == ["The frobnicator sings."]
    with pytest.raises(NotFound, match="manual"):
        await store.remove_source("manual")


async def test_a_filter_never_starves_a_result_list(store: Store) -> None:
    big, small = await store.bind_source(SourceSpec("big", "/big", "big")), await store.bind_source(SourceSpec("small", "/small", "small"))
    for number in range(20):
        many = [section(f"The frobnicator number {number} {n}.", f"B > {n}", f"b{n}", ordinal=n) for n in range(50)]
        await store.put_page(big, page(f"{number}.md", *many))
    few = [section(f"A frobnicator of the small kind {n}.", f"S > {n}", f"s{n}", ordinal=n) for n in range(30)]
    await store.put_page(small, page("s.md", *few, kind="api"))
    for source in (big, small):
        pending = await store.pending(source, 2000)
        await store.put_vectors(source, [(item.section_id, item.text, vector(source.id)) for item in pending])
    for filters in (Filters(libraries=("small",)), Filters(sources=("small",)), Filters(kinds=("api",))):
        for query in (SearchQuery(query_terms("frobnicator"), None, (), filters), SearchQuery([], vector(big.id), (), filters)):
            sections = await store.sections([item.section_id for item in await store.search(query)])
            assert len(sections) >= 20
            assert {item.library for item in sections} == {"small"}


async def test_no_text_of_another_library_leaves_the_store(store: Store) -> None:
    mine, theirs = (
        await store.bind_source(SourceSpec("mine", "/mine", "mine")),
        await store.bind_source(SourceSpec("theirs", "/theirs", "theirs")),
    )
    await store.put_page(mine, page("a.md", section("Open frobnicator.")))
    await store.put_page(theirs, page("a.md", section("Secret frobnicator.")))
    everything = [item.section_id for item in await store.search(SearchQuery(query_terms("frobnicator"), None))]
    scope = Filters(libraries=("mine",))
    assert len(everything) == 2
    assert [item.text for item in await store.sections(everything, scope)] == ["Open frobnicator."]
    assert (await store.list_documents("", limit=10, offset=0, filters=scope)).total == 1
    with pytest.raises(NotFound):
        await store.read_document("theirs/a.md", scope)


async def test_symbols_are_found_whole_and_by_their_end(store: Store) -> None:
    source = await store.bind_source(SPEC)
    linear, conv = section("Applies a linear map.", "nn > Linear", "torch.nn.Linear"), section("Convolves.", "nn > Conv", "conv", ordinal=1)
    symbols = (NewSymbol("torch.nn.Linear", "py:class", linear.key), NewSymbol("std::move", "cpp:function", conv.key))
    await store.put_page(source, page("nn.html", linear, conv, symbols=symbols))
    for name in ("torch.nn.linear", "nn.linear", "linear"):
        assert await found(store, "", symbols=(name,)) == ["Applies a linear map."], name
    assert await found(store, "", symbols=("std::move",)) == ["Convolves."]
    assert await store.known_symbols(["nn.linear", "near.linear", "move"]) == {"nn.linear", "move"}


async def test_the_channels_scores_are_exact(store: Store) -> None:
    source = await store.bind_source(SPEC)
    for n, text in enumerate(("zebra zebra horse", "zebra donkey mule", "horse donkey mule")):
        await store.put_page(source, page(f"{n}.md", section(text, f"H{n}", f"h{n}")))
    await store.count_terms()
    await vectors(store, source, {"zebra zebra horse": 0, "zebra donkey mule": 1, "horse donkey mule": 2})
    weights = await store.term_weights(query_terms("zebra"))
    (idf,) = [weight.idf for weight in weights.values()]
    near = "[0.6,0.8" + ",0" * 382 + "]"
    candidates = await store.search(SearchQuery(query_terms("zebra"), near))
    texts = {item.id: item.text for item in await store.sections([item.section_id for item in candidates])}
    by_text = {texts[item.section_id]: item for item in candidates}
    for text, heading in (("zebra zebra horse", "H0"), ("zebra donkey mule", "H1"), ("horse donkey mule", "H2")):
        weight = section_weights(heading, text).get(query_terms("zebra")[0], 0.0)
        assert by_text[text].keyword == pytest.approx(weight * idf, rel=1e-3)
    assert [round(by_text[text].dense or 0, 2) for text in ("zebra zebra horse", "zebra donkey mule", "horse donkey mule")] == [
        0.6,
        0.8,
        0.0,
    ]


async def test_a_section_without_a_vector_is_found_by_its_words(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_page(source, page("a.md", section("The frobnicator hums.")))
    (candidate,) = await store.search(SearchQuery(query_terms("frobnicator"), vector(1)))
    assert candidate.dense is None
    assert candidate.keyword > 0
    assert await store.nearest_distance(vector(1)) is None


async def test_equal_inputs_are_known(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_page(source, page("a.md", section("The frobnicator hums.")))
    await vectors(store, source, {"The frobnicator hums.": 5})
    known = await store.known_vectors(["hash of The frobnicator hums.", "another"])
    assert list(known) == ["hash of The frobnicator hums."]


async def test_a_vector_for_a_section_that_is_gone_is_passed_over(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_page(source, page("a.md", section("The frobnicator hums.")))
    (pending,) = await store.pending(source, 10)
    await store.delete_pages(source, ["a.md"])
    await store.put_vectors(source, [(pending.section_id, "hash", vector(1))])
    assert await store.nearest_distance(vector(1)) is None


async def test_documents_are_listed_in_order_and_read_as_people_write_them(store: Store) -> None:
    source = await store.bind_source(SPEC)
    for path in ("b.md", "A.md", "a/z.md"):
        await store.put_page(source, page(path, section(f"Text of {path}.")))
    listed = await store.list_documents("", limit=2, offset=0)
    assert (listed.total, [item.path for item in listed.documents]) == (3, ["A.md", "a/z.md"])
    beyond = await store.list_documents("", limit=2, offset=9)
    assert (beyond.total, list(beyond.documents)) == (3, [])
    assert (await store.list_documents("manual/a/", limit=9, offset=0)).total == 1
    assert (await store.read_document("Manual/B.MD")).text == "Text of b.md."
    with pytest.raises(NotFound) as raised:
        await store.read_document("manual/b.markdown")
    assert "manual/b.md" in raised.value.hint


async def test_term_counts_follow_when_enough_has_changed_in_any_number_of_runs(store: Store) -> None:
    source = await store.bind_source(SPEC)
    await store.put_page(source, page("a.md", *[section(f"zebra {n}", f"H > {n}", f"h{n}", ordinal=n) for n in range(100)]))
    await store.count_terms()
    (zebra,) = query_terms("zebra")
    assert (await store.term_weights([zebra]))[zebra].df == 100
    for n in range(3):
        await store.put_page(source, page(f"b{n}.md", section(f"zebra again {n}")))
        await store.count_terms()
        assert (await store.term_weights([zebra]))[zebra].df == (100 if n < 2 else 103)
    await store.delete_pages(source, ["a.md"])
    await store.count_terms()
    assert (await store.term_weights([zebra]))[zebra].df == 3


async def test_a_term_is_known_as_soon_as_a_section_holds_it_and_only_in_its_library(store: Store) -> None:
    mine, theirs = (
        await store.bind_source(SourceSpec("mine", "/mine", "mine")),
        await store.bind_source(SourceSpec("theirs", "/theirs", "theirs")),
    )
    frob = section("Frob the widget.")
    await store.put_page(theirs, page("a.md", frob, symbols=(NewSymbol("widget.frob", "py:function", frob.key),)))
    await vectors(store, theirs, {"Frob the widget.": 3})
    (term,) = query_terms("frob")
    assert await store.known_terms([term, 5]) == {term}
    scope = Filters(libraries=("mine",))
    assert await store.known_terms([term], scope) == set()
    assert await store.known_symbols(["widget.frob"]) == {"widget.frob"}
    assert await store.known_symbols(["widget.frob"], scope) == set()
    assert await store.nearest_distance(vector(3)) == pytest.approx(0)
    assert await store.nearest_distance(vector(3), filters=scope) is None
    assert mine.library == "mine"


async def test_what_many_pages_say_in_the_same_words_is_not_found(store: Store) -> None:
    source = await store.bind_source(SPEC)
    banner = section("This is the manual of the frobnicator.", "Banner", "")
    for n in range(12):
        await store.put_page(source, page(f"{n}.md", banner, section(f"The frobnicator hums at {n} hertz.", f"Page {n}", f"p{n}")))
    assert banner.text in await found(store, "manual of the frobnicator")
    await store.mark_repeated(source)
    assert banner.text not in await found(store, "manual of the frobnicator")
    assert len(await found(store, "frobnicator")) == 12
    assert {item.text for item in await store.pending(source, 100)} == {f"The frobnicator hums at {n} hertz." for n in range(12)}
    assert (await store.sources())[0].vectors_pending == 12
    assert banner.text in (await store.read_document("manual/3.md")).text, "a reader still sees it"
    await store.delete_pages(source, [f"{n}.md" for n in range(2, 12)])
    await store.mark_repeated(source)
    assert banner.text in await found(store, "manual of the frobnicator")
