"""Judges, arbiters too, that ask a language model: the parts of each prompt, and the reading of its answer.

Knows: what a judge is asked and how its answer becomes a judgement for every claim, in order, each a label or a
failure.
Does not know: how prompts are filled (prompting), how a model is reached, asked again and paid for (models), or the
papers' prompts (graphs/papers).
"""

import re
from collections.abc import Sequence
from copy import copy
from typing import Any, Self, get_args

from pydantic import Field, model_validator

from longproof.agent.evidence.citations import on_one_line
from longproof.agent.guards import Weighed, cites_unseen, error_parts, read_lines, same, word, wrong_place
from longproof.agent.models.answers import Form
from longproof.agent.models.model import Answer, Asker, Model, by_number
from longproof.agent.prompting import (
    Numbered,
    brief,
    language_of,
    opinions,
    prompt_for,
    sentence_of,
    statements,
)
from longproof.agent.types import (
    Answered,
    Case,
    Claim,
    Error,
    Failure,
    JudgeLabel,
    Judgement,
    Label,
    Question,
    Reading,
)
from longproof.agent.vote import final_label
from longproof.prompts import Prompt, render

LETTERS: dict[str, JudgeLabel] = {
    "E": "explicitly_supported",
    "I": "implicitly_supported",
    "N": "not_found",
    "X": "no_fact",
}
"""The labels that a short string may give; one without a letter has none."""
MENU: tuple[JudgeLabel, ...] = get_args(JudgeLabel)
"""The labels that the form offers. It binds the schema, not the parser: any other word is read as `off_menu`."""
NEED_NO_LINES: frozenset[JudgeLabel] = frozenset({"not_found", "no_fact", "out_dependent"})
"""Labels that may be given without a cited line, but not on lines that weren't shown."""
UNFAITHFUL: frozenset[JudgeLabel] = frozenset({"contradicting", "fabricated", "not_found"})
_SHORT = re.compile(
    r"\W*[CcＣ]?\s*(?P<number>\d{1,4})(?!\d)[\W_]*"
    r"(?:(?P<label>[EIei](?:xplicitly|mplicitly)?(?:[\s_-]?supported)?|[Nn](?:ot[\s_-]?found)?|[Xx])(?![^\W\d_])[\s:：,，.。)）\]|-]*)?"
    r"(?P<citations>.*)"
)
"""The way in which a model writes that a claim is supported, `C1 E 12 Ada lit; 15 Tom said`, not found, `C1 N`, or no
fact, `C1 X`."""


PARTS: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "shown_part"),
    "judge_whole": ("judge", "shown_whole"),
    "judge_scanned": ("judge", "scanned"),
    "judge_open": ("judge",),
    "confirm": ("confirm",),
}
"""Every prompt that a judge answers, with its parts in order."""


class Finding(Form):
    """A judge's answer on one claim that needs words.

    `lines` are citations: a number and how that line begins. A reading of an ambiguous claim is `label: how it is
    read`, an error `kind: wrong words => correction`.
    """

    claim: str
    lines: list[str] = Field(default_factory=list)
    reason: str = ""
    label: str = Field(json_schema_extra={"enum": list(MENU)})
    readings: list[str] = Field(default_factory=list)
    errors: list[str] = Field(default_factory=list)


class Findings(Form):
    """A judge's answer on all claims of a question; one of the two lists may be left out.

    A supported claim is one short string, explicitly `C1 E 12 Ada lit; 15 Tom said` or implicitly `C1 I 12 Ada lit`;
    one that was not found is `C2 N`, one that states no fact `C3 X`. Every other claim is a `Finding`.
    """

    short: list[str] = Field(default_factory=list)
    rest: list[Finding] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_a_list(self) -> Self:
        if not self.model_fields_set & {"short", "rest"}:
            raise ValueError("an answer has short or rest")
        return self


class StatementChoice(Form):
    """The one of two opposite statements that the lines bear out, after the best that speaks for the other."""

    defence: str = ""
    lines: list[str] = Field(default_factory=list)
    reason: str = ""
    answer: str = Field(json_schema_extra={"enum": ["first", "second", "either", "neither"]})


class ModelJudge:
    """Asks one model about all claims of a question at once, in the prompt that the question names.

    `temperature` None is 0. `sample` tells apart judges that put the same question to the same model.
    """

    deciding = "arbitrate"
    """The prompt that shows an arbiter what the others said."""

    def __init__(self, name: str, model: Model, *, temperature: float | None = None, sample: int = 0) -> None:
        self.name, self.temperature = name, temperature
        self.asker = Asker(model, temperature or 0.0, sample)
        self.prior: Sequence[Judgement] | None = None
        """The judgements that an arbiter decides between."""

    @property
    def endpoint(self) -> str:
        """The server that its answers come from."""
        return self.asker.model.endpoint

    def form(self, question: Question) -> type[Form]:
        """The form that this question is answered in."""
        return StatementChoice if question.prompt == "confirm" else Findings

    def prompt(self, question: Question, numbered: Numbered, case: Case) -> Prompt:
        """The prompt that asks this question about these claims."""
        return prompt_for(PARTS[question.prompt], question, numbered, case)

    def read(self, value: Any, n: int, claims: Sequence[Claim], question: Question, case: Case) -> Weighed:
        """Read what a filled form says of the claim that has this number in it."""
        claim = claims[n - 1]
        if isinstance(value, StatementChoice):
            return read_choice(value, claim, question, case)
        alone = [other.text for other in claims].count(claim.text) == 1
        return read_findings(findings_about(value, n, claim.text if alone else ""), claim, question, case)

    def with_prior(self, prior: Sequence[Judgement]) -> Self:
        """The same judge as an arbiter, who sees what the others said: shuffled, without names."""
        arbiter = copy(self)
        arbiter.prior = prior
        return arbiter

    async def judge(self, question: Question, claims: Sequence[Claim], case: Case) -> Answered:
        """One judgement for each of `claims`, in their order."""

        def prompt_about(numbered: Numbered) -> Prompt:
            prompt = self.prompt(question, numbered, case)
            if self.prior is None:
                return prompt
            said = opinions(numbered, self.prior, question)
            return prompt.then(render(self.deciding, language_of(case), opinions=said))

        def judgements(answer: Answer[Form], numbered: Numbered, prompt: Prompt) -> dict[int, Judgement]:
            said = {}
            for n, claim in numbered.items():
                weighed = Weighed(None, answer.failure, reason=answer.detail)
                if answer.value is not None:
                    weighed = self.read(answer.value, n, claims, question, case)
                said[n] = weighed.judgement(self.name, question, claim, answer.call_id, prompt.hash)
            return said

        asked = "confirm" if question.prompt == "confirm" else "judge"
        found, calls = await self.asker.ask_about(
            dict(enumerate(claims, start=1)),
            letter="C",
            purpose=asked if self.prior is None else "arbitrate",
            form=self.form(question),
            prompt_of=prompt_about,
            read=judgements,
        )
        return Answered(list(found.values()), calls)

    async def arbitrate(
        self, question: Question, claims: Sequence[Claim], judgements: Sequence[Judgement], case: Case
    ) -> Answered:
        """The same of one more judge, who sees what the others said."""
        return await self.with_prior(judgements).judge(question, claims, case)


