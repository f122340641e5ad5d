"""What happens next to a claim, as laws: every walk ends, with a label or a named failure, whatever anybody says."""

import random
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from walked import FAILURE, LABEL, SAID, answered, claim, done, followed, judgement, plans, question

from longproof.agent.report import CONFIRMING_FAILED, WRONG
from longproof.agent.vote import SIDES, most_common, vote
from longproof.graphs.check import NODES, route
from longproof.graphs.policy import CAVEATS, Step, next_step
from longproof.graphs.run import Pool, Run
from longproof.graphs.state import ClaimState, Plan
from longproof.graphs.verify import check_graph, verify_graph
from longproof.retrieval.types import Span

PANEL = st.lists(SAID, min_size=1, max_size=5)
OURS = Plan(looks=("place", "window", "search", "scan"), consensus=2 / 3)


def asked(said: list[str], look: Any = "source") -> ClaimState:
    """A claim about which the panel was asked once and said this."""
    state = claim() if look == "pages" else claim().with_look(look)
    return answered(state.with_question(question("q0", look)), said)


def sides(plan: Plan, look: str) -> dict[Any, Any]:
    return {**SIDES, "out_dependent": "supported"} if look == "pages" else dict(SIDES)


@given(plans(), st.data())
def test_every_walk_ends_with_a_label_or_a_named_failure(plan: Plan, data: st.DataObject) -> None:
    steps, _ = followed(claim(), plan, data.draw)
    last = steps[-1]
    assert (last.label is None) == (last.failure is not None) == (last.decided_by == "nobody")
    assert all((step.label, step.failure) == (None, None) for step in steps[:-1])


@given(plans(), st.data(), st.booleans())
def test_every_look_comes_once_in_order_and_pages_once(plan: Plan, data: st.DataObject, sure: bool) -> None:
    steps, states = followed(claim().model_copy(update={"sure": sure}), plan, data.draw)
    did = [step.do for step in steps]
    looks = [plan.looks.index(one) for one in states[-1].looks if one in plan.looks]
    assert looks == sorted(set(looks))
    assert all(did.count(once) <= 1 for once in ("search", "scan", "consult"))
    assert all(step.look in plan.looks for step in steps if step.do in ("show", "search", "scan"))
    assert did.count("arbitrate") + did.count("person") <= 3
    assert plan.arbiter == "model" or "arbitrate" not in did
    assert plan.arbiter == "person" or "person" not in did


@given(plans(), st.data(), st.booleans())
def test_what_was_shown_stays_shown_and_no_question_is_put_twice(
    plan: Plan, data: st.DataObject, sure: bool
) -> None:
    _, states = followed(claim().model_copy(update={"sure": sure}), plan, data.draw)
    shown = [one.lines for one in states[-1].asked]
    assert all(later[: len(earlier)] == earlier and later != earlier for earlier, later in pairwise(shown))


@given(plans(sourced=True), st.data(), st.booleans())
def test_fabricated_means_that_everything_was_shown_or_read(
    plan: Plan, data: st.DataObject, sure: bool
) -> None:
    steps, states = followed(claim().model_copy(update={"sure": sure}), plan, data.draw)
    if steps[-1].label == "fabricated" and steps[-1].decided_by != "person":
        assert states[-1].read_whole


@given(plans(looks=OURS.looks, sourced=True), st.data())
def test_what_could_not_be_read_through_is_not_fabricated(plan: Plan, data: st.DataObject) -> None:
    steps, states = followed(claim(), plan, data.draw)
    if states[-1].unread and "source" not in states[-1].looked.rounds:
        assert steps[-1].label != "fabricated" or steps[-1].decided_by == "person"


def test_lines_of_the_place_itself_convict_where_the_sentences_around_hold_the_place() -> None:
    span = Span(source_id="s", start=0, end=4, text="nine")
    state = asked(["contradicting"] * 3, "place")
    cited = state.model_copy(
        update={"judgements": tuple(j.model_copy(update={"quotes": (span,)}) for j in state.judgements)}
    )
    assert next_step(cited, OURS).label == "contradicting"
    assert next_step(cited.model_copy(update={"around": ()}), OURS).do == "search"
    assert next_step(state, OURS).do == "show"


@given(st.data())
def test_a_run_may_go_on_with_any_other_plan(data: st.DataObject) -> None:
    plans_of = st.sampled_from([OURS.looks, OURS.looks[:3], OURS.looks[:2], ("source",)])
    _, states = followed(claim(), OURS, data.draw)
    other = OURS.model_copy(update={"looks": data.draw(plans_of)})
    assert all(next_step(state, other).do for state in states)


def test_where_the_search_is_the_last_look_nothing_is_fabricated_and_the_reason_is_named() -> None:
    plan = OURS.model_copy(update={"looks": ("place", "window", "search")})
    for word in ("not_found", "fabricated"):
        state = asked([word] * 3, "search").model_copy(update={"consulted": "no_pages"})
        assert next_step(state, plan).failure == "not_found_so_far"
        failed = state.model_copy(update={"unread": "unavailable"})
        assert next_step(failed, plan).failure == "unavailable", "a search that failed says so"
    assert next_step(asked(["contradicting"] * 3, "search"), plan).label == "contradicting"


