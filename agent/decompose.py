"""Sentences into claims by a language model (PROBE's step 1, seed 000).

Knows: batches of sentences with the text before them, and where in its sentence each claim stands. Nothing of a
response gets lost: a sentence that can't be taken apart is itself one claim, and its failure is recorded; where a
model leaves out what a sentence says, or calls a statement free of facts, the sentence is a claim beside the others.
Does not know: evidence, or how claims are judged.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from longproof.agent.forms import SentenceForm, Sentences
from longproof.agent.guards import exactly, word
from longproof.agent.models.asker import Asker, by_number
from longproof.agent.models.model import Answer, Model
from longproof.agent.omitted import may_state_no_fact, omits
from longproof.agent.prompting import language_of, line
from longproof.agent.types import Call, Case, Claim, Decomposed, Failure, Sentence
from longproof.prompts import Prompt, render
from longproof.retrieval.types import Span

BATCH_SENTENCES, BATCH_CHARACTERS = 24, 4000
BEFORE_CHARACTERS = 400
"""How much of the response before a batch is shown, to resolve its pronouns."""
LONGEST_CLAIM = 1000


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
        sentences="\n".join(line(sentence=f"S{n}", text=span.text) for n, span in sentences.items()),
    )


def _before(sentences: Mapping[int, Span], case: Case) -> str:
    """The end of what stands in the response before these sentences."""
    first = next(iter(sentences.values()))
    return case.response[: first.start][-BEFORE_CHARACTERS:]


def _read(
    answer: Answer[Sentences], sentences: Mapping[int, Span], _: Prompt, case: Case
) -> dict[int, _Taken]:
    said = by_number((form.sentence, form) for form in answer.value.sentences) if answer.value else {}
    known = " ".join([case.context, _before(sentences, case), *(span.text for span in sentences.values())])
    return {
        n: _Taken((), answer.failure)
        if answer.failure
        else _whole(_taken(said.get(n, []), span), span, known)
        for n, span in sentences.items()
    }


def _whole(taken: _Taken, sentence: Span, known: str) -> _Taken:
    """What was taken, and the sentence itself where that isn't all: a model may do as the text bids it."""
    said = [piece.text for piece in taken.pieces]
    complete = not omits(sentence.text, said, known) if said else may_state_no_fact(sentence.text)
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


def _taken(said: Sequence[SentenceForm], sentence: Span) -> _Taken:
    """What a model made of one sentence. To say nothing of it, or to say two things, is a failure."""
    if not said:
        return _Taken((), "unparsed")
    form = said[-1]
    states_fact = word(form.states_fact)
    pieces = tuple(
        _Piece(" ".join(claim.claim.split())[:LONGEST_CLAIM], exactly(claim.segment, sentence) or sentence)
        for claim in form.claims
        if claim.claim.strip()
    )
    if states_fact not in ("yes", "no"):
        return _Taken((), "unparsed")
    if len(said) > 1 or (states_fact == "yes") != bool(pieces):
        return _Taken((), "self_contradicted")
    return _Taken(tuple(sorted(dict.fromkeys(pieces), key=lambda piece: piece.origin.start)))
