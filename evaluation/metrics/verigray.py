"""VeriGray's scores (seed 002, section 5.2): two merged classes, ranking loss, selection.

Gold is dropped by the gold label only. A prediction below implicitly_supported is unfaithful.
The ranking loss is the paper's equation 1. Does not know: pages, prompts, or who predicted.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from longproof.agent.types import LABELS
from longproof.evaluation.metrics.statistics import UNDECIDED, Counts, Rate, count, share

FAITHFUL_LABELS = frozenset({"implicitly_supported", "explicitly_supported"})
GRAY_LABELS = frozenset({"ambiguous", "out_dependent"})
DROPPED_GOLD = GRAY_LABELS | {"no_fact"}
THRESHOLDS = ("out_dependent", "implicitly_supported", "explicitly_supported")
DEGREE: dict[str, int] = {label: degree for degree, label in enumerate(LABELS)}


class VerigrayScores(NamedTuple):
    """`counts` are of the first protocol, two merged classes (`mean_accuracy` of them is its balanced accuracy);
    `ranking` is the loss of the second, over `n` ranked sentences.
    """

    counts: Counts
    ranking: Rate


def verigray_scores(
    gold: Sequence[str], predicted: Sequence[str | None], keep_no_fact: bool = False
) -> VerigrayScores:
    """Both protocols of the paper for one label a sentence.

    gold: names of the seven labels. predicted: the same, `not_found` (unfaithful), or None, `undecided`
    or a failure's name: the wrong merged class, counted in every rate. Gold no_fact is left out
    of the ranking loss as the paper's text says, kept in its place as its code does with `keep_no_fact`.
    """
    sure, degrees, faithful, n_decided = list[tuple[bool, bool | None]](), list[int](), list[bool](), 0
    for name, label in zip(gold, predicted, strict=True):
        unfaithful, called = name not in FAITHFUL_LABELS, _is_unfaithful(label)
        if name not in DROPPED_GOLD:
            sure.append((unfaithful, called))
        if keep_no_fact or name != "no_fact":
            degrees.append(DEGREE[name])
            faithful.append(unfaithful if called is None else not called)
            n_decided += called is not None
    loss = ranking_loss(degrees, faithful)
    return VerigrayScores(count(sure), Rate(loss, len(degrees), share(n_decided, len(degrees))))


def ranking_loss(gold: Sequence[int], faithful: Sequence[bool]) -> float | None:
    """Equation 1: over all pairs with different gold degrees, the share that is ranked the wrong way.

    A pair of equal predictions counts half. None where no two gold degrees differ. Predictions have two ranks,
    so pairs are counted by degree and rank instead of one by one.
    """
    seen, lost, pairs = Counter(zip(gold, faithful, strict=True)), 0.0, 0
    for (higher, first), n in seen.items():
        for (lower, second), m in seen.items():
            if higher > lower:
                pairs += n * m
                lost += n * m * (1 if second > first else 0.5 if second == first else 0)
    return share(lost, pairs)


def risk_coverage(gold: Sequence[str], predicted: Sequence[str | None]) -> dict[str, Rate]:
    """Selective prediction (figure 3): accept what is predicted at or above each threshold.

    The rate is the risk: hallucinated over accepted; its coverage is accepted over all.

    Over gold that is surely faithful or surely unfaithful, as in the first protocol. An undecided
    prediction has no confidence: never accepted, and always in the denominator of coverage.
    """
    risks = dict[str, Rate]()
    for threshold in THRESHOLDS:
        n = n_accepted = n_wrong = 0
        for name, label in zip(gold, predicted, strict=True):
            if name not in DROPPED_GOLD:
                accepted = _confidence(label) >= DEGREE[threshold]
                n, n_accepted = n + 1, n_accepted + accepted
                n_wrong += accepted and name not in FAITHFUL_LABELS
        risks[threshold] = Rate(share(n_wrong, n_accepted), n_accepted, share(n_accepted, n))
    return risks


def _confidence(name: str | None) -> int:
    """The degree of a prediction; below all thresholds where it is undecided or not found."""
    return DEGREE.get(str(name), -1)


def _is_unfaithful(name: str | None) -> bool | None:
    if name in UNDECIDED:
        return None
    return name == "not_found" or DEGREE[str(name)] < DEGREE["implicitly_supported"]
