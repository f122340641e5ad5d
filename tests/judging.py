"""Three claims of a response, one question about them, and a judge whose model answers as a script says."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fakes import ChatServer, Script
from reader import Asked, Reply, answer_of
from seam import using

from longproof.agent.judge import ModelJudge
from longproof.agent.models.model import Model
from longproof.agent.types import Answered, Case, Claim, Question
from longproof.retrieval.types import Document, Span

SOURCE = Document.of(
    "Mara rowed to the island at dawn. The old keeper gave her nine letters. She did not open them. "
    "In the evening the lamp went out, and nobody lit it again."
)
RESPONSE = Document.of(
    "Mara rowed to the island at dawn. The keeper gave her nineteen letters. She married the keeper."
)
TEXTS = (
    "Mara rowed to the island at dawn.",
    "The keeper gave her nineteen letters.",
    "She married the keeper.",
)
CASE = Case(id="case", response=RESPONSE.text, source_ids=(SOURCE.id,))
HANGING_S = 0.4
"""How long an answer is waited for: in process, only one that never comes takes so long."""


def origin(text: str) -> Span:
    start = RESPONSE.text.index(text)
    return RESPONSE.span(start, start + len(text))


CLAIMS = tuple(
    Claim(id=f"c{n}", index=n, sentence=n, text=text, origin=origin(text)) for n, text in enumerate(TEXTS)
)
QUESTION = Question(
    id="q",
    claim_ids=tuple(claim.id for claim in CLAIMS),
    shown=(SOURCE.span(0, 95), SOURCE.span(95, len(SOURCE.text))),
    look="window",
    prompt="judge",
)
GOOD: list[dict[str, Any]] = [
    {
        "claim": "C1",
        "quotes": ["Mara rowed to the island at dawn"],
        "label": "explicitly_supported",
    },
    {
        "claim": "C2",
        "quotes": ["The old keeper gave her nine letters.", "as the ferryman swore by the seven lamps"],
        "reason": "Nine, not nineteen.",
        "label": "contradicting",
        "kind": "numerical",
        "wrong": "nineteen",
        "correction": "nine",
    },
    {
        "claim": "C3",
        "quotes": [],
        "reason": "No marriage is told of here.",
        "label": "not_found",
        "kind": "relation",
    },
]
LINED = QUESTION.model_copy(
    update={
        "shown": (SOURCE.span(0, 33), SOURCE.span(34, 71), SOURCE.span(72, 94), SOURCE.span(95, 153)),
        "lines": ((7, 8, 9, 12),),
    }
)


def form(*items: dict[str, Any]) -> Reply:
    return Reply(json.dumps(answer_of(Asked(0, {"messages": [{"content": ""}]}, ""), items)))


def short(*supported: str, rest: Sequence[dict[str, Any]] = ()) -> Reply:
    return Reply(json.dumps({"short": supported, "rest": rest}))


def changed(n: int, **changes: Any) -> list[dict[str, Any]]:
    return [{**item, **changes} if k == n else item for k, item in enumerate(GOOD)]


def judged(
    script: Script,
    *,
    claims: Sequence[Claim] = CLAIMS,
    question: Question = QUESTION,
    case: Case = CASE,
    use: Callable[[Model], Awaitable[Answered]] | None = None,
    **settings: Any,
) -> tuple[Answered, ChatServer]:
    """The judgements of a judge whose model answers so."""

    async def ask(model: Model) -> Answered:
        return await ModelJudge("m", model).judge(question, claims, case)

    server = ChatServer(script)
    answered: Answered = using(server, use or ask, **{"timeout_s": HANGING_S, **settings})
    assert [j.claim_id for j in answered.judgements] == [claim.id for claim in claims]
    assert all((j.label is None) != (j.failure is None) for j in answered.judgements)
    return answered, server


def outcomes(answered: Answered) -> list[str | None]:
    return [j.label or j.failure for j in answered.judgements]


def askings(server: ChatServer) -> list[Asked]:
    """What was asked; trying the JSON schema before saying the form in words is not one more."""
    return [asked for asked in server.asked if asked.schema is None] or server.asked
