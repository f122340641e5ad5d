"""The plain question, to compare with: whoever has a strong model would ask so. No paper sets it out.

Knows: all sentences stand in one prompt with the source, and what isn't listed as wrong is supported.
"""

from pydantic import Field

from longproof.agent.guards import Weighed, word, wrong_place
from longproof.agent.models.answers import Form
from longproof.agent.models.model import by_number
from longproof.agent.prompting import brief
from longproof.agent.types import LABELS, Error, Label
from longproof.graphs.papers.paper import About, Paper, PaperRun, PaperState, question_about
from longproof.graphs.papers.runner import cut, whole

WORDS: dict[str, Label] = {"contradicting": "contradicting", "fabricated": "fabricated"}


class WrongSentence(Form):
    """A sentence that the source does not bear out."""

    sentence: str = Field(pattern="^S?[0-9]+$")
    reason: str = ""
    label: str = Field(json_schema_extra={"enum": list(WORDS)})
    words: str = ""


class WrongSentences(Form):
    """The answer to the plain question: what isn't listed is supported."""

    wrong: list[WrongSentence]


def read_list(answer: WrongSentences, about: About) -> Weighed:
    """Read what is listed of one sentence: nothing means supported; of two entries the worse counts."""
    listed = by_number((one.sentence, one) for one in answer.wrong).get(about.number, [])
    reason = brief(" ".join(one.reason for one in listed))
    named = {word(one.label) for one in listed}
    if not named <= WORDS.keys():
        return Weighed(None, "unparsed", reason=reason)
    label: Label = min((WORDS[name] for name in named), key=LABELS.index) if named else "implicitly_supported"
    errors: list[Error] = []
    for one in listed:
        errors += wrong_place(one.words, "none", "?", brief(one.reason), about.claim.origin)
    return Weighed(label, None, errors=tuple(dict.fromkeys(errors)), reason=reason)


async def show_all(state: PaperState, run: PaperRun) -> PaperState:
    """Put one question about all sentences, beside all of the source."""
    claims = [unit.claim for unit in state["units"]]
    question = question_about(run.paper, claims, [whole(ref) for ref in state["sources"]], "source")
    return {"units": [unit.with_question(question) for unit in state["units"]]}


PLAIN = Paper(
    name="plain",
    summary="The whole source and all sentences in one prompt: which of them are not borne out?",
    cites="none: the plain question",
    steps=(cut, show_all),
    prompt=("plain",),
    form=WrongSentences,
    read=read_list,
    unit="sentence",
    joins=True,
)
