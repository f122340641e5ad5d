"""What a page carries: the report and its texts, each character of a text once.

Knows: the short form that `model.js` reads back: a span is `[document number, start, end]`, with its text only
where that document's text isn't carried; what is empty is left out. Does not know: how it is drawn.
"""

from collections.abc import Callable, Mapping
from typing import Any

from longproof.agent.types import Judgement, Report, ReportClaim
from longproof.report.findings import language
from longproof.retrieval.types import Span

Short = list[Any]
"""`[document number, start, end]`, or the same with the text after it."""


def carried(report: Report, texts: Mapping[str, str]) -> dict[str, Any]:
    """The report in the page's short form. `texts` are the checked ones."""
    numbers = {document.id: number for number, document in enumerate(report.documents)}

    def span(given: Span) -> Short:
        place: Short = [numbers.get(given.source_id, -1), given.start, given.end]
        return place if given.source_id in texts else [*place, given.text]

    return {
        "case": {"id": report.case.id, "response": report.case.response},
        "verdict": report.verdict,
        "stamp": report.stamp,
        "documents": [
            {**document.model_dump(), **_text(texts.get(document.id), document.role)}
            for document in report.documents
        ],
        "sentences": [[sentence.start, sentence.end, sentence.label] for sentence in report.sentences],
        "claims": [_claim(claim, span, numbers) for claim in report.claims],
    }


def _text(text: str | None, role: str) -> dict[str, Any]:
    """The response's text isn't repeated: it stands in the case."""
    if text is None:
        return {}
    return {"language": language(text)} if role == "response" else {"language": language(text), "text": text}


def _claim(claim: ReportClaim, span: Callable[[Span], Short], numbers: Mapping[str, int]) -> dict[str, Any]:
    window = claim.window
    return _filled(
        text=claim.text,
        sentence=claim.sentence,
        window=[numbers[window.source_id], window.start, window.end]
        if window and window.source_id in numbers
        else None,
        label=claim.label,
        failure=claim.failure,
        decided_by=claim.decided_by,
        errors=[error.model_dump(exclude={"span": {"source_id"}}) for error in claim.errors],
        readings=[reading.model_dump() for reading in claim.readings],
        evidence=[span(given) for given in claim.evidence],
        judgements=[_judgement(judgement, span) for judgement in claim.judgements],
        caveat=claim.caveat,
    )


def _judgement(judgement: Judgement, span: Callable[[Span], Short]) -> dict[str, Any]:
    return _filled(
        judge=judgement.judge,
        round=judgement.round,
        label=judgement.label,
        failure=judgement.failure,
        reason=judgement.reason,
        quotes=[span(given) for given in judgement.quotes],
        quotes_dropped=judgement.quotes_dropped,
    )


def _filled(**given: Any) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value or key == "sentence"}
