"""HaluEval's construction by language models (section 2): sample twice, keep the better; pick queries.

Knows: a source is a JSON Lines file in HaluEval's own form without the made-up side. The one-pass sampling shows
pattern and case at once, the conversational one first has the pattern learned and put into own words, inside one
prompt. Queries with the least alike answers are kept for people to label.
Does not know: how models are opened, or how many parts are worked on together.
"""

import asyncio
import json
from collections.abc import Iterator
from itertools import combinations
from random import Random
from statistics import mean
from typing import Any, Literal, NamedTuple

from pydantic import Field

from longproof.agent.models.answers import Form
from longproof.agent.types import Task
from longproof.construction.maker import Drawing, Made, Maker, write_json_lines
from longproof.construction.versions import Rejected, Written, likeness, prompt_language, same_words
from longproof.graphs.cases import GivenCase
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.types import BadInput

HaluTask = Literal["qa", "dialogue", "summary"]
RowTask = HaluTask | Literal["general"]
Sampling = Literal["one-pass", "conversational"]
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
FIELDS: dict[RowTask, tuple[str, ...]] = {
    "qa": ("knowledge", "question", "right_answer"),
    "dialogue": ("knowledge", "dialogue_history", "right_response"),
    "summary": ("document", "right_summary"),
    "general": ("user_query",),
}
"""The fields that a row of each task holds; a row's task is told by them."""
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
    """A model's own words on a pattern before it is given a case (section 2.1, conversational)."""

    rule: str
    example: str


class Choice(Form):
    """The more plausible of two texts (table 3)."""

    reason: str = ""
    best: str = Field(json_schema_extra={"enum": ["first", "second"]})


class Item(NamedTuple):
    """A right text, what it rests on, what it was written for, and the pattern by which it is to be made wrong.

    `number` is its row's among all of the run.
    """

    row: Row
    number: int
    task: HaluTask
    evidence: str
    context: str
    right: str
    language: Language
    pattern: str


class Sampled(NamedTuple):
    """A made-up text, and the sampling that it came from."""

    text: str
    sampling: Sampling


async def make_halueval(run: Maker) -> Made:
    """Make every row; write the paper's files, and give our cases."""
    items, queries = plan_rows(run)
    made = await run.each(items, make_up)
    compared = await run.each(queries, compare_answers)
    out = run.wanted.out
    rows, cases = dict[HaluTask, list[Row]](), list[GivenCase]()
    for item, sampled in made:
        *about, right = FIELDS[item.task]
        row = {field: item.row[field] for field in (*about, right)}
        row |= {right.replace("right", "hallucinated"): sampled.text}
        row |= {"pattern": item.pattern, "sampling": sampled.sampling}
        rows.setdefault(item.task, []).append(row)
        cases += _cases(item, sampled)
    for task, of_task in rows.items():
        write_json_lines(out / FILES[task], of_task)
    kept = sorted(compared, key=lambda row: row["similarity"])[: run.wanted.keep]
    if kept:
        write_json_lines(out / FILES["general"], kept)
    return Made(cases, len(made) + len(kept))


def plan_rows(run: Maker) -> tuple[list[Item], list[Row]]:
    """The rows of all tasks that were asked for, and every query with an ID. Raises BadInput for other rows."""
    wanted = run.wanted.tasks(tuple(FIELDS))
    items, queries = list[Item](), list[Row]()
    for source in run.wanted.sources:
        for n_line, line in enumerate(source.text.split("\n"), start=1):
            if not line.strip():
                continue
            row, task = _row(line, f"{source.title} line {n_line}")
            number = len(items) + len(queries)
            if task not in wanted:
                continue
            if task == "general":
                queries.append({"ID": number, **row})
            else:
                evidence, *context, right = (row[field] for field in FIELDS[task])
                language, pattern = prompt_language(right), PATTERNS[task][number % len(PATTERNS[task])]
                items.append(Item(row, number, task, evidence, "".join(context), right, language, pattern))
    if not items and not queries:
        raise BadInput("no row of these files has a task that was asked for")
    return items, queries


