"""BEGIN: is a dialogue turn fully attributable to the knowledge it was given.

Law: the knowledge is the source, the message before the context. Fully attributable is faithful; Not fully
attributable is hallucinated; Generic has no fact to attribute: label no_fact, gray, no outcome. A group is the
knowledge. Slice: domain (wow or cmu). CC BY 4.0.
"""

from collections.abc import Iterator
from hashlib import sha256

from longproof.evaluation.datasets.reading import Location, Row, converted, rows
from longproof.evaluation.types import Example, Gold, Source

GOLD = {
    "Fully attributable": Gold(outcome="faithful"),
    "Not fully attributable": Gold(outcome="hallucinated"),
    "Generic": Gold(label="no_fact"),
}


def read(location: Location) -> Iterator[Example]:
    """All turns of `records.jsonl.gz`."""
    return converted(rows(location, "records.jsonl.gz"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    return Example(
        id=f"{row['data_source']}-{row['row']}",
        task="turn",
        sources=(Source(text=row["knowledge"]),),
        response=row["response"],
        context=row["message"],
        group=sha256(row["knowledge"].encode()).hexdigest()[:12],
        slices={"domain": row["data_source"], "model": row["model_name"]},
        gold=GOLD[row["begin_label"]],
    )
