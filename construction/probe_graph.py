"""PROBE's construction as a graph (seed 000, section 3): base texts, inventions, claims with agreed evidence, files.

Knows: what happens after what. A `Send` a source and task writes the base text; one a text and complexity inserts
inventions; one a response takes it apart into claims and grounds those that are no inventions.
Does not know: how a text is asked for or checked.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from operator import add
from pathlib import Path
from random import Random
from statistics import mean
from typing import Annotated, Any

from langgraph.graph import END, START
from langgraph.types import Send

from longproof.agent.types import Call, Case, Claim, Place, Task
from longproof.construction.case_files import (
    CASES,
    CaseError,
    LabelledCase,
    Provenance,
    write_cases,
    write_lines,
)
from longproof.construction.probe import (
    COMPLEXITIES,
    PROBE_TASKS,
    STYLES,
    ProbeTask,
    base_text,
    grounded,
    inserted,
    invented,
)
from longproof.construction.state import (
    ConstructGraph,
    ConstructInput,
    ConstructState,
    Made,
    Session,
    all_there,
    builder_of,
    finished,
    first_node,
    last_node,
    noted,
    parameters_of,
    part_node,
    sends,
)
from longproof.construction.versions import language_of
from longproof.graphs.resources import Pool
from longproof.indexes.documents import DocumentRef
from longproof.indexes.files import write_whole
from longproof.retrieval.text import sentences
from longproof.retrieval.types import Document, Frozen

PROBE_FILE, TABLE = "probe.jsonl", "statistics.md"
TASKS: dict[ProbeTask, Task] = {
    "summarization": "summary",
    "question answering": "answer",
    "style transfer": "rewrite",
}


class Assignment(Frozen):
    """A source and what is to be written from it. `number` is the source's; a rewriting alone has the `style`."""

    source: DocumentRef
    number: int
    task: ProbeTask
    style: str


class LabelledClaim(Frozen):
    """A claim of a response: the words that it came from, and its evidence unless it is an invention."""

    text: str
    segment: Place
    hallucinated: bool
    evidence: tuple[str, ...] = ()


class Response(Frozen):
    """A text written from a source, with as many inventions as its complexity says, their places, and its claims."""

    assignment: Assignment
    text: str
    question: str
    complexity: int = 0
    inventions: tuple[Place, ...] = ()
    claims: tuple[LabelledClaim, ...] = ()


class ProbeState(ConstructState, total=False):
    """The channels."""

    assignments: list[Assignment]
    responses: Annotated[list[Response], add]
    labelled: Annotated[list[Response], add]


def plan(run: Session, given: ConstructInput) -> list[Assignment]:
    """Every source with every task; the style of a rewriting is drawn with the seed."""
    return [
        Assignment(source=ref, number=number, task=task, style=style)
        for number, ref in enumerate(given.sources)
        for style in [Random(f"{given.seed}:{ref.id}").choice(STYLES)]
        for task in given.tasks(PROBE_TASKS)
    ]


async def base(run: Session, own: Assignment) -> Made:
    """The base text of one source and task, as the response of complexity 0."""
    source = await run.text(own.source)
    found = await base_text(run.writer, source, own.task, own.style, language_of(source))
    return noted(
        f"base {own.task}",
        found,
        lambda made: Response(assignment=own, text=made.text, question=made.question),
    )


async def insert(run: Session, wanted: Response) -> Made:
    """A base text, given with the complexity that is wanted, with so many inventions."""
    source, level = await run.text(wanted.assignment.source), wanted.complexity
    found = await inserted(run.writer, source, wanted.text, level, language_of(source))
    return noted(
        f"insert {level}",
        found,
        lambda made: wanted.model_copy(update={"text": made.text, "inventions": made.places}),
    )


async def claims(run: Session, response: Response) -> Made:
    """The claims of one response: inventions by their place, the others with their evidence."""
    source = await run.text(response.assignment.source)
    found, calls = await _decomposed(run, response)
    labelled = await asyncio.gather(*(_labelled(run, claim, response, source) for claim in found))
    kept = sorted((claim for claim, _, _ in labelled if claim), key=lambda claim: claim.segment.start)
    rejected = tuple(f"claim: {why}" for _, why, _ in labelled if why)
    calls += [call for _, _, more in labelled for call in more]
    if not kept or (response.inventions and not any(claim.hallucinated for claim in kept)):
        return Made(None, (*rejected, "response: no_claims"), tuple(calls))
    return Made(response.model_copy(update={"claims": tuple(kept)}), rejected, tuple(calls))


def write(run: Session, state: ProbeState) -> Provenance:
    """Both forms, the statistics of table 1, the provenance."""
    given, made = state["given"], state.get("labelled", [])
    out, texts = Path(given.out), run.texts(response.assignment.source for response in made)
    write_lines(out / PROBE_FILE, map(_probe_row, made, texts))
    write_cases(out / CASES, map(_case, made, texts))
    write_whole(out / TABLE, statistics(made).encode("utf-8"))
    return finished("probe", state, len(made), models=run.models, parameters=parameters_of(given))


def send_assignments(state: ProbeState) -> list[Send] | str:
    """A `Send` a source and task."""
    return sends("base", state["assignments"], "write")


