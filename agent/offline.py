"""The check that needs no model: which sentences stand in a source, and where one tells another number or name.

Knows: a sentence stands there if a source has it but for blanks, line ends and straight or curly quotation marks. A
hint is a number or a name in whose place the only source sentence of the same words has another: it decides nothing.
Does not know: anything that needs understanding: all other sentences it leaves to a model.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from longproof.agent.guards import Weighed
from longproof.agent.report import is_set_phrase
from longproof.agent.types import Answered, Case, Claim, Decomposed, Hint, Judgement, Question
from longproof.retrieval.text.normalise import CJK, fold, is_chinese, way_back
from longproof.retrieval.text.numbers import folded_numbers
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Span

_STRAIGHT = str.maketrans("“”‘’", "\"\"''")
_AROUND_CJK = re.compile(rf"(?<=[{CJK}，。、；：！？]) | (?=[{CJK}，。、；：！？])")
_WORD = r"[A-ZÀ-ÖØ-Þ][^\W\d_]+"
_NAME = re.compile(rf"(?<=[\w,;:—–-] ){_WORD}(?:[ -]{_WORD})*(?!\w)")
"""Words with capitals behind a word of their sentence: they may be a name."""
LONGEST = 1000
"""Characters of a sentence in which hints are looked for; a longer one is a list or a table."""


class OfflineDecomposer:
    """Takes each sentence as one claim. A guess at its parts could change what is claimed."""

    name = "offline"

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Return the claims in text order, ids `s1`, `s2`, …; nothing is called."""
        claims: list[Claim] = []
        for index, span in enumerate(sentences):
            # Set phrases and texts without a word state no fact.
            if any(map(str.isalnum, span.text)) and not is_set_phrase(span.text):
                claims.append(Claim(id=f"s{index + 1}", index=0, sentence=index, text=span.text, origin=span))
        return Decomposed(claims, {}, [])


class OfflineJudge:
    """Deterministic, makes no calls, and calls nothing wrong."""

    name = "offline"

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=8)(_Source)
        self._sentences = lru_cache(maxsize=8)(lambda text: frozenset(sentences(text)))

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """Return one judgement for each of `claims`, in their order."""
        sources = [self._read(shown) for shown in question.shown]
        judgements: list[Judgement] = []
        for claim in claims:
            origin = claim.origin
            whole = (origin.start, origin.end) in self._sentences(case.response)
            weighed, hint = Weighed(None, "needs_model"), None
            # A part of a sentence may say the opposite of the whole, and so may other words.
            if whole and claim.text == origin.text:
                same = next((span for source in sources if (span := source.find(origin.text))), None)
                reason = "原文中的一句" if is_chinese(claim.text) else "a sentence of the source"
                if same:
                    weighed = Weighed("explicitly_supported", None, (same,), reason=reason)
                else:
                    hint = find_hint(origin, sources)
            judgement = weighed.judgement(self.name, question, claim)
            judgements.append(judgement.model_copy(update={"hint": hint}))
        return Answered(judgements, [])


class _Source:
    """One source document as it is shown, cut into sentences."""

    def __init__(self, shown: Span) -> None:
        self._sentences = [shown.part(start, end) for start, end in sentences(shown.text)]
        self._by_form = {plain(span.text): span for span in reversed(self._sentences)}

    def find(self, sentence: str) -> Span | None:
        """Return the first sentence of the source that says the same."""
        return self._by_form.get(plain(sentence))

    @cached_property
    def by_gap(self) -> dict[str, list["Gap"]]:
        """The gaps of all sentences, by what stands around them."""
        gaps: dict[str, list[Gap]] = {}
        for sentence in self._sentences:
            for gap in gaps_of(sentence):
                gaps.setdefault(gap.around, []).append(gap)
        return gaps


class Gap(NamedTuple):
    """A sentence without one of its numbers or names: what stands around it, the words taken out, their value."""

    around: str
    words: Span
    value: object


def gaps_of(sentence: Span) -> Iterator[Gap]:
    """Yield the sentence without each of its numbers and names. Numbers of one amount have one value."""
    text = sentence.text
    if len(text) > LONGEST:
        return
    back = way_back(text)
    for number in folded_numbers(fold(text)):
        start, end = back(number.start, number.end)
        around = f"{plain(text[:start])}\0#{plain(text[end:])}"
        yield Gap(around, sentence.part(start, end), (number.value, number.percent, number.ordinal))
    for name in _NAME.finditer(text):
        around = f"{plain(text[: name.start()])}\0@{plain(text[name.end() :])}"
        yield Gap(around, sentence.part(*name.span()), plain(name[0]))


def find_hint(sentence: Span, sources: Sequence[_Source]) -> Hint | None:
    """Return the number or name of a sentence in whose place the sources tell another; None where they tell several,
    or the same amount."""
    hints: dict[tuple[int, str], Hint] = {}
    for gap in gaps_of(sentence):
        for source in sources:
            for other in source.by_gap.get(gap.around, ()):
                if other.value == gap.value:
                    return None
                hints[gap.words.start, plain(other.words.text)] = Hint(words=gap.words, source=other.words)
    return next(iter(hints.values())) if len(hints) == 1 else None


def plain(sentence: str) -> str:
    """Return the form that two texts share where only blanks, line ends and the shape of quotation marks differ."""
    return _AROUND_CJK.sub("", " ".join(sentence.translate(_STRAIGHT).split()))
