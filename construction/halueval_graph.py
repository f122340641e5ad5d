"""HaluEval's construction as a graph (seed 003, section 2): sample twice, keep the more plausible; pick queries.

Knows: what happens after what. A source is a JSON Lines file in HaluEval's own form without the made-up side; a
`Send` a row samples by both ways and has one chosen, or, for queries, draws three answers and measures how alike they
are. Queries with the least alike answers are kept for people to label.
Does not know: how a text is asked for or checked.
"""

import asyncio
import json
from operator import add
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, cast

from langgraph.graph import END, START
from langgraph.types import Send

from longproof.agent.types import Task
from longproof.construction.case_files import CASES, LabelledCase, Provenance, write_cases, write_lines
from longproof.construction.halueval import (
    HALU_TASKS,
    PATTERNS,
    HaluTask,
    Item,
    Replies,
    Sampled,
    chosen,
    conversational,
    one_pass,
    replies,
)
from longproof.construction.state import (
    ConstructGraph,
    ConstructInput,
    ConstructState,
    Made,
    Part,
    Session,
    builder_of,
    finished,
    first_node,
    last_node,
    noted,
    parameters_of,
    part_node,
)
from longproof.construction.versions import language_of
from longproof.graphs.resources import Pool
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import BadInput, Frozen

RowTask = HaluTask | Literal["general"]
FIELDS: dict[RowTask, tuple[str, ...]] = {
    "qa": ("knowledge", "question", "right_answer"),
    "dialogue": ("knowledge", "dialogue_history", "right_response"),
    "summary": ("document", "right_summary"),
    "general": ("user_query",),
}
"""What a row of each task holds; a row's task is told by its fields."""
FILES: dict[RowTask, str] = {
    "qa": "qa.jsonl",
    "dialogue": "dialogue.jsonl",
    "summary": "summarization.jsonl",
    "general": "preselected.jsonl",
}
TASKS: dict[HaluTask, Task] = {"qa": "answer", "dialogue": "turn", "summary": "summary"}
Row = dict[str, Any]
"""One row of HaluEval's files: JSON by people, of which only the fields of its task are used."""


class RowPlace(Frozen):
    """Where a row stands in its file, its task, and its number among all rows of the run. `seed` is the run's."""

    source: DocumentRef
    start: int
    end: int
    task: RowTask
    number: int
    seed: int


class MadeRow(Frozen):
    """A row with the made-up text that was chosen, or a query with its answers."""

    row: RowPlace
    made: Sampled | Replies


class HaluEvalState(ConstructState, total=False):
    """The channels."""

    rows: list[RowPlace]
    made: Annotated[list[MadeRow], add]


def plan(run: Session, given: ConstructInput) -> list[RowPlace]:
    """Every row of every file by its place and task. Raises BadInput for other rows."""
    wanted: list[RowTask] = given.tasks((*HALU_TASKS, "general"))
    places = [
        (ref, start, end, task)
        for ref, text in zip(given.sources, run.texts(given.sources), strict=True)
        for start, end, task in _places(text, ref.title)
        if task in wanted
    ]
    if not places:
        raise BadInput("no row of these files has a task that was asked for")
    return [
        RowPlace(source=ref, start=start, end=end, task=task, number=number, seed=given.seed)
        for number, (ref, start, end, task) in enumerate(places)
    ]


async def sample(run: Session, place: RowPlace) -> Made:
    """One row: a made-up text by each sampling, with a pattern in turn, and the more plausible of the two."""
    item = _item(_row(await run.text(place.source), place), place)
    pattern = PATTERNS[item.task][place.number % len(PATTERNS[item.task])]
    first, second = await asyncio.gather(
        one_pass(run.writer, item, pattern), conversational(run.writer, item, pattern)
    )
    draw = Random(f"{place.seed}:{item.id}")
    best = await chosen(run.writer, item, [one.value for one in (first, second) if one.value], draw)
    named = {"one-pass": first, "conversational": second, "choose": best}
    return Made(
        MadeRow(row=place, made=best.value) if best.value else None,
        tuple(f"{name} {item.task}: {one.rejection}" for name, one in named.items() if one.rejection),
        first.calls + second.calls + best.calls,
    )


async def compare(run: Session, place: RowPlace) -> Made:
    """One query: three answers, and how alike they are."""
    query = str(_row(await run.text(place.source), place)["user_query"])
    found = await replies(run.writer, query, language_of(query))
    return noted("replies", found, lambda made: MadeRow(row=place, made=made))


