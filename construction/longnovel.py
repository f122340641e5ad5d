"""LongNovel's construction by language models (section 3): units, summaries, versions, lengths, files.

Knows: what is asked for each version and what of an answer is believed: code compares every version with its base.
A draft is labelled by two models, or a third where they disagree (multi-model arbitration); one that they call
unfaithful is a case of its own and no part of longer ones.
Does not know: how models are opened, or how many parts are worked on together.
"""

import asyncio
from collections import Counter, defaultdict
from typing import Literal, NamedTuple, cast

from pydantic import BaseModel, Field, ValidationError

from longproof.agent.models.answers import Form
from longproof.agent.models.limits import estimate_tokens
from longproof.agent.models.model import Model
from longproof.agent.types import KINDS, Kind
from longproof.construction.maker import Made, Maker
from longproof.construction.units import SCALES, Book, Unit, case_pairs, joined_case, source_path, units
from longproof.construction.versions import (
    Rejected,
    TextWithError,
    Written,
    check_error,
    locate_quote,
    prompt_language,
    sentence_difference,
)
from longproof.graphs.cases import GivenCase
from longproof.graphs.papers.longnovel import KINDS as KINDS_BY_NAME
from longproof.graphs.papers.longnovel import NO, YES, Narrative
from longproof.prompts import render
from longproof.retrieval.files import write_whole
from longproof.retrieval.text.normalise import fold
from longproof.retrieval.text.numbers import folded_numbers
from longproof.retrieval.types import BadInput, Document, first_fault

SHORTEST_DRAFT = 20
REWORDED_LENGTH = (0.6, 1.6)
"""A rewording is so many times as long as its base."""


class Entities(Form):
    """The names and figures in a summary (section 3.2)."""

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


TextKind = Literal["summary", "draft", "reword"] | Kind


class GivenSummary(BaseModel):
    """A summary that people wrote of a part of a source."""

    title: str
    start: int
    end: int
    summary: str


class UnitText(NamedTuple):
    """A text about a unit, by the numbers of its book and its own; empty before it is written.

    `source` is the unit's own text; a summary has the `entities` that it names.
    """

    book: int
    unit: int
    source: str
    text: TextWithError | str
    kind: TextKind = "summary"
    entities: tuple[str, ...] = ()


async def make_longnovel(run: Maker) -> Made:
    """Summarise every unit, make versions of what is faithful, and join pairs of all scales; write their sources.

    Drafts that models call unfaithful are cases of their own.
    """
    books, planned = plan_books(run)
    texts = await run.each(planned, summarise)
    summaries = {(one.book, one.unit): one for one in texts if one.kind == "summary"}
    kinds: tuple[TextKind, ...] = (*KINDS, "reword")
    wanted = [one._replace(kind=kind) for one in summaries.values() for kind in kinds]
    versions = await run.each(wanted, write_version)
    for (number, unit), one in summaries.items():
        books[number].summaries[unit] = str(one.text)
    made = {(one.book, one.unit, one.kind): one.text for one in versions}

    def change(book: int, unit: int, kind: Kind) -> tuple[TextWithError, str] | None:
        wrong, right = made.get((book, unit, kind)), made.get((book, unit, "reword"))
        return (wrong, right) if isinstance(wrong, TextWithError) and isinstance(right, str) else None

    cases, per_scale = list[GivenCase](), max(1, round(run.wanted.cases / 2 / len(SCALES)))
    for source, pair in case_pairs(books, per_scale, change, run.wanted.seed):
        _write_source(run, source)
        cases += pair
    for draft in texts:
        if draft.kind == "draft":
            book, unit = books[draft.book], draft.unit
            name = f"draft-{draft.book}-{unit:04d}"
            case = joined_case(book, (unit, unit), unit, draft.text, "S", name)
            cases.append(case.model_copy(update={"group": case.id}))
            _write_source(run, book.article(unit, unit))
    return Made(cases, len(cases))


def plan_books(run: Maker) -> tuple[list[Book], list[UnitText]]:
    """The books, cut into units, and every unit with the summary that people wrote of it, if they did.

    A unit is a part that people summarised; in a book without such, it has 2,000 to 4,000 tokens. Raises BadInput
    for a line that is no summary, and where there is no unit.
    """
    by_people: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for file in run.wanted.summaries:
        try:
            for row in map(GivenSummary.model_validate_json, filter(str.strip, file.text.split("\n"))):
                by_people[row.title].append((row.start, row.end, row.summary))
        except ValidationError as error:
            wanted = "a summary is a JSON line with title, start, end and summary"
            raise BadInput(f"{file.title}: {wanted} ({first_fault(error)[1]})") from error
    books, planned, seen = list[Book](), list[UnitText](), Counter[str]()
    for number, source in enumerate(run.wanted.sources):
        title = source.title or source.id[7:19]
        seen[title] += 1
        name = title if seen[title] == 1 else f"{title} ({seen[title]})"
        book = Book(name, source.text, prompt_language(source.text), [], [])
        by_code = ((unit.start, unit.end, "") for unit in units(source.text))
        for start, end, summary in sorted(by_people[source.title]) or by_code:
            text = source.text[start:end]
            planned.append(UnitText(number, len(book.units), text, summary))
            book.units.append(Unit(start, end, estimate_tokens(text)))
            book.summaries.append("")
        books.append(book)
    if not planned:
        raise BadInput("no source has a unit of 2,000 tokens: give longer ones, or summaries of their parts")
    return books, planned


