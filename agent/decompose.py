"""Sentences into claims by a language model (PROBE's step 1, seed 000).

Knows: batches of sentences with the text before them, and where in its sentence each claim stands. Nothing of a
response gets lost: a sentence that can't be taken apart is itself one claim, and its failure is recorded; where a
model leaves out what a sentence says, or calls a statement free of facts, the sentence is a claim beside the others.
Does not know: evidence, or how claims are judged.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from longproof.agent.forms import Sentences
from longproof.agent.guards import exactly
from longproof.agent.models.asker import Asker
from longproof.agent.models.model import Answer, Model
from longproof.agent.omitted import may_state_no_fact, omits
from longproof.agent.prompting import language_of, line
from longproof.agent.types import Call, Case, Claim, Decomposed, Failure, Sentence
from longproof.prompts import Prompt, render
from longproof.retrieval.text.tokens import CJK
from longproof.retrieval.types import Span

BATCH_SENTENCES, BATCH_CHARACTERS = 24, 4000
BEFORE_CHARACTERS = 400
"""How much of the response before a batch is shown, to resolve its pronouns."""
LONGEST_CLAIM = 1000
MOST_CLAIMS, A_CLAIM = 12, 12
"""A sentence has at most so many claims, or one for every so many characters of a long one: each is paid for."""
MOST_OF_A_RESPONSE = 50_000
"""Claims of a response: what would go beyond that stays whole, a claim a sentence."""
FROM = " @ "
"""What stands in an answer between a claim and the words that it comes from."""
_CUT = re.compile(r" ?(?:…+|⋯+|\.{3,}) ?")
_LETTER = rf"[^\W_{CJK}]"


_NUMBERED = re.compile(r"\W*S?\s*([0-9]{1,4})(?![0-9])[\s:：.、|)\]]*(.*)", re.DOTALL | re.IGNORECASE)
_NO_FACT = " -–—"
"""What stands where a sentence states no fact."""


class _Piece(NamedTuple):
    """A claim in the making: its text and where it came from."""

    text: str
    origin: Span


class _Taken(NamedTuple):
    """A sentence taken apart: pieces, none where it states no fact, or a failure."""

    pieces: tuple[_Piece, ...]
    failure: Failure | None = None


class ModelDecomposer:
    """Asks one model to take sentences apart, a batch at a time, all batches at once."""

    def __init__(self, name: str, model: Model, *, temperature: float = 0.0) -> None:
        self.name = name
        self._asker = Asker(model, temperature)

    async def decompose(self, case: Case, sentences: Sequence[Span]) -> Decomposed:
        """Claims of all sentences in text order, ids `c0`, `c1`, …"""
        batches = _batches(sentences)
        answers = await asyncio.gather(*(self._batch(case, batch) for batch in batches))
        taken: dict[int, _Taken] = {}
        for found, _ in answers:
            taken |= found
        shown: list[Sentence] = []
        claims: list[Claim] = []
        for index, span in enumerate(sentences):
            pieces, failure = taken[index + 1]
            if len(claims) + len(pieces) + len(sentences) - index - 1 > MOST_OF_A_RESPONSE:
                pieces = pieces and (_Piece(span.text, span),)
            shown.append(Sentence(index=index, span=span, states_fact=bool(pieces), failure=failure))
            for text, origin in pieces:
                n = len(claims)
                claims.append(Claim(id=f"c{n}", index=n, sentence=index, text=text, origin=origin))
        return Decomposed(shown, claims, list(chain.from_iterable(calls for _, calls in answers)))

    async def _batch(self, case: Case, sentences: Mapping[int, Span]) -> tuple[dict[int, _Taken], list[Call]]:
        """Every sentence of a batch taken apart; one that can't be stays whole."""
        found, calls = await self._asker.ask_about(
            sentences,
            letter="S",
            purpose="decompose",
            form=Sentences,
            prompt_of=partial(_prompt, case=case),
            read=partial(_read, case=case),
        )
        for n, taken in found.items():
            if taken.failure:
                found[n] = _Taken((_Piece(sentences[n].text, sentences[n]),), taken.failure)
        return found, calls


def _prompt(sentences: Mapping[int, Span], case: Case) -> Prompt:
    return render(
        "decompose",
        language_of(case),
        context=case.context,
        before=_before(sentences, case),
        sentences="\n".join(_list_sentence(n, span, case) for n, span in sentences.items()),
    )


def _list_sentence(n: int, sentence: Span, case: Case) -> str:
    """A sentence as one line of the prompt, which says where another of several responses begins."""
    begins = _response_start(case, sentence) > 0 and not _text_before(case, sentence).strip()
    more = {"begins": "another text"} if begins else {}
    return line(sentence=f"S{n}", **more, text=sentence.text)


