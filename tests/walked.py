"""A claim taken through a policy, step by step, with any answers: for property tests of what happens next."""

from collections.abc import Callable
from typing import Any, get_args

from hypothesis import strategies as st

from longproof.agent.types import Claim, Failure, JudgeLabel, Judgement, Round, SourcePlace
from longproof.graphs.policy import Policy, Step
from longproof.graphs.state import ClaimState, Confirmation, Consulted, Plan, QuestionRef
from longproof.retrieval.types import Document

LABEL = st.sampled_from(get_args(JudgeLabel))
FAILURE = st.sampled_from(
    [
        one
        for one in get_args(Failure)
        if one not in ("split", "disputed", "sourceless", "not_found_so_far", "unconfirmed")
    ]
)
"""The failures of a judge; the others are the policies' own."""
SAID = st.one_of(LABEL, FAILURE)
ROUNDS: list[tuple[Round, ...]] = [
    ("place", "window", "search", "scan"),
    ("place", "window", "search"),
    ("place", "window"),
    ("window",),
    ("source",),
    ("nothing",),
]
RESPONSE = Document.of("Ada lit the lamp at ten.")
Draw = Callable[[st.SearchStrategy[Any]], Any]


def claim(sentence: int = 0) -> ClaimState:
    """A claim of which nothing is known."""
    origin = RESPONSE.span(0, len(RESPONSE.text))
    return ClaimState(
        claim=Claim(id=f"c{sentence}", index=sentence, sentence=sentence, text=origin.text, origin=origin),
        places=(SourcePlace(source_id="s", start=0, end=90),),
    )


def question(
    id_: str, round_: Round = "source", before: tuple[SourcePlace, ...] = (), claim_id: str = "c0"
) -> QuestionRef:
    """A question about one claim that shows one place more than was shown before."""
    end = before[-1].end if before else 0
    places = (*before, SourcePlace(source_id="s", start=end, end=end + 9))
    return QuestionRef(id=id_, claim_ids=(claim_id,), places=places, round=round_, prompt="judge")


def judgement(question_id: str, judge: str, said: str, round_: Round = "source") -> Judgement:
    """What a judge said: a label or a failure, by its name."""
    labelled = said in get_args(JudgeLabel)
    word: dict[str, Any] = {"label": said} if labelled else {"failure": said}
    return Judgement(claim_id="c0", judge=judge, round=round_, question_id=question_id, **word)


def answered(state: ClaimState, said: list[str]) -> ClaimState:
    """Every question that nobody has answered, answered by a panel that says this."""
    for one in state.asked:
        if not state.votes(one.id):
            panel = [judgement(one.id, f"j{n}", word, one.round) for n, word in enumerate(said)]
            state = state.with_judgements(panel)
    return state


@st.composite
def plans(draw: Draw, **fixed: Any) -> Plan:
    """Any plan of a run. Without a source, there are saved pages or a round that shows nothing."""
    drawn = {
        "rounds": draw(st.sampled_from(ROUNDS)),
        "consensus": draw(st.sampled_from([0.3, 0.5, 2 / 3, 0.75, 1.0])),
        "sourced": draw(st.booleans()),
        "proves_absence": draw(st.booleans()),
        "consults": draw(st.booleans()),
        "arbiter": draw(st.sampled_from(["model", "person", "nobody"])),
        "confirms": draw(st.booleans()),
    }
    return Plan.model_validate({**drawn, **fixed})


def followed(
    policy: Policy, state: ClaimState, plan: Plan, draw: Draw
) -> tuple[list[Step], list[ClaimState]]:
    """The steps of a claim until it is settled, and how it stood at each. Every answer is drawn.

    Fails where that takes more than two steps a round, and what an arbiter or a person and the saved pages need.
    """
    size = draw(st.integers(1, 5))
    steps, states = [policy(state, plan)], [state]
    while steps[-1].do != "settle":
        assert len(steps) <= 3 * len(plan.rounds) + 8, [step.do for step in steps]
        state = done(steps[-1], state, plan, draw, size)
        steps.append(policy(state, plan))
        states.append(state)
    return steps, states


def done(step: Step, state: ClaimState, plan: Plan, draw: Draw, size: int) -> ClaimState:
    """The claim after the nodes have done what the step says."""
    if step.do == "show":
        return shown(step.round, state, draw)
    if step.do in ("search", "scan"):
        return sought(step, state, draw)
    if step.do == "judge":
        return answered(state, draw(st.lists(SAID, min_size=size, max_size=size)))
    if step.do == "arbitrate":
        word = judgement(state.last_asked, "arbiter", draw(SAID), state.asked[-1].round)
        return state.with_judgements([word]).model_copy(update={"ruling": word, "ruled_by": "arbiter"})
    if step.do == "confirm":
        return state.model_copy(
            update={"confirmation": draw(st.sampled_from(get_args(Confirmation)) | FAILURE)}
        )
    if step.do == "person":
        return decided_by_person(state, draw(st.none() | LABEL))
    assert step.do == "consult"
    return consulted(state, draw(st.sampled_from(["no_pages", "nothing_found", "found"])))


def shown(round_: Round, state: ClaimState, draw: Draw) -> ClaimState:
    """The claim with one question more, about everything perhaps; none where a wider look adds nothing."""
    if state.asked and not state.found and draw(st.booleans()):
        return state.looked(round_)
    named: Round = "source" if round_ != "nothing" and draw(st.booleans()) else round_
    before = state.asked[-1].places if state.asked else ()
    return state.looked(named).with_questions([question(f"q{len(state.asked)}", named, before)])


def sought(step: Step, state: ClaimState, draw: Draw) -> ClaimState:
    """The claim after a search or a scan, which may find something, or fail."""
    places = (SourcePlace(source_id="s", start=500, end=509),) if draw(st.booleans()) else ()
    unread = draw(st.none() | FAILURE) if step.do == "scan" else None
    return state.looked(step.round).model_copy(update={"found": places, "unread": unread})


def decided_by_person(state: ClaimState, said: str | None) -> ClaimState:
    """The claim with a person's word, or left open by one."""
    if said is None:
        return state.model_copy(update={"left_open": True})
    word = judgement(state.last_asked, "person:Ines", said, state.asked[-1].round)
    return state.model_copy(
        update={"judgements": (word, *state.judgements), "ruling": word, "ruled_by": "person"}
    )


def consulted(state: ClaimState, found: Consulted) -> ClaimState:
    """The claim after saved pages were asked; with a question that shows snippets where any was found."""
    if found == "found":
        before = state.asked[-1].places if state.asked else ()
        state = state.with_questions([question(f"q{len(state.asked)}", "pages", before)])
    return state.model_copy(update={"consulted": found})
