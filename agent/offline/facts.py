"""Numbers and names of a claim against the evidence.

Knows: which numbers and capitalised names of a claim stand nowhere in what was shown.
Does not know: how the rest of the claim reads.
"""

import re
from collections.abc import Sequence

from longproof.agent.offline.coverage import ENOUGH
from longproof.agent.offline.reading import Reader, terms
from longproof.agent.types import Answered, Case, Claim, Error, Judgement, Question
from longproof.retrieval.types import Span

_DIGITS = re.compile(r"\d")


class FactsJudge:
    """Contradicting where the claim's place is found but a number of the claim is not in the evidence."""

    name = "facts"

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        return Answered([self._one(question, claim) for claim in claims], [])

    def _one(self, question: Question, claim: Claim) -> Judgement:
        evidence = self._reader.evidence(question.shown)
        tokens = self._reader.tokens(claim.text)
        place = evidence.place(terms(tokens))
        base = Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.round,
            question_id=question.id,
            label="not_found",
        )
        if place is None or place.share < ENOUGH:
            return base
        missing = [t for t in tokens if _DIGITS.match(t.key) and t.key not in evidence.positions]
        if not missing:
            return base.model_copy(update={"label": "implicitly_supported", "quotes": (place.span,)})
        errors = tuple(
            Error(span=_in_response(claim, t.start, t.end), kind="numerical", reason="not in the evidence")
            for t in missing
        )
        return base.model_copy(update={"label": "contradicting", "quotes": (place.span,), "errors": errors})


def _in_response(claim: Claim, start: int, end: int) -> Span:
    origin = claim.origin
    return Span(
        source_id=origin.source_id,
        start=origin.start + start,
        end=origin.start + end,
        text=origin.text[start:end],
    )
