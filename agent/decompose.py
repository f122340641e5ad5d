"""Sentences into claims by a language model (PROBE's step 1).

Knows: where in its sentence each claim stands. Nothing of a response gets lost: a sentence that can't be taken apart,
or is said to state no fact, is itself one claim; where the claims come from only part of its words, the sentence is a
claim beside them.
Does not know: evidence, or how claims are judged.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from longproof.agent.evidence.citations import on_one_line
from longproof.agent.guards import exactly
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Answer, Asker, Model
from longproof.agent.prompting import before_in_response, language_of, line
from longproof.agent.types import Call, Case, Claim, Decomposed, Failure
from longproof.prompts import Prompt, render
from longproof.retrieval.text.chunking import pack
from longproof.retrieval.text.normalise import CJK, is_chinese
from longproof.retrieval.types import Span

BATCH_SENTENCES, BATCH_CHARACTERS = 24, 4000
"""Sentences are asked about together as long as one answer can hold them."""
MOST_CLAIMS, A_CLAIM = 12, 12
"""A sentence has at most so many claims, or one for every so many characters of a long one: each is paid for."""
MOST_OF_A_RESPONSE = 50_000
"""Claims of a response: what would go beyond that stays whole, a claim a sentence."""
FROM = " @ "
"""What stands in an answer between a claim and the words that it comes from."""
_CUT = re.compile(r" ?(?:…+|⋯+|\.{3,}) ?")
_LETTER = rf"[^\W_{CJK}]"
_NUMBERED = re.compile(r"\W*S?\s*([0-9]{1,4})(?![0-9])[\s:：.、|)\]]*(.*)", re.DOTALL | re.IGNORECASE)


class Sentences(Form):
    """All sentences of a batch, taken apart: a short string a claim, in order, its sentence's number first.

    `S1 the claim`, or `S1 the claim @ first…last` with the words that it comes from; `S2 -` where a sentence states
    no fact.
    """

    claims: list[str]


class _Piece(NamedTuple):
    """A claim in the making: its text and where it came from."""

    text: str
    origin: Span


class _Taken(NamedTuple):
    """A sentence taken apart: pieces, or a failure."""

    pieces: tuple[_Piece, ...]
    failure: Failure | None = None


class ModelDecomposer:
    """Asks one model to take sentences apart, a batch at a time, all batches at once."""

    def __init__(self, name: str, model: Model) -> None:
        self.name = name
        self._asker = Asker(model)

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Claims of all sentences in text order, ids `s1.1`, `s1.2`, …; a sentence that is one claim is `s2`.

        One that can't be taken apart stays whole.
        """
        numbered = enumerate(sentences, start=1)
        asking = [
            self._asker.ask_about(
                dict(batch),
                letter="S",
                purpose="decompose",
                form=Sentences,
                prompt_of=partial(_prompt, case=case),
                read=_read,
            )
            for batch in pack(numbered, lambda one: len(one[1].text), BATCH_CHARACTERS, BATCH_SENTENCES)
        ]
        taken: dict[int, _Taken] = {}
        calls: list[Call] = []
        for found, made in await asyncio.gather(*asking):
            taken |= found
            calls += made
        failures = {n - 1: one.failure for n, one in taken.items() if one.failure}
        claims: list[Claim] = []
        for index, span in enumerate(sentences):
            pieces = taken[index + 1].pieces
            too_many = len(claims) + len(pieces) + len(sentences) - index - 1 > MOST_OF_A_RESPONSE
            if not pieces or too_many:
                pieces = (_Piece(span.text, span),)
            for part, (text, origin) in enumerate(pieces, start=1):
                id_ = f"s{index + 1}.{part}" if len(pieces) > 1 else f"s{index + 1}"
                claims.append(Claim(id=id_, index=part, sentence=index, text=text, origin=origin))
        return Decomposed(claims, failures, calls)


