"""HaluEval's recognition of hallucinations (seed 003): four tasks, yes or no, each in up to four variants.

Knows: the tasks (question answering, dialogue, summary, general) and where their instructions stand; the variants of
section 3.2: with the knowledge, after reasoning in steps, and beside the right text.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from pydantic import Field

from longproof.agent.guards import Weighed, word
from longproof.agent.models.answers import Form
from longproof.agent.types import Label
from longproof.graphs.needs import Need
from longproof.graphs.papers.answers import choose, in_order
from longproof.graphs.papers.paper import About, Paper
from longproof.graphs.papers.runner import PLAIN_STEPS
from longproof.graphs.papers.votes import by_vote

ANSWERS: dict[str, Label] = {"yes": "fabricated", "no": "implicitly_supported"}
"""Does the text hold something made up? (Table 8.)"""
ORDER = ("first", "second")


class Recognition(Form):
    """Yes or no (table 8)."""

    answer: str = Field(json_schema_extra={"enum": list(ANSWERS)})


class ReasonedRecognition(Form):
    """The same after reasoning in steps."""

    reasoning: str
    answer: str = Field(json_schema_extra={"enum": list(ANSWERS)})


class Contrast(Form):
    """Which of two texts is the made-up one (section 3.2.2)."""

    hallucinated: str = Field(json_schema_extra={"enum": list(ORDER)})


def read_answer(answer: Recognition, about: About) -> Weighed:
    """Yes or no."""
    return choose(ANSWERS, answer.answer)


def read_reasoned(answer: ReasonedRecognition, about: About) -> Weighed:
    """Yes or no, with the reasoning before it."""
    return choose(ANSWERS, answer.answer, answer.reasoning)


def read_contrast(answer: Contrast, about: About) -> Weighed:
    """Which of the two is made up: ours, or the reference."""
    said = word(answer.hallucinated)
    if said not in ORDER:
        return Weighed(None, "unparsed")
    ours = in_order(about.case)[ORDER.index(said)] == about.case.response
    return Weighed(ANSWERS["yes" if ours else "no"], None)


class Task(NamedTuple):
    """One of the four tasks: where its instruction stands, and the variants that the paper tries it in."""

    summary: str
    cites: str
    variants: tuple[str, ...]


class Variant(NamedTuple):
    """How a task is asked."""

    summary: str
    part: str
    form: type[Form]
    read: Callable[[Any, About], Weighed]
    needs: tuple[Need, ...] = ()


TASKS = {
    "qa": Task(
        "An answer: yes or no by four patterns", "003, table 8", ("", "-knowledge", "-cot", "-contrast")
    ),
    "dialogue": Task(
        "A turn: yes or no by three patterns", "003, table 15", ("", "-knowledge", "-cot", "-contrast")
    ),
    "summary": Task(
        "A summary with its document: yes or no by three patterns",
        "003, table 16",
        ("", "-cot", "-contrast"),
    ),
    "general": Task(
        "A reply to a user's request: yes or no by three patterns", "003, section 2.2", ("", "-cot")
    ),
}
VARIANTS = {
    "": Variant("", "recognise", Recognition, read_answer),
    "-knowledge": Variant(", with the knowledge", "recognise", Recognition, read_answer),
    "-cot": Variant(", after reasoning in steps", "recognise_cot", ReasonedRecognition, read_reasoned),
    "-contrast": Variant(
        "; which of two is made up", "recognise_contrast", Contrast, read_contrast, ("models", "reference")
    ),
}


def _paper(name: str, task: Task, ending: str) -> Paper:
    """The method of one task in one variant: the text is judged by itself, or against what is known."""
    variant = VARIANTS[ending]
    against_a_source = name == "summary" or ending == "-knowledge"
    return Paper(
        name=f"halueval-{name}{ending}",
        summary=f"{task.summary}{variant.summary}.",
        cites="003, section 3.2" if ending else task.cites,
        steps=PLAIN_STEPS,
        prompt=(f"halueval_{name}", variant.part),
        question=f"halueval_{name}{variant.part.removeprefix('recognise')}",
        form=variant.form,
        read=variant.read,
        decide=by_vote,
        shows="source" if against_a_source else "nothing",
        menu=tuple(ANSWERS.values()),
        needs=variant.needs or (() if against_a_source else ("models",)),
    )


PAPERS = tuple(_paper(name, task, ending) for name, task in TASKS.items() for ending in task.variants)
