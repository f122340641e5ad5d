"""LongNovel's and HaluEval's scores against their own tables; pairs, flips; undecided is never dropped."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.evaluation.metrics.outcomes import (
    flip_rate,
    hallucinated_by,
    outcome_counts,
    pair_accuracy,
)
from longproof.evaluation.metrics.statistics import (
    Counts,
    coverage,
    f1,
    mcc,
    mean_accuracy,
    recall,
    specificity,
)

TABLE = Path(__file__).with_name("longnovel_tables.csv")
ROWS = list(csv.DictReader(TABLE.read_text(encoding="utf8").splitlines()))
UNREPRODUCED = {
    ("Llama3.1-8B-instruct SFT", "XL"),
    ("Qwen3-8B SFT", "XL"),
    ("Qwen3-8B SFT", "XXL"),
    ("Claude-4-sonnet", "XXL"),
    ("Claude-4-sonnet RAG", "XXL"),
}
"""Cells of table 4 that differ from tables 5 and 6 in the paper itself: other runs, or a slip."""

SIDES = st.sampled_from(["hallucinated", "faithful"])
SAID = st.sampled_from(["hallucinated", "faithful", "undecided", "unparsed", None])
COLUMNS = st.lists(st.tuples(SIDES, SAID), max_size=60)


def _mcc(row: dict[str, str]) -> float:
    size = float(row["n_per_class"])
    found = float(row["accuracy_of_hallucinated"]) / 100 * size
    kept = float(row["accuracy_of_faithful"]) / 100 * size
    value = mcc(Counts(found, size - kept, size - found, kept))
    assert value is not None
    return value


def _cells_off(table: str) -> set[tuple[str, str]]:
    rows = [row for row in ROWS if row[table]]
    return {(row["model"], row["scale"]) for row in rows if abs(_mcc(row) - float(row[table])) > 0.015}


def test_tables_5_and_6_give_their_own_mcc_and_that_of_table_4_but_for_five_cells() -> None:
    assert (len(ROWS), sum(bool(row["mcc_table_4"]) for row in ROWS)) == (148, 132)
    assert _cells_off("mcc_table_5_or_6") == {("Claude-4-sonnet", "XXL")}
    assert _cells_off("mcc_table_4") == UNREPRODUCED


def test_published_counts_give_published_scores() -> None:
    """GPT-4.1 with CoT at S: 49 of 75 hallucinated and 73 of 75 faithful summaries judged right."""
    gold = ["hallucinated"] * 75 + ["faithful"] * 75
    predicted = ["hallucinated"] * 49 + ["faithful"] * 26 + ["faithful"] * 73 + ["hallucinated"] * 2
    scores = outcome_counts(gold, predicted)
    assert mean_accuracy(scores) == pytest.approx(0.8133, abs=1e-4)
    assert mcc(scores) == pytest.approx(0.6614, abs=1e-4)


def test_an_empty_class_has_no_score_and_a_constant_no_correlation() -> None:
    one_class = outcome_counts(["faithful"] * 3, ["faithful"] * 3)
    assert recall(one_class) is None
    assert mean_accuracy(one_class) is None
    assert mcc(one_class) is None
    assert mcc(outcome_counts(["faithful", "hallucinated"], ["faithful"] * 2)) == 0.0
    assert coverage(outcome_counts([], [])) is None


@given(COLUMNS)
def test_an_undecided_prediction_scores_as_the_opposite_class(rows: list[tuple[str, str | None]]) -> None:
    opposite = {"hallucinated": "faithful", "faithful": "hallucinated"}
    gold = [g for g, _ in rows]
    filled = [p if p in opposite else opposite[g] for g, p in rows]
    here, there = outcome_counts(gold, [p for _, p in rows]), outcome_counts(gold, filled)
    for rate in (recall, specificity, mcc, f1):
        assert rate(here) == rate(there)
    assert here.hallucinated + here.faithful == len(rows)


@given(COLUMNS)
def test_mcc_agrees_with_the_correlation_of_the_columns(rows: list[tuple[str, str | None]]) -> None:
    gold = [g == "hallucinated" for g, _ in rows]
    said = [
        p == "hallucinated" if p in ("hallucinated", "faithful") else not g
        for g, (_, p) in zip(gold, rows, strict=True)
    ]
    scores = outcome_counts([g for g, _ in rows], [p for _, p in rows])
    n = len(rows)
    if len(set(gold)) < 2 or len(set(said)) < 2:
        assert mcc(scores) in (None, 0.0)
        return
    x, y = sum(gold) / n, sum(said) / n
    covariance = sum((a - x) * (b - y) for a, b in zip(gold, said, strict=True)) / n
    assert mcc(scores) == pytest.approx(covariance / (x * (1 - x) * y * (1 - y)) ** 0.5)


def test_recall_by_kind_counts_what_is_undecided_as_missed() -> None:
    gold = ["hallucinated", "hallucinated", "hallucinated", "faithful"]
    found = hallucinated_by(
        ["event", "event", "temporal", None], gold, ["hallucinated", None, "faithful", "faithful"]
    )
    assert found["event"] == Counts(1, 0, 1, 0, undecided=1)
    assert (recall(found["event"]), coverage(found["event"])) == (0.5, 0.5)
    assert recall(found["temporal"]) == 0.0
    assert set(found) == {"event", "temporal"}


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [(["hallucinated"], []), (["faithful"], ["supported"])],
)
def test_bad_columns_are_refused(gold: list[str], predicted: list[str | None]) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)|neither an outcome"):
        outcome_counts(gold, predicted)


PATTERNS = {
    "qa": ([2280, 1378, 5102, 1240], [1559, 245, 278, 1027], 3109),
    "dialogue": ([8330, 1196, 474], [465, 344, 82], 891),
    "summary": ([2614, 3562, 3824], [3106, 705, 57], 3868),
}
"""Task: generated (table 5) and failed samples (table 7) of patterns I to IV, and the failed ones' sum."""


@pytest.mark.parametrize("task", PATTERNS)
def test_failures_add_up_to_table_7_and_rates_are_over_what_table_5_generated(task: str) -> None:
    """Of table 7 alone: summary pattern I fails 3,106 times, more than the 2,614 that table 5 generated."""
    generated, failed, total = PATTERNS[task]
    patterns, predicted = list[str](), list[str]()
    for name, n, n_failed in zip(["I", "II", "III", "IV"], generated, failed, strict=False):
        patterns += [name] * max(n, n_failed)
        predicted += ["faithful"] * n_failed + ["hallucinated"] * (n - n_failed)
    found = hallucinated_by(patterns, ["hallucinated"] * len(patterns), predicted)
    assert [counts.false_negative for counts in found.values()] == failed
    assert sum(counts.false_negative for counts in found.values()) == total
    if task != "summary":
        assert [counts.hallucinated for counts in found.values()] == generated[: len(failed)]


def test_flip_rate_counts_examples_that_ever_change() -> None:
    scores = flip_rate([["a", "b", None], ["a", "c", None], ["a", "b", "a"]])
    assert (scores.value, scores.n) == (2 / 3, 3)


def test_a_pair_needs_both() -> None:
    scores = pair_accuracy(["x", "x", "y", "y"], [True, True, True, None])
    assert (scores.value, scores.n, scores.coverage) == (0.5, 2, 0.5)
