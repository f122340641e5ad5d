"""The offline judge asked about responses and sources given as plain text."""

import asyncio
from collections.abc import Sequence

from longproof.agent.offline import OfflineJudge
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.retrieval.types import Document


def judgement(sources: str | Sequence[str], response: str, claim: str = "") -> Judgement:
    """What the judge says of `claim`, which stands in the response (default: all of it), with all sources shown."""
    given, text = Document.of(response), claim or response
    start = response.index(text)
    origin = given.span(start, start + len(text))
    asked = Claim(id="c0", index=0, sentence=0, text=text, origin=origin)
    documents = [Document.of(text) for text in ([sources] if isinstance(sources, str) else sources)]
    shown = tuple(document.span(0, len(document.text)) for document in documents if document.text)
    question = Question(id="q0", claim_ids=("c0",), shown=shown, look="source", prompt="")
    answered = asyncio.run(OfflineJudge().judge(question, [asked], Case(id="case", response=response)))
    return answered.judgements[0]
