"""The order in which a panel is asked.

Knows: at one endpoint, of questions that show the same evidence the first is awaited and the rest follow, so that the
server's prefix cache holds the evidence when they come; everything else goes at once. Where callbacks listen (a
tracer, Studio), each judge's answer is a run of its own in the trace.
Does not know: what is asked, or what the answers mean.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import RunnableLambda, ensure_config

from longproof.agent.cascade import clears, read_again
from longproof.agent.types import Answered, Case, Claim, Judge, Judgement, Question, SourcePlace
from longproof.retrieval.types import Span

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

    one = _traced(asked, claims) if _listened_to() else asked
    answers = await asyncio.gather(*(_first_then_rest(pairs, one) for pairs in sharing.values()))
    return list(chain.from_iterable(answers))


async def ask_cascade(
    judges: Sequence[Judge],
    questions: Sequence[Question],
    claims: Mapping[str, Claim],
    case: Case,
    seed: int,
    near: Mapping[str, Sequence[SourcePlace]],
) -> list[Answered]:
    """Every question to the first judge; to the others what it doesn't clear, and a random part of what it does.

    `near` has each claim's own place in the source, by id: of a place's question, which shows the places of many
    claims, the random few are shown theirs alone.
    """
    first = await ask_panel(judges[:1], questions, claims, case)
    said = (judgement for answer in first for judgement in answer.judgements)
    cleared = {(j.question_id, j.claim_id) for j in said if clears(j)}
    left: list[Question] = []
    for question in questions:
        passed = [id_ for id_ in question.claim_ids if (question.id, id_) in cleared]
        open_ = tuple(id_ for id_ in question.claim_ids if id_ not in passed)
        again = [id_ for id_ in passed if read_again(claims[id_], case, seed)]
        left += [question.model_copy(update={"claim_ids": open_})] if open_ else []
        left += [_narrowed(question, again, near)] if again else []
    return [*first, *await ask_panel(judges[1:], left, claims, case)]


def _narrowed(question: Question, ids: Sequence[str], near: Mapping[str, Sequence[SourcePlace]]) -> Question:
    """A question about some of its claims, which shows no more than their own places where it is about places."""
    asked = question.model_copy(update={"claim_ids": tuple(ids)})
    if question.round != "place" or not question.numbers:
        return asked
    places = [place for id_ in ids for place in near.get(id_, ())]
    lines = zip(question.numbers, question.shown, strict=True)
    kept = [(number, line) for number, line in lines if any(_touches(line, place) for place in places)]
    if not kept:
        return asked
    numbers, shown = zip(*kept, strict=True)
    return asked.model_copy(update={"numbers": numbers, "shown": shown, "starts": ()})


def _touches(line: Span, place: SourcePlace) -> bool:
    return line.source_id == place.source_id and line.start < place.end and place.start < line.end


def complete(answer: Answered, judge: str, question: Question) -> Answered:
    """The answer with a failure for each claim of the question that the judge said nothing of."""
    said = {one.claim_id for one in answer.judgements if one.question_id == question.id}
    silent = [
        Judgement(
            claim_id=id_, judge=judge, round=question.round, question_id=question.id, failure="unavailable"
        )
        for id_ in question.claim_ids
        if id_ not in said
    ]
    return answer._replace(judgements=[*answer.judgements, *silent]) if silent else answer


def endpoint(judge: Judge) -> str:
    """Where a judge's answers come from; a judge without a server is its own place."""
    return str(getattr(judge, "endpoint", None) or f"judge {judge.name}")


async def _first_then_rest(pairs: Sequence[Asked], one: Asks) -> list[Answered]:
    first = await one(*pairs[0])
    return [first, *await asyncio.gather(*(one(*pair) for pair in pairs[1:]))]


def _listened_to() -> bool:
    """A run of its own costs about 0.4 ms, more than a scripted judge; nobody needs it where nobody listens."""
    callbacks = ensure_config().get("callbacks")
    return bool(callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks)


def _traced(asks: Asks, claims: Mapping[str, Claim]) -> Asks:
    async def one(judge: Judge, question: Question) -> Answered:
        async def judged(_: Mapping[str, object]) -> Answered:
            return await asks(judge, question)

        texts = [claims[id_].text for id_ in question.claim_ids]
        seen = {"question": question.id, "round": question.round, "claims": texts}
        return await RunnableLambda(judged, name=judge.name).ainvoke(seen)

    return one
