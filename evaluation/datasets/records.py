"""Texts written from records (the task of seed 001): the accuracy shared task and Quintd-1.

Both give a source of data and mark the exact words of the text that are wrong. Does not know: other sets.
"""

import ast
import json
from collections.abc import Iterator

from longproof.agent.types import Kind, Place
from longproof.evaluation.datasets.reading import (
    Location,
    Row,
    convert_rows,
    rows,
    rows_by_key,
)
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, Source
from longproof.retrieval.types import BadInput

MISTAKE_KINDS: dict[str, Kind] = {"NUMBER": "numerical", "NAME": "entity"}
QUINTD_TYPES = ("incorrect", "not_checkable", "misleading", "other")
QUINTD_RECORDS = ("gsmarena", "ice_hockey", "openweather")
FENCE = "```"


def accuracy_rotowire(row: Row) -> Iterator[Example]:
    """Accuracy shared task (Thomson and Reiter): basketball reports with every factual mistake marked.

    Law: the record holds the date (ISO), both teams' lines and one object a player, values as printed, `N/A` left
    out. The response is the report before tokenisation; a mistake's place is that of its tokens, carried over by
    counting characters that are not blanks; where the two texts differ otherwise (two reports: stray characters),
    the tokenised report is the response. Every mistake is a gold error, TYPE its name; NUMBER is numerical, NAME an
    entity. All reports have mistakes, so the set measures places, not outcomes. CC0.
    """
    tokens = row["generated_text"].split()
    response = row["detokenized_text"]
    if "".join(response.split()) != "".join(tokens):
        response = " ".join(tokens)
    errors = [_mistake(mistake, tokens, response) for mistake in row["mistakes"]]
    yield Example(
        id=row["text_id"],
        task="article",
        sources=(_record(_game(row)),),
        response=response,
        group=row["text_id"],
        gold=Gold(outcome="hallucinated" if errors else "faithful", errors=tuple(errors)),
    )


def _game(row: Row) -> Row:
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


def _mistake(mistake: Row, tokens: list[str], response: str) -> GoldError:
    first, last = int(mistake["DOC_TOKEN_START"]) - 1, int(mistake["DOC_TOKEN_END"])
    if " ".join(tokens[first:last]) != mistake["TOKENS"]:
        raise BadInput(
            f"the gold says {mistake['TOKENS']!r}, tokens {first + 1} to {last} are {tokens[first:last]}"
        )
    return GoldError(
        place=_place_without_blanks(response, sum(map(len, tokens[:first])), sum(map(len, tokens[:last]))),
        kind=MISTAKE_KINDS.get(mistake["TYPE"]),
        name=mistake["TYPE"],
        correction=mistake["CORRECTION"] or "",
        reason=mistake["COMMENT"] or "",
    )


def _place_without_blanks(text: str, start: int, end: int) -> Place:
    """The place from the `start`-th to before the `end`-th character of the text that is not a blank."""
    solid = [at for at, character in enumerate(text) if not character.isspace()]
    return Place.of(text, solid[start], solid[end - 1] + 1)


def load_quintd(location: Location) -> Iterator[Example]:
    """Quintd-1: texts that models wrote from JSON, CSV or fact lists, error spans by crowd workers.

    The location is the folder with `texts.jsonl.gz` and `inputs.jsonl.gz`. Law: the source is what stands between
    the fences of the input. Phones, ice hockey and weather are Python literals there; they are read as literals
    (never run) and become JSON records. Health charts (CSV) and Wikidata (a list of facts) stay text, a fact a
    line. Every annotation is a gold error named by its type. Incorrect (0) and not checkable (1) spans make a text
    hallucinated; misleading or other spans alone leave it gray; a text without spans is faithful, unless its flags
    say that it is neither correct nor merely incomplete: gray. A group is the input. Slices: domain, model. MIT
    licence.
    """
    inputs = rows_by_key(rows(location, "inputs.jsonl.gz"), "dataset", "table_idx", value="input")

    def convert(row: Row) -> Iterator[Example]:
        domain, number = row["dataset"], row["table_idx"]
        yield Example(
            id=f"{domain}-{number}-{row['model']}",
            task="article",
            sources=(_fenced_source(domain, inputs[domain, number]),),
            response=row["output"],
            group=f"{domain}-{number}",
            slices={"domain": domain, "model": row["model"]},
            gold=Gold(outcome=_quintd_outcome(row), errors=tuple(map(_quintd_error, row["annotations"]))),
        )

    return convert_rows(rows(location, "texts.jsonl.gz"), convert)


def _fenced_source(domain: str, given: str) -> Source:
    data = given.split(FENCE)[1].strip()
    return _record(ast.literal_eval(data)) if domain in QUINTD_RECORDS else Source(text=data)


def _quintd_error(note: Row) -> GoldError:
    place = Place(start=note["start"], end=note["start"] + len(note["text"]), text=note["text"])
    return GoldError(place=place, name=QUINTD_TYPES[note["type"]])


def _quintd_outcome(row: Row) -> GoldOutcome | None:
    types, flags = {note["type"] for note in row["annotations"]}, row["flags"]
    if types & {0, 1}:
        return "hallucinated"
    if types or not (flags["is_fully_correct"] or flags["is_missing"]):
        return None
    return "faithful"


def _record(data: object) -> Source:
    return Source(text=json.dumps(data, ensure_ascii=False), kind="record")