def _prompt(sentences: Mapping[int, Span], case: Case) -> Prompt:
    """The prompt: each sentence as one line, with the 400 characters before it where they aren't the line before."""
    rows: list[str] = []
    last_end = -1
    for n, sentence in sentences.items():
        start, before = before_in_response(sentence, case)
        follows = start <= last_end == start + len(before)
        more = {"before": before[-400:]} if before and not follows else {}
        rows.append(line(sentence=f"S{n}", **more, text=sentence.text))
        last_end = sentence.end
    return render("decompose", language_of(case), context=case.context, sentences="\n".join(rows))


def _read(answer: Answer[Sentences], sentences: Mapping[int, Span], _: Prompt) -> dict[int, _Taken]:
    if answer.value is None:
        return dict.fromkeys(sentences, _Taken((), answer.failure))
    said: dict[int, list[str]] = {}
    for claim in answer.value.claims:
        if numbered := _NUMBERED.fullmatch(" ".join(claim.split())):
            said.setdefault(int(numbered[1]), []).append(numbered[2].strip())
    return {n: _take_apart(said.get(n, []), span) for n, span in sentences.items()}


def _with_what_is_left_out(pieces: list[_Piece], sentence: Span) -> list[_Piece]:
    """Add the sentence itself where its pieces don't come from all of it: a model may do as the text bids it."""
    # Of several pieces, one that comes from no words in particular covers none of them.
    alone = len(pieces) == 1
    named = [one for one in pieces if alone or one.origin != sentence or one.text == sentence.text]
    covered = {at for piece in named for at in range(piece.origin.start, piece.origin.end)}
    left_out = 0
    for at, character in enumerate(sentence.text, start=sentence.start):
        weight = 3 if is_chinese(character) else 1
        left_out = 0 if at in covered else left_out + weight * character.isalnum()
        if left_out > 24:  # more than a tie or a lead-in
            return [*pieces, _Piece(sentence.text, sentence)]
    return pieces or [_Piece(sentence.text, sentence)]


def _take_apart(said: Sequence[str], sentence: Span) -> _Taken:
    """Read the pieces that a model made of one sentence. To say nothing of it is a failure, and so is to make more
    claims of it than it can hold, or to say that it states no fact beside the facts that it states."""
    claims = [claim for claim in said if claim.partition(FROM)[0].strip(" -–—")]
    if not said or len(set(claims)) > max(MOST_CLAIMS, len(sentence.text) // A_CLAIM):
        return _Taken((), "unparsed")
    if claims and len(claims) < len(said):
        return _Taken((), "self_contradicted")
    pieces: dict[_Piece, None] = {}
    for claim in claims:
        # It comes from the words that it names, else from its own, else from the sentence.
        text, _, segment = claim.rpartition(FROM)
        if not text.strip() or claim.strip() in sentence.text:
            text, segment = claim, ""
        origin = located_segment(segment, sentence) or exactly(text, sentence) or sentence
        pieces[_Piece(on_one_line(text)[:1000], origin)] = None
    in_order = sorted(pieces, key=lambda piece: piece.origin.start)
    return _Taken(tuple(_with_what_is_left_out(in_order, sentence)))


def located_segment(segment: str, sentence: Span) -> Span | None:
    """The place of a piece of a sentence that is copied whole, or given by its two ends as `first…last`."""
    first, *rest = _CUT.split(" ".join(segment.split()), maxsplit=1)
    if not rest or segment.strip() in sentence.text:
        return exactly(segment, sentence)
    for begin in _places(first, sentence.text):
        for end in _places(rest[0], sentence.text, begin.end()):
            return sentence.part(begin.start(), end.end())
    return None


def _places(words: str, text: str, after: int = 0) -> Iterator[re.Match[str]]:
    """Places of a few words from here on, whatever their case: first as whole words, then as they come."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    for bounded in (rf"(?<!{_LETTER}){pattern}(?!{_LETTER})", pattern):
        found = re.compile(bounded, re.IGNORECASE).search(text, after)
        if pattern and found:
            yield found