def write(run: Session, state: HaluEvalState) -> Provenance:
    """The paper's files, our case form, the provenance."""
    given, out = state["given"], Path(state["given"].out)
    ordered = sorted(state.get("made", []), key=lambda made: made.row.number)
    rows = [
        _row(text, made.row)
        for made, text in zip(ordered, run.texts(m.row.source for m in ordered), strict=True)
    ]
    both = list(zip(ordered, rows, strict=True))
    sampled = [(one.row, one.made, row) for one, row in both if isinstance(one.made, Sampled)]
    compared = [(one.row, one.made, row) for one, row in both if isinstance(one.made, Replies)]
    for task in HALU_TASKS:
        own = [_halueval_row(*one) for one in sampled if one[0].task == task]
        if own:
            write_lines(out / FILES[task], own)
    write_cases(out / CASES, [case for one in sampled for case in _cases(*one)])
    kept = sorted(compared, key=lambda one: one[1].similarity)[: given.keep]
    if kept:
        write_lines(out / FILES["general"], [_query_row(*one) for one in kept])
    n_made = len(sampled) + len(kept)
    return finished("halueval", state, n_made, models=run.models[:1], parameters=parameters_of(given))


def send_rows(state: HaluEvalState) -> list[Send]:
    """A `Send` a row."""
    return [Send("compare" if row.task == "general" else "sample", Part(part=row)) for row in state["rows"]]


def halueval_graph(pool: Pool) -> ConstructGraph:
    """The graph over a pool of resources."""
    builder = builder_of(HaluEvalState)
    builder.add_node("plan", first_node(pool, plan, "rows"))
    builder.add_node("sample", part_node(pool, sample, "made"))
    builder.add_node("compare", part_node(pool, compare, "made"))
    builder.add_node("write", last_node(pool, write))
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", send_rows, ["sample", "compare"])
    builder.add_edge("sample", "write")
    builder.add_edge("compare", "write")
    builder.add_edge("write", END)
    return builder.compile(name="construct_halueval")


def _places(text: str, name: str) -> list[tuple[int, int, RowTask]]:
    """Place and task of each row of a JSON Lines text. Raises BadInput for a row that is of no task."""
    found: list[tuple[int, int, RowTask]] = []
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            found.append((start, start + len(line), _task(line, f"{name} line {number}")))
        start += len(line) + 1
    return found


def _task(line: str, name: str) -> RowTask:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{name} is not JSON: give JSON Lines in HaluEval's form") from error
    for task, fields in FIELDS.items():
        if isinstance(row, dict) and all(isinstance(row.get(field), str) and row[field] for field in fields):
            return task
    wanted = "; ".join(", ".join(fields) for fields in FIELDS.values())
    raise BadInput(f"{name} has the fields of no task: a row has {wanted}")


def _row(text: str, place: RowPlace) -> Row:
    return cast(Row, json.loads(text[place.start : place.end]))


def _item(row: Row, place: RowPlace) -> Item:
    fields = FIELDS[place.task]
    context = row[fields[1]] if len(fields) == 3 else ""
    right = row[fields[-1]]
    return Item(
        str(place.number), cast(HaluTask, place.task), row[fields[0]], context, right, language_of(right)
    )


def _halueval_row(place: RowPlace, made: Sampled, row: Row) -> Row:
    """The row as HaluEval has it, the made-up side with it."""
    fields = FIELDS[place.task]
    name = fields[-1].replace("right", "hallucinated")
    return {
        **{field: row[field] for field in fields},
        name: made.text,
        "pattern": made.pattern,
        "sampling": made.sampling,
    }


def _cases(place: RowPlace, made: Sampled, row: Row) -> list[LabelledCase]:
    """Both sides in the case file format."""
    item, text = _item(row, place), made.text
    pattern = {"pattern": made.pattern}
    return [
        LabelledCase(
            id=f"{item.task}-{item.id}-{side}",
            task=TASKS[item.task],
            source_text=item.evidence,
            context=item.context,
            response=response,
            reference=reference,
            label="faithful" if side == "right" else "hallucinated",
            group=f"{item.task}-{item.id}",
            slices={"task": item.task} | (pattern if side == "hallucinated" else {}),
        )
        for side, response, reference in (("right", item.right, text), ("hallucinated", text, item.right))
    ]


def _query_row(place: RowPlace, made: Replies, row: Row) -> Row:
    """A query for people to label: its first answer, the others, and how alike they are."""
    first, *others = made.texts
    return {
        "ID": str(row.get("ID", place.number)),
        "user_query": row["user_query"],
        "chatgpt_response": first,
        "other_responses": others,
        "similarity": round(made.similarity, 4),
    }
