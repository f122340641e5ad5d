"""HaluEval's made-up texts by a language model: sampled twice, the more plausible kept; and queries worth labelling.

Knows: seed 003, section 2: temperature 1.0, at most 256 tokens, top-p 1; the one-pass sampling shows pattern and case
at once, the conversational one first has the pattern learned and put into own words; about five more words at most
for answers and summaries. A conversation is carried on inside one prompt, with what the model itself said.
Does not know: which items are used.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import mean
from typing import Literal, NamedTuple, get_args

from pydantic import Field

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Model
from longproof.agent.types import Call
from longproof.construction.versions import (
    Drawing,
    Outcome,
    Rejection,
    Version,
    Written,
    ask,
    same_words,
)
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.text import tokens
from longproof.retrieval.types import Frozen

HaluTask = Literal["qa", "dialogue", "summary"]
HALU_TASKS: tuple[HaluTask, ...] = get_args(HaluTask)
PATTERNS: dict[HaluTask, tuple[str, ...]] = {
    "qa": ("comprehension", "factualness", "specificity", "inference"),
    "dialogue": ("extrinsic-soft", "extrinsic-hard", "extrinsic-grouped"),
    "summary": ("factual", "non-factual", "intrinsic"),
}
_PROMPTS: dict[HaluTask, str] = {"qa": "pattern_qa", "dialogue": "pattern_turn", "summary": "pattern_digest"}
DRAWN: Drawing = {"temperature": 1.0, "top_p": 1.0, "max_tokens": 256}
MORE_WORDS = 5
"""So many more words are asked for at most; `SLACK` more are let pass, for the paper says about."""
SLACK = 5
SAMPLES = 3
Sampling = Literal["one-pass", "conversational"]


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


class Sampled(Frozen):
    """A made-up text, its pattern, and the sampling that it came from."""

    text: str
    pattern: str
    sampling: Sampling


class Replies(Frozen):
    """Several answers to one query, and how alike they are on average, 0 to 1."""

    texts: tuple[str, ...]
    similarity: float


async def one_pass(model: Model, item: Item, pattern: str) -> Outcome[Sampled]:
    """Pattern and case in one prompt."""
    return await _sampled(model, item, _taught(item, pattern), pattern, "one-pass")


async def conversational(model: Model, item: Item, pattern: str) -> Outcome[Sampled]:
    """First the pattern alone, to be put into own words; then the case. `not_learned` where it said nothing."""

    def lesson(answer: Lesson) -> Version | Rejection:
        if not answer.rule.strip() or not answer.example.strip():
            return "not_learned"
        return Version(text=f"{answer.rule}\n{answer.example}")

    taught = _taught(item, pattern)
    prompt = taught.then(render("construct_learn", item.language))
    learned = await ask(model, prompt, Lesson, lesson, purpose="learn", **DRAWN)
    if learned.value is None:
        return Outcome(None, learned.rejection, learned.calls)
    told = taught.then(render("construct_learned", item.language, lesson=learned.value.text))
    found = await _sampled(model, item, told, pattern, "conversational")
    return found._replace(calls=learned.calls + found.calls)


async def _sampled(
    model: Model, item: Item, taught: Prompt, pattern: str, sampling: Sampling
) -> Outcome[Sampled]:
    """A made-up text after a lesson. The second sampling draws another answer where the prompts are the same."""

    def usable(answer: Written) -> Sampled | Rejection:
        text = answer.text.strip()
        return unfit(item, text) or Sampled(text=text, pattern=pattern, sampling=sampling)

    case = render(
        "construct_sample", item.language, evidence=item.evidence, context=item.context, right=item.right
    )
    drawing: Drawing = {**DRAWN, "sample": int(sampling == "conversational")}
    return await ask(model, taught.then(case), Written, usable, purpose=sampling, **drawing)


def unfit(item: Item, text: str) -> Rejection | None:
    """Why a made-up text can't be used; None: it can."""
    if not text:
        return "no_success"
    if same_words(text, item.right):
        return "not_changed"
    longer = _words(text, item.language) - _words(item.right, item.language)
    if item.task != "dialogue" and longer > MORE_WORDS + SLACK:
        return "too_long"
    return None


async def chosen(model: Model, item: Item, found: Sequence[Sampled], draw: Random) -> Outcome[Sampled]:
    """The more plausible of the two, shown in an order drawn anew; the only one, where one sampling failed.

    Where the model's choice is none, nothing is guessed: `no_choice`.
    """
    if len(found) < 2 or same_words(found[0].text, found[1].text):
        return Outcome(found[0] if found else None, None if found else "no_success")
    shown = draw.sample(list(found), 2)

    def choice(answer: Choice) -> Sampled | Rejection:
        said = answer.best.strip().lower()
        return shown[said == "second"] if said in ("first", "second") else "no_choice"

    prompt = render(
        "construct_choose",
        item.language,
        evidence=item.evidence,
        context=item.context,
        first=shown[0].text,
        second=shown[1].text,
    )
    return await ask(model, prompt, Choice, choice, purpose="choose")


async def replies(model: Model, query: str, language: Language) -> Outcome[Replies]:
    """Three answers drawn at temperature 1; a query of which one fails is not compared."""
    prompt = render("construct_reply", language, context=query)
    calls, texts = tuple[Call, ...](), list[str]()
    for sample in range(SAMPLES):
        drawing: Drawing = {**DRAWN, "sample": sample}
        found = await ask(model, prompt, Written, _as_it_is, purpose="reply", **drawing)
        calls += found.calls
        if found.value is None:
            return Outcome(None, found.rejection, calls)
        texts.append(found.value.text)
    likeness = mean(alike(a, b) for a, b in combinations(texts, 2))
    return Outcome(Replies(texts=tuple(texts), similarity=likeness), None, calls)


def _as_it_is(answer: Written) -> Version:
    return Version(text=answer.text)


def alike(one: str, other: str) -> float:
    """F1 of the tokens that two texts share, 0 to 1: a likeness without weights. Two empty texts are alike."""
    first, second = Counter(tokens(one)), Counter(tokens(other))
    if not first and not second:
        return 1.0
    return 2 * (first & second).total() / (first.total() + second.total())


def _taught(item: Item, pattern: str) -> Prompt:
    return render(f"construct_{_PROMPTS[item.task]}", item.language, pattern=pattern)


def _words(text: str, language: Language) -> int:
    """Words; in Chinese, two characters count as one."""
    return len(text.split()) if language == "en" else -(-len("".join(text.split())) // 2)
