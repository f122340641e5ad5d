"""Selective prediction: how wrong labels are among those that one is surest of (Geifman, Uziel and El-Yaniv, 2019).

Knows: the curve of risk (wrong among accepted) over coverage (accepted among all), its area, and how much of that is
above the best order that the same errors allow; a threshold that keeps a risk, chosen on some examples, checked on
others. Equally sure examples are accepted together; the undecided (None) never. Does not know: where confidence
comes from.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from longproof.evaluation.metrics.classes import same_length
from longproof.evaluation.metrics.statistics import Rate, share

Sure = Sequence[float | None]


class RiskCurve(NamedTuple):
    """`points` are (confidence, coverage, risk), the surest first. `area` is the mean risk over all numbers of
    accepted examples, `best` what it would be were every right one surer than every wrong one; None where none is
    decided."""

    points: list[tuple[float, float, float]]
    area: float | None
    best: float | None


def risk_curve(sure: Sure, right: Sequence[bool]) -> RiskCurve:
    """The curve of these examples: how sure each label is, and whether it is right."""
    same_length(sure, right)
    decided = sorted(
        ((one, good) for one, good in zip(sure, right, strict=True) if one is not None), reverse=True
    )
    points, risks, wrong = list[tuple[float, float, float]](), list[float](), 0.0
    for confidence, same in groupby(decided, key=lambda pair: pair[0]):
        group = [good for _, good in same]
        each = group.count(False) / len(group)
        for _ in group:
            wrong += each
            risks.append(wrong / (len(risks) + 1))
        points.append((confidence, len(risks) / len(sure), risks[-1]))
    n_wrong = sum(not good for _, good in decided)
    held = len(decided) - n_wrong
    best = sum(max(0, k - held) / k for k in range(1, len(decided) + 1))
    return RiskCurve(points, share(sum(risks), len(risks)), share(best, len(risks)))


def threshold(sure: Sure, right: Sequence[bool], most: float) -> float | None:
    """The confidence from which on the risk is at most so great, with the most examples accepted; None: there is
    none."""
    return min((at for at, _, risk in risk_curve(sure, right).points if risk <= most), default=None)


def risk_from(sure: Sure, right: Sequence[bool], least: float) -> Rate:
    """The risk of accepting what is at least so sure, over what is accepted, and its coverage."""
    same_length(sure, right)
    accepted = [good for one, good in zip(sure, right, strict=True) if one is not None and one >= least]
    return Rate(share(accepted.count(False), len(accepted)), len(accepted), share(len(accepted), len(sure)))
