"""The check that needs no model: which sentences stand in a source, and which conflict with their place in it.

Knows: a text's tokens are words by their stems, Chinese characters, and numbers by their values; a conflict is one
number or name that a sentence of nearly the same words tells otherwise. Adding a source never changes what is said
of another.
Does not know: anything that needs understanding: all other sentences it leaves to a model.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from longproof.agent.guards import Weighed
from longproof.agent.report import is_set_phrase
from longproof.agent.types import (
    Answered,
    Case,
    Claim,
    Decomposed,
    Error,
    Judgement,
    Kind,
    Question,
)
from longproof.retrieval.text.normalise import CJK, fold, is_chinese, way_back
from longproof.retrieval.text.numbers import Number, differ, folded_numbers
from longproof.retrieval.text.sentences import sentences, word_lists
from longproof.retrieval.types import Span

_WORDS = word_lists(Path(__file__).with_name("offline_words.txt"))
DENIALS = _WORDS["denials"]
"""Where one of these stands in either sentence, two different numbers may both be right."""
_QUOTES = re.compile(r"[“”„‟«»「」『』〝〞]|(?<!\d)\"|(?<!\w)[‘’']")
"""Quotation marks; not an apostrophe, nor the sign of inches."""
_AROUND_CJK = re.compile(rf"(?<=[{CJK}，。、；：！？]) | (?=[{CJK}，。、；：！？])")
_FINAL = re.compile(r"(?<![.。．])[.。．｡!！]$")
"""One full stop or exclamation mark. A question mark makes another sentence, and an ellipsis leaves something out."""
STOP = _WORDS["function words"]
"""Function words: they carry no content."""
_TOKEN = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:'[^\W_{CJK}]+)*")
_FIRST_CJK = "\u2e80"


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
    """Deterministic, makes no calls. A conflict with one source stays one, whatever the others say."""

    name = "offline"

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=8)(_Source)
        self._sentences = lru_cache(maxsize=8)(lambda text: frozenset(sentences(text)))

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """Return one judgement for each of `claims`, in their order."""
        judgements: list[Judgement] = []
        for claim in claims:
            origin = claim.origin
            whole = (origin.start, origin.end) in self._sentences(case.response)
            # A part of a sentence may say the opposite of the whole, and so may other words.
            asked = question.shown if whole and claim.text == origin.text else ()
            findings = [finding for source in map(self._read, asked) if (finding := source.finding(origin))]
            weighed = Weighed(None, "needs_model")
            if findings:
                # The first source that conflicts, else the first that says it.
                quote, error = min(findings, key=lambda finding: finding[1] is None)
                reason = "原文中的一句" if is_chinese(claim.text) else "a sentence of the source"
                weighed = Weighed("explicitly_supported", None, (quote,), reason=reason)
                if error:
                    weighed = Weighed("contradicting", None, (quote,), 0, (error,), reason=error.reason)
            judgements.append(weighed.judgement(self.name, question, claim))
        return Answered(judgements, [])


class Token(NamedTuple):
    """A key to compare by, where it lies in the text, and the number that it is, if it is one."""

    key: str
    start: int
    end: int
    number: Number | None = None


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order, with offsets in the text as given."""
    plain, back = fold(text), way_back(text)
    end = 0
    for number in [*folded_numbers(plain), None]:
        for match in _TOKEN.finditer(plain, end, number.start if number else len(plain)):
            key = match[0] if is_han(match[0]) else stem(match[0])
            yield Token(key, *back(*match.span()))
        if number:
            end = number.end
            yield Token(f"#{number.value!r}{'%' * number.percent}", *back(number.start, end), number)


def is_han(key: str) -> bool:
    """Return whether a key is a CJK character: of folded letters, these alone stand so high in Unicode."""
    return key >= _FIRST_CJK


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return a crude English stem: endings of plural and tense gone."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