def _row(line: str, name: str) -> tuple[Row, RowTask]:
    """The row of a line, and its task. Raises BadInput for a row that is of no task."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadInput(f"{name} is not JSON: give JSON Lines in HaluEval's form") from error
    for task, fields in FIELDS.items():
        if isinstance(row, dict) and all(isinstance(row.get(field), str) and row[field] for field in fields):
            return row, task
    wanted = "; ".join(map(", ".join, FIELDS.values()))
    raise BadInput(f"{name} has the fields of no task: a row has {wanted}")


async def make_up(run: Maker, item: Item) -> tuple[Item, Sampled] | None:
    """Make a text up by each sampling, and choose the more plausible of the two."""
    lesson = render(f"construct_{_PROMPTS[item.task]}", item.language, pattern=item.pattern)
    both = await asyncio.gather(
        _sample(run, item, lesson, "one-pass"), sample_in_conversation(run, item, lesson)
    )
    best = await choose(run, item, list(filter(None, both)))
    return (item, best) if best else None


async def sample_in_conversation(run: Maker, item: Item, lesson: Prompt) -> Sampled | None:
    """Have the pattern put into own words first, then show the case."""

    def believe(answer: Lesson) -> str | Rejected:
        if not answer.rule.strip() or not answer.example.strip():
            return Rejected("not_learned")
        return f"{answer.rule}\n{answer.example}"

    prompt = lesson.then(render("construct_learn", item.language))
    what = f"conversational {item.task}"
    learned = await run.ask(prompt, Lesson, believe, purpose="learn", what=what, **DRAWN)
    if learned is None:
        return None
    taught = lesson.then(render("construct_learned", item.language, lesson=learned))
    return await _sample(run, item, taught, "conversational")


async def _sample(run: Maker, item: Item, taught: Prompt, sampling: Sampling) -> Sampled | None:
    """A made-up text after a lesson. The second sampling draws another answer where the prompts are the same."""

    def believe(answer: Written) -> Sampled | Rejected:
        text, right = answer.text.strip(), item.right
        if not text:
            return Rejected("no_success")
        if same_words(text, right):
            return Rejected("not_changed")
        n_more = _count_words(text, item.language) - _count_words(right, item.language)
        if item.task != "dialogue" and n_more > MORE_WORDS:
            return Rejected("too_long")
        return Sampled(text, sampling)

    case = render(
        "construct_sample", item.language, evidence=item.evidence, context=item.context, right=item.right
    )
    drawing: Drawing = {**DRAWN, "sample": int(sampling == "conversational")}
    what = f"{sampling} {item.task}"
    return await run.ask(taught.then(case), Written, believe, purpose=sampling, what=what, **drawing)


def _count_words(text: str, language: Language) -> int:
    """The number of words; in Chinese, two characters count as one."""
    return len(text.split()) if language == "en" else -(-len("".join(text.split())) // 2)


async def choose(run: Maker, item: Item, samples: list[Sampled]) -> Sampled | None:
    """The more plausible of the two, shown in an order drawn anew; the only one, where one sampling failed.

    Where the model's choice is none, nothing is guessed.
    """
    what = f"choose {item.task}"
    if not samples:
        run.reject(what, "no_success")
        return None
    if len(samples) < 2 or same_words(samples[0].text, samples[1].text):
        return samples[0]
    first, second = Random(f"{run.wanted.seed}:{item.number}").sample(samples, 2)
    by_name = {"first": first, "second": second}

    def believe(answer: Choice) -> Sampled | Rejected:
        return by_name.get(answer.best.strip().lower()) or Rejected("no_choice")

    prompt = render(
        "construct_choose",
        item.language,
        evidence=item.evidence,
        context=item.context,
        first=first.text,
        second=second.text,
    )
    return await run.ask(prompt, Choice, believe, purpose="choose", what=what)


async def compare_answers(run: Maker, query: Row) -> Row | None:
    """Draw three answers to a query; the row for people to label says how alike they are, 0 to 1.

    None where one of them fails.
    """
    text = query["user_query"]
    prompt, texts = render("construct_reply", prompt_language(text), context=text), list[str]()
    for sample in range(SAMPLES):
        drawing: Drawing = {**DRAWN, "sample": sample}
        reply = await run.ask(
            prompt, Written, lambda answer: answer.text, purpose="reply", what="replies", **drawing
        )
        if reply is None:
            return None
        texts.append(reply)
    return {
        "ID": str(query["ID"]),
        "user_query": text,
        "chatgpt_response": texts[0],
        "other_responses": texts[1:],
        "similarity": round(mean(likeness(a, b) for a, b in combinations(texts, 2)), 4),
    }


def _cases(item: Item, sampled: Sampled) -> Iterator[GivenCase]:
    """Both sides in the case file format."""
    name, texts = f"{item.task}-{item.number}", (item.right, sampled.text)
    for side, response, other in (("right", *texts), ("hallucinated", *reversed(texts))):
        wrong = side == "hallucinated"
        yield GivenCase(
            id=f"{name}-{side}",
            task=TASKS[item.task],
            source_text=item.evidence,
            context=item.context,
            response=response,
            reference=other,
            label="hallucinated" if wrong else "faithful",
            group=name,
            slices={"task": item.task} | ({"pattern": item.pattern} if wrong else {}),
        )
