"""Quintd-1: texts that models wrote from JSON, CSV or fact lists, error spans by crowd workers.

Law: the source is what stands between the fences of the input. Phones, ice hockey and weather are Python
literals there; they are read as literals (never run) and become JSON records. Health charts (CSV) and Wikidata
(a list of facts) stay text, a fact a line. Every annotation is a gold error named by its type. Incorrect (0) and
not checkable (1) spans make a text hallucinated; misleading or other spans alone leave it gray; a text without
spans is faithful, unless its flags say that it is neither correct nor merely incomplete: gray. A group is the
input. Slices: domain, model. MIT licence.
"""

import ast
import json
from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, keyed, place, rows
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, Source
from longproof.retrieval.types import BadInput

TYPES = ("incorrect", "not_checkable", "misleading", "other")
RECORDS = ("gsmarena", "ice_hockey", "openweather")
FENCE = "```"


def read(location: Location) -> Iterator[Example]:
    """All texts. The location is the folder with `texts.jsonl.gz` and `inputs.jsonl.gz`."""
    inputs = keyed(
        rows(location, "inputs.jsonl.gz"), lambda row: ((row["dataset"], row["table_idx"]), row["input"])
    )
    return converted(rows(location, "texts.jsonl.gz"), lambda row: [_example(row, inputs)])


def _example(row: Row, inputs: dict[tuple[str, int], str]) -> Example:
    given = inputs[row["dataset"], row["table_idx"]]
    return Example(
        id=f"{row['dataset']}-{row['table_idx']}-{row['model']}",
        task="article",
        sources=(_source(row["dataset"], given),),
        response=row["output"],
        group=f"{row['dataset']}-{row['table_idx']}",
        slices={"domain": row["dataset"], "model": row["model"]},
        gold=Gold(outcome=_outcome(row), errors=tuple(_errors(row))),
    )


def _source(domain: str, given: str) -> Source:
    data = given.split(FENCE)[1].strip()
    if domain not in RECORDS:
        return Source(text=data)
    try:
        record = ast.literal_eval(data)
    except (ValueError, SyntaxError) as error:
        raise BadInput(f"the {domain} input is not a Python literal") from error
    return Source(text=json.dumps(record, ensure_ascii=False), kind="record")


def _errors(row: Row) -> Iterator[GoldError]:
    for note in row["annotations"]:
        at = place(row["output"], note["start"], note["start"] + len(note["text"]))
        if at.text != note["text"]:
            raise BadInput(
                f"the gold says {note['text'][:40]!r} at {note['start']}, the text there is {at.text[:40]!r}"
            )
        yield GoldError(place=at, name=TYPES[note["type"]])


def _outcome(row: Row) -> GoldOutcome | None:
    types, flags = {note["type"] for note in row["annotations"]}, row["flags"]
    if types & {0, 1}:
        return "hallucinated"
    if types or not (flags["is_fully_correct"] or flags["is_missing"]):
        return None
    return "faithful"
