"""The plain question, to compare with: the whole source, all sentences, "which of these are not borne out?"

Knows: that all sentences of a response are asked about in one prompt, and that those which the answer leaves out
are supported. No paper sets this out; whoever has a strong model would ask so.
"""

from pydantic import Field

from longproof.agent.guards import Weighed, word, wrong_place
from longproof.agent.models.answers import Form
from longproof.agent.models.model import by_number
from longproof.agent.prompting import brief
from longproof.agent.types import LABELS, Error, Label
from longproof.graphs.papers.paper import About, Paper
from longproof.graphs.papers.runner import STEPS

WORDS: dict[str, Label] = {"contradicting": "contradicting", "fabricated": "fabricated"}
NOT_LISTED: Label = "implicitly_supported"


class WrongSentence(Form):
    """A sentence that the source does not bear out."""

    sentence: str = Field(pattern="^S?[0-9]+$")
    reason: str = ""
    label: str = Field(json_schema_extra={"enum": list(WORDS)})
    words: str = ""


class WrongSentences(Form):
    """The answer to the plain question: what isn't listed is supported."""

    wrong: list[WrongSentence]


def read(answer: WrongSentences, about: About) -> Weighed:
    """Read what is listed of one sentence: nothing means supported; of two entries the worse counts."""
    listed = by_number((one.sentence, one) for one in answer.wrong).get(about.number, [])
    reason = brief(" ".join(one.reason for one in listed))
    named = {word(one.label) for one in listed}
    if not named <= WORDS.keys():
        return Weighed(None, "unparsed", reason=reason)
    label = min((WORDS[name] for name in named), key=LABELS.index, default=NOT_LISTED)
    errors: list[Error] = []
    for one in listed:
        errors += wrong_place(one.words, "none", "?", brief(one.reason), about.claim)
    return Weighed(label, None, errors=tuple(dict.fromkeys(errors)), reason=reason)


PAPERS = (
    Paper(
        name="plain",
        summary="The whole source and all sentences in one prompt: which of them are not borne out?",
        cites="none: the plain question",
        steps=STEPS,
        prompt=("plain",),
        form=WrongSentences,
        read=read,
        unit="sentence",
        together=True,
        joins=True,
    ),
)
