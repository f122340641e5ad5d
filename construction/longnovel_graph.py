"""LongNovel's construction as a graph (seed 004, section 3): units, summaries, versions, lengths, files.

Knows: what happens after what. A `Send` a unit drafts or takes a summary, labels a draft and lists entities; a `Send`
a unit and kind asks for an error, one a unit for a rewording; then neighbours are joined and everything is written.
A draft that the models call unfaithful is a case of its own and no part of longer ones.
Does not know: how a version is asked for or checked.
"""

from collections.abc import Sequence
from operator import add
from pathlib import Path
from typing import Annotated, Literal

from langgraph.graph import END, START
from langgraph.types import Send
from pydantic import ConfigDict, ValidationError

from longproof.agent.models.limits import estimate_tokens
from longproof.agent.types import KINDS, Call, Kind
from longproof.construction.case_files import Provenance, books_used, write_summary_cases
from longproof.construction.longnovel import drafted, entities, labelled, made_wrong, reworded
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
from longproof.construction.units import SCALES, Book, SummaryCase, Unit, books_for_test, joined, pairs, units
from longproof.construction.versions import Change, Version, language_of
from longproof.graphs.resources import Pool
from longproof.indexes.documents import DocumentRef
from longproof.retrieval.types import BadInput, Frozen

TextKind = Literal["summary", "draft", "reword"] | Kind
VERSIONS: tuple[TextKind, ...] = (*KINDS, "reword")


