"""data-to-text (author unknown, undated): a JSON record against an article, five steps, exact hallucinated spans.

Knows: that judges see the record as the JSON that was given, not as a line for each fact; that only exact pieces of
the article are believed, never the whole. The prompt calls both critical, so an answer without is asked for again.
"""

from longproof.agent.guards import Weighed
from longproof.agent.models.answers import Form
from longproof.graphs.papers.paper import About, Paper, PaperRun, PaperState, mark_pieces
from longproof.graphs.papers.runner import cut, show
from longproof.graphs.papers.works import DATA_TO_TEXT


class Steps(Form):
    """The five steps of the task."""

    content_analysis: str
    reference_comparison: str
    hallucination_identification: str
    span_extraction: str
    final_verdict: str


class Article(Form):
    """The five steps, then exact substrings of the article."""

    reasoning: Steps
    hallucination_list: list[str]


async def as_given(state: PaperState, run: PaperRun) -> PaperState:
    """Show records as the JSON that was given."""
    sources = []
    for ref in state["sources"]:
        if ref.raw_id is not None:
            raw = await run.session.store.fetch(ref.raw_id)
            ref = ref.model_copy(update={"id": ref.raw_id, "characters": len(raw), "raw_id": None})
        sources.append(ref)
    ids = tuple(ref.id for ref in sources)
    return {"sources": sources, "case": state["case"].model_copy(update={"source_ids": ids})}


def read_list(answer: Article, about: About) -> Weighed:
    """The listed spans are the errors; the last of the five steps is the reason."""
    reason = answer.reasoning.final_verdict
    return mark_pieces(
        answer.hallucination_list, about.claim.origin, reason, whole=False, failure="ungrounded"
    )


PAPERS = (
    Paper(
        name="data-to-text",
        summary="A JSON record against an article: five steps, then the exact hallucinated spans.",
        work=DATA_TO_TEXT,
        cites="the whole prompt",
        steps=(as_given, cut, show),
        prompt=("data_to_text",),
        form=Article,
        read=read_list,
        asks_again=True,
        needs=("models", "record"),
    ),
)
