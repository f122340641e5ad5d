"""Claims without a model: each sentence that states a fact is one claim, word for word.

Knows: set phrases state no fact, and neither does a text without a word; every other sentence is a claim.
Does not know: evidence, judges, or how to take a sentence apart.
"""

from collections.abc import Sequence

from longproof.agent.set_phrases import is_set_phrase
from longproof.agent.types import Case, Claim, Decomposed, Sentence
from longproof.retrieval.types import Span


class OfflineDecomposer:
    """Takes each sentence as one claim. A guess at its parts could change what is claimed."""

    name = "offline"

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Return the claims in text order, ids `s1`, `s2`, …; nothing is called."""
        shown: list[Sentence] = []
        claims: list[Claim] = []
        for index, span in enumerate(sentences):
            fact = states_fact(span.text)
            shown.append(Sentence(index=index, span=span, states_fact=fact))
            if fact:
                claims.append(Claim(id=f"s{index + 1}", index=0, sentence=index, text=span.text, origin=span))
        return Decomposed(shown, claims, [])


def states_fact(sentence: str) -> bool:
    """Return False for set phrases and for texts without a word."""
    return any(map(str.isalnum, sentence)) and not is_set_phrase(sentence)
