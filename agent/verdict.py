"""From a decision and the judgements behind it to a verdict with places. Pure.

Knows: whose quotes are evidence, whose errors stand, what is wrong where nobody said exactly what.
Does not know: how the decision was reached.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from longproof.agent.types import Claim, DecidedBy, Error, Judgement, Label, Verdict
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
    failure: str | None = None,
    caveat: str = "",
) -> Verdict:
    """The verdict on a claim. Evidence and errors come from those who said what was decided.

    `question_id` names the question that was decided on: its judgements go before those of earlier rounds.
    """
    if label is None:
        return Verdict(
            claim_id=claim.id,
            label=None,
            failure=failure or "unavailable",
            decided_by="nobody",
            judgements=tuple(judgements),
        )
    agreeing = [j for j in judgements if j.label is not None and SIDES[j.label] == SIDES[label]]
    agreeing.sort(key=lambda j: j.question_id != question_id)
    return Verdict(
        claim_id=claim.id,
        label=label,
        decided_by=decided_by,
        errors=_errors(claim, agreeing) if label in WRONG else (),
        readings=next((j.readings for j in agreeing if j.readings), ()) if label == "ambiguous" else (),
        judgements=tuple(judgements),
        evidence=_evidence(agreeing),
        caveat=caveat,
    )


def _evidence(judgements: Sequence[Judgement]) -> tuple[Span, ...]:
    return _distinct(quote for judgement in judgements for quote in judgement.quotes)


def _errors(claim: Claim, judgements: Sequence[Judgement]) -> tuple[Error, ...]:
    """The errors that were named, one a place; where none was, the whole claim is the wrong place."""
    named = {error.span: error for j in reversed(judgements) for error in reversed(j.errors)}
    if named:
        return tuple(sorted(named.values(), key=lambda error: (error.span.start, error.span.end)))
    reason = next((j.reason for j in judgements if j.reason), "")
    return (Error(span=claim.origin, reason=reason),)


def _distinct(values: Iterable[F]) -> tuple[F, ...]:
    return tuple(dict.fromkeys(values))
