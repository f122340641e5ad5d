"""PROBE's steps: matching, evidence, votes, localisation."""

from longproof.evaluation.metrics.probe import (
    ClaimAt,
    claims_match,
    evidence_scores,
    vote_accuracy,
    word_f1,
)
from longproof.evaluation.metrics.statistics import matches


def test_origins_decide_before_words_and_words_where_origins_do_not_meet() -> None:
    born = ClaimAt("He was born in 1900.", (0, 20))
    assert claims_match(born, ClaimAt("the year of birth is 1900", (5, 20)))
    assert not claims_match(born, ClaimAt("a dog barks", (15, 40)))
    assert claims_match(ClaimAt("Siam was a French colony", None), ClaimAt("siam was a colony.", (0, 9)))
    assert word_f1("周进中了举人", "周进中举") == 0.8
    assert word_f1("…", "!") == 0.0


def test_decomposition_counts_each_side_by_itself() -> None:
    gold = [[ClaimAt("a b", (0, 4)), ClaimAt("c d", (4, 8))], [ClaimAt("e f", (0, 4))]]
    found = [[ClaimAt("x", (0, 4)), ClaimAt("y", (0, 4)), ClaimAt("z", (20, 24))], None]
    scores = matches(zip(gold, found, strict=True), claims_match)
    assert (scores.precision, scores.n_predicted) == (2 / 3, 3)
    assert (scores.recall, scores.n_gold) == (1 / 3, 3)
    assert scores.coverage == 0.5
    assert matches([([], [])], claims_match).f1 is None


def test_evidence_is_partial_with_one_piece_and_complete_with_all() -> None:
    gold = [[(0, 10), (50, 60)], [(0, 10)], [], [(5, 9)]]
    partial, complete = evidence_scores(gold, [[(2, 12)], [(0, 4), (4, 6)], [(0, 3)], None])
    assert partial == (2 / 3, 3, 2 / 3)
    assert complete == (1 / 3, 3, 2 / 3)


def test_a_failed_vote_is_wrong() -> None:
    scores = vote_accuracy([True, False, True], [True, False, None])
    assert (scores.value, scores.coverage) == (2 / 3, 2 / 3)
    assert vote_accuracy([], []).value is None
