"""The offline arbiter: decides a split by how specific the reasons are.

Knows: that a located disagreement weighs more than that nothing was found, and both more than that nothing was seen
against a claim; that a claim standing there word for word outweighs a single vague objection.
Does not know: the evidence beyond the quotes and errors of what it hears. The judges' order doesn't matter to it.
"""

from collections.abc import Sequence

from longproof.agent.types import Answered, Case, Claim, JudgeLabel, Judgement, Question

WEIGHT: tuple[JudgeLabel, ...] = (
    "contradicting", "fabricated", "explicitly_supported", "not_found", "ambiguous", "implicitly_supported",
    "out_dependent", "no_fact",
)  # fmt: skip
"""The heaviest first. `not_found` of the wording alone, a strict look, is no objection: see `_heaviest`."""


class OfflineArbiter:
    """Sides with the heaviest judgement, and keeps the errors of all that say the same."""

    name = "offline"

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """One judgement for each of `claims`, in their order."""
        heard = [sorted((j for j in judgements if j.claim_id == c.id), key=lambda j: j.judge) for c in claims]
        return Answered([_decide(self.name, question, c, h) for c, h in zip(claims, heard, strict=True)], [])


def _decide(name: str, question: Question, claim: Claim, heard: Sequence[Judgement]) -> Judgement:
    label = _heaviest(heard)
    siding = [j for j in heard if j.label == label]
    return Judgement(
        claim_id=claim.id,
        judge=name,
        round=question.round,
        question_id=question.id,
        label=label,
        quotes=tuple(dict.fromkeys(quote for j in siding for quote in j.quotes)),
        errors=tuple(dict.fromkeys(error for j in siding for error in j.errors)),
        reason="; ".join(dict.fromkeys(j.reason for j in siding if j.reason)),
    )


def _heaviest(heard: Sequence[Judgement]) -> JudgeLabel:
    """The heaviest label; `not_found` counts only where at least two say so."""
    labels = [j.label for j in heard if j.label is not None]
    weighed = [label for label in labels if label != "not_found" or labels.count("not_found") > 1]
    return min(weighed or labels or ["not_found"], key=WEIGHT.index)
