"""The order in which a panel is asked.

Knows: so many judges are asked first as may decide alone, the others what these don't all clear; in a cascade the
first judge reads all. At one endpoint, of questions that show the same evidence the first is awaited and the rest
follow, so that the server's prefix cache holds the evidence when they come; everything else goes at once. Where
callbacks listen (a tracer, Studio), each judge's answer is a run of its own in the trace.
Does not know: what is asked, or what the answers mean.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from math import ceil
from typing import NamedTuple

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import RunnableLambda, ensure_config

from longproof.agent.types import Answered, Case, Claim, Failure, Judge, Judgement, Lines, Question
from longproof.agent.vote import SIDES, read_again
from longproof.retrieval.types import Span

Asked = tuple[Judge, Question]


class Cascade(NamedTuple):
    """The limits of what the other judges of a cascade read."""

    seed: int
    """Draws the claims that they read though the first judge cleared them."""
    whole: Collection[str] = ()
    """Ids of sentences that are taken apart where the first judge doubts them: the others read their parts."""


async def ask_panel(
    judges: Sequence[Judge], questions: Sequence[Question], claims: Mapping[str, Claim], case: Case
) -> list[Answered]:
    """Every question to every judge. The answers come in no particular order."""
    callbacks = ensure_config().get("callbacks")
    # A run of its own costs about 0.4 ms, more than a scripted judge; nobody needs it where nobody listens.
    traced = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks
    sharing: dict[tuple[str, tuple[object, ...]], list[Asked]] = {}
    for question in questions:
        for judge in judges:
            # A judge without a server is its own place.
            place = str(getattr(judge, "endpoint", None) or f"judge {judge.name}")
            sharing.setdefault((place, question.shown), []).append((judge, question))

    async def ask(judge: Judge, question: Question, about: list[Claim], _: object = None) -> Answered:
        return complete(await judge.judge(question, about, case), judge.name, question)

    async def ask_one(judge: Judge, question: Question) -> Answered:
        about = [claims[id_] for id_ in question.claim_ids]
        if not traced:
            return await ask(judge, question, about)
        seen = {"question": question.id, "look": question.look, "claims": [claim.text for claim in about]}
        return await RunnableLambda(partial(ask, judge, question, about), name=judge.name).ainvoke(seen)

    async def ask_in_order(pairs: Sequence[Asked]) -> list[Answered]:
        first = await ask_one(*pairs[0])
        return [first, *await asyncio.gather(*(ask_one(*pair) for pair in pairs[1:]))]

    answers = await asyncio.gather(*map(ask_in_order, sharing.values()))
    return list(chain.from_iterable(answers))


def needed_to_clear(panel: int, consensus: float) -> int:
    """The number of judges of a panel that decide alone where they take the same side: more than half of it."""
    return max(ceil(panel * consensus - 1e-9), panel // 2 + 1)


async def ask_until_clear(
    judges: Sequence[Judge],
    first: int,
    questions: Sequence[Question],
    claims: Mapping[str, Claim],
    case: Case,
    places: Mapping[str, Lines],
    cascade: Cascade | None = None,
) -> list[Answered]:
    """Every question to so many judges first; to the others what these don't all bear out, for the same side.

    Of a question about many places the others are shown the places of the claims that they are asked about
    (`places`, by id) and what the first cited. Where a spent budget kept the first from answering, the others are
    not asked either, and fail the same way. In a `cascade` the others are shown what the first judge doubts as it
    was, and read a random part of what it clears.
    """
    answers = await ask_panel(judges[:first], questions, claims, case)
    of_claim: dict[tuple[str, str], list[Judgement]] = {}
    for answer in answers:
        for word in answer.judgements:
            of_claim.setdefault((word.question_id, word.claim_id), []).append(word)
    left: list[Question] = []
    for question in questions:
        doubted: list[str] = []
        again: list[str] = []
        refused: list[str] = []
        quoted: set[Span] = set()
        for id_ in question.claim_ids:
            words = of_claim[question.id, id_]
            sides = {SIDES[word.label] if word.label else None for word in words}
            if sides in ({"supported"}, {"no_fact"}):
                if cascade and read_again(claims[id_], case, cascade.seed):
                    again.append(id_)
            elif any(word.failure == "over_budget" for word in words):
                refused.append(id_)
            # What the first judge failed to answer is no doubt of its: the others judge it as it stands.
            elif not cascade or id_ not in cascade.whole or sides == {None}:
                doubted.append(id_)
                quoted.update(*(word.quotes for word in words))
        if doubted and cascade:
            left.append(question.model_copy(update={"claim_ids": tuple(doubted)}))
        elif doubted:
            left.append(_narrow(question, doubted, places, quoted))
        if again:
            left.append(_narrow(question, again, places))
        if refused:
            unasked = question.model_copy(update={"claim_ids": tuple(refused)})
            silent = Answered([], [])
            answers += [complete(silent, judge.name, unasked, "over_budget") for judge in judges[first:]]
    return [*answers, *await ask_panel(judges[first:], left, claims, case)]


def _narrow(
    question: Question, ids: Sequence[str], places: Mapping[str, Lines], quoted: Collection[Span] = ()
) -> Question:
    """A question about some of its claims; where it is about places, it shows theirs and what is quoted alone."""
    narrowed = question.model_copy(update={"claim_ids": tuple(ids)})
    own = set(chain.from_iterable(places.get(id_, ()) for id_ in ids))
    numbers, texts = [], []
    for number, text in zip(question.numbers, question.shown, strict=False):
        if number in own or text in quoted:
            numbers.append(number)
            texts.append(text)
    if question.look != "place" or not numbers:
        return narrowed
    return narrowed.model_copy(update={"lines": (tuple(numbers),), "shown": tuple(texts)})


def complete(answer: Answered, judge: str, question: Question, failure: Failure = "unavailable") -> Answered:
    """The answer with exactly one judgement for each claim of the question.

    A claim that the judge said nothing of has this failure. A judge that says two things of one claim contradicts
    itself, and one that quotes only what wasn't shown is ungrounded.
    """
    said: dict[str, list[Judgement]] = {}
    for judgement in answer.judgements:
        if judgement.question_id == question.id:
            said.setdefault(judgement.claim_id, []).append(judgement)
    judgements: list[Judgement] = []
    for id_ in question.claim_ids:
        silent = Judgement(
            claim_id=id_, judge=judge, round=question.look, question_id=question.id, failure=failure
        )
        judgement = said.get(id_, [silent])[-1]
        why: Failure | None = None
        if len({one.label for one in said.get(id_, [])}) > 1:
            why = "self_contradicted"
        elif judgement.quotes and question.shown and not _was_shown(judgement.quotes, question.shown):
            why = "ungrounded"
        if why:
            judgement = silent.model_copy(update={"failure": why, "reason": judgement.reason})
        judgements.append(judgement)
    return answer._replace(judgements=judgements)


def _was_shown(quotes: Sequence[Span], shown: Sequence[Span]) -> bool:
    """True if one of these quotes shares a character with what was shown."""
    for quote in quotes:
        for span in shown:
            same_text = span.source_id == quote.source_id
            if same_text and span.start < quote.end and quote.start < span.end:
                return True
    return False
