"""HaluEval's construction by language models (seed 003, section 2): sample twice, keep the better; pick queries.

Knows: a source is a JSON Lines file in HaluEval's own form without the made-up side. Temperature 1.0, at most 256
tokens, top-p 1; the one-pass sampling shows pattern and case at once, the conversational one first has the pattern
learned and put into own words, inside one prompt; about five more words at most for answers and summaries. Queries
with the least alike answers are kept for people to label.
Does not know: how models are opened, or how many parts are worked on together.
"""

import asyncio
import json
from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import mean
from typing import Any, Literal, NamedTuple, cast

from pydantic import Field

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Call, Task
from longproof.construction.case_files import CASES, Provenance, write_cases, write_json_lines
from longproof.construction.maker import Maker
from longproof.construction.versions import (
    Drawing,
    Made,
    Rejected,
    Written,
    ask_for,
    likeness,
    prompt_language,
    same_words,
)
from longproof.graphs.cases import GivenCase
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.types import BadInput

HaluTask = Literal["qa", "dialogue", "summary"]
PATTERNS: dict[HaluTask, tuple[str, ...]] = {
    "qa": ("comprehension", "factualness", "specificity", "inference"),
    "dialogue": ("extrinsic-soft", "extrinsic-hard", "extrinsic-grouped"),
    "summary": ("factual", "non-factual", "intrinsic"),
}
_PROMPTS: dict[HaluTask, str] = {"qa": "pattern_qa", "dialogue": "pattern_turn", "summary": "pattern_digest"}
DRAWN: Drawing = {"temperature": 1.0, "top_p": 1.0, "max_tokens": 256}
MORE_WORDS = 10
"""So many more words than the right text are let pass; the paper asks for about five at most."""
SAMPLES = 3
Sampling = Literal["one-pass", "conversational"]


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


class Lesson(Form):
    """What a model has learned of a pattern before it is given a case (section 2.1, conversational)."""

    rule: str
    example: str


class Choice(Form):
    """The more plausible of two texts (table 3)."""

    reason: str = ""
    best: str = Field(json_schema_extra={"enum": ["first", "second"]})


class Item(NamedTuple):
    """A right text, what it rests on, and what it was written for."""

    id: str
    task: HaluTask
    evidence: str
    context: str
    right: str
    language: Language


class Sampled(NamedTuple):
    """A made-up text, its pattern, and the sampling that it came from."""

    text: str
    pattern: str
    sampling: Sampling


class Replies(NamedTuple):
    """Several answers to one query, and how alike they are on average, 0 to 1."""

    texts: tuple[str, ...]
    similarity: float


class GivenRow(NamedTuple):
    """A row of a file, its task, and its number among all rows of the run."""

    fields: Row
    task: RowTask
    number: int


class MadeRow(NamedTuple):
    """A row with the made-up text that was chosen, or a query with its answers."""

    row: GivenRow
    made: Sampled | Replies


async def make_up_in_conversation(model: Model, item: Item, pattern: str) -> Made[Sampled]:
    """First the pattern alone, to be put into own words; then the case. `not_learned` where it said nothing."""

    def lesson(answer: Lesson) -> str | Rejected:
        if not answer.rule.strip() or not answer.example.strip():
            return Rejected("not_learned")
        return f"{answer.rule}\n{answer.example}"

    taught = _lesson(item, pattern)
    prompt = taught.then(render("construct_learn", item.language))
    learned = await ask_for(model, prompt, Lesson, lesson, purpose="learn", **DRAWN)
    if learned.value is None:
        return Made(None, learned.rejected, learned.calls)
    told = taught.then(render("construct_learned", item.language, lesson=learned.value))
    found = await make_up(model, item, told, pattern, "conversational")
    return found._replace(calls=learned.calls + found.calls)


async def make_up(
    model: Model, item: Item, taught: Prompt, pattern: str, sampling: Sampling
) -> Made[Sampled]:
    """A made-up text after a lesson. The second sampling draws another answer where the prompts are the same."""

    def usable(answer: Written) -> Sampled | Rejected:
        text = answer.text.strip()
        why = why_unfit(item, text)
        return Rejected(why) if why else Sampled(text, pattern, sampling)

    case = render(
        "construct_sample", item.language, evidence=item.evidence, context=item.context, right=item.right
    )
    drawing: Drawing = {**DRAWN, "sample": int(sampling == "conversational")}
    return await ask_for(model, taught.then(case), Written, usable, purpose=sampling, **drawing)


def why_unfit(item: Item, text: str) -> str | None:
    """Why a made-up text can't be used; None: it can."""
    if not text:
        return "no_success"
    if same_words(text, item.right):
        return "not_changed"
    longer = _words(text, item.language) - _words(item.right, item.language)
    if item.task != "dialogue" and longer > MORE_WORDS:
        return "too_long"
    return None


async def choose(model: Model, item: Item, found: Sequence[Sampled], draw: Random) -> Made[Sampled]:
    """The more plausible of the two, shown in an order drawn anew; the only one, where one sampling failed.

    Where the model's choice is none, nothing is guessed: `no_choice`.
    """
    if len(found) < 2 or same_words(found[0].text, found[1].text):
        return Made(found[0]) if found else Made(None, ("no_success",))
    shown = draw.sample(list(found), 2)

    def choice(answer: Choice) -> Sampled | Rejected:
        said = answer.best.strip().lower()
        return shown[said == "second"] if said in ("first", "second") else Rejected("no_choice")

    prompt = render(
        "construct_choose",
        item.language,
        evidence=item.evidence,
        context=item.context,
        first=shown[0].text,
        second=shown[1].text,
    )
    return await ask_for(model, prompt, Choice, choice, purpose="choose")


