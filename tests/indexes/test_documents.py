"""Texts are written once, come back whole, and a damaged file is refused; the cache builds a value once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import current_thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.indexes.documents import Cache, DocumentStore
from longproof.retrieval.types import BadInput, Document

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(text=TEXT)
def test_what_is_put_is_what_is_opened_and_its_text_is_written_once(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("store")
    document = Document.of(text, title="t", uri="u", raw=text + "!")
    ref = DocumentStore(folder).put(document)
    assert DocumentStore(folder).open(ref) == document
    written = {file: file.stat().st_mtime_ns for file in folder.rglob("*.txt")}
    DocumentStore(folder).put(document)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.txt")} == written


@pytest.mark.parametrize("damage", [b"changed", b"\xff\xfe", b"", None])
def test_a_damaged_or_missing_text_is_refused(tmp_path, damage):
    ref = DocumentStore(tmp_path).put(Document.of("whole text"))
    (file,) = tmp_path.rglob("*.txt")
    file.unlink() if damage is None else file.write_bytes(damage)
    with pytest.raises(BadInput, match=r"(can't read the stored text|is damaged).* give the source again"):
        DocumentStore(tmp_path).open(ref)


def test_a_large_text_is_read_once_and_never_by_the_event_loop(tmp_path, monkeypatch):
    document, store, readers = Document.of("word " * 200_000), DocumentStore(tmp_path), []
    DocumentStore(tmp_path).put(document)
    read = store._read
    monkeypatch.setattr(store, "_read", lambda id_: readers.append(current_thread()) or read(id_))

    async def many():
        texts = await asyncio.gather(*(store.fetch(document.id) for _ in range(20)))
        return [*texts, await store.fetch(document.id)]

    assert asyncio.run(many()) == [document.text] * 21
    assert len(readers) == 1
    assert readers[0] is not current_thread()


@pytest.mark.parametrize("name", ["../../etc/passwd", "sha256:" + "/" * 64, "", "sha256:" + "a" * 63])
def test_only_ids_name_files(tmp_path, name):
    with pytest.raises(BadInput, match="is not the id of a text"):
        DocumentStore(tmp_path).text(name)


def test_a_value_is_built_once_the_least_used_goes_first_and_the_last_stays() -> None:
    built: list[str] = []
    cache: Cache[str] = Cache(room=2)

    def get(key: str) -> str:
        return cache.get(key, lambda: built.append(key) or key.upper())

    assert [get(key) for key in "abaca"] == list("ABACA")
    assert built == ["a", "b", "c"]
    assert cache.at_hand("b") is None
    large: Cache[str] = Cache(room=2, size=len)
    assert (large.get("k", lambda: "large"), large.at_hand("k")) == ("large", "large")


def test_threads_with_more_keys_than_places_get_their_own_values() -> None:
    cache: Cache[int] = Cache(room=2)

    def many(seed: int) -> bool:
        return all(cache.get(str(n), lambda n=n: n) == n for n in ((seed + i * 7) % 5 for i in range(3000)))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(many, range(4)))
