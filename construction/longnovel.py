"""LongNovel's construction by language models (seed 004, section 3): units, summaries, versions, lengths, files.

Knows: what is asked for each version and what of an answer is believed: code compares every version with its base.
A summary is written or given, a draft is labelled by two models, or a third where they disagree (multi-model
arbitration); each faithful summary is made wrong in eight ways and reworded; neighbours are joined. A draft that the
models call unfaithful is a case of its own and no part of longer ones.
Does not know: how models are opened, or how many parts are worked on together.
"""

import asyncio
from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

from pydantic import ConfigDict, Field, ValidationError

from longproof.agent.models.answers import Form
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.models.model import Model
from longproof.agent.types import KINDS, Call, Kind
from longproof.construction.case_files import Provenance, books_used, write_summary_cases
from longproof.construction.maker import Maker
from longproof.construction.units import (
    SCALES,
    Book,
    SummaryCase,
    Unit,
    books_for_test,
    case_pairs,
    joined_case,
    units,
)
from longproof.construction.versions import (
    Made,
    Rejected,
    TextWithError,
    Written,
    ask_for,
    check_error,
    locate_quote,
    prompt_language,
    sentence_difference,
)
from longproof.graphs.papers.longnovel import KINDS as KINDS_BY_NAME
from longproof.graphs.papers.longnovel import NO, YES, Detail, Narrative
from longproof.prompts import Language, render
from longproof.retrieval.text.numbers import numbers
from longproof.retrieval.types import BadInput, Frozen

SHORTEST_DRAFT = 20
REWORDED_LENGTH = (0.6, 1.6)
"""A rewording is so many times as long as its base."""


class Entities(Form):
    """What a summary names (section 3.2)."""

    people: list[str] = Field(default_factory=list)
    organisations: list[str] = Field(default_factory=list)
    places: list[str] = Field(default_factory=list)
    figures: list[str] = Field(default_factory=list)


class WrongVersion(Form):
    """A summary made wrong (Appendix I.1: is_success, hal_summary, error_part)."""

    possible: str = Field(json_schema_extra={"enum": ["yes", "no"]})
    text: str = ""
    wrong_sentence: str = ""
    reason: str = ""


class Label(NamedTuple):
    """One model's word on a draft: whether it is faithful, and the errors that could be placed in it."""

    faithful: bool
    changes: tuple[TextWithError, ...] = ()


TextKind = Literal["summary", "draft", "reword"] | Kind
VERSIONS: tuple[TextKind, ...] = (*KINDS, "reword")


