"""Sentences and claims taken through the policy, step by step, with any answers: for laws of what happens next."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, get_args

from hypothesis import strategies as st

from longproof.agent.types import Claim, Decomposed, Error, Failure, JudgeLabel, Judgement, Look, Question
from longproof.graphs.check import decompose
from longproof.graphs.evidence.sources import Sources
from longproof.graphs.policy import Step, next_step
from longproof.graphs.run import Run
from longproof.graphs.state import ClaimState, Confirmation, Consulted, Plan
from longproof.retrieval.types import Document, Span

LABEL = st.sampled_from(get_args(JudgeLabel))
OWN = ("split", "disputed", "sourceless", "not_found_so_far", "unconfirmed", "panel_incomplete")
FAILURE = st.sampled_from([one for one in get_args(Failure) if one not in OWN])
"""The failures of a judge; the others are the policies' own."""
SAID = st.one_of(LABEL, FAILURE)
LOOKS: list[tuple[Look, ...]] = [
    ("place", "words", "window", "search", "scan"),
    ("place", "words", "window", "search"),
    ("place", "words", "window"),
    ("source",),
]
RESPONSE = Document.of("Ada lit the lamp at ten.")
SOURCE = Sources([Document.of("\n".join(f"Line {n} tells of Ada." for n in range(60)))])
PLACES = [(0, 3), (2, 7), (20, 23)]
"""Wrong words: the first two touch."""
Draw = Callable[[st.SearchStrategy[Any]], Any]


def claim(sentence: int = 0, **known: Any) -> ClaimState:
    """A claim that is judged as it stands; nothing is known of it but this."""
    origin = RESPONSE.span(0, len(RESPONSE.text))
    about = Claim(id=f"c{sentence}", index=sentence, sentence=sentence, text=origin.text, origin=origin)
    return ClaimState.model_validate({"claim": about, "unit": "claim", "around": (0, 1, 2), **known})


def question(id_: str, look: Look = "source", before: Any = (), claim_id: str = "c0") -> Question:
    """A question about one claim that shows one line more than was shown before."""
    lines = (*before, (len(before),))
    return Question(id=id_, claim_ids=(claim_id,), lines=lines, look=look, prompt="judge")


def judgement(question_id: str, judge: str, said: str, look: Look = "source", wrong: Any = None) -> Judgement:
    """A judge's word: a label or a failure, by its name; `wrong`: with these wrong words, and a cited line."""
    labelled = said in get_args(JudgeLabel)
    word: dict[str, Any] = {"label": said} if labelled else {"failure": said}
    if wrong and said in ("contradicting", "fabricated"):
        word |= {"quotes": (SOURCE.line(3).span,), "errors": (Error(span=RESPONSE.span(*wrong)),)}
    return Judgement(claim_id="c0", judge=judge, round=look, question_id=question_id, **word)


def reply(state: ClaimState, said: Sequence[str], wrong: Sequence[tuple[int, int] | None] = ()) -> ClaimState:
    """Every question that nobody has answered, answered by a panel that says this."""
    for one in state.asked:
        if not state.votes(one.id):
            places = [*wrong, *(None for _ in said)]
            panel = [
                judgement(one.id, f"j{n}", word, one.look, place)
                for n, (word, place) in enumerate(zip(said, places, strict=False))
            ]
            about = [word.model_copy(update={"claim_id": state.claim.id}) for word in panel]
            state = state.with_judgements(about)
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
        "decompose": draw(st.sampled_from(["doubted", "all", "nothing"])),
        "cascade": draw(st.booleans()),
        "confirms": draw(st.sampled_from(["nothing", "contradictions", "all"])),
    }
    return Plan.model_validate({**drawn, **fixed})


def follow(state: ClaimState, plan: Plan, draw: Draw) -> tuple[list[Step], list[ClaimState]]:
    """The steps of a claim until it is settled or others are judged in its stead, and how it stood at each.

    Every answer is drawn. Fails where that takes more than two steps a look, and what an arbiter or a person, the
    taking apart and the saved pages need.
    """
    size = draw(st.integers(1, 4))
    state = state if plan.sourced else state.model_copy(update={"found": ()})
    steps, states = [next_step(state, plan)], [state]
    while steps[-1].do not in ("settle", "nothing"):
        assert len(steps) <= 3 * len(plan.looks) + 9, [step.do for step in steps]
        state = done(steps[-1], state, plan, draw, size)
        steps.append(next_step(state, plan))
        states.append(state)
    return steps, states


