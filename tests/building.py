"""Reports put together by hand, sentence by sentence; verdicts go through the real counting of `agent.report`."""

from typing import Any

from longproof.agent.report import report as make_report
from longproof.agent.types import (
    Call,
    Case,
    Error,
    Judgement,
    Place,
    Report,
    ReportClaim,
    ReportDocument,
    SourcePlace,
)
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document, Span

Built = tuple[Report, dict[str, str]]


class Builder:
    """Puts a report together sentence by sentence; every sentence is one claim."""

    def __init__(self, response: str, *sources: Document, triage: bool = False, **stamp: Any) -> None:
        self.response, self.sources = Document.of(response), sources
        self.triage, self.stamp = triage, stamp
        self.spans = [self.response.span(start, end) for start, end in sentences(response)]
        self.claims: list[ReportClaim] = []
        self.calls: list[Call] = []

    def quote(self, text: str, source: int = 0) -> Span:
        document = self.sources[source]
        start = document.text.index(text)
        return document.span(start, start + len(text))

    def error(self, wrong: str, kind: Any = None, correction: str = "", reason: str = "") -> Error:
        start = self.response.text.index(wrong)
        span = self.response.span(start, start + len(wrong))
        return Error(span=span, kind=kind, correction=correction, reason=reason)

    def says(self, label: Any, *quotes: Span, window: tuple[int, int] | None = None, **given: Any) -> None:
        number = len(self.claims)
        span, id_ = self.spans[number], f"c{number}"
        judgements = [one.model_copy(update={"claim_id": id_}) for one in given.pop("judgements", ())]
        place = window and SourcePlace(source_id=self.sources[0].id, start=window[0], end=window[1])
        about = {"decided_by": "vote" if label else "nobody", "failure": None, **given}
        origin = Place(start=span.start, end=span.end, text=span.text)
        claim = ReportClaim(
            id=id_, text=span.text, sentence=number, origin=origin, window=place, label=label, evidence=quotes,
            judgements=tuple(judgements), **about,
        )  # fmt: skip
        self.claims.append(claim)

    def build(self, case_id: str = "case") -> Built:
        documents = []
        for one, role in [(self.response, "response"), *((source, "source") for source in self.sources)]:
            fields = {name: getattr(one, name) for name in ("id", "kind", "title", "uri")}
            documents.append(ReportDocument(role=role, characters=len(one.text), **fields))
        report = make_report(
            case=Case(id=case_id, response=self.response.text, source_ids=tuple(s.id for s in self.sources)),
            documents=documents,
            claims=self.claims,
            calls=self.calls,
            stamp=self.stamp,
            triage=self.triage,
        )
        return report, {document.id: document.text for document in (self.response, *self.sources)}


def judgement(judge: str, label: Any = None, round: Any = "window", **given: Any) -> Judgement:  # noqa: A002
    return Judgement(claim_id="", judge=judge, round=round, question_id="q", label=label, **given)


def call(number: int) -> Call:
    counts: dict[str, Any] = {"prompt_characters": 500, "prompt_tokens": 300, "completion_tokens": 40}
    about = {"purpose": "judge", "endpoint": "http://127.0.0.1:1/v1", "model": "m", "prompt_hash": "h"}
    return Call(id=f"call{number}", **about, **counts)
