"""Answers, turns, continuations and texts from records: HaluEval, RAGTruth, BEGIN and others.

Does not know: other sets.
"""

import ast
import json
import re
from collections.abc import Iterator
from itertools import count

from longproof.agent.types import Kind, Place, Task
from longproof.evaluation.datasets.reading import (
    Location,
    Row,
    convert_rows,
    find_quote,
    rows,
    rows_by_key,
    text_key,
)
from longproof.evaluation.types import Example, Gold, GoldError, GoldOutcome, GoldPart
from longproof.retrieval.loaders import record
from longproof.retrieval.types import BadInput, Document

HALUEVAL: dict[str, tuple[str, str, Task, str, str]] = {
    "qa": ("qa.jsonl", "answer", "answer", "knowledge", "question"),
    "dialogue": ("dialogue.jsonl", "response", "turn", "knowledge", "dialogue_history"),
    "summary": ("summarization.jsonl", "summary", "summary", "document", ""),
}
"""HaluEval's tasks with pairs: file, name of a response, our task, fields of source and context."""
ADDRESS = re.compile(r"https?://[^\s，。）]+")
LEAST_CHARACTERS = 4
ANSWERS: dict[str, GoldOutcome] = {"Best Answer1": "faithful", "Wrong_Answer1": "hallucinated"}
UNREASONABLE = "不合理"
BEGIN_GOLD = {
    "Fully attributable": Gold(outcome="faithful"),
    "Not fully attributable": Gold(outcome="hallucinated"),
    "Generic": Gold(label="no_fact"),
}
MISTAKE_KINDS: dict[str, Kind] = {"NUMBER": "numerical", "NAME": "entity"}
QUINTD_TYPES = ("incorrect", "not_checkable", "misleading", "other")
QUINTD_RECORDS = ("gsmarena", "ice_hockey", "openweather")


def load_halueval(location: Location, task: str) -> Iterator[Example]:
    """One of HaluEval's three tasks with pairs of responses, from its original files.

    Law: a pair becomes two examples, one of each side, where the paper tosses a coin for one. It is named by its
    row in the original file. The knowledge or document is the source, the question or history the context, the
    other side the reference (for the contrast variant). A pattern that a record names is a slice. MIT licence.
    """
    file, response, own_task, source, context = HALUEVAL[task]
    numbers = count()

    def convert(row: Row) -> Iterator[Example]:
        key = str(row.get("source_row", next(numbers)))
        for side, other in (("right", "hallucinated"), ("hallucinated", "right")):
            wrong = side == "hallucinated"
            yield Example(
                id=f"{task}-{key}-{side}",
                task=own_task,
                sources=(Document.of(row[source]),),
                response=row[f"{side}_{response}"],
                context=row[context] if context else "",
                reference=row[f"{other}_{response}"],
                group=key,
                slices={"pattern": row["pattern"]} if wrong and row.get("pattern") else {},
                gold=Gold(outcome="hallucinated" if wrong else "faithful"),
            )

    return convert_rows(rows(location, file), convert)


def halueval_general(row: Row) -> Iterator[Example]:
    """HaluEval's open replies: `ID`, `user_query`, `chatgpt_response`, `hallucination`, `hallucination_spans`.

    Law: `hallucination` is yes or no. Replies have no source (task `open`); the query is the context. A span that
    people typed instead of copying cannot be placed and is left out of the gold errors, not of the outcome. MIT.
    """
    response = row["chatgpt_response"]
    errors = list[GoldError]()
    for span in row["hallucination_spans"]:
        if span and span in response:
            errors.append(GoldError(place=find_quote(response, span)))
    yield Example(
        id=f"general-{row['ID']}",
        task="open",
        response=response,
        context=row["user_query"],
        group=str(row["ID"]),
        gold=Gold(
            outcome={"yes": "hallucinated", "no": "faithful"}[row["hallucination"].strip().lower()],
            errors=tuple(errors),
        ),
    )


