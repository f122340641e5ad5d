"""Sentences into clause-level claims, without a model.

Knows: where a Chinese or English sentence may be cut into clauses, and which sentences state no fact
(questions, greetings, headings, lead-ins). Every claim's text is its origin, word for word: a subject left out
in a later clause is not filled in, since a wrong guess would change what is claimed.
Does not know: evidence, judges. A crude stand-in for PROBE's step 1 (seed 000).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from longproof.agent.offline.reading import word_set
from longproof.agent.types import Case, Claim, Decomposed, Sentence
from longproof.retrieval.text.tokens import is_chinese
from longproof.retrieval.types import Span

Range = tuple[int, int]

SHORTEST_ZH = 6
SHORTEST_EN = 4
"""A piece with fewer characters (Chinese) or words (English) stays with its neighbour."""
CONNECTIVES_EN = word_set("and but while whereas although though because since so yet which who where")

COURTESIES = frozenset(
    line.strip()
    for line in """
    sure/sure thing/of course/thanks/thank you/thank you very much/hello/hi/hi there/hey/okay/ok/yes/no/goodbye/bye
    you're welcome/you are welcome/good morning/good evening/i hope this helps/hope this helps/great question
    let me know if you have any other questions/let me know if you have any questions/i'm sorry/sorry
    谢谢/谢谢您/谢谢你/你好/您好/好的/再见/不客气/对不起/希望对您有帮助/希望对你有帮助
    """.replace("\n", "/").split("/")
    if line.strip()
)

_OPEN, _CLOSE = "（(《〈「『“‘[【", "）)》〉」』”’]】"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CUT_EN = re.compile(rf";|[,—–](?=\s+(?:{'|'.join(sorted(CONNECTIVES_EN))})\b)", re.IGNORECASE)
_EDGE = re.compile(r"^[\s,，；;、。.]+|[\s,，；;]+$")


class OfflineDecomposer:
    """Cuts at clause boundaries. Nothing of a sentence is lost but marks between clauses."""

    name = "offline"

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Claims of all sentences in text order, ids `c0`, `c1`, …; nothing is called."""
        shown: list[Sentence] = []
        claims: list[Claim] = []
        for index, span in enumerate(sentences):
            fact = states_fact(span.text)
            shown.append(Sentence(index=index, span=span, states_fact=fact))
            for start, end in clauses(span.text) if fact else ():
                n = len(claims)
                origin = _part(span, start, end)
                claims.append(Claim(id=f"c{n}", index=n, sentence=index, text=origin.text, origin=origin))
        return Decomposed(shown, claims, [])


def states_fact(sentence: str) -> bool:
    """False for questions, courtesies, lead-ins that end in a colon, headings, and texts without a word."""
    bare = sentence.strip().strip("*_\"'”’」』)）")
    words = _WORD.findall(bare)
    if not words or bare.endswith(("?", "？", ":", "：")) or bare.startswith("#"):
        return False
    return " ".join(words).casefold() not in COURTESIES


def clauses(sentence: str) -> list[Range]:
    """The clauses of one sentence, in order, without the marks between them; at least one where it has words."""
    zh = is_chinese(sentence)
    cuts = list(_cuts_zh(sentence) if zh else (m.end() for m in _CUT_EN.finditer(sentence)))
    bounds = [0, *cuts, len(sentence)]
    size, shortest = (_han, SHORTEST_ZH) if zh else (_words, SHORTEST_EN)
    merged: list[Range] = []
    start = held = 0
    for begin, end in pairwise(bounds):
        held += size(sentence[begin:end])
        if held >= shortest:
            merged.append((start, end))
            start, held = end, 0
    if merged:
        merged[-1] = (merged[-1][0], len(sentence))
    else:
        merged = [(0, len(sentence))]
    return [_trimmed(sentence, *piece) for piece in merged]


def _cuts_zh(sentence: str) -> Iterator[int]:
    depth = 0
    for place, mark in enumerate(sentence):
        if mark in _OPEN:
            depth += 1
        elif mark in _CLOSE:
            depth = max(0, depth - 1)
        elif mark in "，；," + ";" and depth == 0:
            yield place + 1


def _han(text: str) -> int:
    return sum(character.isalnum() for character in text)


def _words(text: str) -> int:
    return len(_WORD.findall(text))


def _trimmed(text: str, start: int, end: int) -> Range:
    piece = text[start:end]
    left = _EDGE.match(piece)
    start += left.end() if left and left.start() == 0 and left.end() < len(piece) else 0
    while end > start and text[end - 1] in " \t\n\r,，；;":
        end -= 1
    return start, end


def _part(span: Span, start: int, end: int) -> Span:
    return Span(
        source_id=span.source_id, start=span.start + start, end=span.start + end, text=span.text[start:end]
    )
