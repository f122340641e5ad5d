"""OCNLI: does a Chinese sentence follow from another. One-sentence sources: a check of the judge alone.

Law: sentence1 is the source, sentence2 the response. entailment is implicitly_supported (faithful),
contradiction is contradicting, neutral is fabricated (both hallucinated). Slices: domain, pattern (the label).
A group is the premise. CC BY-NC 2.0: not for commercial use.
"""

from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, rows
from longproof.evaluation.types import Example, Gold, Source

GOLD = {
    "entailment": Gold(outcome="faithful", label="implicitly_supported"),
    "neutral": Gold(outcome="hallucinated", label="fabricated"),
    "contradiction": Gold(outcome="hallucinated", label="contradicting"),
}


def read(location: Location) -> Iterator[Example]:
    """All hypotheses of `records.jsonl`."""
    return converted(rows(location, "records.jsonl"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    return Example(
        id=str(row["id"]),
        task="summary",
        sources=(Source(text=row["sentence1"]),),
        response=row["sentence2"],
        group=row["prem_id"],
        slices={"domain": row["genre"], "pattern": row["label"]},
        gold=GOLD[row["label"]],
    )
