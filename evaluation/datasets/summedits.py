"""SummEdits: summaries with small edits, consistent with their document or not.

Law: `label` 1 is faithful, 0 hallucinated; `doc` is the source, `summary` the response, the original
summary the reference. The edits' names, sorted and joined by `+`, are the pattern. A group is the document.
Apache-2.0.
"""

from collections.abc import Iterator
from hashlib import sha256

from longproof.evaluation.datasets.reading import Location, Row, converted, rows
from longproof.evaluation.types import Example, Gold, Source


def read(location: Location) -> Iterator[Example]:
    """All summaries of `records.jsonl.gz`. Ids repeat in the file, so each gets its number in its document."""
    seen: dict[str, int] = {}
    return converted(rows(location, "records.jsonl.gz"), lambda row: [_example(row, seen)])


def _example(row: Row, seen: dict[str, int]) -> Example:
    seen[row["id"]] = seen.get(row["id"], 0) + 1
    edits = "+".join(sorted(row["edit_types"]))
    return Example(
        id=f"{row['id']}-{seen[row['id']]}",
        task="summary",
        sources=(Source(text=row["doc"]),),
        response=row["summary"],
        reference=row["original_summary"],
        group=sha256(row["doc"].encode()).hexdigest()[:12],
        slices={"domain": row["domain"]} | ({"pattern": edits} if edits else {}),
        gold=Gold(outcome="faithful" if row["label"] == 1 else "hallucinated"),
    )
