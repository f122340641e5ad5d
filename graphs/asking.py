"""The order in which a panel is asked.

Knows: at one endpoint, of questions that show the same evidence the first is awaited and the rest follow, so that the
server's prefix cache holds the evidence when they come; everything else goes at once. Each judge's answer is a run
of its own in traces.
Does not know: what is asked, or what the answers mean.
"""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain

from langchain_core.runnables import RunnableLambda

from longproof.agent.types import Answered, Case, Claim, Judge, Question

Seat = tuple[Judge, Question]


async def ask(
    judges: Sequence[Judge], questions: Sequence[Question], claims: Mapping[str, Claim], case: Case
) -> list[Answered]:
    """Every question to every judge. The answers come in no particular order."""
    lanes: dict[tuple[str, tuple[object, ...]], list[Seat]] = {}
    for question in questions:
        for judge in judges:
            lanes.setdefault((endpoint(judge), question.shown), []).append((judge, question))
    answers = await asyncio.gather(*(_in_turn(lane, claims, case) for lane in lanes.values()))
    return list(chain.from_iterable(answers))


def endpoint(judge: Judge) -> str:
    """Where a judge's answers come from; a judge without a server is its own place."""
    return str(getattr(judge, "endpoint", None) or f"judge {judge.name}")


async def _in_turn(lane: Sequence[Seat], claims: Mapping[str, Claim], case: Case) -> list[Answered]:
    first = await _one(*lane[0], claims, case)
    return [first, *await asyncio.gather(*(_one(*seat, claims, case) for seat in lane[1:]))]


async def _one(judge: Judge, question: Question, claims: Mapping[str, Claim], case: Case) -> Answered:
    asked = [claims[id_] for id_ in question.claim_ids]

    async def judged(_: Mapping[str, object]) -> Answered:
        return await judge.judge(question, asked, case)

    seen = {"question": question.id, "round": question.round, "claims": [claim.text for claim in asked]}
    return await RunnableLambda(judged, name=judge.name).ainvoke(seen)
