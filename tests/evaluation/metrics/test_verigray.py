"""VeriGray's scores: equation 1 against its double sum, and dropping by the gold label alone."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import LABELS
from longproof.evaluation.metrics.statistics import f1, mean_accuracy, precision, recall
from longproof.evaluation.metrics.verigray import (
    ranking_loss,
    risk_coverage,
    verigray_scores,
)

FAITHFUL = ("implicitly_supported", "explicitly_supported")
LABEL = st.sampled_from(LABELS)
SAID = st.one_of(LABEL, st.sampled_from(["not_found", "undecided", "timeout", None]))
ROWS = st.lists(st.tuples(LABEL, SAID), max_size=50)


def _double_sum(gold: Sequence[int], predicted: Sequence[int]) -> float | None:
    loss, pairs = 0.0, 0
    for y_i, f_i in zip(gold, predicted, strict=True):
        for y_j, f_j in zip(gold, predicted, strict=True):
            if y_i > y_j:
                pairs += 1
                loss += (f_i < f_j) + 0.5 * (f_i == f_j)
    return loss / pairs if pairs else None


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=60))
def test_ranking_loss_is_the_double_sum(rows: list[tuple[int, bool]]) -> None:
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    assert ranking_loss(gold, predicted) == _double_sum(gold, predicted)


@given(ROWS, st.booleans())
def test_scores_equal_a_plain_reading_of_the_paper(rows: list[tuple[str, str | None]], keep: bool) -> None:
    scores = verigray_scores([g for g, _ in rows], [p for _, p in rows], keep_no_fact=keep)
    known = {*LABELS, "not_found"}
    merged = [(g, (p in FAITHFUL) if p in known else g not in FAITHFUL) for g, p in rows]
    ranked = [(LABELS.index(g), int(p)) for g, p in merged if keep or g != "no_fact"]
    assert scores.ranking.value == _double_sum([g for g, _ in ranked], [p for _, p in ranked])
    unfaithful = [p for g, p in merged if g in ("contradicting", "fabricated")]
    faithful = [p for g, p in merged if g in FAITHFUL]
    flagged = unfaithful.count(False) + faithful.count(False)
    assert recall(scores.counts) == (unfaithful.count(False) / len(unfaithful) if unfaithful else None)
    assert precision(scores.counts) == (unfaithful.count(False) / flagged if flagged else None)
    if unfaithful and faithful:
        halves = unfaithful.count(False) / len(unfaithful), faithful.count(True) / len(faithful)
        assert mean_accuracy(scores.counts) == pytest.approx(sum(halves) / 2)
    else:
        assert mean_accuracy(scores.counts) is None


@given(ROWS, st.integers(0, 49))
def test_losing_a_prediction_never_helps(rows: list[tuple[str, str | None]], lost: int) -> None:
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    fewer = [None if i == lost else p for i, p in enumerate(predicted)]
    before, after = verigray_scores(gold, predicted).counts, verigray_scores(gold, fewer).counts
    assert (before.hallucinated, before.faithful) == (after.hallucinated, after.faithful)
    for rate in (mean_accuracy, recall, f1):
        was, now = rate(before), rate(after)
        assert was is None or (now is not None and now <= was)


def test_f1_of_the_papers_own_precision_and_recall() -> None:
    """GPT-5 + RAG in table 4: recall 72.0 and precision 75.0 of 300 unfaithful sentences give F1 73.5."""
    gold = ["fabricated"] * 300 + ["explicitly_supported"] * 1512
    predicted = ["fabricated"] * 216 + ["explicitly_supported"] * 84
    predicted += ["fabricated"] * 72 + ["implicitly_supported"] * 1440
    counts = verigray_scores(gold, predicted).counts
    assert f1(counts) == pytest.approx(0.735, abs=5e-4)
    assert mean_accuracy(counts) == pytest.approx(0.836, abs=1e-3)


def test_risk_falls_and_coverage_shrinks_with_the_threshold() -> None:
    gold = ["fabricated", "fabricated", "implicitly_supported", "explicitly_supported", "ambiguous"]
    predicted = [
        "out_dependent",
        None,
        "implicitly_supported",
        "explicitly_supported",
        "explicitly_supported",
    ]
    chosen = risk_coverage(gold, predicted)
    assert chosen["out_dependent"] == (1 / 3, 3, 0.75)
    assert (chosen["explicitly_supported"].value, chosen["explicitly_supported"].coverage) == (0.0, 0.25)
    assert risk_coverage(["fabricated"], [None])["out_dependent"].value is None
