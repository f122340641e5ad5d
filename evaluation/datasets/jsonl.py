"""Any data set in the case file format of this project (JSON Lines), with gold.

A line: see `graphs/cases.py`; `label` is an outcome or one of the seven labels. Law: labels contradicting and
fabricated are hallucinated, the two supported ones faithful, the others gray; errors alone are an outcome, and so are
claims alone. Without label, errors and claims an example is run, but no score counts it.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from longproof.agent.types import LABELS, Place
from longproof.evaluation.datasets.reading import Location, Row, convert_rows, find_quote, rows
from longproof.evaluation.types import OUTCOME_OF, Example, Gold, GoldClaim, GoldError, GoldOutcome, Source
from longproof.graphs.cases import GivenCase, case_documents, given_case
from longproof.retrieval.types import BadInput, Document

OUTCOMES: dict[str, GoldOutcome] = {"faithful": "faithful", "hallucinated": "hallucinated"}


def load_cases(location: Location) -> Iterator[Example]:
    """All cases of a file, or of `cases.jsonl` in a folder."""
    path = Path(location)
    folder = path if path.is_dir() else path.parent
    return convert_rows(rows(path, "cases.jsonl"), partial(_example, folder=folder))


def _example(row: Row, folder: Path) -> Iterator[Example]:
    case = given_case(row)
    sources = tuple(map(_source, case_documents(case, folder)))
    yield Example(
        id=str(case.id),
        task=case.task,
        sources=sources,
        response=case.response,
        context=case.context or "",
        reference=case.reference,
        labels=case.labels,
        group=str(case.id if case.group is None else case.group),
        pair=case.pair,
        slices={name: str(value) for name, value in case.slices.items()},
        gold=_gold(case, sources),
    )


def _source(document: Document) -> Source:
    if document.kind == "record" and document.raw is not None:
        return Source(text=document.raw, kind="record", title=document.title)
    return Source(text=document.text, title=document.title)


def _gold(case: GivenCase, sources: tuple[Source, ...]) -> Gold:
    errors = None if case.errors is None else tuple(_errors(case))
    claims = None if case.claims is None else tuple(_claims(case, sources))
    outcome: GoldOutcome | None = None
    label = next((label for label in LABELS if label == case.label), None)
    if case.label is not None:
        if not label and case.label not in OUTCOMES:
            raise BadInput(f"label {case.label!r} is neither an outcome nor one of {', '.join(LABELS)}")
        outcome = OUTCOME_OF.get(label) if label else OUTCOMES[case.label]
    elif errors is not None:
        outcome = "hallucinated" if errors else "faithful"
    elif claims is not None:
        outcome = "hallucinated" if any(claim.hallucinated for claim in claims) else "faithful"
    return Gold(outcome=outcome, label=label, errors=errors, claims=claims)


def _errors(case: GivenCase) -> Iterator[GoldError]:
    for error in case.errors or ():
        place = Place(start=error.start, end=error.end, text=error.text)
        yield GoldError(place=place, kind=error.kind, correction=error.correction, reason=error.reason)


def _claims(case: GivenCase, sources: tuple[Source, ...]) -> Iterator[GoldClaim]:
    """The annotated claims; segments are found in the response in their order, evidence in the first source."""
    after = 0
    for claim in case.claims or ():
        origin = find_quote(case.response, claim.segment, after) if claim.segment else None
        after = origin.start if origin else after
        evidence = tuple(find_quote(sources[0].text, quote) for quote in claim.evidence)
        yield GoldClaim(text=claim.text, origin=origin, hallucinated=claim.hallucinated, evidence=evidence)
