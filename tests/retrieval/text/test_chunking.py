"""Segments are whole sentences, blocks partition, passages and snippets cover."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.chunking import blocks, overlapping, segments
from longproof.retrieval.text.sentences import sentences

TEXT = st.lists(
    st.one_of(
        st.sampled_from(
            [*"字我。！？，“”「」.,!? \n\raZ1😀\u0301ש\u3000", "He left. ", "他走了。", "\r\n", "……", "\n\n"]
        ),
        st.characters(exclude_categories=["Cs"]),
    )
).map("".join)
SIZE = st.integers(1, 60)


def test_a_line_break_always_parts_segments():
    assert segments("甲。\n乙。\r\n丙。\r丁。\n\n戊。") == [(0, 2), (3, 5), (7, 9), (10, 12), (14, 16)]


def test_the_default_sizes_are_those_of_the_appendix():
    assert segments("一" * 149 + "。" + "二。") == [(0, 150), (150, 152)]
    assert blocks("字" * 11001) == [(0, 5500), (5500, 11000), (11000, 11001)]
    assert overlapping("字" * 1001) == [(0, 400), (200, 600), (400, 800), (600, 1000), (800, 1001)]


@given(TEXT, SIZE)
def test_each_sentence_lies_in_exactly_one_segment(text, size):
    packed = segments(text, size)
    homes = [
        [piece for piece in packed if piece[0] <= start and end <= piece[1]] for start, end in sentences(text)
    ]
    assert all(len(home) == 1 for home in homes)
    assert {home[0] for home in homes} == set(packed)
    assert all(first[1] <= second[0] for first, second in pairwise(packed))


@given(TEXT, SIZE)
def test_only_a_single_sentence_is_longer_than_the_size_or_holds_a_line_break(text, size):
    single = set(sentences(text))
    for start, end in segments(text, size):
        if (start, end) not in single:
            assert end - start <= size
            inner = [piece for piece in single if start <= piece[0] and piece[1] <= end]
            between = "".join(text[a:b] for (_, a), (b, _) in pairwise(sorted(inner)))
            assert not set(between) & set("\n\r\x0b\x0c\x85\u2028\u2029")


@given(TEXT, SIZE)
def test_blocks_partition_the_text(text, size):
    assert "".join(text[start:end] for start, end in blocks(text, size)) == text
    assert all(end - start == size for start, end in blocks(text, size)[:-1])
    assert all(end > start for start, end in blocks(text, size))


@given(TEXT, SIZE, st.data())
def test_passages_cover_the_text_and_none_lies_in_another(text, size, data):
    step = data.draw(st.integers(1, size))
    found = overlapping(text, size, step)
    assert {place for start, end in found for place in range(start, end)} == set(range(len(text)))
    assert all(b[0] == a[0] + step and b[1] > a[1] for a, b in pairwise(found))
