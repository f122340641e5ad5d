"""The data-to-text task (seed 001): a JSON record, an article, and the exact hallucinated spans.

JSON or JSON Lines, one article a record: `id`, `reference` (JSON, as an object or as its text), `response`
(the article) and `hallucination_list` (strings copied from the article), as the seed's output names it; the seed
gives no data. Law: the record is the source; each string is found in the article, a repeated one at its next
place, and refused where it is not found. The article is hallucinated exactly when the list is not empty.
"""

import json
from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, find, parsed, rows
from longproof.evaluation.types import Example, Gold, GoldError, Source


def read(location: Location) -> Iterator[Example]:
    """All articles of a file, or of `data_to_text.jsonl` in a folder."""
    return converted(rows(location, "data_to_text.jsonl"), _examples)


def _examples(row: Row) -> list[Example]:
    reference = row["reference"]
    record = parsed(reference) if isinstance(reference, str) else reference
    errors, after = [], dict[str, int]()
    for text in row["hallucination_list"]:
        at = find(row["response"], text, after.get(text, 0))
        errors.append(GoldError(place=at))
        after[text] = at.end
    return [
        Example(
            id=str(row["id"]),
            task="article",
            sources=(Source(text=json.dumps(record, ensure_ascii=False), kind="record"),),
            response=row["response"],
            group=str(row["id"]),
            gold=Gold(outcome="hallucinated" if errors else "faithful", errors=tuple(errors)),
        )
    ]
