"""VeriGray (Ding et al., 2025): sentences judged zero-shot and with retrieved web pages, and the audit of labels.

Knows: seven labels, sentence by sentence, the whole source each time (Appendix F); three snippets of saved pages,
found by the sentence, beside it; that a given label which any judge disputes is left to people (section 4.2).
"""

import asyncio
from dataclasses import replace

from pydantic import Field

from longproof.agent.guards import Weighed, word
from longproof.agent.models.answers import Form
from longproof.agent.prompting import brief
from longproof.agent.types import LABELS, Case, Decision, JudgeLabel, Label, SourcePlace
from longproof.agent.vote import SIDES
from longproof.graphs.papers.paper import (
    About,
    Paper,
    PaperRun,
    PaperState,
    Unit,
    choose,
    question_about,
)
from longproof.graphs.papers.runner import cut, show, whole
from longproof.graphs.papers.works import VERIGRAY
from longproof.indexes.documents import DocumentRef

SNIPPETS = 3
"""Snippets that are shown with a sentence (Appendix F)."""
AUDIT_ANSWERS: dict[str, Label] = {
    "attributable": "implicitly_supported",
    "not_attributable": "fabricated",
    "contradictory": "contradicting",
}
"""The answers of an auditing judge (section 4.2)."""
NOT_AUDITED: tuple[Label, ...] = ("ambiguous", "out_dependent")
"""Labels that people may well see differently: an audit leaves them alone."""


class Option(Form):
    """One sentence's facts, then one of seven options (Appendix F)."""

    facts: list[str] = Field(default_factory=list)
    label: str = Field(json_schema_extra={"enum": list(LABELS)})


class Attribution(Form):
    """An auditing judge's answer about one sentence (section 4.2)."""

    reason: str = ""
    answer: str = Field(json_schema_extra={"enum": list(AUDIT_ANSWERS)})


def read_option(answer: Option, about: About) -> Weighed:
    """One of the seven options."""
    label = next((label for label in LABELS if label == word(answer.label)), None)
    return Weighed(label, None if label else "unparsed", reason=brief("; ".join(answer.facts)))


def read_attribution(answer: Attribution, about: About) -> Weighed:
    """Attributable, not attributable, or contradictory."""
    return choose(AUDIT_ANSWERS, answer.answer, answer.reason)


async def retrieve(state: PaperState, run: PaperRun) -> PaperState:
    """Ask about each sentence with the whole source, and with the best snippets of the saved pages behind it."""
    pages = await run.session.pages("okapi")
    assert pages is not None, "the protocol needs pages"
    texts = [unit.claim.text for unit in state["units"]]
    found = await asyncio.gather(*(asyncio.to_thread(pages.search, text, SNIPPETS) for text in texts))
    source = [whole(ref) for ref in state["sources"]]
    units, shown = list[Unit](), dict[str, DocumentRef]()
    for unit, hits in zip(state["units"], found, strict=True):
        places = list(source)
        for hit in hits:
            id_, start, end = hit.span.source_id, hit.span.start, hit.span.end
            places.append(SourcePlace(source_id=id_, start=start, end=end))
            shown[id_] = pages.pages[id_]
        asked = question_about(run.paper, [unit.claim], places, "pages" if hits else "source")
        units.append(unit.with_question(asked))
    return {"units": units, "pages": list(shown.values())}


async def leave_alone(state: PaperState, run: PaperRun) -> PaperState:
    """Let labels stand that are not audited: nobody is asked about their sentences."""
    units = []
    for unit in state["units"]:
        stands = _given_label(unit, state["case"]) in NOT_AUDITED
        units.append(unit.model_copy(update={"asked": ()}) if stands else unit)
    return {"units": units}


def by_dispute(unit: Unit, case: Case, consensus: float) -> Decision:
    """The given label, if nobody disputes it: one judge who does leaves the sentence to people."""
    given = _given_label(unit, case)
    if given in NOT_AUDITED:
        return Decision(label=given, decided_by="rule")
    said = [judgement.label for judgement in unit.judgements if judgement.label is not None]
    if not said:
        return Decision()
    if any(disputes(given, label) for label in said):
        return Decision(failure="disputed")
    return Decision(label=given, decided_by="vote")


def disputes(given: Label, said: JudgeLabel) -> bool:
    """True if a judge's word goes against a given label. Where no fact is stated, there is none to attribute."""
    if given == "no_fact":
        return SIDES[said] == "contradicted"
    return SIDES[given] != SIDES[said]


def _given_label(unit: Unit, case: Case) -> Label:
    assert case.labels is not None, "the protocol needs labels"
    return case.labels[unit.claim.sentence]


ZERO_SHOT = Paper(
    name="verigray",
    summary="One judge, seven labels, sentence by sentence, the whole source each time.",
    work=VERIGRAY,
    cites="Appendix F",
    prompt=("verigray",),
    form=Option,
    read=read_option,
    unit="sentence",
    coarse=False,
    temperature=0.6,
)
RAG = replace(
    ZERO_SHOT,
    name="verigray-rag",
    summary="The same with the three best snippets of saved web pages, found by the sentence.",
    steps=(cut, retrieve),
    prompt=("verigray_rag",),
    needs=("models", "pages"),
)
AUDIT = Paper(
    name="verigray-audit",
    summary="Given labels against a panel: one that any judge disputes is left to people.",
    work=VERIGRAY,
    cites="section 4.2",
    steps=(cut, show, leave_alone),
    prompt=("verigray_audit",),
    form=Attribution,
    read=read_attribution,
    decide=by_dispute,
    unit="sentence",
    needs=("models", "labels"),
)
PAPERS = (ZERO_SHOT, RAG, AUDIT)
