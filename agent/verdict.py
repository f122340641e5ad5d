"""From a decision and the judgements behind it to a verdict with places. Pure.

Knows: whose quotes are evidence, whose errors stand, what is wrong where nobody said exactly what.
Does not know: how the decision was reached.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from longproof.agent.types import Claim, DecidedBy, Error, Failure, Judgement, Label, Verdict
from longproof.agent.vote import SIDES
from longproof.retrieval.types import Frozen, Span

F = TypeVar("F", bound=Frozen)
WRONG: tuple[Label, ...] = ("contradicting", "fabricated")


def verdict(
    claim: Claim,
    judgements: Sequence[Judgement],
    *,
    label: Label | None,
    decided_by: DecidedBy,
    question_id: str,
    failure: Failure | None = None,
    caveat: str = "",
    localised: Sequence[Error] = (),
) -> Verdict:
    """The verdict on a claim. Evidence and errors come from those who said what was decided.

    `question_id` names the question that was decided on: its judgements go before those of earlier rounds.
    `localised` are errors found afterwards, where the judges named none.
    """
    if label is None:
        return Verdict(
            claim_id=claim.id,
            label=None,
            failure=failure or "unavailable",
            decided_by="nobody",
            judgements=tuple(judgements),
        )
    agreeing = agreed(judgements, label, question_id)
    return Verdict(
        claim_id=claim.id,
        label=label,
        decided_by=decided_by,
        errors=(named(agreeing) or tuple(localised) or _all_of(claim, agreeing)) if label in WRONG else (),
        readings=next((j.readings for j in agreeing if j.readings), ()) if label == "ambiguous" else (),
        judgements=tuple(judgements),
        evidence=_evidence(agreeing),
        caveat=caveat,
    )


def agreed(judgements: Sequence[Judgement], label: Label, question_id: str) -> list[Judgement]:
    """Those who said what was decided, the decisive question's first."""
    agreeing = [j for j in judgements if j.label is not None and SIDES[j.label] == SIDES[label]]
    return sorted(agreeing, key=lambda j: j.question_id != question_id)


def named(judgements: Sequence[Judgement]) -> tuple[Error, ...]:
    """The errors that were named, one a place, in text order."""
    found = {error.span: error for j in reversed(judgements) for error in reversed(j.errors)}
    return tuple(sorted(found.values(), key=lambda error: (error.span.start, error.span.end)))


def _evidence(judgements: Sequence[Judgement]) -> tuple[Span, ...]:
    return _distinct(quote for judgement in judgements for quote in judgement.quotes)


def _all_of(claim: Claim, judgements: Sequence[Judgement]) -> tuple[Error, ...]:
    """Where nobody said where, the whole claim is the wrong place."""
    reason = next((j.reason for j in judgements if j.reason), "")
    return (Error(span=claim.origin, reason=reason),)


def _distinct(values: Iterable[F]) -> tuple[F, ...]:
    return tuple(dict.fromkeys(values))
