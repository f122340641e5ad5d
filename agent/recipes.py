"""The recipe of each prompt that a judge answers: its parts, the form that it fills in, and how that becomes a label.

Knows: a claim's answer within the answer to a question, errors outside a claim's own words, what rests on saved
pages. To add a prompt, add a recipe to `RECIPES` and its Markdown files.
Does not know: how a prompt is filled (prompting), who answers, or the papers' prompts (graphs/papers).
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from longproof.agent.forms import Finding, Findings, StatementChoice
from longproof.agent.guards import (
    WRONG,
    Weighed,
    error_parts,
    read_lines,
    same,
    short_answer,
    weigh,
    word,
    wrong_place,
)
from longproof.agent.models.answers import Form
from longproof.agent.models.model import by_number
from longproof.agent.prompting import brief, sentence_of, statements
from longproof.agent.types import Case, Claim, Error, JudgeLabel, Label, Question

_UNKNOWN_KIND = re.compile(r"[a-z_]+\s*[:：]", re.IGNORECASE)
MOST_ERRORS = 12
"""Wrong places of one claim that are read."""


class Recipe(NamedTuple):
    """A prompt's parts in order, the form of its answer, and the reader of that form."""

    parts: tuple[str, ...]
    form: type[Form]
    read: Callable[[Any, Claim, Question, Case], Weighed]


def read_findings(value: Findings, claim: Claim, question: Question, case: Case) -> Weighed:
    """Read our own form, for one of its claims: citations that fit, consistent fields, places that exist.

    `value` holds what was said of this claim alone.
    """
    said = [*map(_expand_short, value.short), *value.rest]
    if not said:
        return Weighed(None, "unparsed")
    reason = brief(said[-1].reason)
    if len({word(finding.label) for finding in said}) > 1:
        return Weighed(None, "self_contradicted", reason=reason)
    finding = said[-1].model_copy(update={"lines": [line for one in said for line in one.lines]})
    weighed = weigh(finding, claim, question)._replace(reason=reason)
    if weighed.label in WRONG or weighed.label == "out_dependent":
        weighed = weighed._replace(errors=_errors_of(finding, claim, case))
    if weighed.label == "out_dependent" and question.look == "pages":
        return _from_pages(weighed, case)
    return weighed


def part_about(value: Form, number: int, text: str) -> Form:
    """The part of an answer that is about the claim of this number, or that repeats its text instead; some forms are
    about one claim alone."""
    if not isinstance(value, Findings):
        return value
    said: dict[int, list[Finding]] = by_number((finding.claim, finding) for finding in value.rest)
    brief_ones = [text for text in value.short if (read := short_answer(text)) and read.number == number]
    repeated = [finding for finding in value.rest if same(finding.claim, text)]
    return Findings(short=brief_ones, rest=[*said.get(number, []), *repeated])


def read_choice(value: StatementChoice, claim: Claim, question: Question, case: Case) -> Weighed:
    """Read whether the claim, its opposite or neither is borne out, by lines that were shown."""
    said, reason = word(value.answer), brief(value.reason)
    if said == "neither":
        return Weighed("not_found", None, reason=reason)
    if said not in ("first", "second"):
        return Weighed(None, "off_menu", reason=reason)
    quotes, dropped = read_lines(value.lines, question)
    if question.shown and not quotes:
        return Weighed(None, "ungrounded", quotes, dropped, reason=reason)
    borne_out = statements(claim, case)[said == "second"] == claim.text
    label: Label = "implicitly_supported" if borne_out else "contradicting"
    return Weighed(label, None, quotes, dropped, reason=reason)


def _expand_short(compact: str) -> Finding:
    """A claim's short string as a finding. Without a letter it has no label."""
    read = short_answer(compact)
    label = LETTERS.get(read.letter, "") if read else ""
    return Finding(claim=compact, lines=[read.citations] if read else [], label=label)


def _errors_of(finding: Finding, claim: Claim, case: Case) -> tuple[Error, ...]:
    """The errors whose wrong words stand in the claim's own part of its sentence, or else anywhere in it."""
    wide = claim.model_copy(update={"origin": sentence_of(claim, case)})
    errors: list[Error] = []
    for wrong, kind, correction in map(error_parts, finding.errors[:MOST_ERRORS]):
        said = (kind, correction, finding.reason)
        # A kind that is none of ours stands before its words like one of ours.
        unknown = None if kind else _UNKNOWN_KIND.match(wrong)
        for words in (wrong, wrong[unknown.end() :] if unknown else ""):
            if placed := wrong_place(words, *said, claim) or wrong_place(words, *said, wide):
                errors += placed
                break
    return tuple({error.span: error for error in errors}.values())


def _from_pages(weighed: Weighed, case: Case) -> Weighed:
    """Out-dependent rests on a page: one of its quotes stands in a snippet, or it is ungrounded."""
    if any(quote.source_id not in case.source_ids for quote in weighed.quotes):
        return weighed
    return weighed._replace(label=None, failure="ungrounded", errors=(), readings=())


LETTERS: dict[str, JudgeLabel] = {
    "E": "explicitly_supported",
    "I": "implicitly_supported",
    "N": "not_found",
    "X": "no_fact",
}
"""The labels that a short string may give."""

RECIPES: dict[str, Recipe] = {
    "judge": Recipe(("judge", "shown_part"), Findings, read_findings),
    "judge_whole": Recipe(("judge", "shown_whole"), Findings, read_findings),
    "judge_scanned": Recipe(("judge", "scanned"), Findings, read_findings),
    "judge_open": Recipe(("judge",), Findings, read_findings),
    "confirm": Recipe(("confirm",), StatementChoice, read_choice),
}
"""Every prompt that a judge answers."""
