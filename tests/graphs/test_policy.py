"""What happens next to a claim, as laws: every walk ends, with a label or a named failure, whatever anybody says."""

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walked import (
    FAILURE,
    LABEL,
    SAID,
    Journey,
    claim,
    done,
    journeys,
    judgement,
    plans,
    question,
    reply,
    run_with,
    take_apart,
)

from longproof.agent.report import CONFIRMING_FAILED, UNPROVED, WRONG
from longproof.agent.vote import SIDES, missing_panel, most_common, vote
from longproof.graphs.check import NODES, decompose, route
from longproof.graphs.policy import CAVEATS, LOOKS, Step, next_step
from longproof.graphs.run import Pool
from longproof.graphs.state import ClaimState, Plan
from longproof.graphs.verify import check_graph, join, verify_graph

PANEL = st.lists(SAID, min_size=1, max_size=5)
CLEARED = ("explicitly_supported", "implicitly_supported", "no_fact")
OURS = Plan(looks=LOOKS, consensus=2 / 3)
NEAR, SEARCHED = (OURS.model_copy(update={"looks": LOOKS[:n]}) for n in (3, 4))
ANY_LOOK = st.sampled_from([*LOOKS, "source", "pages"])
WORDS, SEARCH = Step(do="gather", look="words"), Step(do="search", look="search")


def ask(said: list[str], look: Any = "source", wrong: Any = (), before: Any = (), **known: Any) -> ClaimState:
    """A claim about which the panel was asked once and said this."""
    looks = () if look == "pages" else ("place",) if look in ("source", "place") else ("place", look)
    state = claim(**{"looks": looks, **known})
    return reply(state.with_question(question("q0", look, before)), said, wrong)


def sides(look: str) -> dict[Any, Any]:
    return {**SIDES, "out_dependent": "supported"} if look == "pages" else dict(SIDES)


@given(journeys(), plans())
def test_every_walk_ends_and_each_sentence_is_judged_whole_or_in_parts(journey: Journey, other: Plan) -> None:
    plan, walked = journey
    ends = [steps[-1] for steps, _ in walked]
    assert [end.do for end in ends] in (["settle"], ["nothing"] + ["settle"] * (len(ends) - 1))
    assert len(ends) > 1 or ends[0].do == "settle"
    assert all((end.label is None) == (end.decided_by == "nobody") for end in ends)
    assert all((end.label is None) == (end.failure is not None) for end in ends if end.do == "settle")
    for steps, states in walked:
        assert all((step.label, step.failure) == (None, None) for step in steps[:-1])
        kept = [ClaimState.model_validate_json(state.model_dump_json()) for state in states]
        assert [next_step(state, plan) for state in kept] == steps, "a run that was killed goes on there"
        assert all(next_step(state, other).do for state in states), "or with another plan"
        apart = [state.model_copy(update={"unit": "superseded"}) for state in states]
        assert {next_step(state, plan) for state in apart} == {Step(do="nothing")}


@given(journeys())
def test_every_look_comes_once_and_pages_once_after_all_of_them(journey: Journey) -> None:
    plan, walked = journey
    for steps, states in walked:
        did, last = [step.do for step in steps], states[-1]
        looks = [one for one in last.looks if one != "words"]
        assert looks == [one for one in LOOKS if one in looks] or "source" in looks
        assert len(set(last.looks)) == len(last.looks)
        assert all(did.count(once) <= 1 for once in ("search", "scan", "consult", "confirm"))
        meant = {*plan.looks, "words"}
        assert all(step.look in meant for step in steps if step.do in ("gather", "search", "scan"))
        if "consult" in did:
            assert not {"gather", "search", "scan"} & set(did[did.index("consult") :])
        assert all(last.votes(one.id) for one in last.asked), "what is shown is judged before it is settled"
        assert did.count("arbitrate") + did.count("person") <= 4
        assert plan.arbiter == "model" or "arbitrate" not in did
        assert plan.arbiter == "person" or "person" not in did
        none = steps[-1].do == "nothing" or steps[-1].failure == "sourceless"
        assert plan.sourced or last.consulted == "found" or none, "want of pages proves nothing"


