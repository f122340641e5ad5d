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

from longproof.agent.construct_forms import Choice, Lesson, Written
from longproof.agent.longnovel_set import Outcome
from longproof.agent.made import Rejection
from longproof.agent.model import Model
from longproof.agent.types import Call
from longproof.prompts import Language, Prompt, render
from longproof.retrieval.text import fold, tokens

HaluTask = Literal["qa", "dialogue", "summary"]
HALU_TASKS: tuple[HaluTask, ...] = get_args(HaluTask)
PATTERNS: dict[HaluTask, tuple[str, ...]] = {
    "qa": ("comprehension", "factualness", "specificity", "inference"),
    "dialogue": ("extrinsic-soft", "extrinsic-hard", "extrinsic-grouped"),
    "summary": ("factual", "non-factual", "intrinsic"),
}
_PROMPTS: dict[HaluTask, str] = {"qa": "pattern_qa", "dialogue": "pattern_turn", "summary": "pattern_digest"}
TEMPERATURE, TOP_P, MAX_TOKENS = 1.0, 1.0, 256
MORE_WORDS = 5
"""So many more words are asked for at most; `SLACK` more are let pass, for the paper says about."""
SLACK = 5
SAMPLES = 3


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
    sampling: Literal["one-pass", "conversational"]


async def one_pass(model: Model, item: Item, pattern: str) -> Outcome[Sampled]:
    """Pattern and case in one prompt."""
    prompt = _taught(item, pattern).then(_case(item))
    return await _sampled(model, item, prompt, pattern, "one-pass", 0)


async def conversational(model: Model, item: Item, pattern: str) -> Outcome[Sampled]:
    """First the pattern alone, to be put into own words; then the case. `not_learned` where it said nothing."""
    taught = _taught(item, pattern)
    learned = await model.ask(
        taught.then(render("construct_learn", item.language)),
        Lesson,
        purpose="learn",
        temperature=TEMPERATURE,
        top_p=TOP_P,
        max_tokens=MAX_TOKENS,
    )
    if learned.value is None:
        return Outcome(None, learned.failure, learned.calls)
    if not learned.value.rule.strip() or not learned.value.example.strip():
        return Outcome(None, "not_learned", learned.calls)
    lesson = f"{learned.value.rule}\n{learned.value.example}"
    prompt = taught.then(render("construct_learned", item.language, lesson=lesson)).then(_case(item))
    found = await _sampled(model, item, prompt, pattern, "conversational", 1)
    return found._replace(calls=learned.calls + found.calls)


async def _sampled(
    model: Model,
    item: Item,
    prompt: Prompt,
    pattern: str,
    sampling: Literal["one-pass", "conversational"],
    sample: int,
) -> Outcome[Sampled]:
    answer = await model.ask(
        prompt,
        Written,
        purpose=sampling,
        sample=sample,
        temperature=TEMPERATURE,
        top_p=TOP_P,
        max_tokens=MAX_TOKENS,
    )
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls)
    text = answer.value.text.strip()
    why = unfit(item, text)
    return Outcome(None if why else Sampled(text, pattern, sampling), why, answer.calls)


def unfit(item: Item, text: str) -> Rejection | None:
    """Why a made-up text can't be used; None: it can."""
    if not text:
        return "no_success"
    if _same(text, item.right):
        return "not_changed"
    longer = _words(text, item.language) - _words(item.right, item.language)
    if item.task != "dialogue" and longer > MORE_WORDS + SLACK:
        return "too_long"
    return None


async def chosen(
    model: Model, item: Item, found: Sequence[Sampled], draw: Random
) -> tuple[Outcome[Sampled], bool]:
    """The more plausible of the two, shown in an order drawn anew; the only one, where one sampling failed.

    True where a model chose. Where its choice is none, nothing is guessed: `no_choice`.
    """
    if len(found) < 2 or _same(found[0].text, found[-1].text):
        return Outcome(found[0] if found else None, None if found else "no_success"), False
    shown = draw.sample(list(found), 2)
    prompt = render(
        "construct_choose",
        item.language,
        evidence=item.evidence,
        context=item.context,
        first=shown[0].text,
        second=shown[1].text,
    )
    answer = await model.ask(prompt, Choice, purpose="choose")
    if answer.value is None:
        return Outcome(None, answer.failure, answer.calls), False
    said = answer.value.best.strip().lower()
    if said not in ("first", "second"):
        return Outcome(None, "no_choice", answer.calls), False
    return Outcome(shown[said == "second"], None, answer.calls), True


class Replies(NamedTuple):
    """Several answers to one query, and how alike they are on average, 0 to 1."""

    texts: tuple[str, ...]
    similarity: float


async def replies(
    model: Model, query: str, language: Language, max_tokens: int = MAX_TOKENS
) -> Outcome[Replies]:
    """Three answers drawn at temperature 1; a query of which one fails is not compared."""
    prompt = render("construct_reply", language, context=query)
    texts: list[str] = []
    calls: list[Call] = []
    for sample in range(SAMPLES):
        answer = await model.ask(
            prompt,
            Written,
            purpose="reply",
            sample=sample,
            temperature=TEMPERATURE,
            top_p=TOP_P,
            max_tokens=max_tokens,
        )
        calls += answer.calls
        if answer.value is None:
            return Outcome(None, answer.failure, tuple(calls))
        texts.append(answer.value.text)
    return Outcome(
        Replies(tuple(texts), mean(alike(a, b) for a, b in combinations(texts, 2))), None, tuple(calls)
    )


def alike(one: str, other: str) -> float:
    """F1 of the tokens that two texts share, 0 to 1: a likeness without weights. Two empty texts are alike."""
    first, second = Counter(tokens(one)), Counter(tokens(other))
    if not first and not second:
        return 1.0
    return 2 * (first & second).total() / (first.total() + second.total())


def _taught(item: Item, pattern: str) -> Prompt:
    return render(f"construct_{_PROMPTS[item.task]}", item.language, pattern=pattern)


def _case(item: Item) -> Prompt:
    return render(
        "construct_sample", item.language, evidence=item.evidence, context=item.context, right=item.right
    )


def _same(one: str, other: str) -> bool:
    return "".join(fold(one).text.split()).rstrip(".。") == "".join(fold(other).text.split()).rstrip(".。")


def _words(text: str, language: Language) -> int:
    """Words; in Chinese, two characters count as one."""
    return len(text.split()) if language == "en" else -(-len("".join(text.split())) // 2)