class GivenSummary(Frozen):
    """A summary that people wrote of a part of a source."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    title: str
    start: int
    end: int
    summary: str


class UnitToSummarise(Frozen):
    """A unit of a book, with the summary that people wrote of it; empty where a model writes one."""

    source: DocumentRef
    book: int
    number: int
    start: int
    end: int
    summary: str = ""


class UnitText(Frozen):
    """A text about a unit: its faithful summary with what that names, a draft that models called unfaithful, the
    rewording, or the version with an error of a kind."""

    unit: UnitToSummarise
    kind: TextKind
    text: Change | Version
    entities: tuple[str, ...] = ()


class LongNovelState(ConstructState, total=False):
    """The channels."""

    units: list[UnitToSummarise]
    texts: Annotated[list[UnitText], add]


def cut(run: Session, given: ConstructInput) -> list[UnitToSummarise]:
    """Every unit of every book, with the summary that people wrote of it, if they did."""
    files = zip(given.summaries, run.texts(given.summaries), strict=True)
    by_people = [row for ref, text in files for row in _given(ref.title, text)]
    found = [
        unit
        for book, (ref, text) in enumerate(zip(given.sources, run.texts(given.sources), strict=True))
        for unit in _units(ref, book, text, [row for row in by_people if row.title == ref.title])
    ]
    if not found:
        raise BadInput("no source has a unit of 2,000 tokens: give longer ones, or summaries of their parts")
    return found


async def summarise(run: Session, unit: UnitToSummarise) -> Made:
    """One unit: its summary, the label of a draft, the entities of what is faithful."""
    text = (await run.text(unit.source))[unit.start : unit.end]
    language, calls = language_of(text), tuple[Call, ...]()
    summary = Version(text=unit.summary)
    if not unit.summary:
        draft = await drafted(run.writer, text, language)
        if draft.value is None:
            return Made(None, (f"draft: {draft.rejection}",), draft.calls)
        summary = draft.value
        label = await labelled(run.models, text, summary.text, language)
        calls = draft.calls + label.calls
        if label.value is None:
            return Made(None, (f"label: {label.rejection}",), calls)
        if label.value:
            return Made(UnitText(unit=unit, kind="draft", text=label.value[0]), (), calls)
    named = await entities(run.writer, summary.text, language)
    named = named._replace(calls=calls + named.calls)
    return noted(
        "entities",
        named,
        lambda names: UnitText(unit=unit, kind="summary", text=summary, entities=names),
    )


async def version(run: Session, wanted: UnitText) -> Made:
    """One version of a summary, given with the kind that is wanted: an error, or a faithful rewording."""
    summary, kind = wanted.text.text, wanted.kind
    language = language_of(summary)

    def keep(text: Change | Version) -> UnitText:
        return UnitText(unit=wanted.unit, kind=kind, text=text)

    if kind in KINDS:
        found = await made_wrong(run.writer, summary, wanted.entities, kind, language)
        return noted(kind, found, keep)
    return noted(kind, await reworded(run.writer, summary, language), keep)


def extend(run: Session, state: LongNovelState) -> Provenance:
    """Pairs of all scales, unfaithful drafts as cases of their own; everything written."""
    given = state["given"]
    books = _books(state, run.texts(given.sources))
    cases = [*_pairs(state, books), *(_draft_case(draft, books) for draft in _texts(state, "draft"))]
    write_summary_cases(Path(given.out), cases, books)
    used, parameters = books_used(books), {**parameters_of(given), "n_units": len(state["units"])}
    return finished("longnovel", state, len(cases), models=run.models, sources=used, parameters=parameters)


def send_units(state: LongNovelState) -> list[Send] | str:
    """A `Send` a unit."""
    return sends("summarise", state["units"], "plan")


def send_versions(state: LongNovelState) -> list[Send] | str:
    """A `Send` a unit and kind of error, and one a unit for the rewording."""
    summaries = _texts(state, "summary")
    return sends(
        "version", (s.model_copy(update={"kind": kind}) for s in summaries for kind in VERSIONS), "extend"
    )


def longnovel_graph(pool: Pool) -> ConstructGraph:
    """The graph over a pool of resources."""
    builder = builder_of(LongNovelState)
    builder.add_node("units", first_node(pool, cut, "units"))
    builder.add_node("summarise", part_node(pool, summarise, "texts"))
    builder.add_node("plan", all_there)
    builder.add_node("version", part_node(pool, version, "texts"))
    builder.add_node("extend", last_node(pool, extend))
    builder.add_edge(START, "units")
    builder.add_conditional_edges("units", send_units, ["summarise", "plan"])
    builder.add_edge("summarise", "plan")
    builder.add_conditional_edges("plan", send_versions, ["version", "extend"])
    builder.add_edge("version", "extend")
    builder.add_edge("extend", END)
    return builder.compile(name="construct_longnovel")


def _given(name: str, text: str) -> list[GivenSummary]:
    """The summaries of a file. Raises BadInput for a line that is none."""
    try:
        return [GivenSummary.model_validate_json(line) for line in text.split("\n") if line.strip()]
    except ValidationError as error:
        raise BadInput(
            f"{name}: a summary is a JSON line with title, start, end and summary "
            f"({error.errors()[0]['msg']})"
        ) from error


def _units(source: DocumentRef, book: int, text: str, given: Sequence[GivenSummary]) -> list[UnitToSummarise]:
    """The units of a book: those that people summarised, else of 2,000 to 4,000 tokens."""
    ordered = sorted(given, key=lambda row: row.start)
    ranges = [(row.start, row.end, row.summary) for row in ordered] or [
        (unit.start, unit.end, "") for unit in units(text)
    ]
    return [
        UnitToSummarise(source=source, book=book, number=number, start=start, end=end, summary=summary)
        for number, (start, end, summary) in enumerate(ranges)
    ]


def _texts(state: LongNovelState, kind: TextKind) -> list[UnitText]:
    return [text for text in state.get("texts", []) if text.kind == kind]


def _books(state: LongNovelState, texts: Sequence[str]) -> list[Book]:
    """The books with the faithful summaries that there are; a unit without one is joined as nothing."""
    given = state["given"]
    tests = books_for_test(len(texts), given.test_share, given.seed)
    summaries = {(s.unit.book, s.unit.number): Version(text=s.text.text) for s in _texts(state, "summary")}
    none = Version(text="")
    return [
        Book(
            title=ref.title or ref.id[7:19],
            text=text,
            language=language_of(text),
            units=tuple(
                Unit(start=u.start, end=u.end, tokens=estimate_tokens(text[u.start : u.end]))
                for u in state["units"]
                if u.book == n
            ),
            summaries=tuple(summaries.get((n, u.number), none) for u in state["units"] if u.book == n),
            split="test" if n in tests else "train",
        )
        for n, (ref, text) in enumerate(zip(given.sources, texts, strict=True))
    ]


def _pairs(state: LongNovelState, books: Sequence[Book]) -> list[SummaryCase]:
    made = {(v.unit.book, v.unit.number, v.kind): v.text for v in state.get("texts", [])}

    def change(book: int, unit: int, kind: Kind) -> tuple[Change, Version] | None:
        wrong, right = made.get((book, unit, kind)), made.get((book, unit, "reword"))
        return (wrong, right) if isinstance(wrong, Change) and isinstance(right, Version) else None

    given = state["given"]
    per_scale = max(1, round(given.cases / 2 / len(SCALES)))
    return [case for pair in pairs(books, per_scale, change, given.seed) for case in pair]


def _draft_case(draft: UnitText, books: Sequence[Book]) -> SummaryCase:
    """A draft that the models call unfaithful, as a case of one unit."""
    book, unit = draft.unit.book, draft.unit.number
    name = f"draft-{book}-{unit:04d}"
    case = joined(books[book], (unit, unit), unit, draft.text, "S", name)
    return case.model_copy(update={"group": case.id})