def read_findings(said: Sequence[Finding], claim: Claim, question: Question, case: Case) -> Weighed:
    """Read the findings on one claim: citations that fit, consistent fields, places that exist."""
    if not said:
        return Weighed(None, "unparsed")
    finding = said[-1]
    reason = brief(finding.reason)
    if len({word(one.label) for one in said}) > 1:
        return Weighed(None, "self_contradicted", reason=reason)
    label = word(finding.label)
    if label not in MENU:
        return Weighed(None, "off_menu", reason=reason)
    lines = [line for finding in said for line in finding.lines]
    quotes, dropped = read_lines(lines, question)
    readings: list[Reading] = []
    for one in finding.readings if label == "ambiguous" else ():
        name, _, text = one.replace("：", ":", 1).partition(":")
        named = word(name)
        if named in MENU:
            readings.append(Reading(text=text.strip(), label=final_label(named)))
    failure: Failure | None = None
    if label in UNFAITHFUL and _changes_nothing(finding, claim):
        failure = "self_contradicted"
    elif question.shown and not quotes and (label not in NEED_NO_LINES or cites_unseen(lines, question)):
        failure = "ungrounded"
    elif label == "ambiguous" and len({reading.label for reading in readings}) < 2:
        failure = "self_contradicted"
    elif label == "out_dependent" and question.look == "pages":
        # It rests on a page: one of its quotes stands in a snippet.
        on_a_page = any(quote.source_id not in case.source_ids for quote in quotes)
        failure = None if on_a_page else "ungrounded"
    if failure:
        return Weighed(None, failure, quotes, dropped, reason=reason)
    errors = _errors_of(finding, claim, case) if label in UNFAITHFUL or label == "out_dependent" else ()
    return Weighed(label, None, quotes, dropped, errors, tuple(readings), reason)


def findings_about(value: Findings, number: int, text: str) -> list[Finding]:
    """The findings on the claim of this number, short strings too, and those that repeat its text instead."""
    said: list[Finding] = []
    for compact in value.short:
        read = _SHORT.fullmatch(on_one_line(compact))
        if read and int(read["number"]) == number:
            label = LETTERS.get((read["label"] or "")[:1].upper(), "")
            said.append(Finding(claim=compact, lines=[read["citations"]], label=label))
    said += by_number((finding.claim, finding) for finding in value.rest).get(number, [])
    said += (finding for finding in value.rest if same(finding.claim, text))
    return said


def read_choice(value: StatementChoice, claim: Claim, question: Question, case: Case) -> Weighed:
    """Read whether the claim, its opposite, either or neither is borne out, by lines that were shown."""
    said, reason = word(value.answer), brief(value.reason)
    if said not in ("first", "second", "either", "neither"):
        return Weighed(None, "off_menu", reason=reason)
    quotes, dropped = read_lines(value.lines, question)
    needs_lines = said in ("first", "second")
    if question.shown and not quotes and (needs_lines or cites_unseen(value.lines, question)):
        return Weighed(None, "ungrounded", quotes, dropped, reason=reason)
    if said == "neither":
        return Weighed("not_found", None, quotes, dropped, reason=reason)
    if said == "either":
        return Weighed("ambiguous", None, quotes, dropped, reason=reason)
    borne_out = statements(claim, question.denied, case)[said == "second"] == claim.text
    label: Label = "implicitly_supported" if borne_out else "contradicting"
    return Weighed(label, None, quotes, dropped, reason=reason)


def _errors_of(finding: Finding, claim: Claim, case: Case) -> tuple[Error, ...]:
    """The errors whose wrong words stand in the claim's own part of its sentence, or else anywhere in it."""
    errors: list[Error] = []
    for said in map(error_parts, finding.errors[:12]):
        errors += wrong_place(*said, finding.reason, claim.origin, sentence_of(claim, case))
    return tuple({error.span: error for error in errors}.values())


def _changes_nothing(finding: Finding, claim: Claim) -> bool:
    """True if a correction says what the wrong words say, or the whole claim."""
    for wrong, _, correction in map(error_parts, finding.errors):
        if any(same(correction, text) for text in (wrong, claim.text, claim.origin.text)):
            return True
    return False
