"""The offline arbiter: weighs the reasons of a split panel by how specific they are.

Knows: that a located disagreement counts for more than a general impression. Does not know: the evidence beyond the
quotes of the judgements it is given.
"""

from collections.abc import Sequence

from longproof.agent.types import Answered, Case, Claim, Judgement, Question


class OfflineArbiter:
    """Sides with the judgement that names an error; without one, with the fuller support; else nothing was found."""

    name = "offline"

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        return Answered(
            [self._one(question, c, [j for j in judgements if j.claim_id == c.id]) for c in claims], []
        )

    def _one(self, question: Question, claim: Claim, heard: Sequence[Judgement]) -> Judgement:
        order = ("contradicting", "explicitly_supported", "implicitly_supported", "not_found")
        best = min(
            (j for j in heard if j.label in order),
            key=lambda j: (order.index(j.label or "not_found"), not j.errors, j.judge),
            default=None,
        )
        return Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.round,
            question_id=question.id,
            label=best.label if best else "not_found",
            quotes=best.quotes if best else (),
            errors=best.errors if best else (),
            reason=best.reason if best else "",
        )
