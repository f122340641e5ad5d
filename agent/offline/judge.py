"""The judge that needs no model: what stands in a source nearly word for word, what conflicts with it, nothing else.

Knows: how sources are read once, each by itself, and how a finding becomes a judgement with its places.
Does not know: what is alike or different (`compare`, `rows`); most claims it leaves to a model.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from longproof.agent.offline.compare import comparable, difference, follows, stands
from longproof.agent.offline.reading import Indexed
from longproof.agent.offline.rows import Rows
from longproof.agent.types import Answered, Case, Claim, Error, Judgement, Question
from longproof.retrieval.types import Span

KEPT = 8
"""Sources that stay read."""
SENTENCE = 400
"""Characters before a claim in which its sentence begins: what it follows, to whom it gives a figure."""
ENDS = (". ", "! ", "? ", "\n", "。", "！", "？")


class Conflict(NamedTuple):
    """What is wrong in the response, and the place of the source that tells otherwise."""

    error: Error
    quote: Span


class OfflineJudge:
    """Deterministic, makes no calls. A conflict with one source stays one, whatever the others say."""

    name = "offline"

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=KEPT)(_Source)

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""
        sources = [self._read(span) for span in question.shown]
        return Answered([self._judgement(question, claim, case, sources) for claim in claims], [])

    def _judgement(
        self, question: Question, claim: Claim, case: Case, sources: Sequence["_Source"]
    ) -> Judgement:
        reading = Indexed(claim.text)
        found = [source.finding(claim, reading, case) for source in sources]
        place = next((f for f in found if isinstance(f, Span)), None)
        conflict = next((f for f in found if isinstance(f, Conflict)), None)
        quote = conflict.quote if conflict else place
        reason = conflict.error.reason if conflict else "stands there nearly word for word" if place else ""
        return Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.round,
            question_id=question.id,
            label="contradicting" if conflict else "explicitly_supported" if place else None,
            failure=None if quote else "needs_model",
            quotes=(quote,) if quote else (),
            errors=(conflict.error,) if conflict else (),
            reason=reason,
        )


class _Source:
    """One source document as it is shown, read."""

    def __init__(self, shown: Span) -> None:
        self._shown = shown
        self._reading = Indexed(shown.text)
        self._rows = Rows(shown.text)

    def finding(self, claim: Claim, reading: Indexed, case: Case) -> Span | Conflict | None:
        """Where the claim stands, else how it conflicts, else None."""
        places = self._reading.places(reading) if comparable(reading) else []
        before = Indexed(_before(claim, case) if claim.text == claim.origin.text else "")
        for place in places:
            if stands(reading, self._reading, place) and follows(before, self._reading, place):
                return self._span(*self._reading.range(place))
        found = difference(reading, self._reading, places)
        if found is None:
            return self._of_rows(claim, case)
        span = _in_response(claim, found.start, found.end)
        error = Error(span=span, kind=found.kind, correction=found.value or None, reason=found.reason)
        return Conflict(error, self._span(*found.quote))

    def _of_rows(self, claim: Claim, case: Case) -> Conflict | None:
        """A figure of the claim that the record's row has otherwise."""
        origin, before = claim.origin, _before(claim, case)
        begin = origin.start - len(before)
        for number, cell in self._rows.wrong(case.response[begin : origin.end], len(before)):
            start = begin + number.start
            span = Span(
                source_id=origin.source_id, start=start, end=start + len(number.text), text=number.text
            )
            reason = f"“{number.text}” here, {cell.key} is {cell.value} in the record"
            correction = None if number.text.startswith("a") else cell.value
            error = Error(span=span, kind="numerical", correction=correction, reason=reason)
            return Conflict(error, self._span(cell.start, cell.end))
        return None

    def _span(self, start: int, end: int) -> Span:
        shown, text = self._shown, self._shown.text[start:end]
        return Span(source_id=shown.source_id, start=shown.start + start, end=shown.start + end, text=text)


def _before(claim: Claim, case: Case) -> str:
    """What its sentence says before a claim."""
    start = claim.origin.start
    begin = max(0, start - SENTENCE)
    found = ((case.response.rfind(mark, begin, start), mark) for mark in ENDS)
    return case.response[max([begin, *(at + len(mark) for at, mark in found if at >= 0)]) : start]


def _in_response(claim: Claim, start: int, end: int) -> Span:
    """The response's span for `[start, end)` of the claim's text; the whole origin where the words aren't in it."""
    origin, words = claim.origin, claim.text[start:end]
    at = start if origin.text[start:end] == words else origin.text.find(words)
    if at < 0 or not words:
        return origin
    start = origin.start + at
    return Span(source_id=origin.source_id, start=start, end=start + len(words), text=words)
