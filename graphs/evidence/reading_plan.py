"""How much of a source a question shows first: chosen by price, from sizes alone.

Knows: a short source is shown whole; a long one, of which a response tells nearly everything, is read along in long
pieces; else each sentence is read at its place. Pure. Does not know: where a place is, or who is asked.
"""

from typing import Literal

from longproof.retrieval.types import Frozen

WHOLE = 16_000
"""Characters of a source that are shown whole, once."""
PLACE = 3000
"""Characters of source around a sentence's place that are shown first (measured, benchmarks/alignment.py)."""
SPARSE, DENSE = 9000, 16_000
"""Characters of source that a question holds: of places apart, which cost attention, and of one long piece."""
OVERLAP = 1.25
"""How much more than the source is read where the places of neighbours overlap."""
CLAIMS = 40
"""Claims that a question asks about, at most: a longer answer is hard to give."""


class ReadingPlan(Frozen):
    """`way`: the source is shown whole, read along, or looked into at places. `evidence`: characters of source that a
    question shows at most in its first round; `claims`: how many it asks about at most."""

    way: Literal["whole", "along", "places"]
    evidence: int
    claims: int = CLAIMS


def reading_plan(source_characters: int, sentences: int) -> ReadingPlan:
    """The cheapest way to show so many sentences of a response their places in a source of this length."""
    if source_characters <= WHOLE:
        return ReadingPlan(way="whole", evidence=WHOLE)
    if sentences * PLACE >= OVERLAP * source_characters:
        return ReadingPlan(way="along", evidence=DENSE)
    return ReadingPlan(way="places", evidence=SPARSE)
