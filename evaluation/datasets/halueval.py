"""HaluEval (seed 003): recognition of hallucinated answers, dialogue turns, summaries, and open replies.

The four original files, one JSON object a line: qa (`knowledge`, `question`, `right_answer`,
`hallucinated_answer`), dialogue (`knowledge`, `dialogue_history`, `right_response`,
`hallucinated_response`), summarization (`document`, `right_summary`, `hallucinated_summary`), general
(`ID`, `user_query`, `chatgpt_response`, `hallucination` yes or no, `hallucination_spans`). MIT licence.
Law: a pair becomes two examples, one of each side, where the paper tosses a coin for one: accuracy has
the same expectation and half the noise. A pair is named by its row in the original file. The knowledge or
document is the source, the question, history or query the context, the other side the reference (for the
contrast variant). General replies have no source (task `open`); a span that people typed instead of copying
cannot be placed and is left out of the gold errors, not of the outcome. A pattern that a record names is a slice.
"""

from collections.abc import Iterator
from functools import partial
from itertools import count

from longproof.agent.types import Task
from longproof.evaluation.datasets.reading import Location, Row, converted, find, rows
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, Source

SIDES: tuple[tuple[str, GoldOutcome], ...] = (("right", "faithful"), ("hallucinated", "hallucinated"))


def read_qa(location: Location) -> Iterator[Example]:
    """Both answers of each question of `qa.jsonl`."""
    pair = partial(_pair, name="qa", word="answer", task="answer", source="knowledge", context="question")
    return converted(rows(location, "qa.jsonl"), partial(pair, numbers=count()))


def read_dialogue(location: Location) -> Iterator[Example]:
    """Both turns of each dialogue of `dialogue.jsonl`."""
    pair = partial(
        _pair, name="dialogue", word="response", task="turn", source="knowledge", context="dialogue_history"
    )
    return converted(rows(location, "dialogue.jsonl"), partial(pair, numbers=count()))


def read_summary(location: Location) -> Iterator[Example]:
    """Both summaries of each document of `summarization.jsonl`."""
    pair = partial(_pair, name="summary", word="summary", task="summary", source="document", context="")
    return converted(rows(location, "summarization.jsonl"), partial(pair, numbers=count()))


def read_general(location: Location) -> Iterator[Example]:
    """All replies of `general.jsonl`."""
    return converted(rows(location, "general.jsonl"), _general)


def _pair(
    row: Row, name: str, word: str, task: Task, source: str, context: str, numbers: Iterator[int]
) -> list[Example]:
    number = next(numbers)
    key = str(row.get("source_row", number))
    texts = {side: row[f"{side}_{word}"] for side, _ in SIDES}
    return [
        Example(
            id=f"{name}-{key}-{side}",
            task=task,
            sources=(Source(text=row[source]),),
            response=texts[side],
            context=row[context] if context else "",
            reference=texts["right" if side == "hallucinated" else "hallucinated"],
            group=key,
            slices={"pattern": row["pattern"]} if row.get("pattern") and side == "hallucinated" else {},
            gold=Gold(outcome=outcome),
        )
        for side, outcome in SIDES
    ]


def _general(row: Row) -> list[Example]:
    response = row["chatgpt_response"]
    placed = [find(response, span) for span in row["hallucination_spans"] if span and span in response]
    return [
        Example(
            id=f"general-{row['ID']}",
            task="open",
            response=response,
            context=row["user_query"],
            group=str(row["ID"]),
            gold=Gold(
                outcome={"yes": "hallucinated", "no": "faithful"}[row["hallucination"].strip().lower()],
                errors=tuple(GoldError(place=at) for at in placed),
            ),
        )
    ]
