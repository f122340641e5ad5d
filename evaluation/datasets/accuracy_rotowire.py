"""Accuracy shared task (Thomson and Reiter): basketball reports with every factual mistake marked.

Law: the record holds the date (ISO), both teams' lines and one object a player, values as printed, `N/A` left out.
The response is the report before tokenisation; a mistake's place is that of its tokens, carried over by counting
characters that are not blanks; where the two texts differ otherwise (two reports: stray characters), the tokenised
report is the response. Every mistake is a gold error, TYPE its name; NUMBER is numerical, NAME an entity. All
reports have mistakes, so the set measures places, not outcomes. CC0.
"""

import json
from collections.abc import Iterator

from longproof.agent.types import Kind, Place
from longproof.evaluation.datasets.reading import Location, Row, converted, place, rows
from longproof.evaluation.types import Example, Gold, GoldError, Source
from longproof.retrieval.types import BadInput

KINDS: dict[str, Kind] = {"NUMBER": "numerical", "NAME": "entity"}


def read(location: Location) -> Iterator[Example]:
    """All reports of `records.jsonl.gz`."""
    return converted(rows(location, "records.jsonl.gz"), lambda row: [_example(row)])


def _example(row: Row) -> Example:
    tokens = row["generated_text"].split()
    response = row["detokenized_text"]
    if "".join(response.split()) != "".join(tokens):
        response = " ".join(tokens)
    errors = [_error(mistake, tokens, response) for mistake in row["mistakes"]]
    return Example(
        id=row["text_id"],
        task="article",
        sources=(Source(text=json.dumps(_record(row), ensure_ascii=False), kind="record"),),
        response=response,
        group=row["text_id"],
        gold=Gold(outcome="hallucinated" if errors else "faithful", errors=tuple(errors)),
    )


def _record(row: Row) -> Row:
    month, day, year = row["date"].split("_")
    box = row["box_score"]
    players = [
        {name: values[key] for name, values in box.items() if values.get(key) not in (None, "N/A")}
        for key in sorted(box["PLAYER_NAME"], key=int)
    ]
    return {
        "date": f"20{year}-{month}-{day}",
        "home": row["home_line"],
        "visitors": row["vis_line"],
        "players": players,
    }


def _error(mistake: Row, tokens: list[str], response: str) -> GoldError:
    first, last = int(mistake["DOC_TOKEN_START"]) - 1, int(mistake["DOC_TOKEN_END"])
    if " ".join(tokens[first:last]) != mistake["TOKENS"]:
        raise BadInput(
            f"the gold says {mistake['TOKENS']!r}, tokens {first + 1} to {last} are {tokens[first:last]}"
        )
    return GoldError(
        place=_without_blanks(response, sum(map(len, tokens[:first])), sum(map(len, tokens[:last]))),
        kind=KINDS.get(mistake["TYPE"]),
        name=mistake["TYPE"],
        correction=mistake["CORRECTION"] or "",
        reason=mistake["COMMENT"] or "",
    )


def _without_blanks(text: str, start: int, end: int) -> Place:
    """The place from the `start`-th to before the `end`-th character of the text that is not a blank."""
    solid = [at for at, character in enumerate(text) if not character.isspace()]
    return place(text, solid[start], solid[end - 1] + 1)
