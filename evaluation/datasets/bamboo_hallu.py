"""BAMBOO SenHallu and AbsHallu: does a hypothesis agree with a paper of about 4,000 tokens.

Law: `content` is the source, `hypothesis` the response; `answer` true is faithful, false hallucinated.
Slice: task. A group is the paper, which both tasks and both answers share. MIT licence.
"""

from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, rows
from longproof.evaluation.types import Example, Gold, Source


def read(location: Location) -> Iterator[Example]:
    """All hypotheses of `records.jsonl.gz`."""
    return converted(rows(location, "records.jsonl.gz"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    return Example(
        id=f"{row['task']}-{row['row']}",
        task="summary",
        sources=(Source(text=row["content"], title=row["title"]),),
        response=row["hypothesis"],
        group=row["title"],
        slices={"task": row["task"]},
        gold=Gold(outcome="faithful" if row["answer"] else "hallucinated"),
    )
