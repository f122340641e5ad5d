"""StorySumm: model summaries of short stories, judged as wholes and sentence by sentence.

Law: the response is the summary's sentences joined by a blank; each is a gold part, hallucinated where its
`errors` entry is 0. The summary's `label` (1 faithful, 0 not) is the outcome even in the one record where no
sentence is marked. Slices: difficulty, model. A group is the story. MIT licence.
"""

from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, find, rows
from longproof.evaluation.types import Example, Gold, GoldPart, Source


def read(location: Location) -> Iterator[Example]:
    """All summaries of `records.jsonl.gz`."""
    return converted(rows(location, "records.jsonl.gz"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    slices = {"model": row["model"]} | ({"difficulty": row["difficulty"]} if row["difficulty"] else {})
    response = " ".join(row["summary"])
    return Example(
        id=row["id"],
        task="summary",
        sources=(Source(text=row["story"]),),
        response=response,
        group=str(row["story-id"]),
        slices=slices,
        gold=Gold(
            outcome="faithful" if row["label"] == 1 else "hallucinated",
            parts=tuple(_parts(row, response)),
        ),
    )


def _parts(row: Row, response: str) -> Iterator[GoldPart]:
    after = 0
    for sentence, right in zip(row["summary"], row["errors"], strict=True):
        at = find(response, sentence, after)
        after = at.end
        yield GoldPart(place=at, outcome="faithful" if right == 1 else "hallucinated")