class GivenSummary(Frozen):
    """A summary that people wrote of a part of a source."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    title: str
    start: int
    end: int
    summary: str


class UnitToSummarise(NamedTuple):
    """A unit of a book, with the summary that people wrote of it; empty where a model writes one."""

    book: int
    number: int
    start: int
    end: int
    text: str
    summary: str = ""


class UnitText(NamedTuple):
    """A text about a unit: its faithful summary with what that names, a draft that models called unfaithful, the
    rewording, or the version with an error of a kind."""

    unit: UnitToSummarise
    kind: TextKind
    text: TextWithError | str
    entities: tuple[str, ...] = ()


async def label_draft(
    models: Sequence[Model], unit: str, summary: str, language: Language
) -> Made[tuple[TextWithError, ...]]:
    """The errors of a draft by the first two models, or by the third where they disagree; none where it is faithful.

    `no_choice` where nobody decides: a failed call is no vote. Errors that can't be placed in the summary are left
    out; a draft that is called wrong without an error that can be placed is no case.
    """
    said = list(await asyncio.gather(*(_ask_label(model, unit, summary, language) for model in models[:2])))
    calls = tuple(call for one in said for call in one.calls)
    if {one.value and one.value.faithful for one in said} not in ({True}, {False}):
        if len(models) < 3:
            return Made(None, ("no_choice",), calls)
        said = [await _ask_label(models[2], unit, summary, language)]
        calls += said[0].calls
    labels = [one.value for one in said if one.value]
    if not labels:
        return Made(None, said[0].rejected, calls)
    changes = next((label.changes for label in labels if label.changes), ())
    if not labels[0].faithful and not changes:
        return Made(None, ("span_not_found",), calls)
    return Made(changes, (), calls)


async def _ask_label(model: Model, unit: str, summary: str, language: Language) -> Made[Label]:
    """One model's word, in the form of the paper's own detection prompt."""
    prompt = render("longnovel", language).then(render("source", language, evidence=unit))
    prompt = prompt.then(render("passage", language, passage=summary))
    prompt = prompt.then(render("longnovel_form", language))

    def said(answer: Narrative) -> Label | Rejected:
        if answer.has_hallucination not in (YES, NO):
            return Rejected("off_menu")
        if answer.has_hallucination == NO:
            return Label(True)
        placed = [_place_error(detail, summary) for detail in answer.details]
        return Label(False, tuple(change for change in placed if change))

    return await ask_for(model, prompt, Narrative, said, purpose="label")


def _place_error(detail: Detail, summary: str) -> TextWithError | None:
    at, kind = (
        locate_quote(detail.hallucinated_sentence, summary),
        KINDS_BY_NAME.get(detail.hallucination_type),
    )
    if at is None or kind is None:
        return None
    right = detail.corrected_content
    return TextWithError(text=summary, kind=kind, wrong=at, right=right, how="drafted", reason=detail.reason)


def _long_enough(answer: Written) -> str | Rejected:
    text = " ".join(answer.text.split())
    return text if len(text) >= SHORTEST_DRAFT else Rejected("no_success")


def _why_unlike(summary: str, text: str) -> str | None:
    """Why a text is no rewording: not changed, not of about the length, or with other figures."""
    least, most = REWORDED_LENGTH
    if sentence_difference(summary, text) is None:
        return "not_changed"
    if len(text) > most * len(summary):
        return "too_long"
    if len(text) < least * len(summary):
        return "no_success"
    return None if _figures(text) == _figures(summary) else "figures_differ"


def _figures(text: str) -> list[float]:
    return sorted(number.value for number in numbers(text))


async def make_longnovel(run: Maker) -> Provenance:
    """Summarise every unit, make versions of what is faithful, and write pairs of all scales.

    Drafts that models call unfaithful are cases of their own.
    """
    planned = plan_units(run)
    texts = await run.each(planned, summarise)
    summaries = [text for text in texts if text.kind == "summary"]
    wanted = [summary._replace(kind=kind) for summary in summaries for kind in VERSIONS]
    versions = await run.each(wanted, write_version)
    books = _books(run, planned, summaries)
    drafts = [_draft_case(text, books) for text in texts if text.kind == "draft"]
    cases = [*_pairs(run, versions, books), *drafts]
    write_summary_cases(run.wanted.out, cases, books)
    return run.finish(
        "longnovel", len(cases), sources=books_used(books), parameters={"n_units": len(planned)}
    )


def plan_units(run: Maker) -> list[UnitToSummarise]:
    """Every unit of every book, with the summary that people wrote of it, if they did."""
    by_people = [row for file in run.wanted.summaries for row in _given(file.title, file.text)]
    found = list[UnitToSummarise]()
    for book, source in enumerate(run.wanted.sources):
        found += _units(book, source.text, [row for row in by_people if row.title == source.title])
    if not found:
        raise BadInput("no source has a unit of 2,000 tokens: give longer ones, or summaries of their parts")
    return found


async def summarise(run: Maker, unit: UnitToSummarise) -> Made[UnitText]:
    """Write a unit's summary, label a draft, and list the entities of what is faithful."""
    text = unit.text
    language, calls = prompt_language(text), tuple[Call, ...]()
    summary = unit.summary
    if not summary:
        prompt = render("construct_draft", language, evidence=text)
        draft = await ask_for(run.writer, prompt, Written, _long_enough, purpose="draft")
        if draft.value is None:
            return Made(None, draft.of("draft").rejected, draft.calls)
        summary = draft.value
        label = await label_draft(run.models, text, summary, language)
        calls = draft.calls + label.calls
        if label.value is None:
            return Made(None, label.of("label").rejected, calls)
        if label.value:
            return Made(UnitText(unit=unit, kind="draft", text=label.value[0]), (), calls)

    def held(answer: Entities) -> UnitText:
        named = [*answer.people, *answer.organisations, *answer.places, *answer.figures]
        names = tuple(name for name in dict.fromkeys(named) if name and name in summary)
        return UnitText(unit=unit, kind="summary", text=summary, entities=names)

    prompt = render("construct_entities", language, summary=summary)
    found = await ask_for(run.writer, prompt, Entities, held, purpose="entities")
    return found.of("entities")._replace(calls=calls + found.calls)