async def compare_answers(run: Maker, row: GivenRow) -> Made[MadeRow]:
    """Draw three answers to a query at temperature 1, and say how alike they are; none where one of them fails."""
    query = str(row.fields["user_query"])
    prompt = render("construct_reply", prompt_language(query), context=query)
    calls, texts = tuple[Call, ...](), list[str]()
    for sample in range(SAMPLES):
        drawing: Drawing = {**DRAWN, "sample": sample}
        answer = await run.writer.ask(prompt, Written, purpose="reply", **drawing)
        calls += answer.calls
        if answer.value is None:
            return Made(None, (f"replies: {answer.failure}",), calls)
        texts.append(answer.value.text)
    similarity = mean(likeness(a, b) for a, b in combinations(texts, 2))
    return Made(MadeRow(row, Replies(tuple(texts), similarity)), (), calls)


def _lesson(item: Item, pattern: str) -> Prompt:
    """What is said of a pattern before a case is shown."""
    return render(f"construct_{_PROMPTS[item.task]}", item.language, pattern=pattern)


def _words(text: str, language: Language) -> int:
    """Words; in Chinese, two characters count as one."""
    return len(text.split()) if language == "en" else -(-len("".join(text.split())) // 2)


async def make_halueval(run: Maker) -> Provenance:
    """Make every row, then write the paper's files, our case form, and the provenance."""
    made = await run.each(plan_rows(run), make)
    out = run.wanted.out
    made_up = [(one.row, one.made) for one in made if isinstance(one.made, Sampled)]
    compared = [(one.row, one.made) for one in made if isinstance(one.made, Replies)]
    for task in TASKS:
        own = [_halueval_row(*one) for one in made_up if one[0].task == task]
        if own:
            write_json_lines(out / FILES[task], own)
    write_cases(out / CASES, [case for one in made_up for case in _cases(*one)])
    kept = sorted(compared, key=lambda one: one[1].similarity)[: run.wanted.keep]
    if kept:
        write_json_lines(out / FILES["general"], [_query_row(*one) for one in kept])
    return run.finish("halueval", len(made_up) + len(kept), models=run.models[:1])


def plan_rows(run: Maker) -> list[GivenRow]:
    """Every row of every file that is of a task that was asked for. Raises BadInput for other rows."""
    wanted = run.wanted.tasks(tuple(FIELDS))
    found = list[GivenRow]()
    for source in run.wanted.sources:
        for number, line in enumerate(source.text.split("\n"), start=1):
            if line.strip():
                row, task = _row(line, f"{source.title} line {number}")
                if task in wanted:
                    found.append(GivenRow(row, task, len(found)))
    if not found:
        raise BadInput("no row of these files has a task that was asked for")
    return found


async def make(run: Maker, row: GivenRow) -> Made[MadeRow]:
    """Make a text up by each sampling, with a pattern in turn, and choose the more plausible of the two.

    Of a query: three answers, and how alike they are.
    """
    if row.task == "general":
        return await compare_answers(run, row)
    item = _item(row)
    pattern = PATTERNS[item.task][row.number % len(PATTERNS[item.task])]
    first, second = await asyncio.gather(
        make_up(run.writer, item, _lesson(item, pattern), pattern, "one-pass"),
        make_up_in_conversation(run.writer, item, pattern),
    )
    draw = Random(f"{run.wanted.seed}:{item.id}")
    best = await choose(run.writer, item, [one.value for one in (first, second) if one.value], draw)
    rejected = list[str]()
    for name, one in (("one-pass", first), ("conversational", second), ("choose", best)):
        rejected += one.of(f"{name} {item.task}").rejected
    calls = first.calls + second.calls + best.calls
    return Made(MadeRow(row, best.value) if best.value else None, tuple(rejected), calls)


def _row(line: str, name: str) -> tuple[Row, RowTask]:
    """The row of a line, and its task. Raises BadInput for a row that is of no task."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{name} is not JSON: give JSON Lines in HaluEval's form") from error
    for task, fields in FIELDS.items():
        if isinstance(row, dict) and all(isinstance(row.get(field), str) and row[field] for field in fields):
            return row, task
    wanted = "; ".join(", ".join(fields) for fields in FIELDS.values())
    raise BadInput(f"{name} has the fields of no task: a row has {wanted}")


def _item(row: GivenRow) -> Item:
    fields = FIELDS[row.task]
    texts = [str(row.fields[field]) for field in fields]
    context = texts[1] if len(texts) == 3 else ""
    task = cast(HaluTask, row.task)
    return Item(str(row.number), task, texts[0], context, texts[-1], prompt_language(texts[-1]))


def _halueval_row(row: GivenRow, made: Sampled) -> Row:
    """The row as HaluEval has it, the made-up side with it."""
    fields = FIELDS[row.task]
    name = fields[-1].replace("right", "hallucinated")
    return {
        **{field: row.fields[field] for field in fields},
        name: made.text,
        "pattern": made.pattern,
        "sampling": made.sampling,
    }


def _cases(row: GivenRow, made: Sampled) -> list[GivenCase]:
    """Both sides in the case file format."""
    item = _item(row)
    pattern = {"pattern": made.pattern}
    return [
        GivenCase(
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
        for side, response, reference in (
            ("right", item.right, made.text),
            ("hallucinated", made.text, item.right),
        )
    ]


def _query_row(row: GivenRow, made: Replies) -> Row:
    """A query for people to label: its first answer, the others, and how alike they are."""
    first, *others = made.texts
    return {
        "ID": str(row.fields.get("ID", row.number)),
        "user_query": row.fields["user_query"],
        "chatgpt_response": first,
        "other_responses": others,
        "similarity": round(made.similarity, 4),
    }
