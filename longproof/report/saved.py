"""Saved reports: opened again, checked, and joined with the texts that they point into.

Knows: a report names its sources by content, so that a file that changed since is not taken for the old one; and what
every report of ours keeps to: hashes, places that hold what they quote, indexes in range, counts that add up.
Does not know: how a report is shown.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from longproof.agent.report import ClearedAlone, figures
from longproof.agent.types import Report
from longproof.indexes.documents import DocumentStore
from longproof.retrieval.files import home, read_whole
from longproof.retrieval.loaders import read_source
from longproof.retrieval.types import BadInput, first_fault, text_id

_ID = re.compile(r"sha256:[0-9a-f]{64}")
_ENDLESS = re.compile(r"[\[:,] -?\d{40}")
"""A whole number in JSON that can't be divided, or shown: no calls, tokens or characters come near."""


class _Stamp(BaseModel, strict=True, extra="ignore"):
    """The parts of the stamp that are shown."""

    judges: list[Any] | tuple[Any, ...] | None = None
    cascade: ClearedAlone | None = None
    money: dict[str, float | None] | None = None


def open_report(path: Path) -> Report:
    """The report in a file. Raises BadInput where there is none, or it doesn't fit its response or itself."""
    try:
        report = Report.model_validate_json(read_whole(path))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; give a JSON report") from error
    except ValidationError as error:
        place, fault = first_fault(error)
        why = f"no {f'report of this version: {place}' if place else 'JSON report'}: {fault}"
        if place == "schema_version":
            why = "a report of another edition: check its text again; no answer is paid for twice"
        raise BadInput(f"{path} is {why}") from error
    refuse_damaged(report, where=f"{path}: ")
    return report


def texts_of(
    report: Report,
    sources: Sequence[Path],
    *,
    known: Mapping[str, str] | None = None,
    kept: str | None = None,
) -> dict[str, str]:
    """The texts of a report's documents by id: known ones, the files given, or those in the store.

    `kept` is the data folder, if it isn't the usual one. Raises BadInput where a source isn't there, a file given is
    none of them (its hash is its id), or a quote isn't what stands at its place.
    """
    given, named_ids = {**(known or {})}, {one.id for one in report.documents[1:]}
    for path in sources:
        document = read_source(path)
        if document.id not in named_ids:
            raise BadInput(
                f"{path} is no source of this report, or has changed: give the text that was checked"
            )
        given[document.id] = document.text
    texts, store = {report.documents[0].id: report.case.response}, DocumentStore(home(kept) / "documents")
    for named in report.documents[1:]:
        try:
            texts[named.id] = given.get(named.id) or store.text(named.id)
        except BadInput as error:
            name = named.title or named.uri or named.id
            raise BadInput(
                f"the text of the source {name!r} is gone from the data folder: give it again (--source)"
            ) from error
    refuse_damaged(report, texts)
    return texts


def refuse_damaged(report: Report, texts: Mapping[str, str] | None = None, where: str = "") -> None:
    """Raises BadInput, with the first fault, where a report doesn't fit itself, or these texts of its documents."""
    for what in _damages(report) if texts is None else _wrong_texts(report, texts):
        raise BadInput(
            f"{where}the report is damaged or was altered: {what}; check the text again to make a new one"
        )


def _damages(report: Report) -> Iterator[str]:
    """Tell what is wrong with a report. Each check relies on those before it."""
    roles = [document.role for document in report.documents]
    if roles[:1] != ["response"] or roles.count("response") != 1:
        yield "its first document, and no other, must be the response"
    for number, document in enumerate(report.documents):
        if not _ID.fullmatch(document.id) or document.characters < 0:
            yield f"documents.{number} has no hash or no length"
    try:
        numbers = json.dumps([report.stamp, report.usage.model_dump()], allow_nan=False)
    except ValueError:  # NaN, or an integer of more digits than Python writes
        numbers = ", " + "9" * 40
    if _ENDLESS.search(numbers):
        yield "its stamp or usage holds a number that JSON doesn't know, or no report has"
    try:
        _Stamp.model_validate(report.stamp)
    except ValidationError as error:
        yield f"stamp.{error.errors()[0]['loc'][0]} is not what it should be"
    for number, claim in enumerate(report.claims):
        if not 0 <= claim.sentence < len(report.sentences):
            yield f"claims.{number}.sentence is {claim.sentence}, of {len(report.sentences)} sentences"
    lengths = {document.id: document.characters for document in report.documents}
    for name, document_id, place in _places(report):
        if document_id not in lengths:
            yield f"{name} points into a document that it doesn't list"
        elif not 0 <= place["start"] <= place["end"] <= lengths[document_id]:
            yield f"{name} lies outside its document"
    yield from _wrong_texts(report, {report.documents[0].id: report.case.response})
    found = figures(report.sentences, report.claims, report.documents, triage=report.triage)
    if {**dict.fromkeys(found.counts, 0), **report.counts} != found.counts:
        yield "its counts aren't those of its claims"
    if report.verdict != found.verdict:
        yield "its verdict isn't that of its sentences"


def _wrong_texts(report: Report, texts: Mapping[str, str]) -> Iterator[str]:
    """Tell which quote isn't what stands at its place in one of these texts, given by id."""
    for document in report.documents:
        text = texts.get(document.id)
        if text is not None and (len(text) != document.characters or text_id(text) != document.id):
            yield f"the {document.role} isn't the text that its hash names"
    for name, document_id, place in _places(report):
        text, quote = texts.get(document_id), place.get("text")
        if text is not None and quote is not None and text[place["start"] : place["end"]] != quote:
            yield f"{name} quotes what doesn't stand at its place"


def _places(report: Report) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every place that a report names, with the place's own name and the id of its document. What is wrong lies in
    the response, whatever document the span says."""
    response = report.documents[0].id
    values: list[tuple[str, Any]] = [*report.model_dump(include={"sentences", "claims", "searches"}).items()]
    while values:
        name, value = values.pop()
        if isinstance(value, dict) and "start" in value:
            in_response = ".errors." in name or not value.get("source_id")
            yield name, response if in_response else value["source_id"], value
        elif isinstance(value, dict | list | tuple):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            values += [(f"{name}.{key}", one) for key, one in inside]
