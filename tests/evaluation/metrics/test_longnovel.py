"""LongNovel's scores against its own tables, and the law that nothing undecided is dropped."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.evaluation.metrics import longnovel_scores, mcc_from_accuracies, recall_by, recall_by_position
from longproof.retrieval.types import BadInput

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
    value = mcc_from_accuracies(
        float(row["accuracy_of_hallucinated"]) / 100, float(row["accuracy_of_faithful"]) / 100, size, size
    )
    assert value is not None
    return value


def test_tables_5_and_6_give_their_own_mcc() -> None:
    off = {(r["model"], r["scale"]) for r in ROWS if abs(_mcc(r) - float(r["mcc_table_5_or_6"])) > 0.015}
    assert len(ROWS) == 148
    assert off == {("Claude-4-sonnet", "XXL")}


def test_tables_5_and_6_give_the_mcc_of_table_4_but_for_five_cells() -> None:
    main = [r for r in ROWS if r["mcc_table_4"]]
    off = {(r["model"], r["scale"]) for r in main if abs(_mcc(r) - float(r["mcc_table_4"])) > 0.015}
    assert len(main) == 132
    assert off == UNREPRODUCED


def test_published_counts_give_published_scores() -> None:
    """GPT-4.1 with CoT at S: 49 of 75 hallucinated and 73 of 75 faithful summaries judged right."""
    gold = ["hallucinated"] * 75 + ["faithful"] * 75
    predicted = ["hallucinated"] * 49 + ["faithful"] * 26 + ["faithful"] * 73 + ["hallucinated"] * 2
    scores = longnovel_scores(gold, predicted)
    assert scores["mean_accuracy"] == pytest.approx(0.8133, abs=1e-4)
    assert scores["mcc"] == pytest.approx(0.6614, abs=1e-4)


def test_all_malformed_is_minus_one_as_in_the_table() -> None:
    scores = longnovel_scores(["hallucinated", "faithful"], [None, "unparsed"])
    assert (scores["mcc"], scores["mean_accuracy"], scores["coverage"]) == (-1.0, 0.0, 0.0)


def test_an_empty_class_has_no_score_and_a_constant_no_correlation() -> None:
    one_class = longnovel_scores(["faithful"] * 3, ["faithful"] * 3)
    assert one_class["accuracy_of_hallucinated"] is None
    assert one_class["mean_accuracy"] is None
    assert one_class["mcc"] is None
    assert longnovel_scores(["faithful", "hallucinated"], ["faithful"] * 2)["mcc"] == 0.0
    assert longnovel_scores([], [])["coverage"] is None


@given(COLUMNS)
def test_an_undecided_prediction_scores_as_the_opposite_class(rows: list[tuple[str, str | None]]) -> None:
    opposite = {"hallucinated": "faithful", "faithful": "hallucinated"}
    gold = [g for g, _ in rows]
    filled = [p if p in opposite else opposite[g] for g, p in rows]
    here, there = longnovel_scores(gold, [p for _, p in rows]), longnovel_scores(gold, filled)
    for rate in ("accuracy_of_hallucinated", "accuracy_of_faithful", "mcc", "hallucination_f1"):
        assert here[rate] == there[rate]
    assert here["n_hallucinated"] + here["n_faithful"] == len(rows)


@given(COLUMNS)
def test_mcc_agrees_with_the_correlation_of_the_columns(rows: list[tuple[str, str | None]]) -> None:
    gold = [g == "hallucinated" for g, _ in rows]
    said = [
        p == "hallucinated" if p in ("hallucinated", "faithful") else not g
        for g, (_, p) in zip(gold, rows, strict=True)
    ]
    scores = longnovel_scores([g for g, _ in rows], [p for _, p in rows])
    n = len(rows)
    if len(set(gold)) < 2 or len(set(said)) < 2:
        assert scores["mcc"] in (None, 0.0)
        return
    x, y = sum(gold) / n, sum(said) / n
    covariance = sum((a - x) * (b - y) for a, b in zip(gold, said, strict=True)) / n
    assert scores["mcc"] == pytest.approx(covariance / (x * (1 - x) * y * (1 - y)) ** 0.5)


def test_recall_by_kind_counts_what_is_undecided_as_missed() -> None:
    gold = ["hallucinated", "hallucinated", "hallucinated", "faithful"]
    found = recall_by(
        ["event", "event", "temporal", None], gold, ["hallucinated", None, "faithful", "faithful"]
    )
    assert found["event"] == {"recall": 0.5, "n_hallucinated": 2, "n_undecided": 1, "coverage": 0.5}
    assert found["temporal"]["recall"] == 0.0
    assert set(found) == {"event", "temporal"}


def test_recall_by_position_keeps_to_the_papers_four_kinds() -> None:
    gold, predicted = ["hallucinated"] * 3, ["hallucinated"] * 3
    found = recall_by_position(
        ["begin", "begin", "end"], ["event", "temporal", "fabrication"], gold, predicted
    )
    assert {place: row["n_hallucinated"] for place, row in found.items()} == {"begin": 1}


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [(["hallucinated"], []), (["undecided"], ["faithful"]), (["faithful"], ["supported"])],
)
def test_bad_columns_are_refused(gold: list[str], predicted: list[str | None]) -> None:
    with pytest.raises(BadInput):
        longnovel_scores(gold, predicted)


def test_labels_are_read_as_the_report_reads_them() -> None:
    scores = longnovel_scores(["contradicting", "ambiguous"], ["fabricated", "out_dependent"])
    assert (scores["n_hallucinated"], scores["mean_accuracy"]) == (1, 1.0)
