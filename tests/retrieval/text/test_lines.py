"""Lines of evidence: every visible character in exactly one, in order, none too long, few cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.loaders import record
from longproof.retrieval.text.chunking import LONGEST, SHORT, evidence_lines

PARTS = st.sampled_from(
    [
        "word ",
        "她说，",
        "。",
        ". ",
        "\n",
        "\n\n",
        "“",
        "”",
        '"',
        "| a | b |\n",
        "Ann: ",
        "x" * 450,
        "，" * 30,
        "\u3000",
        "\x85",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PARTS, max_size=80).map("".join))


def texts(text: str, record: bool = False) -> list[str]:
    return [text[start:end] for start, end in evidence_lines(text, record=record)]


@given(TEXTS, st.booleans())
def test_every_visible_character_is_in_exactly_one_line(text: str, record: bool) -> None:
    found = evidence_lines(text, record=record)
    held = 0
    for start, end in found:
        assert held <= start < end <= len(text)
        assert not text[held:start].strip()
        assert end - start <= LONGEST
        assert text[start:end] == text[start:end].strip()
        held = end
    assert not text[held:].strip()


def test_a_sentence_is_a_line_and_so_is_a_row_and_a_turn() -> None:
    long = "Ann rowed over the wide water to the island of the keeper."
    assert texts(f"{long} {long}\n\n她哭了。") == [long, long, "她哭了。"]
    assert texts("| a. B | c. D |\n| e. F | g |") == ["| a. B | c. D |", "| e. F | g |"]
    assert texts("Ann: I go. Now.\nBob Lee: Why? Stay!") == ["Ann: I go. Now.", "Bob Lee: Why? Stay!"]
    assert texts("甲：我走了。你呢？\n[Human] Note: x. Y.")[0] == "甲：我走了。你呢？"
    assert texts(f"He said: “I go. Now I go.” {long}")[-1] == long


def test_short_sentences_of_one_paragraph_are_one_line_and_paragraphs_stay_apart() -> None:
    assert texts("Ann rowed. She sang.\n\n他走了。她哭了。") == ["Ann rowed. She sang.", "他走了。她哭了。"]
    many = texts("他走了。" * 40)
    assert all(len(line) <= SHORT for line in many)
    assert all(len(a) + len(b) > SHORT for a, b in pairwise(many))


def test_a_field_of_a_record_is_a_line() -> None:
    document = record('{"name": "Ada. Lovelace", "age": 36, "note": "she wrote\\nand left"}')
    assert texts(document.text, record=True) == ["name: Ada. Lovelace", "age: 36", "note: she wrote and left"]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("some words, " * 60, ","),
        ("some words here " * 60, "e"),
        ("他走过长长的桥，" * 90, "，"),
        ("x" * 1000, "x"),
    ],
)
def test_a_long_sentence_is_cut_where_it_hurts_least(text: str, ends: str) -> None:
    found = texts(text)
    assert len(found) > 1
    assert "".join(found).replace(" ", "") == text.replace(" ", "")
    assert found[0].endswith(ends)
    assert LONGEST // 2 < len(found[0]) <= LONGEST
    assert set(" ".join(found).split()) <= set(text.split()) or ends in "，x"
