"""A claim taken through a policy, step by step, with any answers: for property tests of what happens next."""

from collections.abc import Callable
from typing import Any, get_args

from hypothesis import strategies as st

from longproof.agent.types import Claim, Failure, JudgeLabel, Judgement, Lines, Look, Question
from longproof.graphs.policy import Step, next_step
from longproof.graphs.state import ClaimState, Confirmation, Consulted, Plan
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
LOOKS: list[tuple[Look, ...]] = [
    ("place", "window", "search", "scan"),
    ("place", "window", "search"),
    ("place", "window"),
    ("window",),
    ("source",),
]
RESPONSE = Document.of("Ada lit the lamp at ten.")
Draw = Callable[[st.SearchStrategy[Any]], Any]


def claim(sentence: int = 0) -> ClaimState:
    """A claim of which nothing is known."""
    origin = RESPONSE.span(0, len(RESPONSE.text))
    return ClaimState(
        claim=Claim(id=f"c{sentence}", index=sentence, sentence=sentence, text=origin.text, origin=origin),
        around=(0, 1, 2),
    )


def question(
    id_: str, look: Look = "source", before: tuple[Lines, ...] = (), claim_id: str = "c0"
) -> Question:
    """A question about one claim that shows one line more than was shown before."""
    lines = (*before, (len(before),))
    return Question(id=id_, claim_ids=(claim_id,), lines=lines, look=look, prompt="judge")


def judgement(question_id: str, judge: str, said: str, look: Look = "source") -> Judgement:
    """What a judge said: a label or a failure, by its name."""
    labelled = said in get_args(JudgeLabel)
    word: dict[str, Any] = {"label": said} if labelled else {"failure": said}
    return Judgement(claim_id="c0", judge=judge, round=look, question_id=question_id, **word)


def answered(state: ClaimState, said: list[str]) -> ClaimState:
    """Every question that nobody has answered, answered by a panel that says this."""
    for one in state.asked:
        if not state.votes(one.id):
            panel = [judgement(one.id, f"j{n}", word, one.look) for n, word in enumerate(said)]
            state = state.with_judgements(panel)
            if any(word in get_args(JudgeLabel) for word in said):
                state = state.with_answer(one.look, 0.5)
    return state


@st.composite
def plans(draw: Draw, **fixed: Any) -> Plan:
    """Any plan of a run. Without a source, there are saved pages or a look that shows nothing."""
    drawn = {
        "looks": draw(st.sampled_from(LOOKS)),
        "consensus": draw(st.sampled_from([0.3, 0.5, 2 / 3, 0.75, 1.0])),
        "sourced": draw(st.booleans()),
        "arbiter": draw(st.sampled_from(["model", "person", "nobody"])),
        "confirms": draw(st.booleans()),
    }
    return Plan.model_validate({**drawn, **fixed})


def followed(state: ClaimState, plan: Plan, draw: Draw) -> tuple[list[Step], list[ClaimState]]:
    """The steps of a claim until it is settled, and how it stood at each. Every answer is drawn.

    Fails where that takes more than two steps a look, and what an arbiter or a person and the saved pages need.
    """
    size = draw(st.integers(1, 5))
    steps, states = [next_step(state, plan)], [state]
    while steps[-1].do != "settle":
        assert len(steps) <= 3 * len(plan.looks) + 8, [step.do for step in steps]
        state = done(steps[-1], state, plan, draw, size)
        steps.append(next_step(state, plan))
        states.append(state)
    return steps, states


def done(step: Step, state: ClaimState, plan: Plan, draw: Draw, size: int) -> ClaimState:
    """The claim after the nodes have done what the step says."""
    if step.do == "show":
        return shown(step.look, state, draw)
    if step.do in ("search", "scan"):
        return sought(step, state, draw)
    if step.do == "judge":
        return answered(state, draw(st.lists(SAID, min_size=size, max_size=size)))
    if step.do == "arbitrate":
        word = judgement(state.last_asked, "arbiter", draw(SAID), state.asked[-1].look)
        return state.with_judgements([word]).model_copy(update={"ruling": word, "ruled_by": "arbiter"})
    if step.do == "confirm":
        return state.model_copy(
            update={"confirmation": draw(st.sampled_from(get_args(Confirmation)) | FAILURE)}
        )
    if step.do == "person":
        return decided_by_person(state, draw(st.none() | LABEL))
    assert step.do == "consult"
    return consulted(state, draw(st.sampled_from(["no_pages", "nothing_found", "found"])))


def shown(look: Look, state: ClaimState, draw: Draw) -> ClaimState:
    """The claim with one question more, about everything perhaps; none where a wider look adds nothing."""
    if state.asked and not state.found and draw(st.booleans()):
        return state.with_look(look)
    named: Look = "source" if look != "nothing" and draw(st.booleans()) else look
    before = state.asked[-1].lines if state.asked else ()
    return state.with_look(named).with_question(question(f"q{len(state.asked)}", named, before))


def sought(step: Step, state: ClaimState, draw: Draw) -> ClaimState:
    """The claim after a search or a scan, which may find something, or fail."""
    lines = (500,) if draw(st.booleans()) else ()
    unread = draw(st.none() | FAILURE)
    return state.with_look(step.look).model_copy(update={"found": lines, "unread": unread})


def decided_by_person(state: ClaimState, said: str | None) -> ClaimState:
    """The claim with a person's word, or left open by one."""
    if said is None:
        return state.model_copy(update={"left_open": True})
    word = judgement(state.last_asked, "person:Ines", said, state.asked[-1].look)
    return state.model_copy(
        update={"judgements": (word, *state.judgements), "ruling": word, "ruled_by": "person"}
    )


def consulted(state: ClaimState, found: Consulted) -> ClaimState:
    """The claim after saved pages were asked; with a question that shows snippets where any was found."""
    if found == "found":
        before = state.asked[-1].lines if state.asked else ()
        state = state.with_question(question(f"q{len(state.asked)}", "pages", before))
    return state.model_copy(update={"consulted": found})
