"""Both ways through a similarity matrix: worked examples, brute force, and the laws of windows."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from longproof.retrieval import align
from longproof.retrieval.align import greedy, viterbi
from longproof.retrieval.types import Window

matrices = arrays(
    np.float64, st.tuples(st.integers(1, 8), st.integers(1, 12)), elements=st.floats(-50, 50, width=32)
)
small = arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(0, 9).map(float)
)


def places(windows: list[Window]) -> list[tuple[int, int, int]]:
    return [(w.first, w.last, w.centre) for w in windows]


def test_greedy_follows_appendix_d_worked_by_hand() -> None:
    best = [
        {9: 1.0},  # the first segment: always blocks 0–2, whatever its row says
        {1: 0.5, 8: 0.9},  # 8 is too far; 1 is near: step 1, five blocks around 1, clipped to 0–3
        {1: 0.7, 2: 0.6},  # step 0: five blocks around 1
        {3: 0.4, 2: 0.3},  # the more similar of two near ones: step 2, seven blocks around 3
        {7: 0.9, 8: 0.8, 9: 0.7, 10: 0.6, 11: 0.5},  # all five best too far: one on, yet seven blocks
        {2: 0.9, 5: 0.1},  # step -2: seven blocks around 2, clipped at the beginning
    ]
    # The other blocks have little, the later the less.
    similarity = np.tile(-0.01 * np.arange(12), (len(best), 1))
    for row, scores in zip(similarity, best, strict=True):
        row[list(scores)] = list(scores.values())
    assert places(greedy(similarity)) == [(0, 2, 0), (0, 3, 1), (0, 3, 1), (0, 6, 3), (1, 7, 4), (0, 5, 2)]


@pytest.mark.parametrize("way", [greedy, viterbi])
@given(similarity=matrices)
@settings(max_examples=60, deadline=None)
def test_windows_keep_their_laws(way: Callable[..., list[Window]], similarity: np.ndarray) -> None:
    windows = way(similarity)
    assert len(windows) == len(similarity)
    for window in windows:
        assert 0 <= window.first <= window.centre <= window.last < similarity.shape[1]
        assert window.last - window.first < 7


def best_placements(evidence: np.ndarray) -> np.ndarray:
    """By enumeration: for each segment and block, the best score of any path that puts the segment there."""
    m, n = evidence.shape
    forward, back = align.FORWARD / (n / m), align.BACK / max(1.0, n / m)
    best = np.full((m, n), -np.inf)
    for path in product(range(n), repeat=m):
        price = sum(min(align.JUMP, forward * d if d > 0 else -back * d) for d in np.diff(path))
        kept = [max(evidence[j, i], -align.LEAVE) for j, i in enumerate(path)]
        for j, i in enumerate(path):
            others = sum(kept) - kept[j] - price
            best[j, i] = max(best[j, i], others + evidence[j, i])
            for block in range(n):  # the segment leaves the path for a place of its own
                best[j, block] = max(best[j, block], others + evidence[j, block] - align.LEAVE)
    return best


@given(small)
@settings(max_examples=60, deadline=None)
def test_viterbi_finds_the_best_placements_that_enumeration_finds(similarity: np.ndarray) -> None:
    best = best_placements(align._evidence(similarity))
    for window, row in zip(viterbi(similarity), best, strict=True):
        assert row[window.centre] == pytest.approx(row.max(), abs=1e-9)


@given(st.lists(st.integers(0, 29), min_size=1, max_size=60).map(sorted), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_viterbi_recovers_a_monotone_path_of_any_compression(path: list[int], seed: int) -> None:
    similarity = np.random.default_rng(seed).uniform(0, 4, (len(path), 30))
    similarity[np.arange(len(path)), path] += 8
    assert [w.centre for w in viterbi(similarity)] == path


def test_viterbi_bridges_segments_that_match_nowhere_or_a_little_too_well_elsewhere() -> None:
    path = np.repeat(np.arange(20), 2)
    similarity = np.random.default_rng(1).uniform(0, 3, (40, 20))
    similarity[np.arange(40), path] += 7
    similarity[11] = 0.0
    similarity[20] = np.random.default_rng(2).uniform(0, 3, 20)
    similarity[20, [2, 10, 18]] = 6.2, 6.0, 6.1
    windows = viterbi(similarity)
    assert abs(windows[11].centre - path[11]) <= 1
    assert windows[11].confidence < windows[12].confidence
    assert [w.centre for w in windows[:11] + windows[12:]] == np.delete(path, 11).tolist()


@given(matrices, st.integers(0, 12))
@example(
    np.array([list("101010101111"), ["1"] * 12, list("111101111111")], float), 1
)  # nothing rises above a median
@settings(max_examples=60, deadline=None)
def test_viterbi_does_not_depend_on_the_unit_of_the_scores(similarity: np.ndarray, shift: int) -> None:
    rounded = np.round(similarity)  # so that scaling doesn't make or break ties
    assert places(viterbi(rounded)) == places(viterbi(rounded * 2.0**shift))


def test_a_certain_place_gets_a_small_window_and_an_uncertain_one_a_wide_one() -> None:
    certain, unsure = np.eye(1, 30, 12), np.zeros((1, 30))
    unsure[0, 10:15] = 1.0
    assert places(viterbi(certain)) == [(11, 13, 12)]
    assert viterbi(unsure)[0].last - viterbi(unsure)[0].first > 3
    assert viterbi(certain)[0].confidence > viterbi(np.ones((1, 30)))[0].confidence
    assert viterbi(np.ones((1, 3)))[0].confidence == pytest.approx(1), "the window holds all there is"
