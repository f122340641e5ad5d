"""The cascade: the first judge reads all, the others what it doesn't clear and a random twentieth of what it does.

Knows: which claims are read again though they were cleared, the same ones in every run of a seed; and what that says
of the errors that the first judge let pass, with Wilson's score interval.
Does not know: who judges, or how a vote is counted.
"""

from collections.abc import Sequence
from hashlib import sha256
from math import sqrt

from longproof.agent.report import WRONG
from longproof.agent.types import Case, Claim, Judgement, Verdict
from longproof.agent.vote import SIDES
from longproof.retrieval.types import Frozen

ONE_IN = 20
"""Of so many cleared claims one is read by the others too."""
CONFIDENT = 1.96
"""Standard errors on either side of an interval that holds 95 %."""


class Missed(Frozen):
    """Of `cleared` claims that the first judge alone decided, how many are estimated to be wrong, from `low` to
    `high`: `overturned` of the `again` that the others read too were."""

    cleared: int
    again: int
    overturned: int
    estimate: float | None
    low: float
    high: float


def clears(judgement: Judgement) -> bool:
    """Whether a judge takes a claim for right, or for no fact."""
    return judgement.label is not None and SIDES[judgement.label] in ("supported", "no_fact")


def read_again(claim: Claim, case: Case, seed: int) -> bool:
    """Whether this is one of the cleared claims that the other judges read too. Drawn by the claim and the seed."""
    drawn = sha256(
        f"{seed}\0{case.id}\0{claim.id}\0{claim.text}".encode("utf-8", "backslashreplace")
    ).digest()
    return int.from_bytes(drawn[:8], "big") % ONE_IN == 0


def missed(verdicts: Sequence[Verdict], first: str) -> Missed:
    """What the claims that were read again say of those that the judge named `first` cleared alone."""
    alone = again = overturned = 0
    for verdict in verdicts:
        last = [j for j in verdict.judgements if j.question_id == verdict.judgements[-1].question_id]
        if not any(j.judge == first and clears(j) for j in last):
            continue
        if len(last) == 1:
            alone += 1
        else:
            again += 1
            overturned += verdict.label in WRONG
    low, high = wilson(overturned, again)
    share = overturned / again if again else None
    return Missed(
        cleared=alone,
        again=again,
        overturned=overturned,
        estimate=None if share is None else share * alone,
        low=low * alone,
        high=high * alone,
    )


def wilson(hits: float, of: float) -> tuple[float, float]:
    """The interval of a share, by Wilson's score (1927), at 95 %; from 0 to 1 where nothing was counted."""
    if not of:
        return 0.0, 1.0
    share, z2 = hits / of, CONFIDENT**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    around = CONFIDENT * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return max(0.0, middle - around), min(1.0, middle + around)