class Words:
    """A sentence with its tokens, function words left out."""

    def __init__(self, span: Span) -> None:
        self.span, self.text = span, span.text
        self.tokens = [token for token in tokens(span.text) if token.key not in STOP]
        self.keys = [token.key for token in self.tokens]
        self.denies = any(key in DENIALS or key.endswith("n't") for key in self.keys)
        self.odd = [i for i, token in enumerate(self.tokens) if token.number or self.is_name(token)]
        """Which tokens are numbers or names: a conflict may be about them."""

    def is_name(self, token: Token) -> bool:
        """Return whether a word is written as a name: with a capital, behind a word of its sentence."""
        before = self.text[max(0, token.start - 2) : token.start]
        behind = (before[-1:] in (" ", "-") and before[:1].isalnum()) or is_han(before[-1:])
        return behind and self.text[token.start].isupper()


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
        conflicts: dict[str | None, tuple[Span, Error]] = {}
        for place in places:
            if error := conflict(ours, self._words[place], near):
                conflicts.setdefault(error.correction, (self._sentences[place], error))
        return next(iter(conflicts.values())) if len(conflicts) == 1 else None

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
        """Return the four sentences that share most of this one's rarest words, and at least half of them."""
        known = [self._holding[key] for key in set(sentence.keys) if key in self._holding]
        rarest = sorted(known, key=len)[:16]
        shared = Counter(index for holders in rarest for index in holders)
        best = sorted(shared, key=lambda index: (-shared[index], index))[:4]
        return [index for index in best if 2 * shared[index] >= len(rarest)]


def plain(sentence: str) -> str:
    """Return the form that two sentences share where only case, spacing, quotation marks or a final mark differ."""
    text = " ".join(_QUOTES.sub("", sentence).replace("’", "'").casefold().split())
    return _FINAL.sub("", _AROUND_CJK.sub("", text)).rstrip()


def conflict(ours: Words, theirs: Words, near: Set[str]) -> Error | None:
    """Return the one number or name of our sentence that theirs, in nearly the same words, tells otherwise.

    What is among `near`, the words around the places of our sentence, is told there, if in another order.
    """
    if max(len(ours.keys), len(theirs.keys)) > 200 or ours.denies or theirs.denies:
        return None  # a list rather than a statement, or both may be right
    if _QUOTES.search(theirs.text) and not _QUOTES.search(ours.text):
        return None  # only said there
    pairs: dict[int, int] = {}
    for here_at, there_at, n in LCSseq.editops(ours.keys, theirs.keys).as_matching_blocks():
        pairs |= zip(range(here_at, here_at + n), range(there_at, there_at + n), strict=True)
    odd = [i for i in ours.odd if i not in pairs]
    if not odd or any(ours.keys[i] in near for i in odd) or not _nearly_the_same(ours, pairs, len(odd)):
        return None
    first, end = odd[0], odd[-1] + 1
    start = pairs.get(first - 1, -1) + 1  # a sentence may not begin with them: entries of lists have numbers
    stop = pairs.get(end, -1) if end < len(ours.keys) else start + len(odd)
    if not start or end - first != len(odd) or stop - start != len(odd):
        return None  # no single difference between the same neighbours
    here, there = ours.tokens[first:end], theirs.tokens[start:stop]
    kind = _kind(ours, theirs, here, there)
    if kind is None or any(token.key in ours.keys for token in there):
        return None
    told = theirs.text[there[0].start : there[-1].end]
    span = ours.span.part(here[0].start, here[-1].end)
    reason = f"“{span.text}” here, “{told}” in the source"
    if is_chinese(ours.text):
        reason = f"此处“{span.text}”，原文“{told}”"
    return Error(span=span, kind=kind, correction=told, reason=reason)


def _nearly_the_same(ours: Words, pairs: dict[int, int], odd: int) -> bool:
    """Return whether at least four words are shared, a Chinese character counted half, and four fifths of ours and of
    what the other sentence has between them, odd ones aside."""
    if sum(0.5 if is_han(ours.keys[i]) else 1.0 for i in pairs) < 4:
        return False
    between = max(pairs.values()) + 1 - min(pairs.values())
    return len(pairs) >= 0.8 * (max(len(ours.keys), between) - odd)


def _kind(ours: Words, theirs: Words, here: list[Token], there: list[Token]) -> Kind | None:
    """Return the kind of conflict: a number told for a number, a name for a name of as many words."""
    if len(here) != len(there):  # the source's sentence ends first
        return None
    if here[0].number and there[0].number:
        return "numerical" if len(here) == 1 and differ(here[0].number, there[0].number) else None
    named = all(map(ours.is_name, here)) and all(map(theirs.is_name, there))
    # Two may do the same: another name is a conflict only behind two other words.
    other = here[0].key[0] != there[0].key[0] and ours.tokens.index(here[0]) >= 2
    return "entity" if named and other else None
