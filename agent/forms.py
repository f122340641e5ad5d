"""The forms that a model fills in.

Knows: the fields, their order (citations and reasons before labels), the menus that the schema offers. A menu binds
the schema, not the parser: a word that is not on the menu is parsed as it stands, and the guards reject it.
Does not know: what a good answer is (guards), how a form is asked for (models), or the papers' forms.
"""

from typing import Any, Self, get_args

from pydantic import Field, model_validator

from longproof.agent.models.answers import Form
from longproof.agent.types import JudgeLabel

MENU: tuple[JudgeLabel, ...] = get_args(JudgeLabel)


def _one_of(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


class Finding(Form):
    """A judge's answer on one claim that needs words. `lines` are citations: a number and how that line begins.

    A reading of an ambiguous claim is a string: its label, a colon, how the claim is read. An error is one, too: its
    kind, a colon, the wrong words, an arrow `=>`, their correction.
    """

    claim: str
    lines: list[str] = Field(default_factory=list)
    reason: str = ""
    label: str = Field(json_schema_extra=_one_of(*MENU))
    readings: list[str] = Field(default_factory=list)
    errors: list[str] = Field(default_factory=list)


class Findings(Form):
    """A judge's answer on all claims of a question.

    A supported claim is one short string: its number, E (explicitly) or I (implicitly), and its citations, as in
    `C1 E 12 Ada lit; 15 Tom said`; one that was not found is `C2 N`, one that states no fact `C3 X`. Every other
    claim is a `Finding`. One of the two lists may be left out.
    """

    short: list[str] = Field(default_factory=list)
    rest: list[Finding] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_a_list(self) -> Self:
        if not self.model_fields_set & {"short", "rest"}:
            raise ValueError("an answer has short or rest")
        return self


class StatementChoice(Form):
    """The one of two opposite statements that the lines bear out."""

    lines: list[str] = Field(default_factory=list)
    reason: str = ""
    answer: str = Field(json_schema_extra=_one_of("first", "second", "neither"))