async def summarise(run: Maker, unit: UnitText) -> UnitText | None:
    """Write a unit's summary, label a draft, and list the entities of what is faithful."""
    language, summary = prompt_language(unit.source), str(unit.text)

    def believe_draft(answer: Written) -> str | Rejected:
        text = " ".join(answer.text.split())
        return text if len(text) >= SHORTEST_DRAFT else Rejected("no_success")

    def believe(answer: Entities) -> tuple[str, ...]:
        named = [*answer.people, *answer.organisations, *answer.places, *answer.figures]
        return tuple(name for name in dict.fromkeys(named) if name and name in summary)

    if not summary:
        prompt = render("construct_draft", language, evidence=unit.source)
        draft = await run.ask(prompt, Written, believe_draft, purpose="draft", what="draft")
        errors = await label_draft(run, unit.source, draft) if draft else None
        if draft is None or errors is None:
            return None
        summary = draft
        if errors:
            return unit._replace(kind="draft", text=errors[0])
    prompt = render("construct_entities", language, summary=summary)
    entities = await run.ask(prompt, Entities, believe, purpose="entities", what="entities")
    return None if entities is None else unit._replace(text=summary, entities=entities)


class Label(NamedTuple):
    """One model's word on a draft: that it is faithful or not, and the errors that could be placed in it."""

    faithful: bool
    errors: list[TextWithError]


async def label_draft(run: Maker, unit: str, summary: str) -> list[TextWithError] | None:
    """The errors of a draft by the first two models, or by the third where they disagree; empty where it is faithful.

    None where nobody decides: a failed call is no vote, and an error that can't be placed in the summary is none.
    """
    first, *second = await asyncio.gather(*(_ask_label(run, one, unit, summary) for one in run.models[:2]))
    errors = first.errors if first else []
    for other in second:
        if first is None or other is None or first.faithful != other.faithful:
            first = None
        else:
            errors = errors or other.errors
    if first is None:
        if len(run.models) < 3:
            run.reject("label", "no_choice")
            return None
        first = await _ask_label(run, run.models[2], unit, summary, what="label")
        if first is None:
            return None
        errors = first.errors
    if not first.faithful and not errors:
        run.reject("label", "span_not_found")
        return None
    return errors


async def _ask_label(run: Maker, model: Model, unit: str, summary: str, what: str = "") -> Label | None:
    """One model's word, in the form of the paper's own detection prompt."""
    language = prompt_language(unit)
    prompt = render("longnovel", language).then(render("source", language, evidence=unit))
    prompt = prompt.then(render("passage", language, passage=summary))
    prompt = prompt.then(render("longnovel_form", language))

    def believe(answer: Narrative) -> Label | Rejected:
        if answer.has_hallucination not in (YES, NO):
            return Rejected("off_menu")
        if answer.has_hallucination == NO:
            return Label(True, [])
        errors = list[TextWithError]()
        for detail in answer.details:
            at, right = locate_quote(detail.hallucinated_sentence, summary), detail.corrected_content
            kind = KINDS_BY_NAME.get(detail.hallucination_type)
            if at and kind:
                errors.append(TextWithError(summary, kind, at, right, "drafted", detail.reason))
        return Label(False, errors)

    return await run.ask(prompt, Narrative, believe, purpose="label", what=what, model=model)


async def write_version(run: Maker, wanted: UnitText) -> UnitText | None:
    """Write one version of a summary, given with the kind that is wanted: an error, or a faithful rewording."""
    summary, kind = str(wanted.text), wanted.kind
    language = prompt_language(summary)

    def believe_error(answer: WrongVersion) -> TextWithError | Rejected:
        if answer.possible.strip().lower() != "yes":
            return Rejected("no_success")
        return check_error(
            summary, answer.text.strip(), cast(Kind, kind), answer.wrong_sentence, answer.reason
        )

    def believe_rewording(answer: Written) -> str | Rejected:
        text, (least, most) = answer.text.strip(), REWORDED_LENGTH
        if sentence_difference(summary, text) is None:
            return Rejected("not_changed")
        if len(text) > most * len(summary):
            return Rejected("too_long")
        if len(text) < least * len(summary):
            return Rejected("no_success")
        return text if _figures(text) == _figures(summary) else Rejected("figures_differ")

    text: str | TextWithError | None
    if kind == "reword":
        prompt = render("construct_reword", language, summary=summary)
        text = await run.ask(prompt, Written, believe_rewording, purpose=kind, what=kind)
    else:
        prompt = render("construct_wrong", language, summary=summary, entities="\n".join(wanted.entities))
        prompt = prompt.then(render(f"construct_wrong_{kind}", language))
        text = await run.ask(prompt, WrongVersion, believe_error, purpose=f"wrong: {kind}", what=kind)
    return wanted._replace(text=text) if text else None


def _figures(text: str) -> list[float]:
    return sorted(number.value for number in folded_numbers(fold(text)))


def _write_source(run: Maker, source: Document) -> None:
    """Write a source beside the case file, once for all cases that share it."""
    path = run.wanted.out / source_path(source)
    if not path.exists():
        write_whole(path, source.text.encode("utf-8"))
