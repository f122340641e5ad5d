"""A report in LongNovel's own form (seed 004, Appendix I.2), as its data and its scripts have it.

Knows: the Chinese names, sentences with their corrections put in. `has_hallucination` is None where nobody could
decide: the paper has no word for that, and a failure is never written as an answer.
Does not know: how answers in this form are read (recipes).
"""

from itertools import pairwise
from typing import TypedDict

from longproof.agent.types import Error, Report, ReportClaim, ReportSentence
from longproof.graphs.papers.longnovel import KIND_NAMES, NO, YES
from longproof.retrieval.types import Span

_ANSWERS: dict[str, str | None] = {"hallucinated": YES, "faithful": NO, "undecided": None}


class PaperDetail(TypedDict):
    """One wrong sentence. `hallucination_type` is empty where no kind was named."""

    hallucination_type: str
    hallucinated_sentence: str
    corrected_content: str
    reason: str


class PaperAnswer(TypedDict):
    """The answer on one summary."""

    has_hallucination: str | None
    details: list[PaperDetail]


def paper_answer(report: Report) -> PaperAnswer:
    """The report as LongNovel's JSON: one entry for each error, with the sentences that it touches."""
    details = [
        _detail(report, claim, error)
        for claim in report.claims
        if claim.label in ("contradicting", "fabricated")
        for error in claim.errors
    ]
    hallucinated = report.verdict == "hallucinated"
    return {"has_hallucination": _ANSWERS[report.verdict], "details": details if hallucinated else []}


def _detail(report: Report, claim: ReportClaim, error: Error) -> PaperDetail:
    kind = error.kind or ("fabrication" if claim.label == "fabricated" else None)
    touched = [s for s in report.sentences if s.start < error.span.end and error.span.start < s.end]
    return {
        "hallucination_type": KIND_NAMES[kind] if kind else "",
        "hallucinated_sentence": _text(report.case.response, touched),
        "corrected_content": _corrected(report.case.response, touched, error.span, error.correction)
        if error.correction
        else "",
        "reason": error.reason,
    }


def _text(response: str, touched: list[ReportSentence]) -> str:
    return response[touched[0].start : touched[-1].end] if touched else ""


def _corrected(response: str, touched: list[ReportSentence], wrong: Span, correction: str) -> str:
    if not touched:
        return correction
    places = pairwise((touched[0].start, wrong.start, wrong.end, touched[-1].end))
    before, _, after = (response[start:end] for start, end in places)
    return before + correction + after
