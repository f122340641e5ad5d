"""The cascade: the first judge reads all, the others what it doesn't clear and a random twentieth of what it does.

Knows: which claims are read again though they were cleared, the same ones in every run of a seed, and how many of
those were overturned. That is no rate of errors: the others may share the first judge's mistakes.
Does not know: who judges, or how a vote is counted.
"""

from collections.abc import Sequence
from hashlib import sha256

from longproof.agent.report import WRONG
from longproof.agent.types import Case, Claim, Judgement, ReportClaim
from longproof.agent.vote import SIDES
from longproof.retrieval.types import Frozen

ONE_IN = 20
"""Of so many cleared claims one is read by the others too."""


class ClearedAlone(Frozen):
    """Counts of the claims that the first judge alone decided, of those that the others read too though it cleared
    them, and of those that were then overturned."""

    cleared: int = 0
    again: int = 0
    overturned: int = 0


def clears(judgement: Judgement) -> bool:
    """True if a judge takes a claim for right, or for no fact."""
    return judgement.label is not None and SIDES[judgement.label] in ("supported", "no_fact")


def read_again(claim: Claim, case: Case, seed: int) -> bool:
    """True if this is one of the cleared claims that the other judges read too, drawn by the claim and the seed."""
    drawn = sha256(
        f"{seed}\0{case.id}\0{claim.id}\0{claim.text}".encode("utf-8", "backslashreplace")
    ).digest()
    return int.from_bytes(drawn[:8], "big") % ONE_IN == 0


def cleared_alone(claims: Sequence[ReportClaim], first: str) -> ClearedAlone:
    """Count what the judge named `first` cleared alone, and what became of the claims that were read again."""
    alone = again = overturned = 0
    for claim in claims:
        last = [j for j in claim.judgements if j.question_id == claim.judgements[-1].question_id]
        if not any(j.judge == first and clears(j) for j in last):
            continue
        if len(last) == 1:
            alone += 1
            continue
        again += 1
        overturned += claim.label in WRONG
    return ClearedAlone(cleared=alone, again=again, overturned=overturned)