def test_a_claim_without_a_sure_place_is_searched_for_before_anybody_is_asked() -> None:
    unsure = claim().model_copy(update={"sure": False})
    assert next_step(unsure, OURS).do == "search"
    assert next_step(unsure, OURS.model_copy(update={"looks": ("place", "window")})).look == "place"


@given(plans(), st.data())
def test_what_saved_pages_have_is_judged_before_anything_is_settled(plan: Plan, data: st.DataObject) -> None:
    _, states = followed(claim(), plan, data.draw)
    for one in states[-1].asked:
        assert states[-1].votes(one.id), f"nobody was asked about what {one.look} shows"


@given(plans(), st.data(), st.randoms(use_true_random=False))
def test_the_order_in_which_judges_answer_changes_no_step(
    plan: Plan, data: st.DataObject, order: random.Random
) -> None:
    steps, states = followed(claim(), plan, data.draw)
    for step, state in zip(steps, states, strict=True):
        mixed = list(state.judgements)
        order.shuffle(mixed)
        assert next_step(state.model_copy(update={"judgements": tuple(mixed)}), plan) == step


@given(plans(looks=OURS.looks), PANEL, st.sampled_from([*OURS.looks, "source", "pages"]))
def test_one_more_vote_for_the_winner_keeps_the_winner(plan: Plan, said: list[str], look: Any) -> None:
    state = asked(said, look)
    step = next_step(state, plan)
    if step.label is None:
        return
    tally = vote(state.votes("q0"), consensus=plan.consensus, sides=sides(plan, look))
    assert tally.label is not None
    more = state.with_judgements([judgement("q0", "one more", tally.label, look)])
    assert next_step(more, plan) == step


@given(plans(looks=OURS.looks), PANEL)
def test_nobody_is_convicted_on_the_aligned_place_alone(plan: Plan, said: list[str]) -> None:
    assert next_step(asked(said, "place"), plan).label not in ("fabricated", "contradicting", "ambiguous")


@given(plans(looks=OURS.looks), PANEL, st.sampled_from([*OURS.looks, "source", "pages"]))
def test_what_a_vote_decides_has_the_share_of_the_whole_panel(plan: Plan, said: list[str], look: Any) -> None:
    step = next_step(asked(said, look), plan)
    if step.decided_by != "vote":
        return
    held = sides(plan, look)
    agreeing = [word for word in said if word in held and held[word] == held[step.label]]
    if step.label == "fabricated":
        agreeing = [word for word in said if word in held and SIDES[word] == "not_found"]  # type: ignore[index]
    assert len(agreeing) / len(said) + 1e-9 >= plan.consensus


@given(plans(looks=OURS.looks), PANEL, st.data())
def test_which_failure_it_was_decides_nothing(plan: Plan, said: list[str], data: st.DataObject) -> None:
    if not any(word in SIDES for word in said):
        return
    other = [word if word in SIDES else data.draw(FAILURE) for word in said]
    for look in ("place", "window", "source"):
        assert next_step(asked(said, look), plan) == next_step(asked(other, look), plan)


@given(plans(looks=("source",), sourced=True), st.lists(FAILURE, min_size=1, max_size=5))
def test_a_panel_that_only_fails_ends_with_one_of_its_failures(plan: Plan, said: list[str]) -> None:
    step = next_step(asked(said), plan)
    assert step == Step(do="settle", failure=most_common(said))  # type: ignore[arg-type]
    assert step.failure in said


@given(plans(confirms=True), st.data())
def test_every_conviction_is_confirmed_once_and_stands_only_then(plan: Plan, data: st.DataObject) -> None:
    steps, states = followed(claim(), plan, data.draw)
    assert [step.do for step in steps].count("confirm") <= 1
    if steps[-1].label in WRONG and steps[-1].decided_by != "person":
        assert states[-1].confirmation == "confirmed"
    if steps[-1].failure == "unconfirmed":
        assert states[-1].confirmation == "refuted"
    if steps[-1].caveat == CONFIRMING_FAILED:
        assert steps[-1].failure == states[-1].confirmation
    if steps[-1].failure == "unconfirmed" or steps[-1].caveat == CONFIRMING_FAILED:
        assert next_step(states[-1], plan.model_copy(update={"confirms": False})).label in WRONG


@given(plans(confirms=False), st.data())
def test_confirming_changes_nothing_but_convictions(plan: Plan, data: st.DataObject) -> None:
    _, states = followed(claim(), plan, data.draw)
    careful = plan.model_copy(update={"confirms": True})
    for state in states:
        step = next_step(state, plan)
        convicts = step.label in WRONG and step.decided_by != "person"
        assert next_step(state, careful) == (Step(do="confirm") if convicts else step)


