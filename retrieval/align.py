"""Alignment: for each segment of a response the window of blocks of its source that it tells of.

Knows: a similarity matrix, M segments by N blocks, and two ways through it: `greedy` is LongNovel's Appendix D to
the letter; `viterbi` is the best path over the whole matrix, which can't lose its place. Does not know: texts, or
how the similarities came about.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.types import Window

Matrix = NDArray[np.float64]

TOP = 5  # Appendix D: among how many of the most similar blocks the next one is looked for
REACH = 2  # Appendix D: how far from the last centre, in blocks

SHARPNESS = 8.0  # how much evidence a row's best block has over its median, as a logarithm of odds
LEAVE = 4.0  # the price of a place off the path, for one segment (a flashback)
JUMP = 8.0  # the price of going on anywhere else (a story told from its beginning again)
FORWARD = 0.3  # the price of a normal step forward
BACK = 6.0  # the price of a step back: one block or, where those are longer, one normal step
WORTH = 0.06  # the belief that a block must add to be worth reading
WIDEST = 7  # blocks in a window, at most


def greedy(similarity: NDArray[Any]) -> list[Window]:
    """The windows of LongNovel's Appendix D over an M × N matrix: each is looked for around the one before.

    The first centre is block 0. Later it is the most similar of the row's five best blocks that lies within two of
    the last centre, in a window of five blocks where the step is 0 or 1, else of seven; where none lies so near,
    the centre moves one block on, in a window of seven. Windows clip at the ends. Of equal similarities the one
    nearest to the last centre counts first, then the earlier.
    """
    scores = np.asarray(similarity, dtype=np.float64)
    blocks = np.arange(scores.shape[1])
    end = len(blocks) - 1
    windows: list[Window] = []
    last = 0
    for segment, row in enumerate(scores):
        best = np.lexsort((blocks, np.abs(blocks - last), -row))[:TOP]
        found = next((int(block) for block in best if abs(block - last) <= REACH), None) if segment else 0
        centre = min(last + 1, end) if found is None else found
        step = centre - last
        reach = 3 if found is None or step not in (0, 1) else 2
        windows.append(Window(first=max(0, centre - reach), last=min(end, centre + reach), centre=centre))
        last = centre
    return windows


def viterbi(similarity: NDArray[Any]) -> list[Window]:
    """The windows of the best path through an M × N matrix, in O(M·N).

    A path goes forward at a low price per normal step (N / M blocks), back at a high one, and anywhere at all for
    JUMP. Any segment may leave it, for LEAVE, for a place of its own (a flashback). A window holds the blocks
    beside the segment's place, and others as far as they are worth reading; its confidence is the share of belief
    that it holds.
    """
    scores = np.asarray(similarity, dtype=np.float64)
    if not len(scores):
        return []
    evidence = _evidence(scores)
    normal = evidence.shape[1] / evidence.shape[0]
    forward, back = FORWARD / normal, BACK / max(1.0, normal)
    kept = np.maximum(evidence, -LEAVE)
    before = _arrivals(kept, forward, back)
    after = _arrivals(kept[::-1], back, forward)[::-1]  # read from the end, a step forward goes back
    # How well each block fits the best path through the other segments: 0 on it, never below -LEAVE.
    support = before + after
    placed = evidence + np.maximum(support - support.max(axis=1, keepdims=True), -LEAVE)
    windows: list[Window] = []
    for belief, centre in zip(_softmax(placed), placed.argmax(axis=1).tolist(), strict=True):
        first, last = _range(belief, centre)
        held = min(1.0, float(belief[first : last + 1].sum()))
        windows.append(Window(first=first, last=last, centre=centre, confidence=held))
    return windows


def _arrivals(kept: Matrix, up: float, down: float) -> Matrix:
    """Row j, column i: what the best path through the rows before j that then moves to block i has gained.

    `up` and `down` are prices a block. Each row counts from its own best, which is 0.
    """
    rise, fall = (price * np.arange(kept.shape[1]) for price in (up, down))
    arrivals = np.zeros_like(kept)
    for j in range(1, len(kept)):
        left = arrivals[j - 1] + kept[j - 1]
        upward = np.maximum.accumulate(left + rise) - rise
        downward = np.maximum.accumulate((left - fall)[::-1])[::-1] + fall
        best = np.maximum(np.maximum(upward, downward), left.max() - JUMP)
        arrivals[j] = best - best.max()
    return arrivals


def _range(belief: Matrix, centre: int) -> tuple[int, int]:
    """First and last block of the window: `centre`, its neighbours, and what is worth its reading beside them."""
    end = len(belief) - 1
    held = np.concatenate([[0.0], np.cumsum(belief)])
    left, right = max(0, centre - 1), min(end, centre + 1)
    ranges = [
        (first, last)
        for first in range(left, max(0, right - WIDEST + 1) - 1, -1)
        for last in range(right, min(end, first + WIDEST - 1) + 1)
    ]
    return max(ranges, key=lambda r: held[r[1] + 1] - held[r[0]] - WORTH * (r[1] - r[0]))


def _evidence(scores: Matrix) -> Matrix:
    """The evidence of each row alone: 0 at its best block, falling in units of its rise above its median, or of
    most rows' rise where that is more: a row that rises less has less to say. Where nothing rises above a median,
    in units of what lies between a row's best and worst."""
    best = scores.max(axis=1, keepdims=True)
    rise = best - np.median(scores, axis=1, keepdims=True)
    unit = np.maximum(rise, np.median(rise))
    unit = np.where(unit > 0, unit, best - scores.min(axis=1, keepdims=True))
    evidence: Matrix = SHARPNESS * (scores - best) / np.where(unit > 0, unit, 1.0)
    return evidence


def _softmax(logs: Matrix) -> Matrix:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: Matrix = weights / weights.sum(axis=1, keepdims=True)
    return result
