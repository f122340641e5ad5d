"""VeriGray's scores: equation 1 against its double sum, and dropping by the gold label alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import LABELS
from longproof.evaluation.metrics import class_scores, confusion, ranking_loss, risk_coverage, verigray_scores
from longproof.retrieval.types import BadInput

FAITHFUL = ("implicitly_supported", "explicitly_supported")
LABEL = st.sampled_from(LABELS)
SAID = st.one_of(LABEL, st.sampled_from(["not_found", "undecided", "timeout", None]))
ROWS = st.lists(st.tuples(LABEL, SAID), max_size=50)


def _double_sum(gold: list[int], predicted: list[int]) -> float | None:
    loss, pairs = 0.0, 0
    for y_i, f_i in zip(gold, predicted, strict=True):
        for y_j, f_j in zip(gold, predicted, strict=True):
            if y_i > y_j:
                pairs += 1
                loss += (f_i < f_j) + 0.5 * (f_i == f_j)
    return loss / pairs if pairs else None


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 3)), max_size=60))
def test_ranking_loss_is_the_double_sum(rows: list[tuple[int, int]]) -> None:
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    assert ranking_loss(gold, predicted) == _double_sum(gold, predicted)


@given(ROWS, st.booleans())
def test_scores_equal_a_plain_reading_of_the_paper(rows: list[tuple[str, str | None]], keep: bool) -> None:
    scores = verigray_scores([g for g, _ in rows], [p for _, p in rows], keep_no_fact=keep)
    known = {*LABELS, "not_found"}
    merged = [(g, (p in FAITHFUL) if p in known else g not in FAITHFUL) for g, p in rows]
    ranked = [(LABELS.index(g), int(p)) for g, p in merged if keep or g != "no_fact"]
    assert scores["ranking_loss"] == _double_sum([g for g, _ in ranked], [p for _, p in ranked])
    unfaithful = [p for g, p in merged if g in ("contradicting", "fabricated")]
    faithful = [p for g, p in merged if g in FAITHFUL]
    flagged = unfaithful.count(False) + faithful.count(False)
    assert scores["hallucination_recall"] == (
        unfaithful.count(False) / len(unfaithful) if unfaithful else None
    )
    assert scores["hallucination_precision"] == (unfaithful.count(False) / flagged if flagged else None)
    if unfaithful and faithful:
        halves = unfaithful.count(False) / len(unfaithful), faithful.count(True) / len(faithful)
        assert scores["balanced_accuracy"] == pytest.approx(sum(halves) / 2)
    else:
        assert scores["balanced_accuracy"] is None


@given(ROWS, st.integers(0, 49))
def test_losing_a_prediction_never_helps(rows: list[tuple[str, str | None]], lost: int) -> None:
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    fewer = [None if i == lost else p for i, p in enumerate(predicted)]
    before, after = verigray_scores(gold, predicted), verigray_scores(gold, fewer)
    assert (before["n_unfaithful"], before["n_faithful"]) == (after["n_unfaithful"], after["n_faithful"])
    for rate in ("balanced_accuracy", "hallucination_recall", "hallucination_f1"):
        assert before[rate] is None or (after[rate] is not None and after[rate] <= before[rate])


def test_prediction_no_fact_is_not_dropped() -> None:
    scores = verigray_scores(["explicitly_supported", "fabricated"], ["no_fact", "out_dependent"])
    assert (scores["balanced_accuracy"], scores["hallucination_recall"]) == (0.5, 1.0)


def test_keeping_no_fact_ranks_it_between_ambiguous_and_out_dependent() -> None:
    gold, predicted = (
        ["ambiguous", "no_fact", "out_dependent"],
        ["fabricated", "explicitly_supported", "fabricated"],
    )
    assert verigray_scores(gold, predicted)["ranking_loss"] == 0.5
    assert verigray_scores(gold, predicted, keep_no_fact=True)["ranking_loss"] == pytest.approx(
        (0.5 + 0 + 1) / 3
    )


def test_f1_of_the_papers_own_precision_and_recall() -> None:
    """GPT-5 + RAG in table 4: recall 72.0 and precision 75.0 of 300 unfaithful sentences give F1 73.5."""
    gold = ["fabricated"] * 300 + ["explicitly_supported"] * 1512
    predicted = ["fabricated"] * 216 + ["explicitly_supported"] * 84
    predicted += ["fabricated"] * 72 + ["implicitly_supported"] * 1440
    scores = verigray_scores(gold, predicted)
    assert scores["hallucination_f1"] == pytest.approx(0.735, abs=5e-4)
    assert scores["balanced_accuracy"] == pytest.approx(0.836, abs=1e-3)


def test_class_scores_and_confusion() -> None:
    gold, predicted = ["ambiguous", "ambiguous", "fabricated"], ["ambiguous", None, "ambiguous"]
    scores = class_scores(gold, predicted)
    assert (scores["ambiguous"]["precision"], scores["ambiguous"]["recall"]) == (0.5, 0.5)
    assert scores["fabricated"]["precision"] is None
    assert scores["fabricated"]["recall"] == 0.0
    assert confusion(gold, predicted) == {
        "ambiguous": {"ambiguous": 1, "undecided": 1},
        "fabricated": {"ambiguous": 1},
    }


def test_class_scores_and_confusion_refuse_unknown_names() -> None:
    for score in (class_scores, confusion):
        with pytest.raises(BadInput, match="'bogus'"):
            score(["bogus"], ["ambiguous"])
        with pytest.raises(BadInput, match="'x' is no name"):
            score(["ambiguous"], ["x"])
        score(["ambiguous"] * 3, ["not_found", "timeout", None])
    assert confusion(["faithful"], ["undecided"]) == {"faithful": {"undecided": 1}}
    with pytest.raises(BadInput, match="'faithful' is no label"):
        class_scores(["faithful"], ["ambiguous"])


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
    assert chosen["out_dependent"] == {"risk": 1 / 3, "coverage": 0.75, "n_accepted": 3, "n": 4}
    assert (chosen["explicitly_supported"]["risk"], chosen["explicitly_supported"]["coverage"]) == (0.0, 0.25)
    assert risk_coverage(["fabricated"], [None])["out_dependent"]["risk"] is None


def test_unknown_names_are_refused() -> None:
    with pytest.raises(BadInput):
        verigray_scores(["faithful"], ["fabricated"])
    with pytest.raises(BadInput):
        verigray_scores(["fabricated"], ["Fabricated"])
