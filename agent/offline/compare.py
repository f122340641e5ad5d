"""A sentence of a response beside a sentence of a source: the same, or at odds in one number or name.

Knows: what may differ between two sentences that are the same, and that a conflict is one number or name that a
sentence of nearly the same words tells otherwise.
Does not know: which sentences to compare, documents, or anything that needs understanding.
"""

import re
from collections.abc import Set
from itertools import chain

from rapidfuzz.distance import LCSseq

from longproof.agent.offline.tokens import Token, is_han, tokens, word_set
from longproof.agent.types import Error, Kind
from longproof.retrieval.text.numbers import differ
from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import Span

SHARED = 0.8
"""The share of a sentence's other words, function words aside, that its place must tell in the same order."""
LEAST = 4
"""Words that the two must share, a Chinese character counted half."""
BEFORE = 2
"""Words before a name that is another: of the one who acts, two may do the same."""
LONGEST = 200
"""Words of a sentence that is compared; a longer one is no single statement."""
DENIALS = word_set(
    "not no never none nor neither nothing nobody without cannot hardly barely scarcely rarely seldom unless if"
    " 不 没 未 无 非 莫 勿 毋 否 若"
)
"""Where one of these stands in either sentence, two different numbers may both be right."""
_QUOTES = re.compile(r"[“”„‟«»「」『』〝〞]|(?<!\d)\"|(?<!\w)[‘’']")
"""Quotation marks; not an apostrophe, nor the sign of inches."""
_AROUND_CJK = re.compile(rf"(?<=[{CJK}，。、；：！？]) | (?=[{CJK}，。、；：！？])")
_FINAL = re.compile(r"(?<![.。．])[.。．｡!！]$")
"""One full stop or exclamation mark. A question mark makes another sentence, and an ellipsis leaves something out."""


class Words:
    """A sentence with its tokens, function words left out."""

    def __init__(self, span: Span) -> None:
        self.span, self.text = span, span.text
        self.tokens = [token for token in tokens(span.text) if token.content]
        self.keys = [token.key for token in self.tokens]
        self.denies = any(key in DENIALS or key.endswith("n't") for key in self.keys)
        self.odd = [i for i, token in enumerate(self.tokens) if token.number or self.is_name(token)]
        """Which tokens are numbers or names: a conflict may be about them."""

    def is_name(self, token: Token) -> bool:
        """Return whether a word is written as a name: with a capital, behind a word of its sentence."""
        before = self.text[max(0, token.start - 2) : token.start]
        behind = (before[-1:] in (" ", "-") and before[:1].isalnum()) or is_han(before[-1:])
        return behind and self.text[token.start].isupper()


def plain(sentence: str) -> str:
    """Return the form that two sentences share where only case, spacing, quotation marks or a final mark differ."""
    text = " ".join(_QUOTES.sub("", sentence).replace("’", "'").casefold().split())
    return _FINAL.sub("", _AROUND_CJK.sub("", text)).rstrip()


def conflict(ours: Words, theirs: Words, near: Set[str]) -> Error | None:
    """Return the one number or name of our sentence that theirs, in nearly the same words, tells otherwise.

    What is among `near`, the words around the places of our sentence, is told there, if in another order.
    """
    if max(len(ours.keys), len(theirs.keys)) > LONGEST or ours.denies or theirs.denies:
        return None
    if _QUOTES.search(theirs.text) and not _QUOTES.search(ours.text):
        return None  # only said there
    blocks = LCSseq.editops(ours.keys, theirs.keys).as_matching_blocks()
    pairs = dict(
        chain.from_iterable(zip(range(a, a + n), range(b, b + n), strict=True) for a, b, n in blocks)
    )
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
    return Error(span=span, kind=kind, correction=told, reason=f"“{span.text}” here, “{told}” in the source")


def _nearly_the_same(ours: Words, pairs: dict[int, int], odd: int) -> bool:
    """Return whether the shared words are nearly all of ours, and of what the other sentence has between them."""
    if sum(0.5 if is_han(ours.keys[i]) else 1.0 for i in pairs) < LEAST:
        return False
    between = max(pairs.values()) + 1 - min(pairs.values())
    return len(pairs) >= SHARED * (max(len(ours.keys), between) - odd)


def _kind(ours: Words, theirs: Words, here: list[Token], there: list[Token]) -> Kind | None:
    """Return the kind of conflict: a number told for a number, a name for a name of as many words."""
    if len(here) != len(there):
        return None
    if here[0].number and there[0].number:
        return "numerical" if len(here) == 1 and differ(here[0].number, there[0].number) else None
    named = all(map(ours.is_name, here)) and all(map(theirs.is_name, there))
    other = here[0].key[0] != there[0].key[0] and ours.tokens.index(here[0]) >= BEFORE
    return "entity" if named and other else None
