"""Claims without a decomposer: every sentence, every segment, or the whole response is one claim.

Knows: which protocols (seeds 001 to 004) judge such units. Costs no call.
Does not know: what is asked about them.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from longproof.agent.types import Case, Claim, Decomposed, Sentence
from longproof.retrieval.cut import segments
from longproof.retrieval.text.sentences import sentences as sentences_of
from longproof.retrieval.types import Document, Span

Unit = Literal["claim", "sentence", "segment", "response"]
"""What is judged at once. A `claim` is what a decomposer makes of a sentence."""


class Whole:
    """A decomposer that takes nothing apart. `segment_characters` bounds segments."""

    def __init__(self, unit: Unit, segment_characters: int) -> None:
        self.name = f"whole {unit}s"
        self._unit, self._size = unit, segment_characters

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Claims in text order, ids `c0`, `c1`, …; each is about the sentence in which it starts."""
        units = self._units(case.response, sentences)
        ends = [span.end for span in sentences]
        claims = [
            Claim(id=f"c{n}", index=n, sentence=bisect_right(ends, unit.start), text=unit.text, origin=unit)
            for n, unit in enumerate(units)
        ]
        return Decomposed([Sentence(index=n, span=span) for n, span in enumerate(sentences)], claims, [])

    def _units(self, response: str, sentences: Sequence[Span]) -> list[Span]:
        document = Document.of(response)
        if self._unit == "segment":
            return [document.span(start, end) for start, end in segments(response, self._size)]
        if self._unit == "response":
            return [document.span(sentences[0].start, sentences[-1].end)] if sentences else []
        return list(sentences)


def sentence_at(response: str, place: Span) -> str:
    """The sentence of the response in which a place starts."""
    return next((response[a:b] for a, b in sentences_of(response) if place.start < b), place.text)
