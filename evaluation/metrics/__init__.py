"""Scores: pure functions of gold and predicted columns. They import nothing but types.

Plain signatures: `gold` is a list of names, `predicted` a list of the same length. Names are the seven
labels (contradicting, fabricated, ambiguous, no_fact, out_dependent, implicitly_supported,
explicitly_supported) or the outcomes `faithful` and `hallucinated`; a prediction may also be None,
`undecided` or the name of a failure. Laws: an undecided prediction is the wrong class, counted, never
dropped; a rate whose denominator is empty is None, never 0 and never NaN; beside every rate stands its
coverage (decided over all). Bad names and columns of unequal length raise BadInput.

    longnovel_scores(gold, predicted)                      accuracy of each class, their mean, MCC
    mcc_from_accuracies(h_acc, f_acc, n_h, n_f)            MCC from published class accuracies
    recall_by(slices, gold, predicted)                     recall by kind, position or scale
    recall_by_position(positions, kinds, gold, predicted)  over the paper's four kinds
    verigray_scores(gold, predicted, keep_no_fact=False)   balanced_accuracy, hallucination_recall,
                                                           hallucination_precision, hallucination_f1,
                                                           ranking_loss (equation 1)
    ranking_loss(gold_degrees, predicted_degrees)          equation 1 over any ordered values
    class_scores / confusion / risk_coverage               seven classes; their table; selection
    decomposition_scores / localisation_scores             PROBE steps 1 and 4, by claim matching
    evidence_scores / evaluation_scores                    PROBE steps 2 and 3
    halueval_scores / halueval_scores_by_task              accuracy over all samples, of each task
    failures_by_pattern(patterns, gold, predicted)         unrecognised samples by pattern
    character_scores / mistake_scores / example_scores     spans: characters, places, responses
    pair_accuracy(pairs, right)                            NoCha
    flip_rate(runs) / fleiss_kappa(voices)                 run to run; between judges
    override_rate(panels, arbiter)                         arbiter against the panel's plurality
    bootstrap_interval(statistic, items, groups=None)      seeded percentile interval
"""

from longproof.evaluation.metrics.agreement import (
    bootstrap_interval,
    fleiss_kappa,
    flip_rate,
    override_rate,
    pair_accuracy,
)
from longproof.evaluation.metrics.halueval import (
    failures_by_pattern,
    halueval_scores,
    halueval_scores_by_task,
)
from longproof.evaluation.metrics.longnovel import (
    longnovel_scores,
    mcc_from_accuracies,
    recall_by,
    recall_by_position,
)
from longproof.evaluation.metrics.probe import (
    decomposition_scores,
    evaluation_scores,
    evidence_scores,
    localisation_scores,
)
from longproof.evaluation.metrics.spans import character_scores, example_scores, mistake_scores
from longproof.evaluation.metrics.verigray import (
    class_scores,
    confusion,
    ranking_loss,
    risk_coverage,
    verigray_scores,
)

__all__ = [
    "bootstrap_interval",
    "character_scores",
    "class_scores",
    "confusion",
    "decomposition_scores",
    "evaluation_scores",
    "evidence_scores",
    "example_scores",
    "failures_by_pattern",
    "fleiss_kappa",
    "flip_rate",
    "halueval_scores",
    "halueval_scores_by_task",
    "localisation_scores",
    "longnovel_scores",
    "mcc_from_accuracies",
    "mistake_scores",
    "override_rate",
    "pair_accuracy",
    "ranking_loss",
    "recall_by",
    "recall_by_position",
    "risk_coverage",
    "verigray_scores",
]
