"""One claim beside what was shown for it: everything that an offline judge looks at, worked out once for all of them.

Knows: the claim's tokens, its sentence, their places in the evidence, and when too little is said there.
Does not know: which disagreements there are.
The two thresholds were set on several data sets at once (LOG.md); none reads a length, an id or a position.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from longproof.agent.offline.lines import Lines, Token, is_han, read
from longproof.agent.offline.reading import NARROW, WIDE, Evidence, Place, is_content, plain, terms
from longproof.agent.types import Case, Claim, JudgeLabel, Kind, Question, Task
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.text.tokens import cjk_share
from longproof.retrieval.types import Span

LEAST_ZH = 0.08
"""A Chinese sentence of which less lies in any 64 characters of the evidence isn't there."""
FIRST_LEAST = 0.80
"""The share of a claim that must lie in one of the first passages for it to be decided on them alone."""
BY = 200
"""Tokens between a claim's place and its sentence's, at most, for either to be believed."""
MOST_NEW_EN: dict[Task, float] = {"summary": 0.40, "article": 1.0}
MOST_NEW_ELSE_EN = 0.28
"""An English sentence with a larger share of new words isn't there. A summary may reword more than an answer; an
article is told in words that its record doesn't have."""


class Finding(NamedTuple):
    """One disagreement: the claim's words `[start, end)`, what kind it is, what stands in the evidence instead."""

    start: int
    end: int
    kind: Kind
    correction: str
    reason: str
    quote: Span | None
    missing: bool = False
    """Whether it rests on what the evidence does not have: to be believed only where all around was shown."""


class Opinion(NamedTuple):
    """What one look at a claim gives."""

    label: JudgeLabel
    findings: tuple[Finding, ...] = ()
    quote: Span | None = None
    reason: str = ""


def weighed(view: "View", found: Sequence[Finding]) -> tuple[Finding, ...] | None:
    """The findings that count in this round; None where it shows too little for one of them.

    Of a few passages, nothing can be said to be missing: the first ones must widen, the last ones (`book`) leave it.
    """
    if view.question.round == "passages" and any(finding.missing for finding in found):
        return None
    return tuple(f for f in found if not f.missing or view.question.round != "book")


class View:
    """A claim, its sentence in the response, and the evidence. Places are None where nothing is to be found."""

    def __init__(
        self, question: Question, claim: Claim, case: Case, evidence: Evidence, sentence: str
    ) -> None:
        self.question = question
        self.claim = claim
        self.case = case
        self.evidence = evidence
        self.sentence = sentence
        self.tokens = read(claim.text)
        self.chinese = cjk_share(sentence) >= 0.3

    @cached_property
    def text(self) -> str:
        """The claim's plain text."""
        return plain(self.claim.text)

    @cached_property
    def place(self) -> Place | None:
        """The densest place for the claim, about a clause wide."""
        return self.evidence.place(terms(self.tokens), NARROW)

    @cached_property
    def home(self) -> Place | None:
        """The densest place for the claim's whole sentence."""
        return self.evidence.place(terms(self.sentence_tokens), WIDE)

    def settled(self, place: Place) -> bool:
        """Whether a place for the claim lies by that of its sentence: alone, a short claim is easily misplaced."""
        return self.home is not None and abs(place.first - self.home.first) <= BY

    @cached_property
    def sentence_tokens(self) -> list[Token]:
        return read(self.sentence)

    @cached_property
    def digits(self) -> list[str]:
        """Words and numbers of the evidence that hold digits."""
        return [key for key in self.evidence.distinct if any(c.isdigit() for c in key)]

    @cached_property
    def newness(self) -> float:
        """The share of content words of the sentence that occur nowhere in what was shown, drawn towards 0.2.

        The drawing (8 words' worth) keeps short sentences from looking new for a single word.
        """
        content = [t for t in self.sentence_tokens if is_content(t) and not is_han(t.key)]
        new = sum(not self.evidence.has(token.key) for token in content)
        return (new + 1.6) / (len(content) + 8)

    @cached_property
    def absent(self) -> bool:
        """Whether too little of the claim's sentence is said in the evidence; nothing of the claim is too little.

        A few passages are enough only for what stands there nearly word for word: what speaks against a claim
        may lie beside them.
        """
        if self.question.round == "passages" and (self.place is None or self.place.share < FIRST_LEAST):
            return True
        if self.place is None and terms(self.tokens):
            return True
        if self.chinese:
            return self.home is None or self.home.share < LEAST_ZH
        return self.newness > MOST_NEW_EN.get(self.case.task, MOST_NEW_ELSE_EN)

    def in_response(self, start: int, end: int) -> Span:
        """The response's span for `[start, end)` of the claim's text; the origin where the words aren't in it."""
        origin, words = self.claim.origin, self.claim.text[start:end]
        at = start if origin.text[start:end] == words else origin.text.find(words)
        if at < 0 or not words:
            return origin
        return Span(
            source_id=origin.source_id,
            start=origin.start + at,
            end=origin.start + at + len(words),
            text=words,
        )


class Viewer:
    """Makes views, keeping the last ones: the judges of a panel look at the same claims one after another."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._evidence = lru_cache(maxsize=4)(self._read)
        self._sentences = lru_cache(maxsize=4)(_sentences)
        self._views = lru_cache(maxsize=64)(self._make)

    def view(self, question: Question, claim: Claim, case: Case) -> View:
        """The view of a claim in a question."""
        return self._views(question, claim, case)

    def _make(self, question: Question, claim: Claim, case: Case) -> View:
        start, found = claim.origin.start, self._sentences(case.response)
        at = bisect_right(found, start, key=itemgetter(0)) - 1
        inside = at >= 0 and start < found[at][1]
        sentence = case.response[slice(*found[at])] if inside else claim.text
        return View(question, claim, case, self._evidence(question.shown), sentence)

    def _read(self, shown: tuple[Span, ...]) -> Evidence:
        return Evidence(shown, self._lines)


def _sentences(text: str) -> Sequence[tuple[int, int]]:
    return sentences(text)
