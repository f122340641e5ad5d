"""The forms that a model fills in.

Knows: the fields, their order (citations and reasons before labels), the menus that the schema offers. A menu binds
the schema, not the parser: a word that is not on the menu is parsed as it stands, and the guards reject it.
The papers' own forms keep their fields and words.
Does not know: what a good answer is (guards), or how a form is asked for (models).
"""

from typing import Any, Self, get_args

from pydantic import Field, model_validator

from longproof.agent.models.answers import Form
from longproof.agent.types import KINDS, LABELS, JudgeLabel, Kind

MENU: tuple[JudgeLabel, ...] = get_args(JudgeLabel)
YES, NO = "有幻觉", "无幻觉"
"""The two answers of LongNovel (seed 004, Appendix I.2)."""
KIND_NAMES: dict[Kind, str] = {
    "entity": "实体幻觉",
    "numerical": "数字幻觉",
    "relation": "关系幻觉",
    "inversion": "反向陈述",
    "event": "事件幻觉",
    "temporal": "时间线乱序",
    "causal": "因果链伪造",
    "fabrication": "虚构事件",
}
"""LongNovel's names of the kinds."""


def _one_of(*words: str) -> dict[str, Any]:
    return {"enum": list(words)}


class ReadingForm(Form):
    """One reading of an ambiguous claim."""

    text: str
    label: str = Field(json_schema_extra=_one_of(*MENU))


class Finding(Form):
    """What a judge says of one claim that needs words. `lines` are citations: a number and how that line begins."""

    claim: str
    lines: list[str] = Field(default_factory=list)
    reason: str = ""
    readings: list[ReadingForm] = Field(default_factory=list)
    label: str = Field(json_schema_extra=_one_of(*MENU))
    kind: str = Field(default="none", json_schema_extra=_one_of(*KINDS, "none"))
    wrong: str = ""
    correction: str = ""


class Findings(Form):
    """What a judge says of all claims of a question.

    A supported claim is one short string: its number, E (explicitly) or I (implicitly), and its citations, as in
    `C1 E 12 Ada lit; 15 Tom said`; one that was not found is `C2 N`. Every other claim is a `Finding`. One of the two
    lists may be left out.
    """

    short: list[str] = Field(default_factory=list)
    rest: list[Finding] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_a_list(self) -> Self:
        if not self.model_fields_set & {"short", "rest"}:
            raise ValueError("an answer has short or rest")
        return self


class StatementChoice(Form):
    """Which of two statements, of which one denies the other, the lines bear out."""

    lines: list[str] = Field(default_factory=list)
    reason: str = ""
    answer: str = Field(json_schema_extra=_one_of("first", "second", "neither"))


class Sentences(Form):
    """All sentences of a batch, taken apart: a short string a claim, in order, its sentence's number first.

    `S1 the claim`, or `S1 the claim @ first…last` with the words that it comes from; `S2 -` where a sentence states
    no fact.
    """

    claims: list[str]


class PlaceForm(Form):
    """Where one claim is wrong, and what should stand there; only what is wrong `here` has the last three fields."""

    claim: str
    reason: str
    where: str = Field(json_schema_extra=_one_of("here", "outside", "nothing"))
    wrong: str = ""
    kind: str = Field(default="none", json_schema_extra=_one_of(*KINDS, "none"))
    correction: str = ""


class Places(Form):
    """The wrong places of all claims asked about."""

    places: list[PlaceForm]


class Option(Form):
    """What VeriGray's detector says of one sentence (seed 002, Appendix F): its facts, then one of seven options."""

    facts: list[str] = Field(default_factory=list)
    label: str = Field(json_schema_extra=_one_of(*LABELS))


class Attribution(Form):
    """What an auditing judge says of one sentence (seed 002, section 4.2)."""

    reason: str = ""
    answer: str = Field(json_schema_extra=_one_of("attributable", "not_attributable", "contradictory"))


class Detail(Form):
    """One error in LongNovel's form (seed 004, Appendix I.2); its kind by its Chinese name."""

    hallucination_type: str = Field(default="", json_schema_extra=_one_of(*KIND_NAMES.values()))
    hallucinated_sentence: str = ""
    corrected_content: str = ""
    reason: str = ""


class Narrative(Form):
    """LongNovel's answer: 有幻觉 with details, or 无幻觉 without."""

    has_hallucination: str = Field(json_schema_extra=_one_of(YES, NO))
    details: list[Detail] = Field(default_factory=list)


class AnalysedNarrative(Form):
    """The same after an analysis in steps."""

    analysis: str
    has_hallucination: str = Field(json_schema_extra=_one_of(YES, NO))
    details: list[Detail] = Field(default_factory=list)


class Recognition(Form):
    """HaluEval's answer: does the text hold something made up? (Seed 003, table 8.)"""

    answer: str = Field(json_schema_extra=_one_of("yes", "no"))


class ReasonedRecognition(Form):
    """The same after reasoning in steps."""

    reasoning: str
    answer: str = Field(json_schema_extra=_one_of("yes", "no"))


class Contrast(Form):
    """Which of two texts is the made-up one (seed 003, section 3.2.2)."""

    hallucinated: str = Field(json_schema_extra=_one_of("first", "second"))


class Steps(Form):
    """The five steps of the data-to-text task (seed 001)."""

    content_analysis: str
    reference_comparison: str
    hallucination_identification: str
    span_extraction: str
    final_verdict: str


class Article(Form):
    """The answer of the data-to-text task: the five steps, then exact substrings of the article."""

    reasoning: Steps
    hallucination_list: list[str]


class Segments(Form):
    """Where one model finds evidence of a claim (seed 000, listing 16)."""

    thinking: str = ""
    segments: list[str]


class PassFail(Form):
    """Whether a piece of evidence alone supports a claim (seed 000, listing 17)."""

    reasoning: str = ""
    verdict: str = Field(json_schema_extra=_one_of("pass", "fail"))


class MadeUp(Form):
    """What one prompt alone lists as made up (seed 000, section 4.1)."""

    hallucinated: list[str]


class SearchTurn(Form):
    """A searcher's answer: claims with the lines that bear on them, then what to look for and where to read on."""

    claims: list[str]
    find: list[str] = Field(default_factory=list)
    read: list[str] = Field(default_factory=list)


class ScanNotes(Form):
    """What a reader notes of one piece of a source, and its last line as proof that all of it was read."""

    notes: list[str] = Field(default_factory=list)
    last: str


class WrongSentence(Form):
    """A sentence that the source does not bear out, in answer to the plain question."""

    sentence: str = Field(pattern="^S?[0-9]+$")
    reason: str = ""
    label: str = Field(json_schema_extra=_one_of("contradicting", "fabricated"))
    words: str = ""


class WrongSentences(Form):
    """The answer to the plain question: what isn't listed is supported."""

    wrong: list[WrongSentence]
