"""PROBE's construction as a graph (seed 000, section 3): base texts, inventions, claims with agreed evidence, files.

Knows: what happens after what. A `Send` a source and task writes the base text; one a text and complexity inserts
inventions; one a response takes it apart into claims and grounds those that are no inventions.
Does not know: how a text is asked for or checked.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import mean

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from longproof.agent.probe_set import (
    COMPLEXITIES,
    PROBE_TASKS,
    STYLES,
    base_text,
    grounded,
    inserted,
    invented,
)
from longproof.agent.types import Call, Case, Claim, Place, Task
from longproof.graphs.construct_longnovel import ConstructGraph
from longproof.graphs.constructing import (
    ConstructInput,
    ConstructState,
    Desk,
    Part,
    begun,
    chosen_tasks,
    closed,
    desk,
    language_of,
    noted,
)
from longproof.graphs.convert import dump
from longproof.graphs.made_files import CASES, write_lines
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import Json
from longproof.indexes.place import write_whole
from longproof.retrieval.text import sentences
from longproof.retrieval.types import Document

PROBE_FILE, TABLE = "probe.jsonl", "statistics.md"
TASKS: dict[str, Task] = {
    "summarization": "summary",
    "question answering": "answer",
    "style transfer": "rewrite",
}


class ProbeNodes:
    """The nodes over one pool of resources."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def plan(self, state: ConstructInput, runtime: Runtime[Settings]) -> ConstructState:
        """Every source with every task; the style of a rewriting is drawn with the seed."""
        await desk(self._pool, runtime)
        tasks = chosen_tasks(state.task, PROBE_TASKS)
        work: list[Json] = []
        for number, ref in enumerate(state.sources):
            style = Random(f"{state.seed}:{ref['id']}").choice(STYLES)
            work += [{"source": ref, "number": number, "task": task, "style": style} for task in tasks]
        runtime.stream_writer({"station": "plan", "total": len(work)})
        return {**begun(state), "work": work}

    async def base(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """The base text of one source and task, as the response of complexity 0."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        source = await desk_.text(work["source"])
        found = await base_text(desk_.writer, source, work["task"], work["style"], language_of(source))
        runtime.stream_writer({"station": "base", "rejected": found.rejection})
        made = noted(f"base {work['task']}", found.rejection, found.calls)
        if found.value:
            text = {"text": found.value.text, "question": found.value.question, "places": [], "complexity": 0}
            made["more"] = [{**work, **text}]
        return made

    async def insert(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """The base text with so many inventions."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        source = await desk_.text(work["source"])
        level = work["level"]
        found = await inserted(desk_.writer, source, work["text"], level, language_of(source))
        runtime.stream_writer({"station": "insert", "rejected": found.rejection})
        made = noted(f"insert {level}", found.rejection, found.calls)
        if found.value:
            text = {"text": found.value.text, "places": dump(found.value.places), "complexity": level}
            made["more"] = [{**work, **text}]
        return made

    async def claims(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """The claims of one response: inventions by their place, the others with their evidence."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        source = await desk_.text(work["source"])
        claims, calls = await _taken_apart(desk_, work)
        places = [Place(**place) for place in work["places"]]
        rejected: list[str] = []
        rows: list[Json] = []
        for row, why, more in await asyncio.gather(*(_row(desk_, claim, places, source) for claim in claims)):
            calls += more
            rows += [row] if row else []
            rejected += [f"claim: {why}"] if why else []
        runtime.stream_writer({"station": "claims", "claims": len(rows)})
        kept = bool(rows) and (not places or any(row["hallucinated"] for row in rows))
        if not kept:
            rejected.append("response: no_claims")
        made = [{**work, "claims": rows}] if kept else []
        return {"made": made, "rejected": rejected, "calls": dump(calls)}

    async def write(self, state: ConstructState, runtime: Runtime[Settings]) -> ConstructState:
        """Both forms, the statistics of table 1, the provenance."""
        desk_ = await desk(self._pool, runtime)
        made = state.get("made", [])
        texts = {work["source"]["id"]: await desk_.text(work["source"]) for work in made}
        rows = [_probe_row(work, texts[work["source"]["id"]]) for work in made]
        out = Path(state["out"])

        def write() -> Json:
            write_lines(out / PROBE_FILE, rows)
            write_lines(out / CASES, (_case_row(work, row) for work, row in zip(made, rows, strict=True)))
            write_whole(out / TABLE, statistics(made).encode("utf-8"))
            return closed("probe", state, desk_.models, len(rows))

        return {"result": await asyncio.to_thread(write)}


def fan_bases(state: ConstructState) -> list[Send] | str:
    """A `Send` a source and task."""
    return [Send("base", {"part": work}) for work in state.get("work", [])] or "write"


def fan_inserts(state: ConstructState) -> list[Send] | str:
    """A `Send` a base text and complexity."""
    bases = [work for work in state.get("more", []) if work["complexity"] == 0]
    return [
        Send("insert", {"part": {**work, "level": level}}) for work in bases for level in COMPLEXITIES
    ] or "write"


def fan_claims(state: ConstructState) -> list[Send] | str:
    """A `Send` a response, base texts too."""
    return [Send("claims", {"part": work}) for work in state.get("more", [])] or "write"


def probe_graph(pool: Pool) -> ConstructGraph:
    """The graph over a pool of resources."""
    nodes = ProbeNodes(pool)
    builder = StateGraph(
        ConstructState, context_schema=Settings, input_schema=ConstructInput, output_schema=ConstructState
    )
    builder.add_node("plan", nodes.plan)
    builder.add_node("base", nodes.base)
    builder.add_node("bases", _gate)
    builder.add_node("insert", nodes.insert)
    builder.add_node("responses", _gate)
    builder.add_node("claims", nodes.claims)
    builder.add_node("write", nodes.write)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", fan_bases, ["base", "write"])
    builder.add_edge("base", "bases")
    builder.add_conditional_edges("bases", fan_inserts, ["insert", "write"])
    builder.add_edge("insert", "responses")
    builder.add_conditional_edges("responses", fan_claims, ["claims", "write"])
    builder.add_edge("claims", "write")
    builder.add_edge("write", END)
    return builder.compile(name="construct_probe")


def _gate(state: ConstructState) -> ConstructState:
    """All of one kind are there."""
    return {}


async def _taken_apart(desk_: Desk, work: Json) -> tuple[list[Claim], list[Call]]:
    """The response's claims, by the run's decomposer. What could not be taken apart is no claim of a labelled set."""
    response = Document.of(work["text"])
    case = Case(id="construct", task=TASKS[work["task"]], response=response.text, context=work["question"])
    spans = [response.span(start, end) for start, end in sentences(response.text)]
    done = await desk_.resources.panel.decomposer.decompose(case, spans)
    failed = {sentence.index for sentence in done.sentences if sentence.failure}
    return [claim for claim in done.claims if claim.sentence not in failed], list(done.calls)


async def _row(
    desk_: Desk, claim: Claim, places: Sequence[Place], source: str
) -> tuple[Json | None, str | None, list[Call]]:
    """One claim as the data set has it, or why it is left out: partly new, or no agreed evidence."""
    origin = Place(start=claim.origin.start, end=claim.origin.end, text=claim.origin.text)
    new = invented(origin, places)
    row = {
        "text": claim.text,
        "segment": origin.text,
        "start": origin.start,
        "hallucinated": bool(new),
        "evidence": [],
    }
    if new is None:
        return None, "mixed", []
    if new:
        return row, None, []
    found = await grounded(desk_.models, claim.text, source, language_of(source))
    if found.value is None:
        return None, "no_evidence", list(found.calls)
    return {**row, "evidence": [place.text for place in found.value.places]}, None, list(found.calls)


def _probe_row(work: Json, source: str) -> Json:
    claims = sorted(work["claims"], key=lambda claim: claim["start"])
    return {
        "id": f"{work['number']}-{work['task'].replace(' ', '_')}-{work['complexity']}",
        "source_id": work["source"]["id"].removeprefix("sha256:")[:16],
        "task": work["task"],
        "style": work["style"] if work["task"] == "style transfer" else "",
        "complexity": work["complexity"],
        "source": source,
        "question": work["question"],
        "response": work["text"],
        "claims": [{k: v for k, v in claim.items() if k != "start"} for claim in claims],
        "spans": work["places"],
    }


def _case_row(work: Json, row: Json) -> Json:
    """The response in the case file format; errors are the inserted stretches."""
    return {
        "id": row["id"],
        "task": TASKS[work["task"]],
        "source_text": row["source"],
        "context": work["question"],
        "response": work["text"],
        "label": "hallucinated" if work["places"] else "faithful",
        "errors": [{**place, "kind": "fabrication"} for place in work["places"]],
        "group": row["source_id"],
        "slices": {"task": work["task"], "complexity": work["complexity"]},
    }


def statistics(made: Sequence[Json]) -> str:
    """PROBE's table 1 of this set: responses, claims, lengths in characters, the share that is invented."""
    by_task: dict[str, list[Json]] = defaultdict(list)
    for work in made:
        by_task[work["task"]].append(work)
    names = "task, responses, claims, hallucinated, true, response mean and max, invention mean and max, of response"
    head = f"| {names.replace(', ', ' | ')} |"
    rows = [
        _statistics_row(task, works) for task, works in [*by_task.items(), ("overall", list(made))] if works
    ]
    return "\n".join([head, "|" + " --- |" * 8, *rows, ""])


def _statistics_row(task: str, works: Sequence[Json]) -> str:
    sides = Counter(claim["hallucinated"] for work in works for claim in work["claims"])
    lengths = [len(work["text"]) for work in works]
    new = [sum(place["end"] - place["start"] for place in work["places"]) for work in works if work["places"]]
    shares = [
        sum(place["end"] - place["start"] for place in work["places"]) / len(work["text"])
        for work in works
        if work["places"]
    ]
    cells = [
        *(task, len(works), sides.total(), sides[True], sides[False]),
        f"{mean(lengths):,.0f}, {max(lengths):,}",
        f"{mean(new):,.0f}, {max(new):,}" if new else "–",
        f"{mean(shares):.2%}" if shares else "–",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"
