"""Line breaks, segments, blocks and passages; lines of evidence hold every visible character once, none too long."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.loaders import record
from longproof.retrieval.text.chunking import (
    LONGEST,
    SHORT,
    blocks,
    evidence_lines,
    overlapping,
    pack,
    segments,
)
from longproof.retrieval.text.sentences import logical_lines, sentences

PIECES = [
    *"字我。！？，“”「」.,!? \n\raZ1😀\u0301ש\u3000\x85",
    "He left. ", "他走了。", "\r\n", "……", "\n\n", "| a | b |\n", "Ann: ", "x" * 450, "，" * 30,
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"])).map("".join)
SIZE = st.integers(1, 60)


def test_the_default_sizes_are_those_of_the_appendix():
    assert segments("一" * 149 + "。" + "二。") == [(0, 150), (150, 152)]
    assert blocks("字" * 11001) == [(0, 5500), (5500, 11000), (11000, 11001)]
    assert overlapping("字" * 1001) == [(0, 400), (200, 600), (400, 800), (600, 1000), (800, 1001)]


@given(st.lists(st.integers(0, 30), max_size=30), SIZE, st.none() | st.integers(1, 5))
def test_neighbours_are_packed_whole_as_many_as_find_room(lengths, size, most):
    packed = pack(lengths, int, size, most)
    assert [one for held in packed for one in held] == lengths
    for held in packed:
        assert len(held) == 1 or (sum(held) <= size and len(held) <= (most or len(held)))
    for held, after in pairwise(packed):
        assert len(held) == most or sum(held) + after[0] > size, "the next one had found room"


@given(TEXT, SIZE)
def test_each_sentence_lies_in_one_segment_and_only_a_single_one_is_too_long(text, size):
    single, held = sentences(text), 0
    for start, end in segments(text, size):
        inner = [piece for piece in single if start <= piece[0] and piece[1] <= end]
        assert (inner[0][0], inner[-1][1]) == (start, end)
        held += len(inner)
        between = "".join(text[a:b] for (_, a), (b, _) in pairwise(inner))
        assert len(inner) == 1 or end - start <= size
        assert not set(between) & set("\n\r\x0b\x0c\x85\u2028\u2029")
    assert held == len(single)


@given(TEXT, SIZE, st.data())
def test_blocks_partition_the_text_and_passages_cover_it_none_in_another(text, size, data):
    assert "".join(text[start:end] for start, end in blocks(text, size)) == text
    assert all(end - start == size for start, end in blocks(text, size)[:-1])
    step = data.draw(st.integers(1, size))
    found = overlapping(text, size, step)
    assert {place for start, end in found for place in range(start, end)} == set(range(len(text)))
    assert all(b[0] == a[0] + step and b[1] > a[1] for a, b in pairwise(found))


@pytest.mark.parametrize(
    "units",
    [
        ["Steps:", "1. preheat the oven", "2. bake", "- cool", "• serve", "（一）总则", "第二回 宝玉"],
        ["The quick brown\nfox jumps.", "The end"],
        ["Tiger Tiger, burning bright,", "In the forests of the night;", "What immortal hand"],
        ["床前明月光，", "疑是地上霜。", "举头望明月，"],
        ["word " * 40 + "end", "and so on", "word " * 40 + "end"],
        ["he went", "    home at last"],
    ],
)
def test_a_line_break_ends_something_unless_it_only_wraps_prose(units):
    text = "\n".join(units)
    assert [text[start:end] for start, end in logical_lines(text)] == units


def test_prose_set_to_a_width_is_one_unit():
    prose = (
        "It was the year in which the old harbour of the town of\n"
        "Marlow had been closed, and nobody who had known Captain\n"
        "Weatherby before that time would have said that he was\n"
        "Marlow's kindest man, or that his house stood open to\n"
        "anyone."
    )
    assert len(list(logical_lines(prose))) == 1
    assert len(list(logical_lines(prose.replace("\n", "\n\n")))) == 5, "a blank line always ends a unit"


def texts(text: str, record: bool = False) -> list[str]:
    return [text[start:end] for start, end in evidence_lines(text, record=record)]


@given(TEXT, st.booleans())
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


def test_a_sentence_is_a_line_and_so_is_a_row_a_turn_and_a_field() -> None:
    long = "Ann rowed over the wide water to the island of the keeper."
    assert texts(f"{long} {long}\n\n她哭了。") == [long, long, "她哭了。"]
    wide = f"{long} {long}"
    assert texts(f"| {wide} | 2 |\nAnn: {wide}") == [f"| {wide} | 2 |", f"Ann: {wide}"]
    assert texts("  | a. B | c. D |\n| e. F | g |") == ["| a. B | c. D |", "| e. F | g |"]
    assert texts(f"| {f'{long} ' * 8}|")[1:-1] == [long] * 6, (
        "a row that is too long is cut into its sentences"
    )
    assert texts("Ann: I go. Now.\nBob Lee: Why? Stay!") == ["Ann: I go. Now.", "Bob Lee: Why? Stay!"]
    assert texts("甲：我走了。你呢？\n[Human] Note: x. Y.")[0] == "甲：我走了。你呢？"
    assert texts(f"He said: “I go. Now I go.” {long}")[-1] == long
    document = record('{"name": "Ada. Lovelace", "note": "she wrote\\nand left"}')
    assert texts(document.text, record=True) == ["name: Ada. Lovelace", "note: she wrote and left"]


def test_short_sentences_of_one_paragraph_are_one_line_and_paragraphs_stay_apart() -> None:
    assert texts("Ann rowed. She sang.\n\n他走了。她哭了。") == ["Ann rowed. She sang.", "他走了。她哭了。"]
    many = texts("他走了。" * 40)
    assert all(len(line) <= SHORT for line in many)
    assert all(len(a) + len(b) > SHORT for a, b in pairwise(many))


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
