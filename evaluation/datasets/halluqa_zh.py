"""HalluQA: Chinese questions that draw wrong answers, with the evidence.

Law: records whose `Source` is nothing but addresses have no evidence text, so they are left out. Of the
others the first right and the first wrong answer are two responses to the question (the context); addresses
are cut from the source. A group is the question. Slices: category, domain. Apache-2.0.
"""

import re
from collections.abc import Iterator

from longproof.evaluation.datasets.reading import Location, Row, converted, rows
from longproof.evaluation.types import Example, Gold, GoldOutcome, Source

ADDRESS = re.compile(r"https?://[^\s，。）]+")
LEAST_CHARACTERS = 4
SIDES: tuple[tuple[str, GoldOutcome], ...] = (("Best Answer1", "faithful"), ("Wrong_Answer1", "hallucinated"))


def read(location: Location) -> Iterator[Example]:
    """Both answers of each question of `records.jsonl` that has evidence text."""
    return converted(rows(location, "records.jsonl"), _examples)


def _examples(row: Row) -> Iterator[Example]:
    evidence = ADDRESS.sub("", row["Source"]).strip()
    if len(evidence) < LEAST_CHARACTERS:
        return
    for field, outcome in SIDES:
        yield Example(
            id=f"{row['question_id']}-{outcome}",
            task="answer",
            sources=(Source(text=evidence),),
            response=row[field],
            context=row["Question"],
            group=str(row["question_id"]),
            slices={"category": row["Category"], "domain": row["Class"]},
            gold=Gold(outcome=outcome),
        )
