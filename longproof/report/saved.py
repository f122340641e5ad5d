"""Saved reports: opened again, checked, and joined with the texts that they point into.

Knows: a report names its sources by content, so that a file that changed since is not taken for the old one; and what
every report of ours keeps to: hashes, places that hold what they quote, indexes in range, counts that add up. A
damaged or altered one is refused, never shown. Does not know: how a report is shown.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from longproof.agent.cascade import ClearedAlone
from longproof.agent.report import left_unread, outcome
from longproof.agent.types import LABELS, Error, Report, ReportClaim, ReportDocument
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.files import home
from longproof.retrieval.loaders import read_source, refuse_irregular
from longproof.retrieval.types import BadInput, Document, Span, text_id


def open_report(path: Path) -> Report:
    """The report in a file. Raises BadInput where there is none, or it doesn't fit its response or itself."""
    try:
        refuse_irregular(path)
        found = Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a JSON report") from error
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("schema_version",):
            raise BadInput(
                f"{path} is a report of another edition: check its text again; no answer is paid for twice"
            ) from error
        place = ".".join(map(str, first["loc"]))
        what = f"report of this version: {place}" if place else "JSON report"
        raise BadInput(f"{path} is no {what}: {first['msg']}") from error
    try:
        refuse_damaged(found)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    return found


def texts_of(
    report: Report,
    sources: Sequence[Path],
    *,
    known: Mapping[str, str] | None = None,
    kept: str | None = None,
) -> dict[str, str]:
    """The texts of a report's documents by id: known ones, the files given, the recorded places, or the store.

    `kept` is the data folder, if it isn't the usual one.
    Raises BadInput where a source can't be found unchanged, a file given is none of them (its hash is its id), or a
    quote isn't what stands at its place.
    """
    given = {**(known or {})}
    for path in sources:
        document = read_source(path)
        if document.id not in {one.id for one in report.documents[1:]}:
            raise BadInput(
                f"{path} is no source of this report, or has changed: give the text that was checked"
            )
        given[document.id] = document.text
    texts = {report.documents[0].id: report.case.response}
    for named in report.documents[1:]:
        texts[named.id] = given.get(named.id) or _found(named, kept)
    refuse_wrong_texts(report, texts)
    return texts


def _found(document: ReportDocument, kept: str | None) -> str:
    read = _read(Path(document.uri)) if document.uri else None
    if read and read.id == document.id:
        return read.text
    try:
        return DocumentStore(home(kept) / "documents").text(document.id)
    except BadInput as error:
        name = document.title or document.uri or document.id
        raise BadInput(
            f"the source {name!r} is not where it was, or has changed: give it again (--source)"
        ) from error


def _read(path: Path) -> Document | None:
    try:
        return read_source(path) if path.is_file() else None
    except (BadInput, OSError):
        return None


_ID = re.compile(r"sha256:[0-9a-f]{64}")
MOST_DIGITS = 40
"""Of a whole number in a report: calls, tokens, characters. A larger one can't be divided, or shown."""


class _Quote(NamedTuple):
    """A place that a report names, by the document's id; without a text where only the place is told."""

    name: str
    document: str
    start: int
    end: int
    text: str | None


def refuse_damaged(report: Report) -> None:
    """Raises BadInput, with the first thing that is wrong, where a report doesn't fit its response or itself."""
    _documents(report)
    try:
        told = json.dumps([report.stamp, report.usage.model_dump()], allow_nan=False)
        json.loads(told, parse_int=_amount)
    except ValueError as error:
        raise _damaged(
            "its stamp or usage holds a number that JSON doesn't know, or no report has"
        ) from error
    for number, claim in enumerate(report.claims):
        if not 0 <= claim.sentence < len(report.sentences):
            raise _damaged(
                f"claims.{number}.sentence is {claim.sentence}, of {len(report.sentences)} sentences"
            )
    lengths = {document.id: document.characters for document in report.documents}
    for quote in _quotes(report):
        if quote.document not in lengths:
            raise _damaged(f"{quote.name} points into a document that it doesn't list")
        if not 0 <= quote.start <= quote.end <= lengths[quote.document]:
            raise _damaged(f"{quote.name} lies outside its document")
    refuse_wrong_texts(report, {report.documents[0].id: report.case.response})
    _sums(report)


def refuse_wrong_texts(report: Report, texts: Mapping[str, str]) -> None:
    """Raises BadInput where a quote isn't what stands at its place in one of these texts, given by id."""
    for document in report.documents:
        text = texts.get(document.id)
        if text is not None and (len(text) != document.characters or text_id(text) != document.id):
            raise _damaged(f"the {document.role} isn't the text that its hash names")
    for quote in _quotes(report):
        text = texts.get(quote.document)
        if text is not None and quote.text is not None and text[quote.start : quote.end] != quote.text:
            raise _damaged(f"{quote.name} quotes what doesn't stand at its place")


def _amount(digits: str) -> int:
    """The number of these digits. Raises ValueError for one that nothing in a report comes near."""
    if len(digits) > MOST_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


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
    labels = [sentence.label for sentence in report.sentences]
    checked = report.claims or "explicitly_supported" in labels
    unread = left_unread(report.triage, report.claims)
    if report.verdict != (outcome(labels, unread=unread) if checked else "undecided"):
        raise _damaged("its verdict isn't that of its sentences")
    judges = report.stamp.get("judges") or []
    if not isinstance(judges, list | tuple):
        raise _damaged("stamp.judges is no list")
    try:
        ClearedAlone.model_validate(report.stamp.get("cascade", {}))
    except ValidationError as error:
        raise _damaged("stamp.cascade is no count") from error
    money = report.stamp.get("money") or {}
    if not isinstance(money, dict) or not all(isinstance(one, float | int | None) for one in money.values()):
        raise _damaged("stamp.money is no amount")


def _quotes(report: Report) -> Iterator[_Quote]:
    response = report.documents[0].id
    for number, sentence in enumerate(report.sentences):
        yield _Quote(f"sentences.{number}", response, sentence.start, sentence.end, sentence.text)
    for number, claim in enumerate(report.claims):
        yield from _of_claim(f"claims.{number}", claim, response)
    for number, search in enumerate(report.searches):
        yield from (_span(f"searches.{number}.found", span) for span in search.found or ())


def _of_claim(name: str, claim: ReportClaim, response: str) -> Iterator[_Quote]:
    origin, window = claim.origin, claim.window
    yield _Quote(f"{name}.origin", response, origin.start, origin.end, origin.text)
    if window:
        yield _Quote(f"{name}.window", window.source_id, window.start, window.end, None)
    yield from (_span(f"{name}.evidence", span) for span in claim.evidence)
    yield from _errors(f"{name}.errors", claim.errors, response)
    for number, judgement in enumerate(claim.judgements):
        yield from (_span(f"{name}.judgements.{number}.quotes", span) for span in judgement.quotes)
        yield from _errors(f"{name}.judgements.{number}.errors", judgement.errors, response)


def _errors(name: str, errors: tuple[Error, ...], response: str) -> Iterator[_Quote]:
    """What is wrong lies in the response, whatever document the span says."""
    return (_span(name, error.span)._replace(document=response) for error in errors)


def _span(name: str, span: Span) -> _Quote:
    return _Quote(name, span.source_id, span.start, span.end, span.text)


def _damaged(what: str) -> BadInput:
    return BadInput(f"the report is damaged or was altered: {what}; check the text again to make a new one")