def test_a_spent_budget_is_not_spent_again_on_a_wider_look() -> None:
    assert next_step(asked(["over_budget", "timeout"], "place"), OURS).do == "settle"
    assert next_step(asked(["too_long", "timeout"], "place"), OURS).do == "settle"
    assert next_step(asked(["timeout", "timeout"], "place"), OURS) == Step(do="show", look="window")


def test_what_is_denied_is_looked_at_in_its_window_and_what_is_absent_everywhere() -> None:
    for word in ("contradicting", "ambiguous"):
        assert next_step(asked([word] * 3, "place"), OURS) == Step(do="show", look="window")
        assert next_step(asked([word] * 3, "window"), OURS).label == word
    assert next_step(asked(["not_found"] * 3, "window"), OURS) == Step(do="search", look="search")
    assert next_step(asked(["not_found"] * 3, "search"), OURS) == Step(do="scan", look="scan")
    assert next_step(asked(["contradicting", "not_found", "timeout"], "search"), OURS).do == "arbitrate"
    assert next_step(asked(["not_found"] * 3, "scan"), OURS).do == "consult"


@given(plans(), LABEL)
def test_a_persons_word_is_final_but_for_what_was_not_found(plan: Plan, said: str) -> None:
    word = judgement("q0", "person:Ines", said)
    state = asked(["timeout"]).model_copy(
        update={"ruling": word, "ruled_by": "person", "judgements": (word,)}
    )
    step = next_step(state, plan)
    if said != "not_found":
        assert (step.label, step.decided_by) == (said, "person")
    else:
        assert step.do == "consult"


@given(plans(sourced=True), st.sampled_from(["no_pages", "nothing_found"]))
def test_what_no_page_has_either_is_fabricated_and_says_what_was_consulted(plan: Plan, found: Any) -> None:
    state = asked(["not_found"] * 3).model_copy(update={"consulted": found, "confirmation": "confirmed"})
    step = next_step(state, plan)
    assert (step.label, step.caveat) == ("fabricated", CAVEATS[found])


@given(plans(sourced=False), st.data())
def test_without_a_source_nothing_is_fabricated_for_want_of_pages(plan: Plan, data: st.DataObject) -> None:
    steps, states = followed(claim(), plan, data.draw)
    assert steps[0].do == "consult"
    if states[-1].consulted != "found":
        assert steps[-1] == Step(do="settle", failure="sourceless")


@given(st.lists(FAILURE, max_size=6), st.randoms(use_true_random=False))
def test_the_most_common_failure_does_not_depend_on_the_order(said: list[Any], order: random.Random) -> None:
    mixed = list(said)
    order.shuffle(mixed)
    assert most_common(said) == most_common(mixed)
    assert most_common(said) in {*said, "unavailable"}


def going(plan: Plan) -> Run:
    """A run of which nothing but its plan is needed."""
    return Run(None, None, None, plan, None)  # type: ignore[arg-type]


EDGES = {(edge.source, edge.target) for edge in check_graph(Pool()).get_graph().edges}


@given(
    plans(looks=OURS.looks), st.lists(st.data(), min_size=1, max_size=4), st.randoms(use_true_random=False)
)
def test_the_next_node_does_not_depend_on_the_order_of_claims(
    plan: Plan, data: list[st.DataObject], order: random.Random
) -> None:
    walks = [followed(claim(), plan, one.draw)[1] for one in data]
    claims = [order.choice(states) for states in walks]
    mixed = list(claims)
    order.shuffle(mixed)
    assert route({"claims": claims}, going(plan)) == route({"claims": mixed}, going(plan))


@given(plans(looks=OURS.looks), st.integers(1, 4), st.integers(1, 4), st.data())
def test_a_group_only_takes_edges_that_the_graph_has(
    plan: Plan, count: int, size: int, data: st.DataObject
) -> None:
    """Claims of one group wait for each other; whatever mixture of steps that makes, there is an edge, and an end."""
    claims, node = [claim() for _ in range(count)], "__start__"
    for _ in range(40):
        target = route({"claims": claims}, going(plan))
        assert (node, target) in EDGES
        if target == "localise":
            return
        claims = [worked(one, target, plan, data.draw, size) for one in claims]
        node = "vote" if target in ("gather", "judge") else target
    raise AssertionError("the group never ends")


def worked(state: ClaimState, node: str, plan: Plan, draw: Any, size: int) -> ClaimState:
    """A claim after a node of its group; new questions are put to the panel at once."""
    for do in ("show", "judge") if node == "gather" else ("judge", "arbitrate", "consult"):
        step = next_step(state, plan)
        if step.do == do and NODES[do] in (node, "judge"):
            state = done(step, state, plan, draw, size)
    return state


def test_the_outer_graph_has_an_edge_for_every_look_at_the_whole_source() -> None:
    edges = {(edge.source, edge.target) for edge in verify_graph(Pool()).get_graph().edges}
    assert {
        ("join", "search"),
        ("join", "scan"),
        ("search", "check"),
        ("scan", "check"),
        ("search", "join"),
    } <= edges


def test_every_node_that_a_step_names_stands_in_the_graph() -> None:
    named = {target for _, target in EDGES}
    assert set(NODES.values()) | {"localise"} <= named
