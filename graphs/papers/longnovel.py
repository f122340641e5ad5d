"""LongNovel's ways of checking a summary of a novel (seed 004): RAG, zero-shot in three wordings, arbitration.

Knows: segments of 150 characters against a sliding window of blocks (Appendix D); the whole source and the whole
response in one prompt (Appendix I.2); two judges and a third where they differ (section 3.2).
"""

import asyncio
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from pydantic import Field

from longproof.agent.guards import Weighed, wrong_place
from longproof.agent.models.answers import Form
from longproof.agent.prompting import brief
from longproof.agent.types import Error, Kind, Label, Report, ReportClaim, SourcePlace
from longproof.graphs.papers.asking import question_about
from longproof.graphs.papers.paper import About, Paper, PaperState, Run
from longproof.graphs.papers.runner import ask, cut, read, vote
from longproof.indexes.sources import PassageSize, source_index
from longproof.retrieval.align import greedy
from longproof.retrieval.files import home
from longproof.retrieval.text.chunking import BLOCK, blocks
from longproof.retrieval.types import Document, Window

YES, NO = "有幻觉", "无幻觉"
"""The two answers (Appendix I.2)."""
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
"""The paper's names of the kinds (Appendix A)."""
KINDS = {name: kind for kind, name in KIND_NAMES.items()}
LABELS: tuple[Label, ...] = ("contradicting", "fabricated", "implicitly_supported")
"""有幻觉; 有幻觉 where only 虚构事件 is named; 无幻觉."""


class Detail(Form):
    """One error; its kind by its Chinese name."""

    hallucination_type: str = Field(default="", json_schema_extra={"enum": list(KIND_NAMES.values())})
    hallucinated_sentence: str = ""
    corrected_content: str = ""
    reason: str = ""


class Narrative(Form):
    """有幻觉 with details, or 无幻觉 without."""

    has_hallucination: str = Field(json_schema_extra={"enum": [YES, NO]})
    details: list[Detail] = Field(default_factory=list)


class AnalysedNarrative(Form):
    """The same after an analysis in steps."""

    analysis: str
    has_hallucination: str = Field(json_schema_extra={"enum": [YES, NO]})
    details: list[Detail] = Field(default_factory=list)


def read_details(answer: Narrative | AnalysedNarrative, about: About) -> Weighed:
    """Read what is only invented as fabricated, anything else as contradicting; details place it."""
    reason = brief(" ".join(detail.reason for detail in answer.details))
    said = answer.has_hallucination.strip()
    if said not in (YES, NO):
        return Weighed(None, "unparsed", reason=reason)
    contradicting, fabricated, faithful = LABELS
    if said == NO:
        return Weighed(faithful, None, reason=reason)
    named = {detail.hallucination_type.strip() for detail in answer.details}
    errors: list[Error] = []
    for detail in answer.details:
        kind = KINDS.get(detail.hallucination_type.strip(), "none")
        words, right = detail.hallucinated_sentence, detail.corrected_content
        errors += wrong_place(words, kind, right, brief(detail.reason), about.claim)
    label = fabricated if named == {KIND_NAMES["fabrication"]} else contradicting
    return Weighed(label, None, errors=tuple(dict.fromkeys(errors)), reason=reason)


class Block(NamedTuple):
    """A block of a source: the document's number, start, end."""

    document: int
    start: int
    end: int


async def align(state: PaperState, run: Run) -> PaperState:
    """Ask about each segment with the window of blocks that it is aligned to (Appendix D)."""
    store = run.session.store
    documents = await asyncio.to_thread(lambda: [store.open(ref) for ref in state["sources"]])
    cuts = [
        Block(n, *place) for n, document in enumerate(documents) for place in blocks(document.text, BLOCK)
    ]
    if not cuts:
        return {}
    texts = [unit.claim.text for unit in state["units"]]
    windows = await asyncio.to_thread(_windows, texts, documents, cuts, run)
    characters = sum(len(document.text) for document in documents)
    units = []
    for unit, window in zip(state["units"], windows, strict=True):
        places = _places(window, documents, cuts)
        centre = documents[cuts[window.centre].document].id
        shown = sum(place.end - place.start for place in places)
        asked = question_about(run.paper, [unit.claim], places, "source" if shown >= characters else "window")
        at = next(place for place in places if place.source_id == centre)
        units.append(unit.model_copy(update={"window": at, "asked": (asked,)}))
    return {"units": units}


