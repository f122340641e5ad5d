"""What a model fills in when it makes labelled data: the forms of LongNovel's, PROBE's and HaluEval's constructions.

Knows: fields and their order. Does not know: what of an answer is believed (made, longnovel_set, probe_set,
halueval_set).
"""

from pydantic import Field

from longproof.agent.forms import Form


class Written(Form):
    """One text."""

    text: str


class Entities(Form):
    """What a summary names (seed 004, section 3.2)."""

    people: list[str] = Field(default_factory=list)
    organisations: list[str] = Field(default_factory=list)
    places: list[str] = Field(default_factory=list)
    figures: list[str] = Field(default_factory=list)


class WrongVersion(Form):
    """A summary made wrong (seed 004, Appendix I.1: is_success, hal_summary, error_part)."""

    possible: str = Field(json_schema_extra={"enum": ["yes", "no"]})
    text: str = ""
    wrong_sentence: str = ""
    reason: str = ""


class Inserted(Form):
    """A text with inventions in it, and the inventions as they stand there (seed 000, section 3.2)."""

    text: str
    inventions: list[str]


class Lesson(Form):
    """What a model has learned of a pattern before it is given a case (seed 003, section 2.1, conversational)."""

    rule: str
    example: str


class Choice(Form):
    """The more plausible of two texts (seed 003, table 3)."""

    reason: str = ""
    best: str = Field(json_schema_extra={"enum": ["first", "second"]})