@given(journeys())
def test_a_sentence_settles_whole_only_undoubted_or_where_all_name_the_same_words(journey: Journey) -> None:
    plan, walked = journey
    steps, states = walked[0]
    assert (steps[0].do == "decompose") >= (plan.decompose == "all")
    assert plan.decompose != "nothing" or len(walked) == 1
    for step, state in zip(steps, states, strict=True):
        if state.unit != "sentence" or plan.decompose == "nothing":
            continue
        assert plan.decompose == "doubted" or not state.asked
        assert step.do not in ("arbitrate", "person")
        answered = [vote for vote in state.votes(state.last_asked) if vote.label]
        held = sides(state.asked[-1].look) if state.asked else {}
        if step.label and any(held[vote.label] not in ("supported", "no_fact") for vote in answered):
            assert not plan.cascade
            assert all(vote.label in WRONG and vote.quotes for vote in answered)
            at = [{n for e in vote.errors for n in range(e.span.start, e.span.end)} for vote in answered]
            assert set.intersection(*at)


@given(plans(looks=LOOKS, sourced=True, decompose="doubted"), PANEL, st.sampled_from(LOOKS[1:4]))
def test_a_doubted_sentence_is_taken_apart_not_a_failed_one(plan: Plan, said: list[str], look: Any) -> None:
    step = next_step(ask(said, look, unit="sentence"), plan)
    votes = ask(said, look).votes("q0")
    if missing_panel(votes):
        assert step.do == "settle"
        return
    split = plan.arbiter != "nobody" and vote(votes, consensus=plan.consensus).side is None
    if any(word in SIDES and word not in CLEARED for word in said):
        assert step.do == "decompose"
    else:
        assert step.do != "decompose" or (split and look == "search" and set(said) & set(CLEARED))


def test_the_same_wrong_words_are_words_that_all_name() -> None:
    said = ["contradicting"] * 3
    for wrong, do in [
        ([(0, 4), (2, 7), (3, 5)], "gather"),
        ([(0, 3), (2, 7), (6, 9)], "decompose"),
        ([(2, 7), (0, 3), (6, 9)], "decompose"),
        ([(0, 4), (0, 4), None], "decompose"),
    ]:
        assert next_step(ask(said, "place", wrong, unit="sentence"), OURS).do == do, wrong
    for look, do in [("place", "decompose"), ("source", "consult")]:
        absent = ask(["fabricated"] * 3, look, [(0, 4)] * 3, unit="sentence")
        assert next_step(absent, OURS).do == do
    cascade = OURS.model_copy(update={"cascade": True})
    assert next_step(ask(said[:1], "place", [(0, 4)], unit="sentence"), cascade).do == "decompose"


@given(st.lists(LABEL), st.sampled_from(["place", "window", "source", "pages"]), st.integers(2, 3))
def test_parts_have_their_sentences_evidence_and_no_votes(said: list[str], look: Any, parts: int) -> None:
    known = {"own": (0, 7), "unit": "sentence", "consulted": "found"}
    before = ((0, 3, 5, 7, 9),)
    sentence = ask(["not_found", "fabricated", *said], look, [None, (0, 3)], before=before, **known)
    whole, *apart = take_apart(sentence, OURS, parts)
    assert whole == sentence.model_copy(update={"unit": "superseded"})
    assert [part.claim.id for part in apart] == [f"c0.{n}" for n in range(1, parts + 1)]
    for part in apart:
        (last,) = part.asked
        shown = (last.lines, last.pages, last.look)
        assert shown == (((0, 3, 7),), (), look), "its own lines, and what is cited"
        assert last.claim_ids == tuple(other.claim.id for other in apart)
        assert (part.judgements, part.unit, part.consulted) == ((), "claim", "found")
        assert next_step(part, OURS).do == "judge"


