"""The recipe of each prompt: its parts, the form that a model fills in, and how that becomes a label.

Knows: the papers' menus (answer → label), and which errors and reasons an answer names. An answer that is not on the
menu is a failure. To add a prompt, add a recipe to `RECIPES` and its Markdown files.
Does not know: how a prompt is filled (prompting), or who answers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from longproof.agent.forms import (
    KIND_NAMES,
    NO,
    YES,
    AnalysedNarrative,
    Article,
    Attribution,
    Contrast,
    Detail,
    Finding,
    Findings,
    MadeUp,
    Narrative,
    Option,
    PassFail,
    ReasonedRecognition,
    Recognition,
    StatementChoice,
    WrongSentence,
    WrongSentences,
)
from longproof.agent.guards import (
    WRONG,
    Guards,
    Weighed,
    exact_places,
    read_lines,
    short_answer,
    weigh,
    word,
    wrong_place,
)
from longproof.agent.models.answers import Form
from longproof.agent.models.asker import by_number
from longproof.agent.prompting import in_order, sentence_of, statements
from longproof.agent.types import LABELS, Case, Claim, Error, JudgeLabel, Kind, Label, Question

Reader = Callable[[Any, Claim, Question, Case, Guards], Weighed]

LONGEST_REASON = 2000
_KINDS: dict[str, Kind] = {name: kind for kind, name in KIND_NAMES.items()}


class Recipe(NamedTuple):
    """How a prompt is made and its answer read: parts in order, form, reader and menu, and what an arbiter is told.

    `menu` maps answers to labels; where it is empty, the labels themselves are the answers.
    """

    parts: tuple[str, ...]
    form: type[Form]
    read: Reader
    menu: Mapping[str, Label] = {}
    arbitrate: str = "arbitrate_paper"


def findings(value: Findings, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """Our own form, for one of its claims: citations that fit, consistent fields, places that exist.

    `value` holds what was said of this claim alone.
    """
    said = [*map(_spelt_out, value.short), *value.rest]
    if not said:
        return Weighed(None, "unparsed")
    reason = brief(said[-1].reason)
    if len({word(finding.label) for finding in said}) > 1:
        return Weighed(None, "self_contradicted" if guards == "ours" else "unparsed", reason=reason)
    finding = said[-1].model_copy(update={"lines": [line for one in said for line in one.lines]})
    weighed = weigh(finding, claim, question, guards)._replace(reason=reason)
    if weighed.label in WRONG and not weighed.errors:
        weighed = weighed._replace(errors=_in_sentence(finding, claim, case))
    if guards == "ours" and weighed.label == "out_dependent" and question.round == "pages":
        return _from_pages(weighed, case)
    return weighed


def about(value: Form, number: int) -> Form:
    """What an answer says of the claim of this number: its part of a list; other forms are about one claim."""
    if isinstance(value, WrongSentences):
        listed: dict[int, list[WrongSentence]] = by_number((one.sentence, one) for one in value.wrong)
        return WrongSentences(wrong=listed.get(number, []))
    if not isinstance(value, Findings):
        return value
    said: dict[int, list[Finding]] = by_number((finding.claim, finding) for finding in value.rest)
    brief_ones = [text for text in value.short if (read := short_answer(text)) and read.number == number]
    return Findings(short=brief_ones, rest=said.get(number, []))


def option(value: Option, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """One of VeriGray's seven options."""
    label = next((label for label in LABELS if label == word(value.label)), None)
    reason = brief("; ".join(value.facts))
    return Weighed(label, None, reason=reason) if label else _off_menu(guards, reason)


