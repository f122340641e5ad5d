"""LongNovel (seed 004) as its authors published it: JSON or JSON Lines, one record a summary.

Fields of the release, as its README names them (the data files themselves could not be read here): id,
language, article, summary, instruction, input, output. Law: the article is the
source, the summary the response; `output` is the gold answer in the form that the paper's prompts ask for
(`has_hallucination`: 有幻觉 or 无幻觉, and `details` with hallucination_type, hallucinated_sentence,
corrected_content, reason), as text or as an object. Each detail whose sentence stands in the summary is a
gold error; a sentence that does not is refused, not guessed. Slices: kind, where there is one; scale, from
the release's file names (test_16k.json and so on), where the location is such a file; and, as the paper
draws it, position: the third of the summary that holds the first error (summaries follow the article).
The release scores from 0 to 5 in a later prompt; an integer `score` below 3 is read as hallucinated.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from longproof.evaluation.datasets.longnovel_mini_zh import KIND_NAMES
from longproof.evaluation.datasets.reading import Location, Row, converted, find, parsed, rows
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, Source
from longproof.retrieval.types import BadInput

SCALES = {"2k": "S", "16k": "M", "32k": "L", "64k": "XL", "100k": "XXL"}
OUTCOMES: dict[str, GoldOutcome] = {"有幻觉": "hallucinated", "无幻觉": "faithful"}
FAITHFUL_SCORE = 3


def read(location: Location) -> Iterator[Example]:
    """All summaries of a file, or of `test.json` in a folder."""
    named = re.search(r"_(\d+k)(?=[_.])", Path(location).name)
    scale = SCALES.get(named[1]) if named else None
    return converted(rows(location, "test.json"), partial(_examples, scale=scale))


def _examples(row: Row, scale: str | None) -> list[Example]:
    answer = parsed(row["output"]) if isinstance(row["output"], str) else row["output"]
    outcome = _outcome(answer)
    errors = [_error(row["summary"], detail) for detail in answer.get("details", [])]
    slices = {"language": str(row.get("language", "zh"))} | ({"scale": scale} if scale else {})
    if errors:
        third = 3 * errors[0].place.start // max(1, len(row["summary"]))
        slices |= {"position": ("begin", "middle", "end")[third]}
        slices |= {"kind": errors[0].kind} if errors[0].kind else {}
    return [
        Example(
            id=str(row["id"]),
            task="summary",
            sources=(Source(text=row["article"]),),
            response=row["summary"],
            group=str(row["id"]),
            slices=slices,
            gold=Gold(outcome=outcome, errors=tuple(errors)),
        )
    ]


def _outcome(answer: Row) -> GoldOutcome:
    if "score" in answer and "has_hallucination" not in answer:
        return "faithful" if int(answer["score"]) >= FAITHFUL_SCORE else "hallucinated"
    if answer["has_hallucination"] not in OUTCOMES:
        raise BadInput(
            f"has_hallucination is {answer['has_hallucination']!r}, not one of {', '.join(OUTCOMES)}"
        )
    return OUTCOMES[answer["has_hallucination"]]


def _error(summary: str, detail: Row) -> GoldError:
    return GoldError(
        place=find(summary, detail["hallucinated_sentence"]),
        kind=KIND_NAMES.get(detail["hallucination_type"]),
        name=detail["hallucination_type"],
        correction=detail.get("corrected_content", ""),
        reason=detail.get("reason", ""),
    )
