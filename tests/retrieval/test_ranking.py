"""Which passages belong to which ranges: held to the plain words of the rule, one passage and one range at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.ranking import best_per_range, passages_in, top_k

Range = tuple[int, int]


@st.composite
def in_text_order(draw: st.DrawFn) -> list[Range]:
    """Passages that may overlap or leave gaps; neither their starts nor their ends ever go back."""
    starts = sorted(draw(st.lists(st.integers(0, 60), max_size=12)))
    found: list[Range] = []
    for start in starts:
        least = max(start + 1, found[-1][1] if found else 0)
        found.append((start, draw(st.integers(least, least + 15))))
    return found


ranges = st.lists(
    st.tuples(st.integers(0, 70), st.integers(1, 30)).map(lambda one: (one[0], one[0] + one[1])), max_size=6
)


def belongs(passage: Range, to: Range) -> bool:
    shared = min(passage[1], to[1]) - max(passage[0], to[0])
    return shared > 0 and 2 * shared >= min(passage[1] - passage[0], to[1] - to[0])


def array(passages: list[Range]) -> np.ndarray:
    return np.array(passages, dtype=np.int64).reshape(-1, 2)


@given(in_text_order(), ranges)
def test_a_passage_belongs_where_half_of_either_lies_in_the_other(passages, ranges):
    members = passages_in(array(passages), ranges)
    assert [numbers.tolist() for numbers in members] == [
        [i for i, passage in enumerate(passages) if belongs(passage, one)] for one in ranges
    ]


@given(in_text_order(), ranges, st.data())
def test_the_best_score_of_each_range(passages, ranges, data):
    row = st.lists(st.integers(0, 9), min_size=len(passages), max_size=len(passages))
    rows = data.draw(st.lists(row, max_size=3))
    scores = np.array(rows, dtype=float).reshape(len(rows), len(passages))
    found = best_per_range(scores, passages_in(array(passages), ranges))
    assert found.tolist() == [
        [max((row[i] for i, p in enumerate(passages) if belongs(p, one)), default=0) for one in ranges]
        for row in rows
    ]


@given(in_text_order(), st.none() | ranges, st.integers(-1, 15), st.data())
def test_the_best_come_first_and_of_equal_ones_the_earlier(passages, within, k, data):
    scores = data.draw(st.lists(st.integers(0, 3), min_size=len(passages), max_size=len(passages)))
    allowed = [i for i, p in enumerate(passages) if within is None or any(belongs(p, one) for one in within)]
    expected = sorted(allowed, key=lambda i: (-scores[i], i))[: max(k, 0)]
    assert top_k(np.array(scores, dtype=np.float32), k, array(passages), within) == expected
