"""The judge that needs no model: which sentences stand in a source, and which conflict with their place in it.

Knows: how sources are cut once, each by itself, where a sentence's place is, and how a finding becomes a judgement.
Does not know: what makes two sentences the same or at odds (`compare`); most sentences it leaves to a model.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property, lru_cache

from longproof.agent.offline.compare import Words, conflict, plain
from longproof.agent.types import Answered, Case, Claim, Error, Judgement, Question
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Span

KEPT = 8
"""Sources that stay read."""
RAREST = 16
"""Words by which the place of a sentence is looked for."""
CANDIDATES = 4
"""Sentences of a source that are compared with one of the response."""


class OfflineJudge:
    """Deterministic, makes no calls. A conflict with one source stays one, whatever the others say."""

    name = "offline"

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=KEPT)(_Source)
        self._sentences = lru_cache(maxsize=KEPT)(lambda text: frozenset(sentences(text)))

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """Return one judgement for each of `claims`, in their order."""
        sources = [self._read(span) for span in question.shown]
        return Answered([self._judgement(question, claim, case, sources) for claim in claims], [])

    def _judgement(
        self, question: Question, claim: Claim, case: Case, sources: Sequence["_Source"]
    ) -> Judgement:
        origin = claim.origin
        whole = (origin.start, origin.end) in self._sentences(case.response)
        # A part of a sentence may say the opposite of the whole, and so may other words.
        asked = sources if whole and claim.text == origin.text else ()
        findings = [finding for source in asked if (finding := source.finding(origin))]
        conflicting = [finding for finding in findings if finding[1]]
        quote, error = [*conflicting, *findings, (None, None)][0]
        return Judgement(
            claim_id=claim.id,
            judge=self.name,
            round=question.look,
            question_id=question.id,
            label="contradicting" if error else "explicitly_supported" if quote else None,
            failure=None if quote else "needs_model",
            quotes=(quote,) if quote else (),
            errors=(error,) if error else (),
            reason=error.reason if error else "a sentence of the source" if quote else "",
        )


class _Source:
    """One source document as it is shown, cut into sentences."""

    def __init__(self, shown: Span) -> None:
        self._sentences = [shown.part(start, end) for start, end in sentences(shown.text)]
        self._by_form = {plain(span.text): span for span in reversed(self._sentences)}

    def finding(self, sentence: Span) -> tuple[Span, Error | None] | None:
        """Return the sentence of the source that this one is, or conflicts with; None where there is neither."""
        same = self._by_form.get(plain(sentence.text))
        if same is not None:
            return same, None
        ours = Words(sentence)
        places = self._places(ours) if ours.odd and not ours.denies else []
        near = {key for at in places for words in self._words[max(0, at - 1) : at + 2] for key in words.keys}
        found: dict[str | None, tuple[Span, Error]] = {}
        for place in places:
            if error := conflict(ours, self._words[place], near):
                found.setdefault(error.correction, (self._sentences[place], error))
        return next(iter(found.values())) if len(found) == 1 else None

    @cached_property
    def _words(self) -> list[Words]:
        return [Words(span) for span in self._sentences]

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        """The sentences that hold each word."""
        holding: dict[str, list[int]] = defaultdict(list)
        for index, sentence in enumerate(self._words):
            for key in set(sentence.keys):
                holding[key].append(index)
        return dict(holding)

    def _places(self, sentence: Words) -> list[int]:
        """Return the sentences of the source that share at least half of this one's rarest words, the best first."""
        known = [self._holding[key] for key in set(sentence.keys) if key in self._holding]
        rarest = sorted(known, key=len)[:RAREST]
        shared = Counter(index for holders in rarest for index in holders)
        best = sorted(shared, key=lambda index: (-shared[index], index))[:CANDIDATES]
        return [index for index in best if 2 * shared[index] >= len(rarest)]
