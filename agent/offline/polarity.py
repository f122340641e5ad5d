"""Negation in a claim and in the place of the evidence that says the same.

Knows: words of negation. Does not know: numbers, names, order.
"""

from collections.abc import Sequence

from longproof.agent.offline.coverage import ENOUGH, NEARLY_ALL
from longproof.agent.offline.reading import Reader, read, terms
from longproof.agent.types import Answered, Case, Claim, Judgement, Question

NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "nobody",
        "nothing",
        "neither",
        "nor",
        "without",
        "cannot",
        "can't",
        "don't",
        "doesn't",
        "didn't",
        "isn't",
        "aren't",
        "wasn't",
        "weren't",
        "won't",
        "wouldn't",
        "不",
        "没",
        "未",
        "无",
        "莫",
        "勿",
        "非",
    ]
)


class PolarityJudge:
    """Contradicting where the claim stands almost word for word, but denied on one side alone."""

    name = "polarity"

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        return Answered([self._one(question, claim) for claim in claims], [])

    def _one(self, question: Question, claim: Claim) -> Judgement:
        tokens = self._reader.tokens(claim.text)
        place = self._reader.evidence(question.shown).place(terms(tokens))
        base = Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.round,
            question_id=question.id,
            label="not_found",
        )
        if place is None or place.share < ENOUGH:
            return base
        denied = {t.key for t in tokens} & NEGATIONS
        there = {t.key for t in read(place.span.text)} & NEGATIONS
        label = (
            "contradicting" if denied and not there and place.share >= NEARLY_ALL else "implicitly_supported"
        )
        return base.model_copy(update={"label": label, "quotes": (place.span,)})
