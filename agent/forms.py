"""What a model fills in: the forms of its answers, and their JSON schema.

Knows: the fields, their order (quotes and reasons before labels), the menus that the schema offers. Menus bind the
schema, not the reading: a word that is not on the menu is read as it stands, and the guards name it.
Does not know: what a good answer is (guards), or how a form is asked for (model).
"""

from functools import cache
from typing import Any, get_args

from pydantic import ConfigDict, Field

from longproof.agent.types import KINDS, JudgeLabel
from longproof.retrieval.types import Frozen

MENU: tuple[JudgeLabel, ...] = get_args(JudgeLabel)


def _one_of(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


class Form(Frozen):
    """An answer's shape. Fields that we did not ask for are passed over, not obeyed."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ReadingForm(Form):
    """One reading of an ambiguous claim."""

    text: str
    label: str = Field(json_schema_extra=_one_of(*MENU))


class Finding(Form):
    """What a judge says of one claim."""

    claim: str
    quotes: list[str]
    reason: str
    readings: list[ReadingForm] = Field(default_factory=list)
    holds: str = Field(json_schema_extra=_one_of("yes", "no"))
    label: str = Field(json_schema_extra=_one_of(*MENU))
    kind: str = Field(default="none", json_schema_extra=_one_of(*KINDS, "none"))
    wrong: str = ""
    correction: str = ""


class Findings(Form):
    """What a judge says of all claims of a question."""

    findings: list[Finding]


class ClaimForm(Form):
    """One claim taken from a sentence."""

    segment: str
    claim: str


class SentenceForm(Form):
    """One sentence taken apart."""

    sentence: str
    states_fact: str = Field(json_schema_extra=_one_of("yes", "no"))
    claims: list[ClaimForm] = Field(default_factory=list)


class Sentences(Form):
    """All sentences of a batch, taken apart."""

    sentences: list[SentenceForm]


class PlaceForm(Form):
    """Where one claim is wrong, and what should stand there."""

    claim: str
    reason: str
    wrong: str
    kind: str = Field(json_schema_extra=_one_of(*KINDS))
    correction: str


class Places(Form):
    """The wrong places of all claims asked about."""

    places: list[PlaceForm]


@cache
def schema(form: type[Form]) -> dict[str, Any]:
    """The form's JSON schema as strict servers want it: every field required, nothing extra, no defaults."""
    written: dict[str, Any] = form.model_json_schema()
    for part in [written, *written.get("$defs", {}).values()]:
        part.pop("description", None)
        part["additionalProperties"] = False
        part["required"] = list(part["properties"])
        for field in part["properties"].values():
            field.pop("default", None)
            field.pop("title", None)
    return written
