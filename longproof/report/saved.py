"""Saved reports: opened again, checked, and joined with the texts that they point into.

Knows: a report names its sources by content, so that a file that changed since is not taken for the old one; and what
every report of ours keeps to: hashes, places that hold what they quote, indexes in range, counts that add up. A
damaged or altered one is refused, never shown. Does not know: how a report is shown.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from longproof.agent.cascade import ClearedAlone
from longproof.agent.report import counts_by_label, left_unread, outcome
from longproof.agent.types import Place, Report, ReportDocument, ReportSentence, SourcePlace
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.files import home
from longproof.retrieval.loaders import read_source, refuse_irregular
from longproof.retrieval.types import BadInput, Document, Span, text_id

MOST_DIGITS = 40
"""Of a whole number in a report: calls, tokens, characters. A larger one can't be divided, or shown."""
_ID = re.compile(r"sha256:[0-9a-f]{64}")


class _Stamp(BaseModel, strict=True, extra="ignore"):
    """The parts of the stamp that are shown."""

    judges: list[Any] | tuple[Any, ...] | None = None
    cascade: ClearedAlone | None = None
    money: dict[str, float | None] | None = None


_Quote = tuple[str, str, int, int, str | None]
"""A place that a report names: its name, its document's id, start, end; no text where only the place is told."""


def open_report(path: Path) -> Report:
    """The report in a file. Raises BadInput where there is none, or it doesn't fit its response or itself."""
    try:
        refuse_irregular(path)
        report = Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a JSON report") from error
    except ValidationError as error:
        raise BadInput(f"{path} is {_no_report(error)}") from error
    try:
        refuse_damaged(report)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    return report


def _no_report(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["loc"] == ("schema_version",):
        return "a report of another edition: check its text again; no answer is paid for twice"
    place = ".".join(map(str, first["loc"]))
    return f"no {f'report of this version: {place}' if place else 'JSON report'}: {first['msg']}"


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
        texts[named.id] = given.get(named.id) or _stored_text(named, kept)
    _refuse(_wrong_texts(report, texts))
    return texts


def _stored_text(document: ReportDocument, kept: str | None) -> str:
    """The text from where it was read, if it is still the same, else from the store."""
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


def refuse_damaged(report: Report) -> None:
    """Raises BadInput, with the first thing that is wrong, where a report doesn't fit its response or itself."""
    _refuse(_damages(report))


def _refuse(damages: Iterator[str]) -> None:
    for what in damages:
        raise BadInput(
            f"the report is damaged or was altered: {what}; check the text again to make a new one"
        )


def _damages(report: Report) -> Iterator[str]:
    """Tell what is wrong with a report. Each check relies on those before it."""
    roles = [document.role for document in report.documents]
    if roles[:1] != ["response"] or roles.count("response") != 1:
        yield "its first document, and no other, must be the response"
    for number, document in enumerate(report.documents):
        if not _ID.fullmatch(document.id) or document.characters < 0:
            yield f"documents.{number} has no hash or no length"
    yield from _wrong_numbers(report)
    for number, claim in enumerate(report.claims):
        if not 0 <= claim.sentence < len(report.sentences):
            yield f"claims.{number}.sentence is {claim.sentence}, of {len(report.sentences)} sentences"
    lengths = {document.id: document.characters for document in report.documents}
    for name, document_id, start, end, _ in _quotes(report):
        if document_id not in lengths:
            yield f"{name} points into a document that it doesn't list"
        elif not 0 <= start <= end <= lengths[document_id]:
            yield f"{name} lies outside its document"
    yield from _wrong_texts(report, {report.documents[0].id: report.case.response})
    if {**counts_by_label([]), **report.counts} != counts_by_label([claim.label for claim in report.claims]):
        yield "its counts aren't those of its claims"
    labels = [sentence.label for sentence in report.sentences]
    checked = report.claims or "explicitly_supported" in labels
    unread = left_unread(report.triage, report.claims, report.documents)
    if report.verdict != (outcome(labels, unread=unread) if checked else "undecided"):
        yield "its verdict isn't that of its sentences"


def _wrong_numbers(report: Report) -> Iterator[str]:
    try:
        numbers = json.dumps([report.stamp, report.usage.model_dump()], allow_nan=False)
        json.loads(numbers, parse_int=_amount)
    except ValueError:
        yield "its stamp or usage holds a number that JSON doesn't know, or no report has"
    try:
        _Stamp.model_validate(report.stamp)
    except ValidationError as error:
        yield f"stamp.{error.errors()[0]['loc'][0]} is not what it should be"


def _amount(digits: str) -> int:
    """The number of these digits. Raises ValueError for one that nothing in a report comes near."""
    if len(digits) > MOST_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


def _wrong_texts(report: Report, texts: Mapping[str, str]) -> Iterator[str]:
    """Tell which quote isn't what stands at its place in one of these texts, given by id."""
    for document in report.documents:
        text = texts.get(document.id)
        if text is not None and (len(text) != document.characters or text_id(text) != document.id):
            yield f"the {document.role} isn't the text that its hash names"
    for name, document_id, start, end, quoted in _quotes(report):
        text = texts.get(document_id)
        if text is not None and quoted is not None and text[start:end] != quoted:
            yield f"{name} quotes what doesn't stand at its place"


def _quotes(report: Report) -> Iterator[_Quote]:
    """Every place that a report names. What is wrong lies in the response, whatever document the span says."""
    response = report.documents[0].id
    for name in ("sentences", "claims", "searches"):
        yield from _quotes_in(getattr(report, name), name, response)


def _quotes_in(value: Any, name: str, response: str) -> Iterator[_Quote]:
    match value:
        case Span():
            document = response if ".errors." in name else value.source_id
            yield name, document, value.start, value.end, value.text
        case Place() | ReportSentence():
            yield name, response, value.start, value.end, value.text
        case SourcePlace():
            yield name, value.source_id, value.start, value.end, None
        case BaseModel():
            for field in type(value).model_fields:
                yield from _quotes_in(getattr(value, field), f"{name}.{field}", response)
        case tuple() | list():
            for number, one in enumerate(value):
                yield from _quotes_in(one, f"{name}.{number}", response)
