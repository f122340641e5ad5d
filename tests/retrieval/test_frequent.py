"""The list of frequent characters covers running text."""

from longproof.retrieval.frequent import FREQUENT, MARKS
from longproof.retrieval.text.fold import fold


def test_it_is_a_set_of_single_simplified_characters():
    assert all(len(character) == 1 for character in FREQUENT)
    assert 1_000 < len(FREQUENT) < 2_000
    han = [character for character in FREQUENT if character not in MARKS]
    assert sum(fold(character).text == character for character in han) > 0.99 * len(han)


def test_four_in_five_characters_of_any_novel_are_among_them(data):
    for novel in (data / "novels_zh").glob("*.txt"):
        wide = [c for c in novel.read_text(encoding="utf-8") if not c.isascii() and not c.isspace()]
        assert sum(c in FREQUENT or fold(c).text in FREQUENT for c in wide) > 0.8 * len(wide)
