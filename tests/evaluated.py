"""Stand-ins for evaluation: reports made from a script, and a checker that gives them."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from longproof.agent.report import report, reported_claim
from longproof.agent.types import (
    Case,
    Claim,
    Decision,
    Error,
    Judgement,
    Label,
    Report,
    ReportClaim,
    ReportDocument,
)
from longproof.evaluation.results import Result
from longproof.retrieval.types import BadInput, Document


def cut(text: str) -> list[tuple[int, int]]:
    """Sentences that end with a full stop or a line break, plainly."""
    return [match.span() for match in re.finditer(r"[^.。\s][^.。\n]*[.。]?", text)]


def scripted_report(
    response: str, labels: Sequence[Label | None], source: str = "source", wrong: Sequence[str] = ()
) -> Report:
    """A report with one claim a sentence, labelled in order; `wrong` names the words that are marked."""
    document, given = Document.of(response), Document.of(source)
    spans = [document.span(start, end) for start, end in cut(response)]
    claims = [
        Claim(id=f"c{i}", index=i, sentence=i, text=span.text, origin=span) for i, span in enumerate(spans)
    ]
    assert len(claims) == len(labels), f"{len(claims)} sentences, {len(labels)} labels"
    return report(
        case=Case(id="case", response=response),
        documents=[
            ReportDocument(id=document.id, role="response", kind="text", characters=len(response)),
            ReportDocument(id=given.id, role="source", kind="text", characters=len(source)),
        ],
        claims=[_reported(c, label, document, wrong) for c, label in zip(claims, labels, strict=True)],
        stamp={},
    )


def _reported(claim: Claim, label: Label | None, document: Document, wrong: Sequence[str]) -> ReportClaim:
    errors = list[Error]()
    for word in wrong:
        if word in claim.text:
            at = document.text.find(word, claim.origin.start)
            errors.append(Error(span=document.span(at, at + len(word))))
    said: dict[str, Any] = {"label": label, "failure": None if label else "unparsed"}
    about: dict[str, Any] = {"claim_id": claim.id, "judge": "fake", "round": "source", "question_id": "q"}
    judgement = Judgement(**about, errors=tuple(errors), **said)
    return reported_claim(claim, [judgement], Decision(decided_by="vote", **said), "q")


class FakeChecker:
    """Calls a response that holds `wrong` contradicting there, one that holds `unsure` undecided.

    Counts its calls; stops with `error` once it has answered `answers` of them.
    """

    def __init__(self, answers: int | None = None, error: BaseException | None = None) -> None:
        self.asked: list[str] = []
        self.closed = 0
        self._answers, self._error = answers, error or RuntimeError("stopped")

    async def close(self) -> None:
        self.closed += 1

    async def check(self, documents: Sequence[Document], case: Case) -> Report:
        await asyncio.sleep(0)
        if self._answers is not None and len(self.asked) >= self._answers:
            raise self._error
        self.asked.append(case.id)
        if not case.response.strip():
            raise BadInput("the response is empty; give a text")
        text = "\n".join(document.text for document in documents)
        labels: list[Label | None] = [
            "contradicting" if "wrong" in said else None if "unsure" in said else "explicitly_supported"
            for said in (case.response[start:end] for start, end in cut(case.response))
        ]
        return scripted_report(case.response, labels, text, ["wrong"])


def line(example: str, gold: str | None, predicted: str, group: str = "", **slices: str) -> Result:
    """A result with nothing but outcomes."""
    about = {"name": example, "id": example, "key": "", "group": group or example, "slices": slices}
    about |= {"state": "done", "task": "summary", "repeat": 0, "pair": None, "source_characters": 1}
    said = {"gold": {"outcome": gold}, "prediction": {"outcome": predicted}, "verdict": predicted}
    return Result.model_validate({**about, **said})
