"""The order in which a panel is asked.

Knows: so many judges are asked first as may decide alone, the others what these don't all clear; in a cascade the
first judge reads all. At one endpoint, of questions that show the same evidence the first is awaited and the rest
follow, so that the server's prefix cache holds the evidence when they come; everything else goes at once. Where
callbacks listen (a tracer, Studio), each judge's answer is a run of its own in the trace.
Does not know: what is asked, or what the answers mean.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import chain
from math import ceil

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import RunnableLambda, ensure_config

from longproof.agent.types import Answered, Case, Claim, Failure, Judge, Judgement, Lines, Question
from longproof.agent.vote import SIDES, clears, read_again

Asked = tuple[Judge, Question]
Asks = Callable[[Judge, Question], Awaitable[Answered]]


async def ask_panel(
    judges: Sequence[Judge], questions: Sequence[Question], claims: Mapping[str, Claim], case: Case
) -> list[Answered]:
    """Every question to every judge. The answers come in no particular order."""
    sharing: dict[tuple[str, tuple[object, ...]], list[Asked]] = {}
    for question in questions:
        for judge in judges:
            sharing.setdefault((endpoint(judge), question.shown), []).append((judge, question))

    async def asked(judge: Judge, question: Question) -> Answered:
        answer = await judge.judge(question, [claims[id_] for id_ in question.claim_ids], case)
        return complete(answer, judge.name, question)

    one = _trace(asked, claims) if _listened_to() else asked
    answers = await asyncio.gather(*(_first_then_rest(pairs, one) for pairs in sharing.values()))
    return list(chain.from_iterable(answers))


def needed_to_clear(panel: int, consensus: float) -> int:
    """The number of judges of a panel that decide alone where they take the same side: more than half of it."""
    return max(ceil(panel * consensus - 1e-9), panel // 2 + 1)


async def ask_until_clear(
    judges: Sequence[Judge],
    needed: int,
    questions: Sequence[Question],
    claims: Mapping[str, Claim],
    case: Case,
    places: Mapping[str, Lines],
) -> list[Answered]:
    """Every question to as many judges as are needed; to the others what these don't all bear out.

    The others couldn't change what the first have cleared, all for the same side. Of a question about many places
    they are shown the places of the claims that they are asked about (`places`, by id) and what the first cited.
    Where a spent budget kept the first from answering, the others are not asked either, and fail the same way.
    """
    first = await ask_panel(judges[:needed], questions, claims, case)
    of_claim: dict[tuple[str, str], list[Judgement]] = {}
    for answer in first:
        for said in answer.judgements:
            of_claim.setdefault((said.question_id, said.claim_id), []).append(said)
    left: list[Question] = []
    unpaid: list[Answered] = []
    for question in questions:
        doubted: list[str] = []
        refused: list[str] = []
        seen = dict(places)
        for id_ in question.claim_ids:
            said_of = of_claim[question.id, id_]
            if any(said.failure == "over_budget" for said in said_of):
                refused.append(id_)
            elif not _agree(said_of):
                doubted.append(id_)
                seen[id_] = (*seen.get(id_, ()), *_cited(said_of, question))
        if doubted:
            left.append(_narrow(question, doubted, seen))
        unasked = question.model_copy(update={"claim_ids": tuple(refused)})
        silent = Answered([], [])
        unpaid += [complete(silent, judge.name, unasked, "over_budget") for judge in judges[needed:]]
    return [*first, *await ask_panel(judges[needed:], left, claims, case), *unpaid]


def _agree(said: Sequence[Judgement]) -> bool:
    """True if all of these bear a claim out, or all find no fact in it."""
    sides = {SIDES[one.label] if one.label else None for one in said}
    return sides in ({"supported"}, {"no_fact"})


def _cited(said: Sequence[Judgement], question: Question) -> list[int]:
    """The numbers of the lines of a question that are quoted."""
    quoted = {quote for one in said for quote in one.quotes}
    return [number for number, text in zip(question.numbers, question.shown, strict=False) if text in quoted]


async def ask_cascade(
    judges: Sequence[Judge],
    questions: Sequence[Question],
    claims: Mapping[str, Claim],
    case: Case,
    seed: int,
    places: Mapping[str, Lines],
    whole: Collection[str] = (),
) -> list[Answered]:
    """Every question to the first judge; to the others what it doesn't clear, and a random part of what it does.

    `whole` are ids of sentences that are taken apart where the first judge doubts them: the others read their parts.

    `places` has the lines of each claim's own place, by id: of a place's question, which shows the places of many
    claims, the random few are shown theirs alone.
    """
    first = await ask_panel(judges[:1], questions, claims, case)
    said = [judgement for answer in first for judgement in answer.judgements]
    cleared = {(j.question_id, j.claim_id) for j in said if clears(j)}
    # What the first judge failed to answer is no doubt of its: the others judge it as it stands.
    apart = {j.claim_id for j in said if j.label is not None} & set(whole)
    left: list[Question] = []
    for question in questions:
        passed = [id_ for id_ in question.claim_ids if (question.id, id_) in cleared]
        doubted = tuple(id_ for id_ in question.claim_ids if id_ not in passed and id_ not in apart)
        again = [id_ for id_ in passed if read_again(claims[id_], case, seed)]
        if doubted:
            left.append(question.model_copy(update={"claim_ids": doubted}))
        if again:
            left.append(_narrow(question, again, places))
    return [*first, *await ask_panel(judges[1:], left, claims, case)]


def _narrow(question: Question, ids: Sequence[str], places: Mapping[str, Lines]) -> Question:
    """A question about some of its claims, which shows no more than their own places where it is about places."""
    narrowed = question.model_copy(update={"claim_ids": tuple(ids)})
    own = {number for id_ in ids for number in places.get(id_, ())}
    numbers, texts = [], []
    for number, text in zip(question.numbers, question.shown, strict=False):
        if number in own:
            numbers.append(number)
            texts.append(text)
    if question.look != "place" or not numbers:
        return narrowed
    return narrowed.model_copy(update={"lines": (tuple(numbers),), "shown": tuple(texts)})


def complete(answer: Answered, judge: str, question: Question, failure: Failure = "unavailable") -> Answered:
    """The answer with a failure for each claim of the question that the judge said nothing of."""
    said = {one.claim_id for one in answer.judgements if one.question_id == question.id}
    silent = [
        Judgement(claim_id=id_, judge=judge, round=question.look, question_id=question.id, failure=failure)
        for id_ in question.claim_ids
        if id_ not in said
    ]
    return answer._replace(judgements=[*answer.judgements, *silent]) if silent else answer


def endpoint(judge: Judge) -> str:
    """The server that a judge's answers come from; a judge without a server is its own place."""
    return str(getattr(judge, "endpoint", None) or f"judge {judge.name}")


async def _first_then_rest(pairs: Sequence[Asked], one: Asks) -> list[Answered]:
    first = await one(*pairs[0])
    return [first, *await asyncio.gather(*(one(*pair) for pair in pairs[1:]))]


def _listened_to() -> bool:
    """A run of its own costs about 0.4 ms, more than a scripted judge; nobody needs it where nobody listens."""
    callbacks = ensure_config().get("callbacks")
    return bool(callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks)


def _trace(asks: Asks, claims: Mapping[str, Claim]) -> Asks:
    async def one(judge: Judge, question: Question) -> Answered:
        async def judged(_: Mapping[str, object]) -> Answered:
            return await asks(judge, question)

        texts = [claims[id_].text for id_ in question.claim_ids]
        seen = {"question": question.id, "look": question.look, "claims": texts}
        return await RunnableLambda(judged, name=judge.name).ainvoke(seen)

    return one
