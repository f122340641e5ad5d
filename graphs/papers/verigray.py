"""VeriGray's ways of judging sentences (seed 002): zero-shot, with retrieved web pages, and the audit of labels.

Knows: seven labels, sentence by sentence, the whole source each time (Appendix F); three snippets of saved pages,
found by the sentence, beside it; that a given label which any judge disputes is left to people (section 4.2).
"""

import asyncio

from langgraph.runtime import Runtime

from longproof.agent.types import JudgeLabel, Label
from longproof.agent.vote import SIDES
from longproof.graphs.check import CheckNodes, found_snippets
from longproof.graphs.evidence.questions import with_snippets
from longproof.graphs.nodes import Nodes
from longproof.graphs.papers.method import Steps, Units, each_unit, paper, paper_graph
from longproof.graphs.policy import Step, most_common, settle, undecided
from longproof.graphs.resources import Pool, Resources
from longproof.graphs.settings import Settings
from longproof.graphs.state import CheckState, ClaimState, Plan
from longproof.graphs.verify import Method, Saver, VerifyGraph
from longproof.indexes.documents import DocumentRef
from longproof.indexes.pages import PageIndex

NOT_AUDITED: tuple[Label, ...] = ("ambiguous", "out_dependent")
"""Labels that people may well see differently: an audit leaves them alone."""


class RagNodes(CheckNodes):
    """The nodes of the method with retrieval: snippets stand beside the source before anybody judges."""

    async def retrieve(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Each sentence's question with the snippets found for it; as it was where none is found."""
        resources = await self.resources(runtime)
        pages = await resources.pages()
        assert pages is not None, "the protocol needs pages"
        made = await asyncio.gather(*(_with_snippets(one, pages, resources) for one in state["claims"]))
        found = {id_: page for _, shown in made for id_, page in shown.items()}
        return {"claims": [one for one, _ in made], "pages": list(found.values())}


def snippets_graph(pool: Pool, saver: Saver | None = None) -> VerifyGraph:
    """Sentences, the whole source and what saved pages have about each, one judge after the other; then the vote."""
    nodes, check = Nodes(pool, decomposer=Units("sentence")), RagNodes(pool)
    steps: Steps = {
        "read": nodes.read,
        "split": nodes.decompose,
        "align": nodes.align,
        "show": check.gather,
        "retrieve": check.retrieve,
        "judge": check.judge,
        "vote": check.vote,
    }
    return paper_graph(steps, nodes, check, saver)


def audited(claim: ClaimState, plan: Plan) -> Step:
    """The next step of a sentence whose label was given: a label that nobody disputes stands."""
    given = (plan.labels or ())[claim.claim.sentence]
    if given in NOT_AUDITED:
        return settle(given, "rule")
    votes = claim.votes(claim.last_asked)
    if not votes:
        return Step(do="judge") if claim.asked else Step(do="show", round=plan.rounds[0])
    said = [j.label for j in votes if j.label is not None]
    if not said:
        return undecided(most_common(j.failure for j in votes))
    return undecided("disputed") if any(disputes(given, label) for label in said) else settle(given, "vote")


def disputes(given: Label, said: JudgeLabel) -> bool:
    """Whether a judge's word goes against a given label. Where no fact is stated, there is none to attribute."""
    if given == "no_fact":
        return SIDES[said] == "contradicted"
    return SIDES[given] != SIDES[said]


async def _with_snippets(
    claim: ClaimState, pages: PageIndex, resources: Resources
) -> tuple[ClaimState, dict[str, DocumentRef]]:
    spans, found = await found_snippets(pages, claim.claim.text)
    if not spans:
        return claim, {}
    shown = with_snippets(claim.asked[-1], claim.claim, spans)
    return claim.model_copy(update={"asked": (*claim.asked[:-1], shown)}), found


ZERO_SHOT = paper(
    "verigray",
    "One judge, seven labels, sentence by sentence, the whole source each time.",
    "002, Appendix F",
    unit="sentence",
    prompt="verigray",
    temperature=0.6,
)
RAG = paper(
    "verigray-rag",
    "The same with the three best snippets of saved web pages, found by the sentence.",
    "002, Appendix F",
    unit="sentence",
    prompt="verigray_rag",
    temperature=0.6,
    consult="before_judging",
    engine="okapi",
    needs=("pages",),
)
AUDIT = paper(
    "verigray-audit",
    "Given labels against a panel: one that any judge disputes is left to people.",
    "002, section 4.2",
    unit="sentence",
    prompt="verigray_audit",
    splits=False,
    needs=("models", "labels"),
)
METHODS = (
    Method(ZERO_SHOT, each_unit("sentence")),
    Method(RAG, snippets_graph),
    Method(AUDIT, each_unit("sentence", audited)),
)
