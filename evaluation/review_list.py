"""The sentences that an audit of given labels hands back to annotators (VeriGray, seed 002, section 4.2). Pure.

Knows: which sentences any judge disputed, and what each judge said of them.
Does not know: how the judges were asked.
"""

from longproof.agent.types import Failure, JudgeLabel, Label, Report
from longproof.retrieval.types import Frozen


class Said(Frozen):
    """What one judge said."""

    judge: str
    label: JudgeLabel | None
    failure: Failure | None
    reason: str


class Flagged(Frozen):
    """A sentence whose given label some judge disputes, or that nobody could read."""

    index: int
    sentence: str
    given: Label
    why: str
    said: tuple[Said, ...]


def review_list(report: Report) -> list[Flagged]:
    """What annotators should look at again, in text order. Empty for a report that is no audit."""
    given = report.case.labels or ()
    return [
        Flagged(
            index=claim.sentence,
            sentence=claim.text,
            given=given[claim.sentence],
            why=claim.failure or "",
            said=tuple(
                Said(judge=j.judge, label=j.label, failure=j.failure, reason=j.reason)
                for j in claim.judgements
            ),
        )
        for claim in report.claims
        if given and claim.label is None
    ]
