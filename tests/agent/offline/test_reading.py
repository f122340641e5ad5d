from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.offline.lines import Lines, is_han, read, stem
from longproof.agent.offline.reading import NARROW, Evidence, part, plain, terms
from longproof.retrieval.types import Document

TEXT = st.text(alphabet="娄婁三公子王冕說说 abcXYZ 12.5，。ßéﬁ🙂", max_size=80)


@given(TEXT)
def test_tokens_lie_where_they_say(text: str):
    for token in read(text):
        assert 0 <= token.start < token.end <= len(text)
        assert plain(text[token.start : token.end])


def test_traditional_and_simplified_have_the_same_terms():
    assert terms(read("婁三公子說話")) == terms(read("娄三公子说话"))


def test_stems_join_common_endings():
    assert {stem(w) for w in ("improve", "improves", "improved", "improving")} == {stem("improve")}
    assert stem("crosses") == stem("cross") == "cross"


def test_stop_words_are_no_terms_and_pairs_are_of_neighbours():
    assert terms(read("他的猫和狗")) == ["猫", "狗"]
    assert terms(read("the cat of the house")) == ["cat", "hous"]


def test_the_place_is_where_the_words_lie_together():
    filler = "无关的话说了很多很多遍。" * 30
    text = filler + "王冕在湖边画荷花。" + filler
    document = Document.of(text)
    place = Evidence([document.span(0, len(text))]).place(terms(read("王冕画荷花")), NARROW)
    assert place is not None
    assert "王冕在湖边画荷花" in place.span.text
    assert text[place.span.start : place.span.end] == place.span.text


@given(st.lists(TEXT, max_size=3), TEXT)
def test_places_lie_inside_what_was_shown(shown: list[str], claim: str):
    spans = [Document.of(text).span(0, len(text)) for text in shown]
    place = Evidence(spans).place(terms(read(claim)), NARROW)
    if place is not None:
        assert 0 < place.share <= 1 + 1e-9
        assert any(
            s.source_id == place.span.source_id and part(s, place.span.start, place.span.end) == place.span
            for s in spans
        )


@given(
    st.lists(st.lists(TEXT, max_size=3).map("\n".join), min_size=1, max_size=3), st.lists(TEXT, max_size=2)
)
def test_terms_stand_where_a_plain_reading_finds_them(shown: list[str], before: list[str]):
    lines = Lines()
    Evidence([Document.of(text).span(0, len(text)) for text in before], lines)
    evidence = Evidence([Document.of(text).span(0, len(text)) for text in shown], lines)
    tokens = [token for text in shown for token in read(text)]
    assert evidence.keys == [token.key for token in tokens]
    assert evidence.words == [token.word for token in tokens]
    assert evidence.starts == [token.start for token in tokens]
    assert evidence.ends == [token.end for token in tokens]
    assert evidence.owner == [n for n, text in enumerate(shown) for _ in read(text)]
    stands: dict[str, list[int]] = {}
    base = 0
    for text in shown:
        held = read(text)
        for index, token in enumerate(held):
            stands.setdefault(token.key, []).append(base + index)
            following = held[index + 1] if index + 1 < len(held) else None
            if following and token.end == following.start and is_han(token.key) and is_han(following.key):
                stands.setdefault(token.key + following.key, []).append(base + index)
        base += len(held)
    for term in {*stands, *(token.key for text in before for token in read(text)), "王冕", "zzz"}:
        assert evidence.where(term) == sorted(stands.get(term, []))
        assert evidence.holds(term) == (term in stands)


def test_what_was_read_before_is_forgotten_without_harm(monkeypatch):
    monkeypatch.setattr("longproof.agent.offline.lines.KEPT", 4)
    lines = Lines()
    first, second = ("王冕画荷花。", "荷花是范进画的。")
    old = Evidence([Document.of(first).span(0, len(first))], lines)
    new = Evidence([Document.of(second).span(0, len(second))], lines)
    assert (old.where("荷花"), new.where("荷花"), new.where("王冕")) == ([3], [0], [])
