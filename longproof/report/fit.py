"""Whether a report that was written fits the texts that it points into, and itself.

Knows: what every report of ours keeps to: hashes, places that hold what they quote, indexes in range, counts that
add up. A damaged or altered one is refused, never shown. Does not know: where texts come from, or how a report is
shown.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from longproof.agent.report import outcome
from longproof.agent.types import LABELS, Error, Report, ReportClaim
from longproof.retrieval.types import BadInput, Span, text_id

_ID = re.compile(r"sha256:[0-9a-f]{64}")


class _Told(NamedTuple):
    """A place that a report tells of, by the document's id; without a text where only the place is told."""

    name: str
    document: str
    start: int
    end: int
    text: str | None


def refuse_misfit(report: Report) -> None:
    """Raises BadInput, with the first thing that is wrong, where a report doesn't fit its response or itself."""
    _documents(report)
    for number, claim in enumerate(report.claims):
        if not 0 <= claim.sentence < len(report.sentences):
            raise _damaged(
                f"claims.{number}.sentence is {claim.sentence}, of {len(report.sentences)} sentences"
            )
    lengths = {document.id: document.characters for document in report.documents}
    for told in _told(report):
        if told.document not in lengths:
            raise _damaged(f"{told.name} points into a document that it doesn't list")
        if not 0 <= told.start <= told.end <= lengths[told.document]:
            raise _damaged(f"{told.name} lies outside its document")
    refuse_misfit_texts(report, {report.documents[0].id: report.case.response})
    _sums(report)


def refuse_misfit_texts(report: Report, texts: Mapping[str, str]) -> None:
    """Raises BadInput where a quote isn't what stands at its place in one of these texts, given by id."""
    for document in report.documents:
        text = texts.get(document.id)
        if text is not None and (len(text) != document.characters or text_id(text) != document.id):
            raise _damaged(f"the {document.role} isn't the text that its hash names")
    for told in _told(report):
        text = texts.get(told.document)
        if text is not None and told.text is not None and text[told.start : told.end] != told.text:
            raise _damaged(f"{told.name} quotes what doesn't stand at its place")


def _documents(report: Report) -> None:
    roles = [document.role for document in report.documents]
    if roles[:1] != ["response"] or roles.count("response") != 1:
        raise _damaged("its first document, and no other, must be the response")
    for number, document in enumerate(report.documents):
        if not _ID.fullmatch(document.id) or document.characters < 0:
            raise _damaged(f"documents.{number} has no hash or no length")


def _sums(report: Report) -> None:
    counts = Counter(claim.label or "undecided" for claim in report.claims)
    if {name: n for name, n in report.counts.items() if n} != counts or not {*report.counts} <= {
        *LABELS,
        "undecided",
    }:
        raise _damaged("its counts aren't those of its claims")
    checked = report.claims or report.schema_version == 1
    if report.verdict != (outcome([s.label for s in report.sentences]) if checked else "undecided"):
        raise _damaged("its verdict isn't that of its sentences")
    judges = report.stamp.get("judges") or []
    if not isinstance(judges, list | tuple):
        raise _damaged("stamp.judges is no list")


def _told(report: Report) -> Iterator[_Told]:
    response = report.documents[0].id
    for number, sentence in enumerate(report.sentences):
        yield _Told(f"sentences.{number}", response, sentence.start, sentence.end, sentence.text)
    for number, claim in enumerate(report.claims):
        yield from _of_claim(f"claims.{number}", claim, response)
    for number, search in enumerate(report.searches):
        yield from (_span(f"searches.{number}.found", span) for span in search.found or ())


def _of_claim(name: str, claim: ReportClaim, response: str) -> Iterator[_Told]:
    origin, window = claim.origin, claim.window
    yield _Told(f"{name}.origin", response, origin.start, origin.end, origin.text)
    if window:
        yield _Told(f"{name}.window", window.source_id, window.start, window.end, None)
    yield from (_span(f"{name}.evidence", span) for span in claim.evidence)
    yield from _errors(f"{name}.errors", claim.errors, response)
    for number, judgement in enumerate(claim.judgements):
        yield from (_span(f"{name}.judgements.{number}.quotes", span) for span in judgement.quotes)
        yield from _errors(f"{name}.judgements.{number}.errors", judgement.errors, response)


def _errors(name: str, errors: tuple[Error, ...], response: str) -> Iterator[_Told]:
    """What is wrong lies in the response, whatever document the span says."""
    return (_span(name, error.span)._replace(document=response) for error in errors)


def _span(name: str, span: Span) -> _Told:
    return _Told(name, span.source_id, span.start, span.end, span.text)


def _damaged(what: str) -> BadInput:
    return BadInput(f"the report is damaged or was altered: {what}; check the text again to make a new one")