def attribution(value: Attribution, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """What an auditing judge says."""
    return _chosen(AUDIT, value.answer, guards, value.reason)


def narrative(
    value: Narrative | AnalysedNarrative, claim: Claim, question: Question, case: Case, guards: Guards
) -> Weighed:
    """LongNovel's answer. What is only invented is fabricated, anything else contradicts; details place it."""
    reason = brief(" ".join(detail.reason for detail in value.details))
    answer = value.has_hallucination.strip()
    if answer not in LONGNOVEL:
        return _off_menu(guards, reason)
    if answer == NO:
        return Weighed(LONGNOVEL[NO], None, reason=reason)
    kinds = {detail.hallucination_type.strip() for detail in value.details}
    label: Label = LONGNOVEL[KIND_NAMES["fabrication"] if kinds == {KIND_NAMES["fabrication"]} else YES]
    errors = [error for detail in value.details for error in _detailed(detail, claim)]
    return Weighed(label, None, errors=tuple(dict.fromkeys(errors)), reason=reason)


def recognition(
    value: Recognition | ReasonedRecognition, claim: Claim, question: Question, case: Case, guards: Guards
) -> Weighed:
    """HaluEval's yes or no."""
    reason = value.reasoning if isinstance(value, ReasonedRecognition) else ""
    return _chosen(HALUEVAL, value.answer, guards, reason)


def contrast(value: Contrast, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """Which of the two is made up: ours, or the reference."""
    said = word(value.hallucinated)
    if said not in ("first", "second"):
        return _off_menu(guards, "")
    ours = in_order(case)[said == "second"] == case.response
    return Weighed(HALUEVAL["yes" if ours else "no"], None)


def article(value: Article, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """The data-to-text task's list of exact spans; its last step is the reason."""
    return _listed(value.hallucination_list, claim, guards, value.reasoning.final_verdict)


def made_up(value: MadeUp, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """What one prompt alone lists as made up."""
    return _listed(value.hallucinated, claim, guards, "", whole=True)


def evaluated(value: PassFail, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """Whether the piece alone supports the claim; if so the piece is the evidence."""
    weighed = _chosen(PROBE, value.verdict, guards, value.reasoning)
    return weighed._replace(quotes=question.shown[:1]) if weighed.label == PROBE["pass"] else weighed


def unlisted(value: WrongSentences, claim: Claim, question: Question, case: Case, guards: Guards) -> Weighed:
    """What the plain question's answer lists of a sentence: nothing means supported; the worst label counts."""
    reason = brief(" ".join(one.reason for one in value.wrong))
    said = {word(one.label) for one in value.wrong}
    if not said <= PLAIN.keys() - {"none"}:
        return _off_menu(guards, reason)
    label = min((PLAIN[name] for name in said or {"none"}), key=LABELS.index)
    places = (wrong_place(one.words, "none", "?", brief(one.reason), claim) for one in value.wrong)
    errors = tuple(dict.fromkeys(error for found in places for error in found))
    return Weighed(label, None, errors=errors, reason=reason)


def confirmed(
    value: StatementChoice, claim: Claim, question: Question, case: Case, guards: Guards
) -> Weighed:
    """Whether the claim, its opposite or neither is borne out, by lines that were shown."""
    said, reason = word(value.answer), brief(value.reason)
    if said == "neither":
        return Weighed("not_found", None, reason=reason)
    if said not in ("first", "second"):
        return _off_menu(guards, reason)
    quotes, dropped = read_lines(value.lines, question)
    if question.shown and not quotes:
        return Weighed(None, "ungrounded", quotes, dropped, reason=reason)
    borne_out = statements(claim, case)[said == "second"] == claim.text
    label: Label = "implicitly_supported" if borne_out else "contradicting"
    return Weighed(label, None, quotes, dropped, reason=reason)


def brief(text: str) -> str:
    """A reason on one line, within bounds."""
    return " ".join(text.split())[:LONGEST_REASON]


def _spelt_out(compact: str) -> Finding:
    """A claim's short string as a finding. Without a letter it has no label."""
    read = short_answer(compact)
    label = LETTERS.get(read.letter, "") if read else ""
    return Finding(claim=compact, lines=[read.citations] if read else [], label=label)


def _in_sentence(finding: Finding, claim: Claim, case: Case) -> tuple[Error, ...]:
    """The error where the wrong words stand in the claim's sentence, but outside its own words."""
    wide = claim.model_copy(update={"origin": sentence_of(claim, case)})
    return wrong_place(finding.wrong, finding.kind, finding.correction, finding.reason, wide)


def _from_pages(weighed: Weighed, case: Case) -> Weighed:
    """Out-dependent rests on a page: one of its quotes stands in a snippet, or it is ungrounded."""
    if any(quote.source_id not in case.source_ids for quote in weighed.quotes):
        return weighed
    return weighed._replace(label=None, failure="ungrounded", errors=(), readings=())


def _chosen(menu: Mapping[str, Label], answer: str, guards: Guards, reason: str) -> Weighed:
    label = menu.get(word(answer))
    return Weighed(label, None, reason=brief(reason)) if label else _off_menu(guards, brief(reason))


def _off_menu(guards: Guards, reason: str) -> Weighed:
    return Weighed(None, "off_menu" if guards == "ours" else "unparsed", reason=reason)


def _detailed(detail: Detail, claim: Claim) -> tuple[Error, ...]:
    kind = _KINDS.get(detail.hallucination_type.strip(), "none")
    return wrong_place(
        detail.hallucinated_sentence, kind, detail.corrected_content, brief(detail.reason), claim
    )


def _listed(
    spans: Sequence[str], claim: Claim, guards: Guards, reason: str, *, whole: bool = False
) -> Weighed:
    """A list of exact pieces of the text: none means faithful; those that aren't pieces are dropped and counted."""
    named = [span for span in spans if span.strip()]
    places, dropped = exact_places(named, claim.origin, whole=whole)
    if not named:
        return Weighed(LISTED["none"], None, reason=brief(reason))
    if not places:
        return Weighed(
            None, "ungrounded" if guards == "ours" else "unparsed", (), dropped, reason=brief(reason)
        )
    errors = tuple(Error(span=place) for place in places)
    return Weighed(LISTED["some"], None, (), dropped, errors, reason=brief(reason))


LETTERS: dict[str, JudgeLabel] = {
    "E": "explicitly_supported",
    "I": "implicitly_supported",
    "N": "not_found",
}
"""The labels that a short string may give."""
LONGNOVEL: dict[str, Label] = {
    YES: "contradicting",
    KIND_NAMES["fabrication"]: "fabricated",
    NO: "implicitly_supported",
}
HALUEVAL: dict[str, Label] = {"yes": "fabricated", "no": "implicitly_supported"}
AUDIT: dict[str, Label] = {
    "attributable": "implicitly_supported",
    "not_attributable": "fabricated",
    "contradictory": "contradicting",
}
PROBE: dict[str, Label] = {"pass": "explicitly_supported", "fail": "fabricated"}
LISTED: dict[str, Label] = {"some": "fabricated", "none": "implicitly_supported"}
PLAIN: dict[str, Label] = {
    "contradicting": "contradicting",
    "fabricated": "fabricated",
    "none": "implicitly_supported",
}

RECIPES: dict[str, Recipe] = {
    "judge": Recipe(("judge",), Findings, findings, arbitrate="arbitrate"),
    "judge_scanned": Recipe(("judge", "scanned"), Findings, findings, arbitrate="arbitrate"),
    "verigray": Recipe(("verigray",), Option, option),
    "verigray_rag": Recipe(("verigray_rag",), Option, option),
    "verigray_audit": Recipe(("verigray_audit",), Attribution, attribution, AUDIT),
    "longnovel": Recipe(
        ("longnovel", "source", "passage", "longnovel_form"), Narrative, narrative, LONGNOVEL
    ),
    "longnovel_beginning": Recipe(
        ("longnovel", "passage", "source", "longnovel_form"), Narrative, narrative, LONGNOVEL
    ),
    "longnovel_cot": Recipe(
        ("longnovel", "source", "passage", "longnovel_steps"), AnalysedNarrative, narrative, LONGNOVEL
    ),
    **{
        f"halueval_{task}{ending}": Recipe((f"halueval_{task}", f"recognise{ending}"), form, read, HALUEVAL)
        for task in ("qa", "dialogue", "summary", "general")
        for ending, form, read in (
            ("", Recognition, recognition),
            ("_cot", ReasonedRecognition, recognition),
            ("_contrast", Contrast, contrast),
        )
        if (task, ending) != ("general", "_contrast")
    },
    "data_to_text": Recipe(("data_to_text",), Article, article, LISTED),
    "evaluate": Recipe(("evaluate",), PassFail, evaluated, PROBE),
    "probe_direct": Recipe(("probe_direct",), MadeUp, made_up, LISTED),
    "plain": Recipe(("plain",), WrongSentences, unlisted, PLAIN),
    "confirm": Recipe(("confirm",), StatementChoice, confirmed),
}
"""Every prompt that a judge answers."""