async def write_version(run: Maker, wanted: UnitText) -> Made[UnitText]:
    """Write one version of a summary, given with the kind that is wanted: an error, or a faithful rewording."""
    summary, kind = str(wanted.text), wanted.kind
    language = prompt_language(summary)

    def compared(made: WrongVersion) -> UnitText | Rejected:
        if made.possible.strip().lower() != "yes":
            return Rejected("no_success")
        found = check_error(summary, made.text.strip(), cast(Kind, kind), made.wrong_sentence, made.reason)
        return found if isinstance(found, Rejected) else UnitText(wanted.unit, kind, found)

    def same_said(answer: Written) -> UnitText | Rejected:
        text = answer.text.strip()
        why = _why_unlike(summary, text)
        return Rejected(why) if why else UnitText(wanted.unit, kind, text)

    if kind == "reword":
        prompt = render("construct_reword", language, summary=summary)
        return (await ask_for(run.writer, prompt, Written, same_said, purpose=kind)).of(kind)
    prompt = render("construct_wrong", language, summary=summary, entities="\n".join(wanted.entities))
    prompt = prompt.then(render(f"construct_wrong_{kind}", language))
    made = await ask_for(run.writer, prompt, WrongVersion, compared, purpose=f"wrong: {kind}")
    return made.of(kind)


def _given(name: str, text: str) -> list[GivenSummary]:
    """The summaries of a file. Raises BadInput for a line that is none."""
    try:
        return [GivenSummary.model_validate_json(line) for line in text.split("\n") if line.strip()]
    except ValidationError as error:
        raise BadInput(
            f"{name}: a summary is a JSON line with title, start, end and summary "
            f"({error.errors()[0]['msg']})"
        ) from error


def _units(book: int, text: str, given: Sequence[GivenSummary]) -> list[UnitToSummarise]:
    """The units of a book: those that people summarised, else of 2,000 to 4,000 tokens."""
    ordered = sorted(given, key=lambda row: row.start)
    ranges = [(row.start, row.end, row.summary) for row in ordered] or [
        (unit.start, unit.end, "") for unit in units(text)
    ]
    return [
        UnitToSummarise(book, number, start, end, text[start:end], summary)
        for number, (start, end, summary) in enumerate(ranges)
    ]


def _books(run: Maker, planned: Sequence[UnitToSummarise], made: Sequence[UnitText]) -> list[Book]:
    """The books with the faithful summaries that there are; a unit without one is joined as nothing."""
    wanted = run.wanted
    tests = books_for_test(len(wanted.sources), wanted.test_share, wanted.seed)
    summaries = {(one.unit.book, one.unit.number): str(one.text) for one in made}
    titles = _number_titles([source.title or source.id[7:19] for source in wanted.sources])
    books = []
    for number, source in enumerate(wanted.sources):
        own = [unit for unit in planned if unit.book == number]
        books.append(
            Book(
                title=titles[number],
                text=source.text,
                language=prompt_language(source.text),
                units=tuple(
                    Unit(start=unit.start, end=unit.end, tokens=estimate_tokens(unit.text)) for unit in own
                ),
                summaries=tuple(summaries.get((number, unit.number), "") for unit in own),
                split="test" if number in tests else "train",
            )
        )
    return books


def _number_titles(titles: Sequence[str]) -> list[str]:
    """The titles, numbered where several sources have one."""
    seen: dict[str, int] = {}
    numbered = []
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        numbered.append(title if seen[title] == 1 else f"{title} ({seen[title]})")
    return numbered


def _pairs(run: Maker, versions: Sequence[UnitText], books: Sequence[Book]) -> list[SummaryCase]:
    made = {(one.unit.book, one.unit.number, one.kind): one.text for one in versions}

    def change(book: int, unit: int, kind: Kind) -> tuple[TextWithError, str] | None:
        wrong, right = made.get((book, unit, kind)), made.get((book, unit, "reword"))
        return (wrong, right) if isinstance(wrong, TextWithError) and isinstance(right, str) else None

    per_scale = max(1, round(run.wanted.cases / 2 / len(SCALES)))
    return [case for pair in case_pairs(books, per_scale, change, run.wanted.seed) for case in pair]


def _draft_case(draft: UnitText, books: Sequence[Book]) -> SummaryCase:
    """A draft that the models call unfaithful, as a case of one unit."""
    book, unit = draft.unit.book, draft.unit.number
    name = f"draft-{book}-{unit:04d}"
    case = joined_case(books[book], (unit, unit), unit, draft.text, "S", name)
    return case.model_copy(update={"group": case.id})