def _windows(texts: list[str], documents: list[Document], cuts: list[Block], run: Run) -> list[Window]:
    """The window of each segment; similarities are the embedder's over whole blocks, or those of words."""
    embedder = run.session.embedder()
    size = PassageSize(BLOCK, BLOCK) if embedder else PassageSize()
    folder = home(run.session.settings.home)
    columns = []
    for n, document in enumerate(documents):
        index = source_index(document, folder, embedder, size)
        own = [(block.start, block.end) for block in cuts if block.document == n]
        columns.append(index.similarity(texts, own))
    return greedy(np.hstack(columns))


def _places(window: Window, documents: list[Document], cuts: list[Block]) -> list[SourcePlace]:
    """The window's blocks, joined within each document."""
    joined: dict[int, SourcePlace] = {}
    for number, start, end in cuts[window.first : window.last + 1]:
        first = joined[number].start if number in joined else start
        joined[number] = SourcePlace(source_id=documents[number].id, start=first, end=end)
    return list(joined.values())


def paper_answer(report: Report) -> dict[str, object]:
    """The report in the paper's own form (Appendix I.2), as its data and its scripts have it.

    One entry for each error, with the sentences that it touches. `has_hallucination` is None where nobody could
    decide: the paper has no word for that, and a failure is never written as an answer.
    """
    answers = {"hallucinated": YES, "faithful": NO, "undecided": None}
    details = [
        _detail_of(report, claim, error)
        for claim in report.claims
        if claim.label in ("contradicting", "fabricated")
        for error in claim.errors
    ]
    hallucinated = report.verdict == "hallucinated"
    return {"has_hallucination": answers[report.verdict], "details": details if hallucinated else []}


def _detail_of(report: Report, claim: ReportClaim, error: Error) -> dict[str, str]:
    response, wrong = report.case.response, error.span
    kind = error.kind or ("fabrication" if claim.label == "fabricated" else None)
    touched = [s for s in report.sentences if s.start < wrong.end and wrong.start < s.end]
    start, end = (touched[0].start, touched[-1].end) if touched else (wrong.start, wrong.start)
    right = response[start : wrong.start] + (error.correction or "") + response[wrong.end : end]
    return {
        "hallucination_type": KIND_NAMES[kind] if kind else "",
        "hallucinated_sentence": response[start:end],
        "corrected_content": right if error.correction else "",
        "reason": error.reason,
    }


RAG = Paper(
    name="longnovel-rag",
    summary="Segments of 150 characters against a sliding window of blocks; any flagged segment decides.",
    cites="004, Appendix D",
    steps=(read, cut, align, ask, vote),
    prompt=("longnovel", "source", "passage", "longnovel_form"),
    form=Narrative,
    read=read_details,
    unit="segment",
    menu=LABELS,
)
ZERO_SHOT = Paper(
    name="longnovel-zero-shot",
    summary="The whole source, then the whole response, in one prompt (Prompt-E).",
    cites="004, Appendix I.2",
    prompt=("longnovel", "source", "passage", "longnovel_form"),
    form=Narrative,
    read=read_details,
    menu=LABELS,
    needs=("models",),
)
BEGINNING = replace(
    ZERO_SHOT,
    name="longnovel-zero-shot-beginning",
    summary="The same with the response before the source (Prompt-B).",
    prompt=("longnovel", "passage", "source", "longnovel_form"),
    question="longnovel_beginning",
)
ANALYSED = replace(
    ZERO_SHOT,
    name="longnovel-zero-shot-cot",
    summary="The same with the response at the end, after reasoning in steps.",
    prompt=("longnovel", "source", "passage", "longnovel_steps"),
    question="longnovel_cot",
    form=AnalysedNarrative,
)
ARBITRATION = replace(
    ZERO_SHOT,
    name="longnovel-arbitration",
    summary="Two judges on the whole response; a third where they differ.",
    cites="004, section 3.2",
    consensus=1.0,
)
PAPERS = (RAG, ZERO_SHOT, BEGINNING, ANALYSED, ARBITRATION)
