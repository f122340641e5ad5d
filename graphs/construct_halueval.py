"""HaluEval's construction as a graph (seed 003, section 2): sample twice, keep the more plausible; pick queries.

Knows: what happens after what. A source is a JSON Lines file in HaluEval's own form without the made-up side; a
`Send` a row samples by both ways and has one chosen, or, for queries, draws three answers and measures how alike they
are. Queries with the least alike answers are kept for people to label.
Does not know: how a text is asked for or checked.
"""

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any, Literal, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from longproof.agent.halueval_set import (
    HALU_TASKS,
    PATTERNS,
    HaluTask,
    Item,
    chosen,
    conversational,
    one_pass,
    replies,
)
from longproof.agent.types import Task
from longproof.graphs.construct_longnovel import ConstructGraph
from longproof.graphs.constructing import (
    ConstructInput,
    ConstructState,
    Part,
    begun,
    chosen_tasks,
    closed,
    desk,
    language_of,
    noted,
)
from longproof.graphs.made_files import CASES, write_lines
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import Json
from longproof.retrieval.types import BadInput

RowTask = Literal["qa", "dialogue", "summary", "general"]
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
TASKS: dict[str, Task] = {"qa": "answer", "dialogue": "turn", "summary": "summary"}


class HaluEvalNodes:
    """The nodes over one pool of resources."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def plan(self, state: ConstructInput, runtime: Runtime[Settings]) -> ConstructState:
        """Every row of every file by its place, its task, and a pattern in turn. Raises BadInput for other rows."""
        desk_ = await desk(self._pool, runtime)
        wanted = chosen_tasks(state.task, (*HALU_TASKS, "general"))
        work: list[Json] = []
        for ref in state.sources:
            for start, end, task in _rows(await desk_.text(ref), str(ref["title"])):
                if task in wanted:
                    work.append(
                        {"source": ref, "start": start, "end": end, "task": task, "number": len(work)}
                    )
        if not work:
            raise BadInput("no row of these files has a task that was asked for")
        runtime.stream_writer({"station": "plan", "total": len(work)})
        return {**begun(state), "work": work}

    async def sample(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """One row: a made-up text by each sampling, and the more plausible of the two."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        row = _row(await desk_.text(work["source"]), work)
        item = _item(row, work)
        pattern = PATTERNS[item.task][work["number"] % len(PATTERNS[item.task])]
        both = await asyncio.gather(
            one_pass(desk_.writer, item, pattern), conversational(desk_.writer, item, pattern)
        )
        made = noted(f"one-pass {item.task}", both[0].rejection, both[0].calls)
        second = noted(f"conversational {item.task}", both[1].rejection, both[1].calls)
        draw = Random(f"{work['seed']}:{item.id}")
        best, by_choice = await chosen(desk_.writer, item, [b.value for b in both if b.value], draw)
        third = noted(f"choose {item.task}", best.rejection, best.calls)
        for key in ("rejected", "calls"):
            made[key] = [*made[key], *second[key], *third[key]]
        runtime.stream_writer({"station": "sample", "rejected": best.rejection})
        if best.value:
            about = {"pattern": pattern, "sampling": best.value.sampling, "chosen": by_choice}
            made["made"] = [{**_place(work), "text": best.value.text, **about}]
        return made

    async def compare(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """One query: three answers, and how alike they are."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        query = str(_row(await desk_.text(work["source"]), work)["user_query"])
        found = await replies(desk_.writer, query, language_of(query))
        runtime.stream_writer({"station": "compare", "rejected": found.rejection})
        made = noted("replies", found.rejection, found.calls)
        if found.value:
            alike = {"texts": list(found.value.texts), "similarity": found.value.similarity}
            made["made"] = [{**_place(work), **alike}]
        return made

    async def write(self, state: ConstructState, runtime: Runtime[Settings]) -> ConstructState:
        """The paper's files, our case form, the provenance."""
        desk_ = await desk(self._pool, runtime)
        texts = {work["source"]["id"]: await desk_.text(work["source"]) for work in state["work"]}
        made = sorted(state.get("made", []), key=lambda m: int(m["number"]))
        rows = [(m, _row(texts[m["source"]["id"]], m)) for m in made]
        out = Path(state["out"])

        def write() -> Json:
            sampled = [(m, row) for m, row in rows if m["task"] != "general"]
            for task in HALU_TASKS:
                own = [_halueval_row(m, row) for m, row in sampled if m["task"] == task]
                if own:
                    write_lines(out / FILES[task], own)
            write_lines(out / CASES, [case for m, row in sampled for case in _case_rows(m, row)])
            kept = sorted(
                (r for r in rows if r[0]["task"] == "general"), key=lambda r: float(r[0]["similarity"])
            )
            if kept:
                write_lines(out / FILES["general"], [_query_row(m, row) for m, row in kept[: state["keep"]]])
            return closed("halueval", state, desk_.models[:1], len(sampled) + len(kept[: state["keep"]]))

        return {"result": await asyncio.to_thread(write)}


def fan_out(state: ConstructState) -> list[Send] | str:
    """A `Send` a row."""
    return [
        Send("compare" if work["task"] == "general" else "sample", {"part": {**work, "seed": state["seed"]}})
        for work in state.get("work", [])
    ] or "write"


def halueval_graph(pool: Pool) -> ConstructGraph:
    """The graph over a pool of resources."""
    nodes = HaluEvalNodes(pool)
    builder = StateGraph(
        ConstructState, context_schema=Settings, input_schema=ConstructInput, output_schema=ConstructState
    )
    builder.add_node("plan", nodes.plan)
    builder.add_node("sample", nodes.sample)
    builder.add_node("compare", nodes.compare)
    builder.add_node("write", nodes.write)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", fan_out, ["sample", "compare", "write"])
    builder.add_edge("sample", "write")
    builder.add_edge("compare", "write")
    builder.add_edge("write", END)
    return builder.compile(name="construct_halueval")


def _rows(text: str, name: str) -> list[tuple[int, int, RowTask]]:
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


def _row(text: str, work: Json) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(text[work["start"] : work["end"]]))