@given(journeys(sourced=True))
def test_fabricated_means_all_was_read_and_contradicted_that_its_words_were_shown(journey: Journey) -> None:
    for steps, states in journey[1]:
        last, label = states[-1], steps[-1].label
        if steps[-1].decided_by == "person":
            continue
        assert label != "fabricated" or last.read_whole
        wide = {"words", "search", "source"} & {*last.looks, *last.looked.rounds}
        assert label != "contradicting" or wide or last.asked[-1].look in ("source", "pages")


def test_where_the_search_is_the_last_look_nothing_is_fabricated_and_the_reason_is_named() -> None:
    for word in ("not_found", "fabricated"):
        for unread, failure in ((None, "not_found_so_far"), ("unavailable", "unavailable")):
            state = ask([word] * 3, "search", consulted="no_pages", unread=unread)
            assert next_step(state, SEARCHED) == Step(do="settle", failure=failure)
    assert next_step(ask(["contradicting"] * 3, "search"), SEARCHED).label == "contradicting"


def test_a_claim_of_no_sure_place_is_read_where_its_words_stand_and_one_of_everywhere_searched_for() -> None:
    unsure, everywhere = claim(sure=False, found=(4, 5)), claim(everywhere=True)
    assert next_step(unsure, OURS) == next_step(unsure, NEAR) == WORDS
    assert next_step(everywhere, OURS) == SEARCH
    assert next_step(everywhere, NEAR) == Step(do="gather", look="place")
    read = ask(["contradicting"] * 3, "words", sure=False, around=())
    assert next_step(read, OURS) == SEARCH, "places that words found don't convict alone"
    assert next_step(read, NEAR).label == "contradicting"


@pytest.mark.parametrize(
    ("said", "look", "plan", "step"),
    [
        *(
            (word, look, OURS, WORDS)
            for word in ("contradicting", "ambiguous")
            for look in ("place", "window")
        ),
        ("not_found", "place", OURS, WORDS),
        ("not_found", "words", OURS, SEARCH),
        ("not_found", "words", NEAR, Step(do="gather", look="window")),
        ("not_found", "search", OURS, Step(do="scan", look="scan")),
        ("not_found", "scan", OURS, Step(do="consult")),
        ("contradicting", "words", OURS, Step(do="settle", label="contradicting", decided_by="vote")),
        ("ambiguous", "words", OURS, Step(do="settle", label="ambiguous", decided_by="vote")),
        ("contradicting not_found timeout", "search", OURS, Step(do="arbitrate")),
        # A question that more than half of its judges failed is not asked again more widely.
        ("over_budget timeout", "place", OURS, Step(do="settle", failure="over_budget")),
        ("timeout timeout", "place", OURS, Step(do="settle", failure="timeout")),
        ("ungrounded", "place", OURS, Step(do="settle", failure="ungrounded")),
    ],
)
def test_the_next_look_follows_from_what_was_said(said: str, look: Any, plan: Plan, step: Step) -> None:
    words = said.split()
    assert next_step(ask(words * 3 if len(words) == 1 else words, look), plan) == step


def test_an_appeal_is_the_arbiters_and_its_word_is_held_against_the_claims_own_words_too() -> None:
    said = ["contradicting"] * 3
    sentence = ask(said, "place", before=((0, 3, 5),), own=(0, 3), unit="sentence")
    whole, *parts = take_apart(sentence, OURS, 2)
    cleared = [reply(part, ["explicitly_supported"] * 3) for part in parts]
    joined = asyncio.run(join({"claims": [whole, *cleared]}, run_with(OURS)))
    appeal, *gone = joined["checked"]
    assert (appeal.own, appeal.asked[-1].lines) == ((0, 1, 3, 5), ((0, 1, 3, 5),)), "all that was shown"
    assert {one.unit for one in gone} == {"superseded"}
    assert next_step(appeal, OURS).do == "arbitrate"
    ruling = judgement(appeal.last_asked, "arbiter", "contradicting", "place")
    assert next_step(appeal.model_copy(update={"ruling": ruling}), OURS) == WORDS


