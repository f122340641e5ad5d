"""Longproof inside other people's pipelines, a module a framework; and a report in a few lines of JSON for agents.

Knows: which claims need attention, and what is said of each; no framework is imported before it is needed.
Does not know: any rule of judging.
"""

from longproof.agent.types import Outcome, Report, ReportClaim
from longproof.report.totals import outcome_line
from longproof.report.view import hint_line, sides, unread_claims
from longproof.report.words import words
from longproof.retrieval.types import Frozen


class Problem(Frozen):
    """A claim that does not hold, or that nobody could decide. `wrong` are the exact words of the response;
    `evidence` what the verdict rests on, or what each side of a dispute cites."""

    claim_id: str
    claim: str
    passage: str
    label: str
    wrong: tuple[str, ...]
    correction: tuple[str | None, ...]
    reasons: tuple[str, ...]
    evidence: tuple[str, ...]
    caveat: str


class Brief(Frozen):
    """The outcome, and what to look at. `coverage` is the share of claims that were decided.

    `triage`: no model has read, and what the offline check can't tell is undecided. Of such claims `problems` has the
    first few; `left_out` is the number of the others.
    """

    verdict: Outcome
    triage: bool
    summary: str
    claims: int
    undecided: int
    coverage: float
    problems: tuple[Problem, ...]
    left_out: int


UNREAD = 5
"""The most claims that are told in full though no model has read them."""
HOLDS = ("implicitly_supported", "explicitly_supported", "out_dependent", "no_fact")


def brief_of(report: Report) -> Brief:
    """The outcome, and what is to be looked at, in the order of the response."""
    left_out = {claim.id for claim in unread_claims(report)[UNREAD:]}
    problems = [c for c in report.claims if c.label not in HOLDS and c.id not in left_out]
    return Brief(
        verdict=report.verdict,
        triage=report.triage,
        summary=outcome_line(report, words("en")),
        claims=len(report.claims),
        undecided=sum(claim.label is None for claim in report.claims),
        coverage=report.coverage,
        problems=tuple(map(_problem, problems)),
        left_out=len(left_out),
    )


def _problem(claim: ReportClaim) -> Problem:
    agreeing = [j for j in claim.judgements if claim.label is None or j.label == claim.label]
    reasons = [hint_line(claim, words("en")), *(j.reason for j in agreeing)]
    evidence = [*claim.evidence, *(span for side in sides(claim) for span in side.spans)]
    return Problem(
        claim_id=claim.id,
        claim=claim.text,
        passage=claim.origin.text,
        label=claim.label or f"undecided: {claim.failure}",
        wrong=tuple(error.span.text for error in claim.errors),
        correction=tuple(error.correction for error in claim.errors),
        reasons=tuple(dict.fromkeys(filter(None, reasons))),
        evidence=tuple(span.text for span in evidence),
        caveat=claim.caveat,
    )