def load_ragtruth(location: Location) -> Iterator[Example]:
    """RAGTruth, question answering: answers that were to keep to three passages, spans marked by people.

    Law: the passages are the source, the question the context. Every label is a gold error at its offsets (its type
    the name, the annotator's note the reason), `implicit_true` ones too, as RAGTruth itself counts them. An answer
    is hallucinated exactly when it has a label. A group is the source. MIT licence.
    """
    sources = rows_by_key(rows(location, "sources.jsonl.gz"), "source_id", value="source_info")

    def convert(row: Row) -> Iterator[Example]:
        info, errors = sources[row["source_id"],], list[GoldError]()
        for label in row["labels"]:
            place = Place(start=label["start"], end=label["end"], text=label["text"])
            errors.append(GoldError(place=place, name=label["label_type"], reason=label["meta"] or ""))
        yield Example(
            id=row["id"],
            task="answer",
            sources=(Document.of(info["passages"]),),
            response=row["response"],
            context=info["question"],
            group=row["source_id"],
            slices={"model": row["model"]},
            gold=Gold(outcome="hallucinated" if errors else "faithful", errors=tuple(errors)),
        )

    return convert_rows(rows(location, "responses.jsonl.gz"), convert)


def begin_dialogue(row: Row) -> Iterator[Example]:
    """BEGIN: is a dialogue turn fully attributable to the knowledge it was given.

    Law: the knowledge is the source, the message before the context. Fully attributable is faithful; Not fully
    attributable is hallucinated; Generic has no fact to attribute: label no_fact, gray, no outcome. CC BY 4.0.
    """
    yield Example(
        id=f"{row['data_source']}-{row['row']}",
        task="turn",
        sources=(Document.of(row["knowledge"]),),
        response=row["response"],
        context=row["message"],
        group=text_key(row["knowledge"]),
        slices={"domain": row["data_source"], "model": row["model_name"]},
        gold=BEGIN_GOLD[row["begin_label"]],
    )


def halluqa_zh(row: Row) -> Iterator[Example]:
    """HalluQA: Chinese questions that draw wrong answers, with the evidence.

    Law: records whose `Source` is nothing but addresses are left out. Of the others the first right and the first
    wrong answer are two responses to the question (the context); addresses are cut from the source. Apache-2.0.
    """
    evidence = ADDRESS.sub("", row["Source"]).strip()
    if len(evidence) < LEAST_CHARACTERS:
        return
    for field, outcome in ANSWERS.items():
        yield Example(
            id=f"{row['question_id']}-{outcome}",
            task="answer",
            sources=(Document.of(evidence),),
            response=row[field],
            context=row["Question"],
            group=str(row["question_id"]),
            slices={"category": row["Category"], "domain": row["Class"]},
            gold=Gold(outcome=outcome),
        )


def uhgeval_zh(row: Row) -> Iterator[Example]:
    """UHGEval: a model's continuation of a Chinese news item, each keyword marked as reasonable or not.

    Law: headline, beginning and remainder of the news are the source. The hallucinated continuation is the
    response; every keyword, found in order, is a gold part, hallucinated where it is 不合理; those are gold errors
    with the annotator's reason. The real continuation is a second, faithful response: it stands word for word in
    the source, so only the keywords tell something. Apache-2.0.
    """
    source = "\n".join([row["headLine"], row["newsBeginning"], row["newsRemainder"]])
    text, errors, parts, after = row["hallucinatedContinuation"], list[GoldError](), list[GoldPart](), 0
    for mark in row["annotations"]:
        keyword, _, verdict = mark.partition("<sep>")
        place, wrong = find_quote(text, keyword, after), verdict.startswith(UNREASONABLE)
        after = place.end
        parts.append(GoldPart(place=place, outcome="hallucinated" if wrong else "faithful"))
        if wrong:
            reason = verdict.removeprefix(UNREASONABLE).lstrip("，")
            errors.append(GoldError(place=place, reason=reason))
    gold = Gold(outcome="hallucinated" if errors else "faithful", errors=tuple(errors), parts=tuple(parts))
    for side, response, writer, own_gold in (
        ("model", text, row["generatedBy"], gold),
        ("real", row["realContinuation"], "people", Gold(outcome="faithful", errors=())),
    ):
        yield Example(
            id=f"{row['id']}-{side}",
            task="article",
            sources=(Document.of(source, title=row["headLine"]),),
            response=response,
            group=row["id"],
            slices={"domain": row["type"], "model": writer},
            gold=own_gold,
        )