Walk = tuple[list[Step], list[ClaimState]]
Journey = tuple[Plan, list[Walk]]


@st.composite
def journeys(draw: Draw, **fixed: Any) -> Journey:
    """Any plan, and the walk of a sentence under it, then those of the parts that it was taken apart into.

    Nobody was asked about the sentence. It is at a sure place or at none, where its own words found something.
    """
    known = draw(
        st.sampled_from([{}, {"sure": False, "found": (4, 5)}, {"sure": False}, {"everywhere": True}])
    )
    plan = draw(plans(**fixed))
    steps, states = follow(claim(unit="sentence", **known), plan, draw)
    apart = steps[-1].do == "nothing"
    parts = take_apart(states[-2], plan, draw(st.integers(1 if plan.cascade else 2, 3)))[1:] if apart else []
    return plan, [(steps, states), *(follow(part, plan, draw) for part in parts)]


class Cutter:
    """Takes every sentence apart into as many claims as it is told to."""

    def __init__(self, parts: int) -> None:
        self.parts = parts

    async def decompose(self, case: object, spans: Sequence[Span]) -> Decomposed:
        """The claims, each with all words of its sentence."""
        claims = [
            Claim(id=f"{i}.{n}", index=n, sentence=i, text=span.text, origin=span)
            for i, span in enumerate(spans)
            for n in range(self.parts)
        ]
        return Decomposed(claims, {}, [])


def run_with(plan: Plan, parts: int = 1) -> Run:
    """A run of which nothing but its plan, its source and the decomposer is needed."""
    session: Any = SimpleNamespace(panel=SimpleNamespace(decomposer=Cutter(parts)))
    return Run(session, session.panel, None, SOURCE, plan, lambda told: None)  # type: ignore[arg-type]


def take_apart(sentence: ClaimState, plan: Plan, parts: int) -> list[ClaimState]:
    """The sentence after the node `decompose`, which found so many claims in it, and its parts."""
    return list(asyncio.run(decompose({"claims": [sentence]}, run_with(plan, parts)))["claims"])


def done(step: Step, state: ClaimState, plan: Plan, draw: Draw, size: int) -> ClaimState:
    """The claim after the nodes have done what the step says."""
    if step.do == "gather":
        return show(step.look, state, draw)
    if step.do in ("search", "scan"):
        return sought(step, state, draw)
    if step.do == "judge":
        panel = st.lists(SAID, min_size=size, max_size=size)
        wrong = st.lists(st.none() | st.sampled_from(PLACES), min_size=size, max_size=size)
        return reply(state, draw(panel), draw(wrong))
    if step.do == "arbitrate":
        word = judgement(state.last_asked, "arbiter", draw(SAID), state.asked[-1].look)
        word = word.model_copy(update={"claim_id": state.claim.id})
        return state.with_judgements([word]).model_copy(update={"ruling": word, "ruled_by": "arbiter"})
    if step.do == "confirm":
        return state.model_copy(
            update={"confirmation": draw(st.sampled_from(get_args(Confirmation)) | FAILURE)}
        )
    if step.do == "person":
        return decided_by_person(state, draw(st.none() | LABEL))
    if step.do == "decompose":
        return take_apart(state, plan, draw(st.integers(1, 3)))[0]
    assert step.do == "consult"
    return consult(state, draw(st.sampled_from(["no_pages", "nothing_found", "found"])))


def show(look: Look, state: ClaimState, draw: Draw) -> ClaimState:
    """The claim with one question more, about everything perhaps; none where a wider look adds nothing. After a
    scan, the question says that all was read."""
    if state.asked and not state.found and look != "scan" and draw(st.booleans()):
        return state.with_look(look)
    named: Look = "source" if look != "words" and draw(st.booleans()) else look
    before = state.asked[-1].lines if state.asked else ()
    asking = question(f"q{len(state.asked)}", named, before)
    return state.with_look(named, asking.lines[-1]).with_question(asking)


def sought(step: Step, state: ClaimState, draw: Draw) -> ClaimState:
    """The claim after a search or a scan, which may find something, or fail."""
    lines = (50,) if draw(st.booleans()) else ()
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


def consult(state: ClaimState, found: Consulted) -> ClaimState:
    """The claim after saved pages were asked; with a question that shows snippets where any was found."""
    if found == "found":
        before = state.asked[-1].lines if state.asked else ()
        state = state.with_question(question(f"q{len(state.asked)}", "pages", before))
    return state.model_copy(update={"consulted": found})