def send_bases(state: ProbeState) -> list[Send] | str:
    """A `Send` a base text and complexity."""
    bases = [response for response in state.get("responses", []) if response.complexity == 0]
    wanted = (base.model_copy(update={"complexity": level}) for base in bases for level in COMPLEXITIES)
    return sends("insert", wanted, "write")


def send_responses(state: ProbeState) -> list[Send] | str:
    """A `Send` a response, base texts too."""
    return sends("claims", state.get("responses", []), "write")


def probe_graph(pool: Pool) -> ConstructGraph:
    """The graph over a pool of resources."""
    builder = builder_of(ProbeState)
    builder.add_node("plan", first_node(pool, plan, "assignments"))
    builder.add_node("base", part_node(pool, base, "responses"))
    builder.add_node("bases", all_there)
    builder.add_node("insert", part_node(pool, insert, "responses"))
    builder.add_node("responses", all_there)
    builder.add_node("claims", part_node(pool, claims, "labelled"))
    builder.add_node("write", last_node(pool, write))
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", send_assignments, ["base", "write"])
    builder.add_edge("base", "bases")
    builder.add_conditional_edges("bases", send_bases, ["insert", "write"])
    builder.add_edge("insert", "responses")
    builder.add_conditional_edges("responses", send_responses, ["claims", "write"])
    builder.add_edge("claims", "write")
    builder.add_edge("write", END)
    return builder.compile(name="construct_probe")


async def _decomposed(run: Session, response: Response) -> tuple[list[Claim], list[Call]]:
    """The response's claims, by the run's decomposer. A sentence that could not be decomposed gives none."""
    text, task = Document.of(response.text), TASKS[response.assignment.task]
    case = Case(id="construct", task=task, response=text.text, context=response.question)
    spans = [text.span(start, end) for start, end in sentences(text.text)]
    done = await run.resources.panel.decomposer.decompose(case, spans)
    failed = {sentence.index for sentence in done.sentences if sentence.failure}
    return [claim for claim in done.claims if claim.sentence not in failed], list(done.calls)


async def _labelled(
    run: Session, claim: Claim, response: Response, source: str
) -> tuple[LabelledClaim | None, str | None, tuple[Call, ...]]:
    """One claim with its label, or why it is left out: partly new, or no agreed evidence."""
    segment = Place(start=claim.origin.start, end=claim.origin.end, text=claim.origin.text)
    new = invented(segment, response.inventions)
    if new is None:
        return None, "mixed", ()
    labelled = LabelledClaim(text=claim.text, segment=segment, hallucinated=new)
    if new:
        return labelled, None, ()
    found = await grounded(run.models, claim.text, source, language_of(source))
    if found.value is None:
        return None, "no_evidence", found.calls
    evidence = tuple(piece.text for piece in found.value)
    return labelled.model_copy(update={"evidence": evidence}), None, found.calls


def _id(response: Response) -> str:
    own = response.assignment
    return f"{own.number}-{own.task.replace(' ', '_')}-{response.complexity}"


def _source_id(response: Response) -> str:
    return response.assignment.source.id.removeprefix("sha256:")[:16]


def _probe_row(response: Response, source: str) -> dict[str, Any]:
    """The response as PROBE's data set has it."""
    own = response.assignment
    return {
        "id": _id(response),
        "source_id": _source_id(response),
        "task": own.task,
        "style": own.style if own.task == "style transfer" else "",
        "complexity": response.complexity,
        "source": source,
        "question": response.question,
        "response": response.text,
        "claims": [
            {
                "text": claim.text,
                "segment": claim.segment.text,
                "hallucinated": claim.hallucinated,
                "evidence": list(claim.evidence),
            }
            for claim in response.claims
        ],
        "spans": [place.model_dump() for place in response.inventions],
    }


def _case(response: Response, source: str) -> LabelledCase:
    """The response in the case file format; errors are the inventions."""
    return LabelledCase(
        id=_id(response),
        task=TASKS[response.assignment.task],
        source_text=source,
        context=response.question,
        response=response.text,
        label="hallucinated" if response.inventions else "faithful",
        errors=tuple(CaseError(**at.model_dump(), kind="fabrication") for at in response.inventions),
        group=_source_id(response),
        slices={"task": response.assignment.task, "complexity": response.complexity},
    )


def statistics(made: Sequence[Response]) -> str:
    """PROBE's table 1 of this set: responses, claims, lengths in characters, the share that is invented."""
    names = "task, responses, claims, hallucinated, true, response mean and max, invention mean and max, of response"
    tasks = list(dict.fromkeys(one.assignment.task for one in made))
    rows = [_statistics_row(t, [o for o in made if o.assignment.task == t]) for t in tasks]
    rows += [_statistics_row("overall", made)] if made else []
    return "\n".join([f"| {names.replace(', ', ' | ')} |", "|" + " --- |" * 8, *rows, ""])


def _statistics_row(task: str, made: Sequence[Response]) -> str:
    sides = Counter(claim.hallucinated for one in made for claim in one.claims)
    lengths = [len(one.text) for one in made]
    new = [
        (sum(place.end - place.start for place in one.inventions), len(one.text))
        for one in made
        if one.inventions
    ]
    cells = [
        *(task, len(made), sides.total(), sides[True], sides[False]),
        f"{mean(lengths):,.0f}, {max(lengths):,}",
        f"{mean(n for n, _ in new):,.0f}, {max(n for n, _ in new):,}" if new else "–",
        f"{mean(n / length for n, length in new):.2%}" if new else "–",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"