@given(journeys(), st.randoms(use_true_random=False))
def test_the_order_in_which_judges_answer_changes_no_step(journey: Journey, order: random.Random) -> None:
    plan, walked = journey
    for steps, states in walked:
        for step, state in zip(steps, states, strict=True):
            mixed = list(state.judgements)
            order.shuffle(mixed)
            assert next_step(state.model_copy(update={"judgements": tuple(mixed)}), plan) == step


@given(plans(looks=LOOKS), PANEL, ANY_LOOK)
def test_a_decision_has_its_share_and_one_more_vote_keeps_it(plan: Plan, said: list[str], look: Any) -> None:
    state, held = ask(said, look), sides(look)
    step = next_step(state, plan)
    if step.label is None:
        return
    tally = vote(state.votes("q0"), consensus=plan.consensus, sides=held)
    assert tally.label is not None
    agreeing = [word for word in said if word in held and held[word] == tally.side]
    assert tally.side == SIDES[step.label] or look == "pages"
    assert len(agreeing) / len(said) + 1e-9 >= plan.consensus
    assert look != "place" or step.label in CLEARED, "nobody is convicted on the aligned place alone"
    more = state.with_judgements([judgement("q0", "one more", tally.label, look)])
    assert next_step(more, plan) == step


@given(plans(looks=LOOKS), PANEL, st.data())
def test_which_failure_it_was_decides_nothing(plan: Plan, said: list[str], data: st.DataObject) -> None:
    if 2 * sum(word in SIDES for word in said) < len(said):
        return
    other = [word if word in SIDES else data.draw(FAILURE) for word in said]
    for look in ("place", "window", "source"):
        assert next_step(ask(said, look), plan) == next_step(ask(other, look), plan)


@given(plans(), st.lists(LABEL, max_size=3), st.data(), ANY_LOOK)
def test_a_question_that_more_than_half_of_the_panel_failed_settles_at_once(
    plan: Plan, said: list[str], data: st.DataObject, look: Any
) -> None:
    size = len(said) + 1
    lost = data.draw(
        st.lists(FAILURE.filter(lambda name: name != "over_budget"), min_size=size, max_size=size)
    )
    why = "panel_incomplete" if said else most_common(lost)
    assert next_step(ask([*said, *lost], look, unit="sentence"), plan) == Step(do="settle", failure=why)


def test_a_spent_budget_keeps_its_name_beside_a_judge_that_answered() -> None:
    step = next_step(ask(["explicitly_supported", "over_budget", "timeout"]), OURS)
    assert step == Step(do="settle", failure="over_budget")


@given(
    plans(looks=("source",), sourced=True), st.lists(FAILURE, min_size=1), st.randoms(use_true_random=False)
)
def test_the_most_common_failure_is_that_of_a_panel(
    plan: Plan, said: list[Any], order: random.Random
) -> None:
    mixed = list(said)
    order.shuffle(mixed)
    step = next_step(ask(mixed), plan)
    assert step == Step(do="settle", failure=most_common(said))
    assert step.failure in said


@given(journeys())
def test_convictions_are_confirmed_and_what_stands_says_how(journey: Journey) -> None:
    plan, walked = journey
    meant = {"nothing": (), "contradictions": ("contradicting",), "all": tuple(WRONG)}[plan.confirms]
    for steps, states in walked:
        last, outcome = steps[-1], states[-1].confirmation
        if last.label in meant and last.decided_by != "person":
            says = {"confirmed": last.caveat, "unproved": UNPROVED}.get(outcome, CONFIRMING_FAILED)
            assert last.caveat == says
            assert outcome not in (None, "refuted")
            assert plan.confirms == "contradictions" or outcome in ("confirmed", "unproved")
        if last.failure == "unconfirmed" or last.caveat == CONFIRMING_FAILED:
            assert plan.confirms != "nothing"
            assert (outcome == "refuted") == (last.failure == "unconfirmed")
            off = plan.model_copy(update={"confirms": "nothing"})
            assert next_step(states[-1], off).label in meant


