"""The offline judge asked about responses and sources given as plain text."""

import asyncio
from collections.abc import Sequence

from longproof.agent.offline import OfflineJudge
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.retrieval.types import Document


def judgement(sources: str | Sequence[str], response: str, claim: str = "") -> Judgement:
    """What the judge says of `claim` (default: the whole response) with all of the sources shown."""
    return judgements(sources, response, [claim or response])[0]


def judgements(sources: str | Sequence[str], response: str, told: Sequence[str]) -> list[Judgement]:
    """What it says of several claims of a response, each word for word in it, in one question."""
    given = Document.of(response)
    claims = []
    for index, text in enumerate(told):
        start = response.index(text)
        origin = given.span(start, start + len(text))
        claims.append(Claim(id=f"c{index}", index=index, sentence=0, text=text, origin=origin))
    documents = [Document.of(text) for text in ([sources] if isinstance(sources, str) else sources)]
    shown = tuple(document.span(0, len(document.text)) for document in documents if document.text)
    case, judge = Case(id="case", response=response), OfflineJudge()
    found: list[Judgement] = []
    for at in range(0, len(claims), 8):
        asked = claims[at : at + 8]
        ids = tuple(claim.id for claim in asked)
        question = Question(id=f"q{at}", claim_ids=ids, shown=shown, look="source", prompt="")
        found += asyncio.run(judge.judge(question, asked, case)).judgements
    return found
