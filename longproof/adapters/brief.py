"""A report in a few lines of JSON: what an agent or a feedback field has room for.

Knows: which claims need attention, and what is said of each. Does not know: who reads it.
"""

from longproof.agent.types import Outcome, Report, ReportClaim
from longproof.retrieval.types import Frozen


class Problem(Frozen):
    """A claim that does not hold, or that nobody could decide. `wrong` are the exact words of the response."""

    claim_id: str
    claim: str
    passage: str
    label: str
    wrong: tuple[str, ...]
    correction: tuple[str, ...]
    reasons: tuple[str, ...]
    evidence: tuple[str, ...]
    caveat: str


class Brief(Frozen):
    """The outcome, and what to look at. `coverage` is the share of claims that were decided."""

    verdict: Outcome
    claims: int
    coverage: float
    problems: tuple[Problem, ...]


HOLDS = ("implicitly_supported", "explicitly_supported", "out_dependent", "no_fact")


def brief(report: Report) -> Brief:
    """What is to be looked at, in the order of the response."""
    return Brief(
        verdict=report.verdict,
        claims=len(report.claims),
        coverage=report.coverage,
        problems=tuple(_problem(claim) for claim in report.claims if claim.label not in HOLDS),
    )


def _problem(claim: ReportClaim) -> Problem:
    agreeing = [j for j in claim.judgements if claim.label is None or j.label == claim.label]
    return Problem(
        claim_id=claim.id,
        claim=claim.text,
        passage=claim.origin.text,
        label=claim.label or f"undecided: {claim.failure}",
        wrong=tuple(error.span.text for error in claim.errors),
        correction=tuple(error.correction for error in claim.errors),
        reasons=tuple(dict.fromkeys(j.reason for j in agreeing if j.reason)),
        evidence=tuple(span.text for span in claim.evidence),
        caveat=claim.caveat,
    )
