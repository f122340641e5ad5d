"""How far a panel may be trusted, with intervals: rates of judges estimated without labels, and by gold where it is.

Knows: the estimate of `agent/trust/reliability.py` over whole responses drawn again and again (claims of one response
belong together); that such draws say nothing of errors that never occurred, so that an interval is never narrower
than Wilson's of as many claims as the estimate rests on; agreement, and how often judges differ. Does not know: where
votes come from, or how scores are shown.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from longproof.agent.cascade import wilson
from longproof.agent.trust.reliability import (
    Floats,
    Votes,
    VoteTable,
    counted,
    fit,
    unidentifiable,
)
from longproof.evaluation.metrics.classes import same_length
from longproof.evaluation.metrics.outcomes import flip_rate
from longproof.evaluation.metrics.statistics import DRAWS, Counts, Interval, Rate, count, fleiss_kappa

NAMES = {True: "hallucinated", False: "faithful"}


class Estimate(NamedTuple):
    """A rate with its 95 % interval; `n` is how many claims it rests on, by the estimate itself."""

    value: float
    interval: Interval
    n: float


class JudgeTrust(NamedTuple):
    """What is estimated of one judge, and what gold says of the same votes."""

    judge: str
    sensitivity: Estimate
    specificity: Estimate
    gold: Counts


class Trust(NamedTuple):
    """What the votes on a run's claims say. `why_not`: why they can't tell the judges' rates; then `judges` is empty.

    `prevalence` is the share of wrong claims; `flips` how many claims with several votes have judges that differ.
    """

    claims: int
    judges: list[JudgeTrust]
    prevalence: Estimate | None
    kappa: Rate
    flips: Rate
    why_not: str | None


def trust(
    claims: Sequence[Votes],
    responses: Sequence[Hashable],
    gold: Sequence[bool | None] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Trust:
    """What these votes say: `responses` names for each claim what it is of, `gold` whether it is wrong, where known.

    With a single response claims are drawn again instead, as if each stood alone.
    """
    same_length(claims, responses, gold if gold is not None else claims)
    voted = [i for i, votes in enumerate(claims) if votes]
    votes = [claims[i] for i in voted]
    why_not = unidentifiable(votes)
    together = [[NAMES[vote] for _, vote in sorted(one.items())] for one in votes if len(one) > 1]
    panel = sorted({name for one in votes for name in one})
    several = [[one.get(name) for one in votes if len(one) == len(panel)] for name in panel]
    found: tuple[list[JudgeTrust], Estimate | None] = ([], None)
    if why_not is None:
        groups = [responses[i] for i in voted]
        found = _estimates(votes, groups if len(set(groups)) > 1 else voted, draws, seed)
        known = [gold[i] if gold is not None else None for i in voted]
        found = ([one._replace(gold=_by_gold(one.judge, votes, known)) for one in found[0]], found[1])
    return Trust(
        claims=len(votes),
        judges=found[0],
        prevalence=found[1],
        kappa=fleiss_kappa(together),
        flips=flip_rate([[None if v is None else NAMES[v] for v in row] for row in several]),
        why_not=why_not,
    )


def _estimates(
    votes: Sequence[Votes], groups: Sequence[Hashable], draws: int, seed: int
) -> tuple[list[JudgeTrust], Estimate]:
    table = counted(votes)
    whole = fit(table.patterns, table.counts)
    drawn = fit(table.patterns, _drawn(table, votes, groups, draws, seed))
    voted = ~np.isnan(table.patterns)
    n_wrong, n_right = (table.counts * whole.wrong) @ voted, (table.counts * (1 - whole.wrong)) @ voted
    judges = [
        JudgeTrust(
            judge=name,
            sensitivity=_estimate(whole.sensitivity[j], drawn.sensitivity[:, j], n_wrong[j]),
            specificity=_estimate(whole.specificity[j], drawn.specificity[:, j], n_right[j]),
            gold=Counts(0, 0, 0, 0),
        )
        for j, name in enumerate(table.judges)
    ]
    return judges, _estimate(float(whole.prevalence), drawn.prevalence, float(table.counts.sum()))


def _drawn(
    table: VoteTable, votes: Sequence[Votes], groups: Sequence[Hashable], draws: int, seed: int
) -> Floats:
    """How often each pattern comes up in each draw of whole groups."""
    rows = {tuple(row): place for place, row in enumerate(np.nan_to_num(table.patterns, nan=-1).tolist())}
    places = {name: place for place, name in enumerate(dict.fromkeys(groups))}
    held = np.zeros((len(places), len(rows)))
    for one, group in zip(votes, groups, strict=True):
        held[places[group], rows[tuple(float(one.get(name, -1)) for name in table.judges)]] += 1
    random = np.random.default_rng(seed)
    often: Floats = random.multinomial(len(places), np.full(len(places), 1 / len(places)), size=draws) @ held
    return often


def _estimate(value: float, drawn: Floats, n: float) -> Estimate:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    least, most = wilson(value * n, n)
    return Estimate(float(value), Interval(min(low, least), max(high, most), len(drawn)), float(n))


def _by_gold(judge: str, votes: Sequence[Votes], gold: Sequence[bool | None]) -> Counts:
    """The two-by-two counts of a judge's votes on claims whose gold is known."""
    known = [
        (wrong, one[judge])
        for one, wrong in zip(votes, gold, strict=True)
        if wrong is not None and judge in one
    ]
    return count([wrong for wrong, _ in known], [said for _, said in known])
