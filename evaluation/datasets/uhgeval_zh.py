"""UHGEval: a model's continuation of a Chinese news item, each keyword marked as reasonable or not.

Law: headline, beginning and remainder of the news are the source. The hallucinated continuation is the
response; every keyword, found in order, is a gold part, hallucinated where it is 不合理; those are gold errors
with the annotator's reason. The real continuation is a second, faithful response: it stands word for word in the
source, so at response level any substring test is perfect and only the keywords tell something. A group is
the news item. Slice: domain. Apache-2.0.
"""

from collections.abc import Iterator

from longproof.agent.types import Place
from longproof.evaluation.datasets.reading import Location, Row, converted, find, rows
from longproof.evaluation.types import Example, Gold, GoldError, GoldPart, Source

REASONABLE, UNREASONABLE = "合理", "不合理"


def read(location: Location) -> Iterator[Example]:
    """Both continuations of each news item of `records.jsonl.gz`."""
    return converted(rows(location, "records.jsonl.gz"), _examples)


def _examples(row: Row) -> Iterator[Example]:
    marks = list(_marks(row["hallucinatedContinuation"], row["annotations"]))
    wrong = [GoldError(place=at, reason=reason) for at, right, reason in marks if not right]
    parts = [GoldPart(place=at, outcome="faithful" if right else "hallucinated") for at, right, _ in marks]
    outcome = Gold(outcome="hallucinated" if wrong else "faithful", errors=tuple(wrong), parts=tuple(parts))
    yield _example(row, "model", row["hallucinatedContinuation"], outcome)
    yield _example(row, "real", row["realContinuation"], Gold(outcome="faithful", errors=()))


def _example(row: Row, side: str, response: str, gold: Gold) -> Example:
    source = "\n".join([row["headLine"], row["newsBeginning"], row["newsRemainder"]])
    return Example(
        id=f"{row['id']}-{side}",
        task="article",
        sources=(Source(text=source, title=row["headLine"]),),
        response=response,
        group=row["id"],
        slices={"domain": row["type"], "model": row["generatedBy"] if side == "model" else "people"},
        gold=gold,
    )


def _marks(text: str, annotations: list[str]) -> Iterator[tuple[Place, bool, str]]:
    after = 0
    for annotation in annotations:
        keyword, _, verdict = annotation.partition("<sep>")
        at = find(text, keyword, after)
        after = at.end
        yield at, not verdict.startswith(UNREASONABLE), verdict.removeprefix(UNREASONABLE).lstrip("，")
