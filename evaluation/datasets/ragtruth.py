"""RAGTruth, question answering: answers that were to keep to three passages, spans marked by people.

Law: the passages are the source, the question the context. Every label is a gold error at its offsets (its
type the name, the annotator's note the reason), `implicit_true` ones too, as RAGTruth itself counts them.
An answer is hallucinated exactly when it has a label. A group is the source. MIT licence.
"""

from collections.abc import Iterator

from longproof.agent.types import Place
from longproof.evaluation.datasets.reading import Location, Row, converted, keyed, rows
from longproof.evaluation.types import Example, Gold, GoldError, Source


def read(location: Location) -> Iterator[Example]:
    """All responses. The location is the folder with `responses.jsonl.gz` and `sources.jsonl.gz`."""
    sources = keyed(rows(location, "sources.jsonl.gz"), lambda row: (row["source_id"], row["source_info"]))
    return converted(rows(location, "responses.jsonl.gz"), lambda row: [_example(row, sources)])


def _example(row: Row, sources: dict[str, Row]) -> Example:
    info = sources[row["source_id"]]
    return Example(
        id=row["id"],
        task="answer",
        sources=(Source(text=info["passages"]),),
        response=row["response"],
        context=info["question"],
        group=row["source_id"],
        slices={"model": row["model"]},
        gold=Gold(
            outcome="hallucinated" if row["labels"] else "faithful",
            errors=tuple(_error(label) for label in row["labels"]),
        ),
    )


def _error(label: Row) -> GoldError:
    return GoldError(
        place=Place(start=label["start"], end=label["end"], text=label["text"]),
        name=label["label_type"],
        reason=label["meta"] or "",
    )