@given(journeys(confirms="nothing"), st.sampled_from(["contradictions", "all"]))
def test_confirming_changes_nothing_but_convictions(journey: Journey, which: Any) -> None:
    plan, walked = journey
    careful = plan.model_copy(update={"confirms": which})
    meant = WRONG if which == "all" else ("contradicting",)
    for state in (state for _, states in walked for state in states):
        step = next_step(state, plan)
        convicts = step.label in meant and step.decided_by != "person"
        assert next_step(state, careful) == (Step(do="confirm") if convicts else step)


@given(plans(), LABEL)
def test_a_persons_word_is_final_but_for_what_was_not_found(plan: Plan, said: str) -> None:
    word = judgement("q0", "person:Ines", said)
    ruled = {"ruling": word, "ruled_by": "person", "judgements": (word,)}
    final = Step(do="settle", label=said, decided_by="person") if said != "not_found" else Step(do="consult")
    assert next_step(ask(["timeout"]).model_copy(update=ruled), plan) == final


@given(plans(sourced=True), st.sampled_from(["no_pages", "nothing_found"]))
def test_what_no_page_has_either_is_fabricated_and_says_what_was_consulted(plan: Plan, found: Any) -> None:
    state = ask(["not_found"] * 3).model_copy(update={"consulted": found, "confirmation": "confirmed"})
    step = next_step(state, plan)
    assert (step.label, step.caveat) == ("fabricated", CAVEATS[found])


EDGES = {(edge.source, edge.target) for edge in check_graph(Pool()).get_graph().edges}


@given(plans(), st.integers(1, 4), st.integers(1, 4), st.data(), st.randoms(use_true_random=False))
def test_a_group_only_takes_edges_that_the_graph_has_in_whatever_order_its_claims_stand(
    plan: Plan, count: int, size: int, data: st.DataObject, order: random.Random
) -> None:
    """Claims of one group wait for each other; whatever mixture of steps that makes, there is an edge, and an end."""
    claims = [claim(n, unit="sentence", sure=data.draw(st.booleans())) for n in range(count)]
    if data.draw(st.booleans()):
        # Sentences whose parts were cleared, before the arbiter.
        appeals = [claim(n, looks=("place",), appealed=True) for n in range(count)]
        claims = [one.with_question(question(f"appeal{n}", "place")) for n, one in enumerate(appeals)]
    node, run = "__start__", run_with(plan, data.draw(st.integers(1, 2)))
    for _ in range(90):
        target = route({"claims": claims}, run)
        assert (node, target) in EDGES
        assert route({"claims": order.sample(claims, len(claims))}, run) == target
        if target == "decompose":
            claims = list(asyncio.run(decompose({"claims": claims}, run))["claims"])
        else:
            claims = [work(one, target, plan, data.draw, size) for one in claims]
        node = {"judge": "vote", "localise": "__start__"}.get(target, target)
        if all(next_step(one, plan).do in ("settle", "nothing") for one in claims):
            return
    raise AssertionError("the group never ends")


def work(state: ClaimState, node: str, plan: Plan, draw: Any, size: int) -> ClaimState:
    """A claim after a node of its group, or after what is done for all groups once this one left."""
    step = next_step(state, plan)
    ended = step.do in ("settle", "nothing")
    own = step.do if step.do in NODES else "localise"
    return state if ended or own != node else done(step, state, plan, draw, size)


def test_the_graphs_have_a_node_for_every_step_and_an_edge_for_every_look_at_the_whole_source() -> None:
    assert {*NODES, "localise"} <= {target for _, target in EDGES}
    edges = {(edge.source, edge.target) for edge in verify_graph(Pool()).get_graph().edges}
    for look in ("search", "scan"):
        assert {("join", look), (look, "check"), (look, "join")} <= edges
