"""HaluEval's scores rebuilt from the counts of its tables 5 to 7."""

import pytest

from longproof.evaluation.metrics import failures_by_pattern, halueval_scores, halueval_scores_by_task

PATTERNS = {
    "qa": ([2280, 1378, 5102, 1240], [1559, 245, 278, 1027], 3109),
    "dialogue": ([8330, 1196, 474], [465, 344, 82], 891),
    "summary": ([2614, 3562, 3824], [3106, 705, 57], 3868),
}
"""Task: generated (table 5) and failed samples (table 7) of patterns I to IV, and the failed ones' sum."""


@pytest.mark.parametrize("task", PATTERNS)
def test_failures_add_up_to_table_7(task: str) -> None:
    """Of table 7 alone: summary pattern I fails 3,106 times, more than the 2,614 that table 5 generated."""
    _, failed, total = PATTERNS[task]
    patterns = [name for name, n in zip(["I", "II", "III", "IV"], failed, strict=False) for _ in range(n)]
    found = failures_by_pattern(patterns, ["hallucinated"] * len(patterns), ["faithful"] * len(patterns))
    assert [row["n_failed"] for row in found.values()] == failed
    assert sum(row["n_failed"] for row in found.values()) == total


@pytest.mark.parametrize("task", ["qa", "dialogue"])
def test_failure_rates_are_over_what_table_5_generated(task: str) -> None:
    generated, failed, _ = PATTERNS[task]
    patterns, predicted = list[str](), list[str]()
    for name, n, n_failed in zip(["I", "II", "III", "IV"], generated, failed, strict=False):
        patterns += [name] * n
        predicted += ["faithful"] * n_failed + ["hallucinated"] * (n - n_failed)
    found = failures_by_pattern(patterns, ["hallucinated"] * len(patterns), predicted)
    rates = [n_failed / n for n_failed, n in zip(failed, generated, strict=True)]
    assert [row["failure_rate"] for row in found.values()] == rates


def test_accuracy_counts_both_sides_and_what_is_undecided() -> None:
    scores = halueval_scores(
        ["hallucinated", "faithful", "faithful", "faithful"],
        ["hallucinated", "faithful", None, "hallucinated"],
    )
    assert scores == {"accuracy": 0.5, "n": 4, "n_right": 2, "n_undecided": 1, "coverage": 0.75}


def test_accuracy_of_table_6_from_counts() -> None:
    gold = ["hallucinated"] * 5000 + ["faithful"] * 5000
    predicted = ["hallucinated"] * 3259 + ["faithful"] * 1741 + ["faithful"] * 3000 + ["hallucinated"] * 2000
    tasks = ["qa"] * 10000
    assert halueval_scores_by_task(tasks, gold, predicted)["qa"]["accuracy"] == pytest.approx(0.6259)


def test_an_undecided_sample_fails_and_a_missing_pattern_is_named() -> None:
    found = failures_by_pattern([None, "I"], ["hallucinated", "faithful"], [None, None])
    assert found == {"unnamed": {"n_failed": 1, "n_undecided": 1, "n_hallucinated": 1, "failure_rate": 1.0}}