def _before(sentences: Mapping[int, Span], case: Case) -> str:
    """The end of what stands in the response before these sentences."""
    return _text_before(case, next(iter(sentences.values())))[-BEFORE_CHARACTERS:]


def _text_before(case: Case, sentence: Span) -> str:
    """The text before a sentence in its own one of the responses."""
    return case.response[_response_start(case, sentence) : sentence.start]


def _response_start(case: Case, sentence: Span) -> int:
    """The start of the response that a sentence belongs to, if several are checked together."""
    return max((start for start in case.parts if start <= sentence.start), default=0)


def _read(
    answer: Answer[Sentences], sentences: Mapping[int, Span], _: Prompt, case: Case
) -> dict[int, _Taken]:
    said = _group_by_sentence(answer.value.claims) if answer.value else {}
    known = " ".join([case.context, _before(sentences, case), *(span.text for span in sentences.values())])
    return {
        n: _Taken((), answer.failure)
        if answer.failure
        else _with_omitted(_take_apart(said.get(n, []), span), span, known, case.context)
        for n, span in sentences.items()
    }


def _with_omitted(taken: _Taken, sentence: Span, known: str, context: str) -> _Taken:
    """Add the sentence itself where its pieces aren't all of it: a model may do as the text bids it."""
    said = [piece.text for piece in taken.pieces]
    complete = not omits(sentence.text, said, known) if said else may_state_no_fact(sentence.text, context)
    if taken.failure or complete:
        return taken
    return _Taken((*taken.pieces, _Piece(sentence.text, sentence)))


def _batches(sentences: Sequence[Span]) -> list[dict[int, Span]]:
    """Neighbouring sentences by their number from 1, so many and so long that one answer can hold them."""
    batches: list[dict[int, Span]] = []
    room = 0
    for n, span in enumerate(sentences, start=1):
        if not batches or len(batches[-1]) == BATCH_SENTENCES or len(span.text) > room:
            batches.append({})
            room = BATCH_CHARACTERS
        batches[-1][n] = span
        room -= len(span.text)
    return batches


def _group_by_sentence(claims: Sequence[str]) -> dict[int, list[str]]:
    """Sort the claims by their sentence's number; what begins with no number is left out."""
    found: dict[int, list[str]] = {}
    for claim in (_NUMBERED.fullmatch(" ".join(said.split())) for said in claims):
        if claim:
            found.setdefault(int(claim[1]), []).append(claim[2].strip())
    return found


def _take_apart(said: Sequence[str], sentence: Span) -> _Taken:
    """Read the pieces that a model made of one sentence. To say nothing of it is a failure, and so is to make more
    claims of it than it can hold, or to say that it states no fact beside the facts that it states."""
    claims = [claim for claim in said if claim.partition(FROM)[0].strip(_NO_FACT)]
    if not said or len(set(claims)) > max(MOST_CLAIMS, len(sentence.text) // A_CLAIM):
        return _Taken((), "unparsed")
    if claims and len(claims) < len(said):
        return _Taken((), "self_contradicted")
    pieces = [_piece(claim, sentence) for claim in dict.fromkeys(claims)]
    return _Taken(tuple(sorted(dict.fromkeys(pieces), key=lambda piece: piece.origin.start)))


def _piece(said: str, sentence: Span) -> _Piece:
    """A claim, and the words that it comes from: those named, else its own, else the sentence."""
    claim, _, segment = said.rpartition(FROM)
    if not claim.strip() or said.strip() in sentence.text:
        claim, segment = said, ""
    origin = located_segment(segment, sentence) or exactly(claim, sentence) or sentence
    return _Piece(" ".join(claim.split())[:LONGEST_CLAIM], origin)


def located_segment(segment: str, sentence: Span) -> Span | None:
    """The place of a piece of a sentence that is copied whole, or given by its two ends as `first…last`."""
    first, *rest = _CUT.split(" ".join(segment.split()), maxsplit=1)
    if not rest or segment.strip() in sentence.text:
        return exactly(segment, sentence)
    for begin in _places(first, sentence.text):
        for end in _places(rest[0], sentence.text, begin.end()):
            start, stop = begin.start(), end.end()
            text = sentence.text[start:stop]
            return Span(
                source_id=sentence.source_id,
                start=sentence.start + start,
                end=sentence.start + stop,
                text=text,
            )
    return None


def _places(words: str, text: str, after: int = 0) -> Iterator[re.Match[str]]:
    """Places of a few words from here on, whatever their case: first as whole words, then as they come."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    for bounded in (rf"(?<!{_LETTER}){pattern}(?!{_LETTER})", pattern):
        found = re.compile(bounded, re.IGNORECASE).search(text, after)
        if pattern and found:
            yield found
