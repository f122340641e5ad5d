"""PROBE's checks (seed 000): claims, evidence searched by every model, a vote on each piece; and the direct one.

Knows: that all models look for evidence of a claim in the whole source, that the union of what they find is voted on
piece by piece with 300 characters around it, that one accepted piece supports a claim and a claim without any is
hallucinated (section 3.3); and the baseline of a single prompt (section 4.1).
"""

import asyncio
from collections.abc import Sequence
from itertools import chain

from langgraph.runtime import Runtime

from longproof.agent.report import verdict
from longproof.agent.types import Case, Claim, Finder, Found, Judgement, Question, Search, Verdict
from longproof.agent.vote import SIDES
from longproof.graphs.check import CheckNodes
from longproof.graphs.evidence.questions import make_question
from longproof.graphs.nodes import Nodes
from longproof.graphs.papers.method import Steps, each_unit, paper, paper_graph
from longproof.graphs.policy import Step, most_common, settle, undecided
from longproof.graphs.resources import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.state import CheckState, ClaimState, Plan, QuestionRef
from longproof.graphs.verify import Method, Saver, VerifyGraph
from longproof.retrieval.types import Span

AROUND = 300
"""Characters on either side of a piece, shown only to understand it by."""


class ProbeNodes(CheckNodes):
    """The product's nodes, with a search by the models in the place of retrieval."""

    async def find(self, state: CheckState, runtime: Runtime[Settings]) -> CheckState:
        """Every model looks for evidence of every claim; what any of them finds is asked about, piece by piece."""
        resources = await self.resources(runtime)
        protocol = resources.protocol
        case = await state["case"].opened(resources.store)
        sources = await resources.sources(state["sources"])
        shown = tuple(document.span(0, len(document.text)) for document in sources.documents)
        finders = [judge for judge in resources.panel.judges if isinstance(judge, Finder)]
        looks = [make_question([one.claim], shown, "source", protocol.finds) for one in state["claims"]]
        answers = await asyncio.gather(
            *(
                _found(finders, look, one.claim, case)
                for look, one in zip(looks, state["claims"], strict=True)
            )
        )
        return {
            "claims": [
                _with_pieces(one, [answer.search for answer in told], shown, protocol.prompt)
                for one, told in zip(state["claims"], answers, strict=True)
            ],
            "calls": list(chain.from_iterable(answer.calls for told in answers for answer in told)),
        }


def pieces_graph(pool: Pool, saver: Saver | None = None) -> VerifyGraph:
    """Claims; evidence for each from every model; votes on every piece; one accepted piece is enough."""
    check = ProbeNodes(pool, by_pieces)
    nodes = Nodes(pool, policy=by_pieces, conclude=resting_on_pieces)
    steps: Steps = {
        "read": nodes.read,
        "decompose": nodes.decompose,
        "align": nodes.align,
        "find": check.find,
        "judge": check.judge,
        "vote": check.vote,
    }
    return paper_graph(steps, nodes, check, saver)


def by_pieces(claim: ClaimState, plan: Plan) -> Step:
    """The next step: a claim with an accepted piece is supported; one whose pieces are all refused is hallucinated.

    A piece that would be accepted if those who failed had passed it is neither: then nobody decides.
    """
    if not claim.asked:
        return _without_pieces(claim.searches, plan)
    votes = [claim.votes(piece.id) for piece in claim.asked]
    if not all(votes):
        return Step(do="judge")
    if accepted(claim, plan):
        return settle("explicitly_supported", "vote")
    if any(_open(said, plan) for said in votes):
        return undecided(most_common(j.failure for said in votes for j in said))
    return settle("fabricated", "vote")


def accepted(claim: ClaimState, plan: Plan) -> list[QuestionRef]:
    """The pieces that enough of the panel passes; a failure is no vote, but counts in the panel."""
    return [
        piece
        for piece in claim.asked
        if (votes := claim.votes(piece.id)) and _passes(votes) / len(votes) + 1e-9 >= plan.consensus
    ]


def resting_on_pieces(claim: ClaimState, plan: Plan) -> Verdict:
    """The verdict with the accepted pieces as its evidence: a piece that a few passed is none."""
    step, taken = by_pieces(claim, plan), accepted(claim, plan)
    decisive = [*taken, *claim.asked]
    made = verdict(
        claim.claim,
        claim.judgements,
        label=step.label,
        decided_by=step.decided_by,
        question_id=decisive[0].id if decisive else "",
        failure=step.failure,
    )
    quotes = (quote for piece in taken for j in claim.votes(piece.id) for quote in j.quotes)
    return made.model_copy(update={"evidence": tuple(dict.fromkeys(quotes))})


async def _found(finders: Sequence[Finder], look: Question, claim: Claim, case: Case) -> list[Found]:
    return await asyncio.gather(*(finder.find(look, claim, case) for finder in finders))


def _with_pieces(
    claim: ClaimState, searches: Sequence[Search], shown: Sequence[Span], prompt: str
) -> ClaimState:
    """The claim with what was found for it, and one question for each piece, in the order of the source."""
    found = {piece for search in searches for piece in search.found or ()}
    order = {span.source_id: n for n, span in reversed(list(enumerate(shown)))}
    pieces = sorted(found, key=lambda piece: (order[piece.source_id], piece.start, piece.end))
    asked = [
        QuestionRef.of(make_question([claim.claim], (piece, *_around(piece, shown)), "source", prompt))
        for piece in pieces
    ]
    return claim.model_copy(update={"searches": tuple(searches)}).with_questions(asked)


def _around(piece: Span, shown: Sequence[Span]) -> list[Span]:
    """What stands before and after a piece in the span that it was found in."""
    for span in shown:
        if span.source_id == piece.source_id and span.start <= piece.start and piece.end <= span.end:
            before = (max(span.start, piece.start - AROUND), piece.start)
            after = (piece.end, min(span.end, piece.end + AROUND))
            return [_part(span, *place) for place in (before, after) if place[0] < place[1]]
    return []


def _part(span: Span, start: int, end: int) -> Span:
    text = span.text[start - span.start : end - span.start]
    return Span(source_id=span.source_id, start=start, end=end, text=text)


def _without_pieces(searches: Sequence[Search], plan: Plan) -> Step:
    """Without evidence a claim is hallucinated; where too many searches failed, nobody knows."""
    if not searches:
        return Step(do="show", round=plan.rounds[0])
    looked = sum(search.found is not None for search in searches)
    if looked / len(searches) + 1e-9 >= plan.consensus:
        return settle("fabricated", "rule")
    return undecided(most_common(search.failure for search in searches))


def _passes(votes: Sequence[Judgement]) -> int:
    return sum(j.label is not None and SIDES[j.label] == "supported" for j in votes)


def _open(votes: Sequence[Judgement], plan: Plan) -> bool:
    failed = sum(j.failure is not None for j in votes)
    return bool(failed) and (_passes(votes) + failed) / len(votes) + 1e-9 >= plan.consensus


PROBE = paper(
    "probe",
    "Claims; every model finds evidence in the whole source; every model votes on each piece.",
    "000, section 3.3",
    unit="claim",
    prompt="evaluate",
    finds="find",
    consensus=0.75,
    splits=False,
    needs=("models",),
)
DIRECT = paper(
    "probe-direct",
    "One prompt lists what in the response is hallucinated.",
    "000, section 4.1",
    unit="response",
    prompt="probe_direct",
    needs=("models",),
)
METHODS = (Method(PROBE, pieces_graph), Method(DIRECT, each_unit("response")))
