"""HaluEval (Li et al., 2023): hallucinations recognised in four tasks, yes or no, each in up to four variants.

Knows: the tasks (question answering, dialogue, summary, general) and where their instructions stand; the variants of
section 3.2: with the knowledge, after reasoning in steps, and beside the right text.
"""

from itertools import product

from pydantic import Field

from longproof.agent.guards import Weighed, word
from longproof.agent.models.answers import Form
from longproof.agent.types import Label
from longproof.graphs.papers.paper import About, Paper, choose, in_order
from longproof.graphs.papers.works import HALUEVAL

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


def read_answer(answer: Recognition | ReasonedRecognition, about: About) -> Weighed:
    """Yes or no, with the reasoning before it, if there is any."""
    reasoning = answer.reasoning if isinstance(answer, ReasonedRecognition) else ""
    return choose(ANSWERS, answer.answer, reasoning)


def read_contrast(answer: Contrast, about: About) -> Weighed:
    """Which of the two is made up: ours, or the reference."""
    said = word(answer.hallucinated)
    if said not in ORDER:
        return Weighed(None, "unparsed")
    ours = in_order(about.case)[ORDER.index(said)] == about.case.response
    return Weighed(ANSWERS["yes" if ours else "no"], None)


TASKS = {
    "qa": ("An answer: yes or no by four patterns", "table 8"),
    "dialogue": ("A turn: yes or no by three patterns", "table 15"),
    "summary": ("A summary with its document: yes or no by three patterns", "table 16"),
    "general": ("A reply to a user's request: yes or no by three patterns", "section 2.2"),
}
"""Each task, and where its instruction stands."""

VARIANTS: dict[str, tuple[str, str, type[Form]]] = {
    "": ("", "", Recognition),
    "-knowledge": (", with the knowledge", "", Recognition),
    "-cot": (", after reasoning in steps", "_cot", ReasonedRecognition),
    "-contrast": ("; which of two is made up", "_contrast", Contrast),
}
"""Ways of asking (section 3.2): the end of the summary, that of the prompts' names, the form."""
NOT_TRIED = ("summary-knowledge", "general-knowledge", "general-contrast")
"""A summary has its document; of a general request nothing is known, and no right text is there."""


def _paper(task: str, ending: str) -> Paper:
    """One task in one variant: the text is judged by itself, or against what is known."""
    summary, cites = TASKS[task]
    words, asked, form = VARIANTS[ending]
    contrasts = form is Contrast
    return Paper(
        name=f"halueval-{task}{ending}",
        summary=f"{summary}{words}.",
        work=HALUEVAL,
        cites="section 3.2" if ending else cites,
        prompt=(f"halueval_{task}", f"recognise{asked}"),
        question=f"halueval_{task}{asked}",
        form=form,
        read=read_contrast if contrasts else read_answer,
        needs=("models", "reference") if contrasts else ("models",),
        shows="source" if task == "summary" or ending == "-knowledge" else "nothing",
    )


PAPERS = tuple(
    _paper(task, ending) for task, ending in product(TASKS, VARIANTS) if task + ending not in NOT_TRIED
)
