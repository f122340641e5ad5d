"""Any data set in the case file format of this project (JSON Lines), with gold.

A line: `id`, `response`, and one of `source_text` (a text, a list of texts, or a JSON record), `source` (a path, or a
JSON record) or `sources` (paths), all relative to the file; optional `task` (summary), `context`, `reference`,
`labels` (what an audit is given, one a sentence), `label` (an outcome or one of the seven labels), `errors` (objects
with `start`, `end`, `text`, and `kind`, `correction`, `reason` where known), `claims`, `group`, `pair`, `slices`. A
claim has `text`, `segment` (the words of the response that it came from), `hallucinated`, and `evidence` (quotes of
the first source). Law: labels contradicting and fabricated are hallucinated, the two supported ones faithful, the
others gray. Rows from a hub may not name paths. Without label, errors and claims an example is run, but no score
counts it.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from longproof.agent.types import LABELS, Place
from longproof.evaluation.datasets.reading import HUB, Location, Row, converted, find_quote, rows
from longproof.evaluation.types import (
    OUTCOME_OF,
    Example,
    Gold,
    GoldClaim,
    GoldError,
    GoldEvidence,
    GoldOutcome,
    Source,
)
from longproof.retrieval.types import BadInput

OUTCOMES: dict[str, GoldOutcome] = {"faithful": "faithful", "hallucinated": "hallucinated"}


def load_cases(location: Location) -> Iterator[Example]:
    """All cases of a file, or of `cases.jsonl` in a folder."""
    path = Path(location)
    folder = None if str(location).startswith(HUB) else path if path.is_dir() else path.parent
    return converted(rows(location, "cases.jsonl"), partial(_case, folder=folder))


def _case(row: Row, folder: Path | None) -> Iterator[Example]:
    sources = tuple(_sources(row, folder))
    yield Example(
        id=str(row["id"]),
        task=row.get("task") or "summary",
        sources=sources,
        response=row["response"],
        context=row.get("context") or "",
        reference=row.get("reference"),
        labels=row.get("labels"),
        group=str(row.get("group", row["id"])),
        pair=row.get("pair"),
        slices={name: str(value) for name, value in (row.get("slices") or {}).items()},
        gold=_with_claims(_gold(row), row, sources),
    )


def _sources(row: Row, folder: Path | None) -> Iterator[Source]:
    given = row["source"] if isinstance(row.get("source"), dict) else row.get("source_text") or []
    if isinstance(given, dict):
        yield Source(text=json.dumps(given, ensure_ascii=False), kind="record")
    else:
        yield from (Source(text=text) for text in ([given] if isinstance(given, str) else given))
    paths = [row["source"]] if isinstance(row.get("source"), str) else row.get("sources") or []
    if paths and folder is None:
        raise BadInput("a row from a hub names a path; give source_text instead")
    for path in paths:
        yield _document(Path(folder or ".") / path)


def _document(path: Path) -> Source:
    from longproof.retrieval.loaders import read_document

    document = read_document(path)
    if document.kind == "record" and document.raw is not None:
        return Source(text=document.raw, kind="record", title=document.title)
    return Source(text=document.text, title=document.title)


def _gold(row: Row) -> Gold:
    name, errors = row.get("label"), row.get("errors")
    if name is not None and name not in LABELS and name not in OUTCOMES:
        raise BadInput(f"label {name!r} is neither an outcome nor one of {', '.join(LABELS)}")
    marked = None if errors is None else tuple(map(_error, errors))
    if name is None and marked is not None:
        return Gold(outcome="hallucinated" if marked else "faithful", errors=marked)
    if name in LABELS:
        return Gold(outcome=OUTCOME_OF.get(name), label=name, errors=marked)
    return Gold(outcome=OUTCOMES.get(str(name)), errors=marked)


def _with_claims(gold: Gold, row: Row, sources: tuple[Source, ...]) -> Gold:
    """The gold with its annotated claims; they tell the outcome where nothing else does."""
    if row.get("claims") is None:
        return gold
    claims = tuple(_claims(row, sources))
    if row.get("label") is None and row.get("errors") is None:
        wrong = any(claim.hallucinated for claim in claims)
        gold = Gold(outcome="hallucinated" if wrong else "faithful")
    return gold.model_copy(update={"claims": claims})


def _claims(row: Row, sources: tuple[Source, ...]) -> Iterator[GoldClaim]:
    """The annotated claims; segments are found in the response in their order, evidence in the first source."""
    after = 0
    for claim in row["claims"]:
        origin = find_quote(row["response"], claim["segment"], after) if claim.get("segment") else None
        after = origin.start if origin else after
        quotes = [find_quote(sources[0].text, quote) for quote in claim.get("evidence") or []]
        yield GoldClaim(
            text=claim["text"],
            origin=origin,
            hallucinated=bool(claim["hallucinated"]),
            evidence=tuple(GoldEvidence(source=0, place=place) for place in quotes),
        )


def _error(row: Row) -> GoldError:
    at = Place(start=row["start"], end=row["end"], text=row["text"])
    return GoldError(
        place=at,
        kind=row.get("kind"),
        correction=row.get("correction", ""),
        reason=row.get("reason", ""),
    )