def _place(work: Json) -> Json:
    return {name: work[name] for name in ("source", "start", "end", "task", "number")}


def _item(row: Json, work: Json) -> Item:
    fields = FIELDS[cast(RowTask, work["task"])]
    context = row[fields[1]] if len(fields) == 3 else ""
    right = row[fields[-1]]
    return Item(
        str(work["number"]), cast(HaluTask, work["task"]), row[fields[0]], context, right, language_of(right)
    )


def _halueval_row(made: Json, row: Json) -> Json:
    """The row as HaluEval has it, the made-up side with it."""
    fields = FIELDS[cast(RowTask, made["task"])]
    name = fields[-1].replace("right", "hallucinated")
    about = {key: made[key] for key in ("pattern", "sampling")}
    return {**{field: row[field] for field in fields}, name: made["text"], **about}


def _case_rows(made: Json, row: Json) -> list[Json]:
    """Both sides in the case file format."""
    item = _item(row, made)
    sides = (("right", item.right, made["text"]), ("hallucinated", made["text"], item.right))
    return [
        {
            "id": f"{item.task}-{item.id}-{side}",
            "task": TASKS[item.task],
            "source_text": item.evidence,
            "context": item.context,
            "response": text,
            "reference": other,
            "label": "faithful" if side == "right" else "hallucinated",
            "group": f"{item.task}-{item.id}",
            "slices": {"task": item.task} | ({"pattern": made["pattern"]} if side != "right" else {}),
        }
        for side, text, other in sides
    ]


def _query_row(made: Json, row: Json) -> Json:
    """A query for people to label: its first answer, the others, and how alike they are."""
    return {
        "ID": str(row.get("ID", made["number"])),
        "user_query": row["user_query"],
        "chatgpt_response": made["texts"][0],
        "other_responses": made["texts"][1:],
        "similarity": round(made["similarity"], 4),
    }
