"""How much of a claim is said in the evidence, and in one place.

Knows: shares of terms. Does not know: numbers, names, negation, order.
"""

from collections.abc import Sequence

from longproof.agent.offline.reading import Reader, terms
from longproof.agent.types import Answered, Case, Claim, Judgement, Question

ENOUGH = 0.30
NEARLY_ALL = 0.75


class CoverageJudge:
    """Supported where enough of the claim's terms lie in one place; not found otherwise."""

    name = "coverage"

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        return Answered([self._one(question, claim) for claim in claims], [])

    def _one(self, question: Question, claim: Claim) -> Judgement:
        evidence = self._reader.evidence(question.shown)
        place = evidence.place(terms(self._reader.tokens(claim.text)))
        base = Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.round,
            question_id=question.id,
            label="not_found",
        )
        if place is None or place.share < ENOUGH:
            return base
        label = "explicitly_supported" if place.share >= NEARLY_ALL else "implicitly_supported"
        return base.model_copy(update={"label": label, "quotes": (place.span,)})
