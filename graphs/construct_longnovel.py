"""LongNovel's construction as a graph (seed 004, section 3): units, summaries, versions, lengths, files.

Knows: what happens after what. A `Send` a unit drafts or takes a summary, labels a draft and lists entities; a `Send`
a unit and kind asks for an error, one a unit for a rewording; then neighbours are joined and everything is written.
A draft that the models call unfaithful is a case of its own and no part of longer ones. Two names that section 3.3
swaps are put right: the hallucinated sequence is the one that holds the changed summary.
Does not know: how a version is asked for or checked.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from longproof.agent.extend import SCALES, Book, MadeCase, joined, pairs
from longproof.agent.longnovel_set import drafted, entities, labelled, made_wrong, reworded
from longproof.agent.made import Change, Version
from longproof.agent.types import KINDS, Kind
from longproof.agent.units import Unit, units
from longproof.graphs.constructing import (
    ConstructInput,
    ConstructState,
    Part,
    begun,
    closed,
    desk,
    language_of,
    noted,
)
from longproof.graphs.convert import dump, refs
from longproof.graphs.made_files import sources_used, write_cases
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings
from longproof.graphs.state import Json
from longproof.retrieval.types import BadInput

ConstructGraph = CompiledStateGraph[ConstructState, Settings, ConstructInput, ConstructState]
REWORD = "reword"


class LongNovelNodes:
    """The nodes over one pool of resources."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def units(self, state: ConstructInput, runtime: Runtime[Settings]) -> ConstructState:
        """Every unit of every book, with the summary that people wrote of it, if they did."""
        desk_ = await desk(self._pool, runtime)
        begin = begun(state)
        given = await asyncio.to_thread(_summaries, state.summaries, desk_.resources)
        work: list[Json] = []
        for number, ref in enumerate(state.sources):
            text = await desk_.text(ref)
            work += _cut(number, text, given.get(ref["title"], []))
        if not work:
            raise BadInput(
                "no source has a unit of 2,000 tokens: give longer ones, or summaries of their parts"
            )
        runtime.stream_writer({"station": "units", "total": len(work)})
        return {**begin, "work": work}

    async def summarise(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """One unit: its summary, the label of a draft, the entities of what is faithful."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        text = (await desk_.text(work["source"]))[work["start"] : work["end"]]
        name, language = f"unit {work['book']}.{work['unit']}", language_of(text)
        what, calls = work["kind_of_summary"], []
        if work["summary"]:
            version: Version | None = Version(text=work["summary"], maker="human")
        else:
            draft = await drafted(desk_.writer, text, language)
            version, calls = draft.value, list(draft.calls)
            if version is None:
                return noted("draft", draft.rejection, calls)
        assert version is not None
        more: list[Json] = []
        if what == "draft":
            judges, arbiter = desk_.models[:2], desk_.models[2] if len(desk_.models) > 2 else None
            label = await labelled(judges, arbiter, text, version.text, language)
            calls += label.calls
            if label.value is None:
                return noted("label", label.rejection, calls)
            if not label.value.faithful:
                more = [{**_place_of(work), "change": label.value.changes[0].model_dump(mode="json")}]
                runtime.stream_writer({"station": "summarise", "unit": name})
                return {"more": more, "calls": dump(calls)}
        named = await entities(desk_.writer, version.text, language)
        calls += named.calls
        if named.value is None:
            return noted("entities", named.rejection, calls)
        made = {**_place_of(work), "summary": version.model_dump(mode="json"), "entities": named.value}
        runtime.stream_writer({"station": "summarise", "unit": name})
        return {"made": [made], "calls": dump(calls)}

    async def version(self, state: Part, runtime: Runtime[Settings]) -> ConstructState:
        """One version of one summary: an error of a kind, or a faithful rewording."""
        work = state["part"]
        desk_ = await desk(self._pool, runtime)
        summary, kind = work["summary"]["text"], work["version"]
        language = language_of(summary)
        if kind == REWORD:
            found = await reworded(desk_.writer, summary, language)
            value: Version | Change | None = found.value
            rejection, calls = found.rejection, found.calls
        else:
            wrong = await made_wrong(desk_.writer, summary, work["entities"], cast(Kind, kind), language)
            value, rejection, calls = wrong.value, wrong.rejection, wrong.calls
        runtime.stream_writer({"station": "version", "kind": kind, "rejected": rejection})
        noted_ = noted(kind, rejection, calls)
        if value is not None:
            noted_["more"] = [{**_place_of(work), "version": kind, "value": value.model_dump(mode="json")}]
        return noted_

    async def extend(self, state: ConstructState, runtime: Runtime[Settings]) -> ConstructState:
        """Pairs of all scales, unfaithful drafts as cases of their own; everything written."""
        desk_ = await desk(self._pool, runtime)
        texts = [await desk_.text(ref) for ref in state["sources"]]
        books = _books(state, texts)
        cases = [case for pair in _pairs(state, books) for case in pair]
        cases += [
            _drafted_case(item, books[item["book"]]) for item in state.get("more", []) if "change" in item
        ]
        out = Path(state["out"])
        await asyncio.to_thread(write_cases, out, cases, books)
        used = sources_used(books)
        result = await asyncio.to_thread(
            closed, "longnovel", state, desk_.models, len(cases), used, n_units=len(state["work"])
        )
        return {"result": result}


def fan_out(state: ConstructState) -> list[Send]:
    """A `Send` a unit."""
    return [
        Send("summarise", {"part": {**work, "source": state["sources"][work["book"]]}})
        for work in state.get("work", [])
    ]


def fan_versions(state: ConstructState) -> list[Send] | str:
    """A `Send` a unit and kind, and one a unit for the rewording."""
    made = state.get("made", [])
    return [
        Send("version", {"part": {**m, "version": kind}}) for m in made for kind in (*KINDS, REWORD)
    ] or "extend"


def longnovel_graph(pool: Pool) -> ConstructGraph:
    """The graph over a pool of resources."""
    nodes = LongNovelNodes(pool)
    builder = StateGraph(
        ConstructState, context_schema=Settings, input_schema=ConstructInput, output_schema=ConstructState
    )
    builder.add_node("units", nodes.units)
    builder.add_node("summarise", nodes.summarise)
    builder.add_node("plan", _gate)
    builder.add_node("version", nodes.version)
    builder.add_node("extend", nodes.extend)
    builder.add_edge(START, "units")
    builder.add_conditional_edges("units", fan_out, ["summarise"])
    builder.add_edge("summarise", "plan")
    builder.add_conditional_edges("plan", fan_versions, ["version", "extend"])
    builder.add_edge("version", "extend")
    builder.add_edge("extend", END)
    return builder.compile(name="construct_longnovel")


def _gate(state: ConstructState) -> ConstructState:
    """All summaries are there."""
    return {}


def _place_of(work: Mapping[str, object]) -> Json:
    return {"book": work["book"], "unit": work["unit"]}


def _cut(number: int, text: str, given: Sequence[Json]) -> list[Json]:
    """The units of a book: those that people summarised, else of 2,000 to 4,000 tokens."""
    if given:
        return [
            {"book": number, "unit": n, **row, "kind_of_summary": "human"}
            for n, row in enumerate(sorted(given, key=lambda row: row["start"]))
        ]
    return [
        {"book": number, "unit": n, "start": u.start, "end": u.end, "summary": "", "kind_of_summary": "draft"}
        for n, u in enumerate(units(text))
    ]


def _summaries(stored: Sequence[Json], resources: Resources) -> dict[str, list[Json]]:
    """By title of the source: start, end and summary of each unit. Raises BadInput for rows that aren't so."""
    found: dict[str, list[Json]] = {}
    for ref in refs(stored):
        for line in filter(str.strip, resources.store.open(ref).text.split("\n")):
            try:
                row = json.loads(line)
                kept = {"start": int(row["start"]), "end": int(row["end"]), "summary": str(row["summary"])}
                found.setdefault(str(row["title"]), []).append(kept)
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(
                    f"{ref.title}: a summary is a JSON line with title, start, end and summary ({error})"
                ) from error
    return found


def _books(state: ConstructState, texts: Sequence[str]) -> list[Book]:
    """The books with the faithful summaries that there are; a unit without one is joined as nothing."""
    from longproof.agent.limits import estimate_tokens

    tests = _tested(len(texts), state["test_share"], state["seed"])
    books = []
    for n, text in enumerate(texts):
        own = [work for work in state["work"] if work["book"] == n]
        there = {
            made["unit"]: Version(**made["summary"]) for made in state.get("made", []) if made["book"] == n
        }
        cut = [
            Unit(start=w["start"], end=w["end"], tokens=estimate_tokens(text[w["start"] : w["end"]]))
            for w in own
        ]
        books.append(
            Book(
                title=titled_ref(state["sources"][n]),
                text=text,
                language=language_of(text),
                units=tuple(cut),
                summaries=tuple(there.get(w["unit"], Version(text="", maker="model")) for w in own),
                split="test" if n in tests else "train",
            )
        )
    return books


def titled_ref(ref: Json) -> str:
    """A name for a stored source in files."""
    return str(ref["title"] or ref["id"][7:19])


def _tested(count: int, share: float, seed: int) -> set[int]:
    order = list(range(count))
    Random(seed).shuffle(order)
    return set(order[: max(1, round(count * share))])


def _pairs(state: ConstructState, books: Sequence[Book]) -> list[tuple[MadeCase, ...]]:
    made = {(m["book"], m["unit"], m["version"]): m["value"] for m in state.get("more", []) if "version" in m}

    def change(book: int, unit: int, kind: Kind) -> tuple[Change, Version] | None:
        wrong, right = made.get((book, unit, kind)), made.get((book, unit, REWORD))
        return (Change(**wrong), Version(**right)) if wrong and right else None

    return list(pairs(books, max(1, round(state["cases"] / 2 / len(SCALES))), change, state["seed"]))


def _drafted_case(item: Json, book: Book) -> MadeCase:
    """A draft that the models call unfaithful, as a case of one unit."""
    unit = item["unit"]
    case = joined(book, (unit, unit), unit, Change(**item["change"]), "S", f"draft-{item['book']}-{unit:04d}")
    return case.model_copy(update={"group": case.id})