def accuracy_rotowire(row: Row) -> Iterator[Example]:
    """Accuracy shared task (Thomson and Reiter): basketball reports with every factual mistake marked.

    Law: the record holds the date (ISO), both teams' lines and one object a player, values as printed, `N/A` left
    out. The response is the report before tokenisation; a mistake's place is that of its tokens, carried over by
    counting characters that are not blanks; where the two texts differ otherwise (two reports), the tokenised one
    is the response. Every mistake is a gold error, TYPE its name. All reports have mistakes: the set measures
    places, not outcomes. CC0.
    """
    tokens = row["generated_text"].split()
    response = row["detokenized_text"]
    if "".join(response.split()) != "".join(tokens):
        response = " ".join(tokens)
    # A place in characters that are not blanks, which both texts share.
    solid = [at for at, character in enumerate(response) if not character.isspace()]
    errors = list[GoldError]()
    for mistake in row["mistakes"]:
        first, last = int(mistake["DOC_TOKEN_START"]) - 1, int(mistake["DOC_TOKEN_END"])
        if " ".join(tokens[first:last]) != mistake["TOKENS"]:
            there = f"tokens {first + 1} to {last} are {tokens[first:last]}"
            raise BadInput(f"the gold says {mistake['TOKENS']!r}, {there}")
        start, end = len("".join(tokens[:first])), len("".join(tokens[:last]))
        error = GoldError(
            place=Place.of(response, solid[start], solid[end - 1] + 1),
            kind=MISTAKE_KINDS.get(mistake["TYPE"]),
            name=mistake["TYPE"],
            correction=mistake["CORRECTION"] or "",
            reason=mistake["COMMENT"] or "",
        )
        errors.append(error)
    (month, day, year), box = row["date"].split("_"), row["box_score"]
    players = list[dict[str, str]]()
    for key in sorted(box["PLAYER_NAME"], key=int):
        line = {name: values.get(key, "N/A") for name, values in box.items()}
        players.append({name: value for name, value in line.items() if value not in (None, "N/A")})
    game = {"date": f"20{year}-{month}-{day}", "home": row["home_line"], "visitors": row["vis_line"]}
    yield Example(
        id=row["text_id"],
        task="article",
        sources=(record(json.dumps({**game, "players": players}, ensure_ascii=False)),),
        response=response,
        group=row["text_id"],
        gold=Gold(outcome="hallucinated" if errors else "faithful", errors=tuple(errors)),
    )


def load_quintd(location: Location) -> Iterator[Example]:
    """Quintd-1: texts that models wrote from JSON, CSV or fact lists, error spans by crowd workers.

    Law: the source is what stands between the fences of the input. Phones, ice hockey and weather are Python
    literals, read as such (never run), and become JSON records; health charts and Wikidata stay text. Every
    annotation is a gold error named by its type. Incorrect (0) and not checkable (1) spans make a text
    hallucinated; misleading or other spans alone leave it gray; a text without spans is faithful, unless its flags
    say that it is neither correct nor merely incomplete: gray. MIT licence.
    """
    inputs = rows_by_key(rows(location, "inputs.jsonl.gz"), "dataset", "table_idx", value="input")

    def convert(row: Row) -> Iterator[Example]:
        domain, number, errors, types = row["dataset"], row["table_idx"], list[GoldError](), set[int]()
        for note in row["annotations"]:
            place = Place(start=note["start"], end=note["start"] + len(note["text"]), text=note["text"])
            errors.append(GoldError(place=place, name=QUINTD_TYPES[note["type"]]))
            types.add(note["type"])
        outcome: GoldOutcome | None = None
        if types & {0, 1}:
            outcome = "hallucinated"
        elif not types and (row["flags"]["is_fully_correct"] or row["flags"]["is_missing"]):
            outcome = "faithful"
        data = inputs[domain, number].split("```")[1].strip()
        if domain in QUINTD_RECORDS:
            source = record(json.dumps(ast.literal_eval(data), ensure_ascii=False))
        else:
            source = Document.of(data)
        yield Example(
            id=f"{domain}-{number}-{row['model']}",
            task="article",
            sources=(source,),
            response=row["output"],
            group=f"{domain}-{number}",
            slices={"domain": domain, "model": row["model"]},
            gold=Gold(outcome=outcome, errors=tuple(errors)),
        )

    return convert_rows(rows(location, "texts.jsonl.gz"), convert)
