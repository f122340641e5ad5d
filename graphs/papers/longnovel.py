"""LongNovel (anonymous authors, 2026): a summary of a novel by RAG, zero-shot in three wordings, by arbitration.

Knows: segments of 150 characters against a sliding window of blocks (Appendix D); the whole source and the whole
response in one prompt (Appendix I.2); two judges and a third where they differ (section 3.2).
"""

import asyncio
from dataclasses import replace

import numpy as np
from pydantic import Field

from longproof.agent.guards import Weighed, wrong_place
from longproof.agent.models.answers import Form
from longproof.agent.prompting import brief
from longproof.agent.types import Error, Kind, Label, Look, SourcePlace
from longproof.graphs.evidence.sources import Sources, merge
from longproof.graphs.papers.paper import About, Paper, PaperRun, PaperState, question_about
from longproof.graphs.papers.runner import cut
from longproof.graphs.papers.works import LONGNOVEL
from longproof.indexes.search import PassageSize, source_index
from longproof.retrieval.align import greedy
from longproof.retrieval.files import home
from longproof.retrieval.text.chunking import BLOCK
from longproof.retrieval.types import Window

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
    if said == NO:
        return Weighed("implicitly_supported", None, reason=reason)
    named = {detail.hallucination_type.strip() for detail in answer.details}
    errors: list[Error] = []
    for detail in answer.details:
        kind = KINDS.get(detail.hallucination_type.strip(), "none")
        words, right = detail.hallucinated_sentence, detail.corrected_content
        errors += wrong_place(words, kind, right, brief(detail.reason), about.claim.origin)
    label: Label = "fabricated" if named == {KIND_NAMES["fabrication"]} else "contradicting"
    return Weighed(label, None, errors=tuple(dict.fromkeys(errors)), reason=reason)


async def align(state: PaperState, run: PaperRun) -> PaperState:
    """Ask about each segment with the window of blocks that it is aligned to (Appendix D)."""
    sources = await run.session.sources(state["sources"])
    if not sources.blocks:
        return {}
    texts = [unit.claim.text for unit in state["units"]]
    windows = await asyncio.to_thread(_windows, texts, sources, run)
    units = []
    for unit, window in zip(state["units"], windows, strict=True):
        places: dict[int, SourcePlace] = {}
        shown = 0
        for number, start, end in merge(sources.blocks[window.first : window.last + 1]):
            places[number] = SourcePlace(source_id=sources.documents[number].id, start=start, end=end)
            shown += end - start
        look: Look = "source" if shown >= sources.characters else "window"
        asked = question_about(run.paper, [unit.claim], list(places.values()), look)
        at = places[sources.blocks[window.centre][0]]
        units.append(unit.with_question(asked).model_copy(update={"window": at}))
    return {"units": units}


def _windows(texts: list[str], sources: Sources, run: PaperRun) -> list[Window]:
    """The window of each segment; similarities are the embedder's over whole blocks, or those of words."""
    embedder, folder = run.session.embedder(), home(run.session.settings.home)
    if embedder is None:
        return greedy(sources.similarity(texts))
    columns = []
    for n, document in enumerate(sources.documents):
        index = source_index(document, folder, embedder, PassageSize(BLOCK, BLOCK))
        own = [(start, end) for number, start, end in sources.blocks if number == n]
        columns.append(index.similarity(texts, own))
    return greedy(np.hstack(columns))


ZERO_SHOT = Paper(
    name="longnovel-zero-shot",
    summary="The whole source, then the whole response, in one prompt (Prompt-E).",
    work=LONGNOVEL,
    cites="Appendix I.2",
    prompt=("longnovel", "source", "passage", "longnovel_form"),
    form=Narrative,
    read=read_details,
)
RAG = replace(
    ZERO_SHOT,
    name="longnovel-rag",
    summary="Segments of 150 characters against a sliding window of blocks; any flagged segment decides.",
    cites="Appendix D",
    steps=(cut, align),
    unit="segment",
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
    cites="section 3.2",
    consensus=1.0,
)
PAPERS = (RAG, ZERO_SHOT, BEGINNING, ANALYSED, ARBITRATION)
