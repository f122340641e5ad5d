"""What happens next to a claim, as laws: every walk ends, with a label or a named failure, whatever anybody says."""

import asyncio
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from walked import (
    FAILURE,
    LABEL,
    SAID,
    answered,
    claim,
    done,
    followed,
    judgement,
    plans,
    question,
    run_with,
    sentences,
    take_apart,
    walks,
)

from longproof.agent.report import CONFIRMING_FAILED, UNPROVED, WRONG
from longproof.agent.vote import SIDES, most_common, vote
from longproof.graphs.check import NODES, decompose, route
from longproof.graphs.policy import CAVEATS, LOOKS, Step, next_step
from longproof.graphs.run import Pool
from longproof.graphs.state import ClaimState, Plan
from longproof.graphs.verify import check_graph, verify_graph

PANEL = st.lists(SAID, min_size=1, max_size=5)
CLEARED = ("explicitly_supported", "implicitly_supported", "no_fact")
OURS = Plan(looks=("place", "words", "window", "search", "scan"), consensus=2 / 3)
AFTER_THE_PLACE = ("words", "window", "search")


def asked(
    said: list[str], look: Any = "source", wrong: Any = (), before: Any = (), **known: Any
) -> ClaimState:
    """A claim about which the panel was asked once and said this."""
    looks = () if look == "pages" else ("place",) if look in ("source", "place") else ("place", look)
    state = claim(**{"looks": looks, **known})
    return answered(state.with_question(question("q0", look, before)), said, wrong)


def sides(look: str) -> dict[Any, Any]:
    return {**SIDES, "out_dependent": "supported"} if look == "pages" else dict(SIDES)


@given(sentences(), plans(), st.data())
def test_every_walk_ends_and_each_sentence_is_judged_whole_or_in_parts(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    walked = walks(sentence, plan, data.draw)
    ends = [steps[-1] for steps, _ in walked]
    assert [end.do for end in ends] in (["settle"], ["nothing"] + ["settle"] * (len(ends) - 1))
    assert len(ends) > 1 or ends[0].do == "settle"
    assert all((end.label is None) == (end.decided_by == "nobody") for end in ends)
    assert all((end.label is None) == (end.failure is not None) for end in ends if end.do == "settle")
    for steps, states in walked:
        assert all((step.label, step.failure) == (None, None) for step in steps[:-1])
        kept = [ClaimState.model_validate_json(state.model_dump_json()) for state in states]
        assert [next_step(state, plan) for state in kept] == steps, "a run that was killed goes on there"


@given(sentences(), plans(), st.data())
def test_every_look_comes_once_and_pages_once_after_all_of_them(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    for steps, states in walks(sentence, plan, data.draw):
        did = [step.do for step in steps]
        looks = [one for one in states[-1].looks if one != "words"]
        assert looks == [one for one in LOOKS if one in looks] or "source" in looks
        assert len(set(states[-1].looks)) == len(states[-1].looks)
        assert all(did.count(once) <= 1 for once in ("search", "scan", "consult"))
        meant = {*plan.looks, "words"}
        assert all(step.look in meant for step in steps if step.do in ("show", "search", "scan"))
        if "consult" in did:
            assert not {"show", "search", "scan"} & set(did[did.index("consult") :])
        assert did.count("arbitrate") + did.count("person") <= 4
        assert plan.arbiter == "model" or "arbitrate" not in did
        assert plan.arbiter == "person" or "person" not in did


@given(sentences(), plans(decompose="doubted"), st.data())
def test_a_sentence_settles_whole_only_if_nobody_doubts_it_or_all_name_the_same_wrong_words(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    steps, states = walks(sentence, plan, data.draw)[0]
    for step, state in zip(steps, states, strict=True):
        if state.unit != "sentence":
            continue
        assert step.do not in ("arbitrate", "person")
        answered = [vote for vote in state.votes(state.last_asked) if vote.label]
        held = sides(state.asked[-1].look) if state.asked else {}
        if step.label and any(held[vote.label] not in ("supported", "no_fact") for vote in answered):
            assert not plan.cascade
            assert all(vote.label in WRONG and vote.quotes for vote in answered)
            at = [{n for e in vote.errors for n in range(e.span.start, e.span.end)} for vote in answered]
            assert set.intersection(*at)


@given(plans(looks=OURS.looks, sourced=True, decompose="doubted"), PANEL, st.sampled_from(AFTER_THE_PLACE))
def test_a_sentence_that_somebody_doubts_is_taken_apart_and_a_failure_is_no_doubt(
    plan: Plan, said: list[str], look: Any
) -> None:
    step = next_step(asked(said, look, unit="sentence"), plan)
    doubted = any(word in SIDES and word not in CLEARED for word in said)
    votes = asked(said, look).votes("q0")
    split = plan.arbiter != "nobody" and vote(votes, consensus=plan.consensus).side is None
    if doubted:
        assert step.do == "decompose"
    else:
        assert step.do != "decompose" or (split and look == "search" and set(said) & set(CLEARED))


def test_the_same_wrong_words_are_words_that_all_name() -> None:
    said = ["contradicting"] * 3
    for wrong, do in [
        ([(0, 4), (2, 7), (3, 5)], "show"),
        ([(0, 3), (2, 7), (6, 9)], "decompose"),
        ([(2, 7), (0, 3), (6, 9)], "decompose"),
        ([(0, 4), (0, 4), None], "decompose"),
    ]:
        assert next_step(asked(said, "place", wrong, unit="sentence"), OURS).do == do, wrong
    absent = ["fabricated"] * 3
    for look, do in [("place", "decompose"), ("source", "consult")]:
        assert next_step(asked(absent, look, [(0, 4)] * 3, unit="sentence"), OURS).do == do
    cascade = OURS.model_copy(update={"cascade": True})
    assert next_step(asked(said[:1], "place", [(0, 4)], unit="sentence"), cascade).do == "decompose"


@given(sentences(), plans(decompose="all"), st.data())
def test_where_all_is_taken_apart_first_nobody_is_asked_about_a_sentence_that_has_parts(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    steps, states = walks(sentence, plan, data.draw)[0]
    assert steps[0].do == "decompose"
    assert all(not state.asked for state in states if state.unit != "claim")


@given(sentences(), plans(decompose="nothing"), st.data())
def test_where_nobody_takes_sentences_apart_none_is(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    (walk,) = walks(sentence, plan, data.draw)
    assert "decompose" not in [step.do for step in walk[0]]


@given(PANEL, st.sampled_from(["place", "window", "source", "pages"]), st.integers(2, 3))
def test_parts_start_with_the_evidence_of_their_sentence_and_without_its_votes(
    said: list[str], look: Any, parts: int
) -> None:
    known = {"own": (0, 7), "unit": "sentence", "consulted": "found"}
    before = ((0, 3, 5, 7, 9),)
    sentence = asked(["not_found", "fabricated", *said], look, [None, (0, 3)], before=before, **known)
    whole, *apart = take_apart(sentence, OURS, parts)
    assert whole == sentence.model_copy(update={"unit": "superseded"})
    assert [part.claim.id for part in apart] == [f"c0.{n}" for n in range(1, parts + 1)]
    for part in apart:
        (last,) = part.asked
        assert (last.lines, last.pages, last.look) == (((0, 3, 7),), (), look), (
            "its own lines, and what is cited"
        )
        assert part.asked[-1].claim_ids == tuple(other.claim.id for other in apart)
        assert (part.judgements, part.unit, part.consulted) == ((), "claim", "found")
        assert next_step(part, OURS).do == "judge"


@given(plans(), st.data())
def test_what_is_judged_in_parts_is_neither_asked_about_nor_settled(plan: Plan, data: st.DataObject) -> None:
    for state in followed(claim(), plan, data.draw)[1]:
        assert next_step(state.model_copy(update={"unit": "superseded"}), plan) == Step(do="nothing")


@given(sentences(), plans(sourced=True), st.data())
def test_fabricated_means_that_everything_was_shown_or_read(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    for steps, states in walks(sentence, plan, data.draw):
        if steps[-1].label == "fabricated" and steps[-1].decided_by != "person":
            assert states[-1].read_whole


@given(sentences(), plans(sourced=True), st.data())
def test_contradicted_means_that_the_places_of_its_own_words_were_shown_or_more(
    sentence: ClaimState, plan: Plan, data: st.DataObject
) -> None:
    for steps, states in walks(sentence, plan, data.draw):
        if steps[-1].label == "contradicting" and steps[-1].decided_by != "person":
            wide = {"words", "search", "source"} & {*states[-1].looks, *states[-1].looked.rounds}
            assert wide or states[-1].asked[-1].look in ("source", "pages")


@given(plans(looks=OURS.looks, sourced=True), st.data())
def test_what_could_not_be_read_through_is_not_fabricated(plan: Plan, data: st.DataObject) -> None:
    steps, states = followed(claim(), plan, data.draw)
    if states[-1].unread and "source" not in states[-1].looked.rounds:
        assert steps[-1].label != "fabricated" or steps[-1].decided_by == "person"


@given(sentences(), plans(), plans(), st.data())
def test_a_run_may_go_on_with_any_other_plan(
    sentence: ClaimState, plan: Plan, other: Plan, data: st.DataObject
) -> None:
    _, states = followed(sentence, plan, data.draw)
    assert all(next_step(state, other).do for state in states)


def test_where_the_search_is_the_last_look_nothing_is_fabricated_and_the_reason_is_named() -> None:
    plan = OURS.model_copy(update={"looks": ("place", "words", "window", "search")})
    for word in ("not_found", "fabricated"):
        state = asked([word] * 3, "search").model_copy(update={"consulted": "no_pages"})
        assert next_step(state, plan).failure == "not_found_so_far"
        failed = state.model_copy(update={"unread": "unavailable"})
        assert next_step(failed, plan).failure == "unavailable", "a search that failed says so"
    assert next_step(asked(["contradicting"] * 3, "search"), plan).label == "contradicting"


def test_a_claim_without_a_sure_place_is_read_where_its_words_stand_and_one_of_everywhere_searched_for() -> (
    None
):
    near = OURS.model_copy(update={"looks": OURS.looks[:3]})
    unsure, everywhere = claim(sure=False, found=(4, 5)), claim(everywhere=True)
    assert next_step(unsure, OURS) == next_step(unsure, near) == Step(do="show", look="words")
    assert next_step(everywhere, OURS).do == "search"
    assert next_step(everywhere, near) == Step(do="show", look="place")
    read = asked(["contradicting"] * 3, "words", sure=False, around=())
    assert next_step(read, OURS).do == "search", "places that words found don't convict alone"
    assert next_step(read, near).label == "contradicting"


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
    tally = vote(state.votes("q0"), consensus=plan.consensus, sides=sides(look))
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
    held = sides(look)
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


@given(plans(), st.data())
def test_convictions_are_confirmed_once_and_what_stands_says_how(plan: Plan, data: st.DataObject) -> None:
    steps, states = followed(claim(), plan, data.draw)
    last, outcome = steps[-1], states[-1].confirmation
    assert [step.do for step in steps].count("confirm") <= 1
    meant = {"nothing": (), "contradictions": ("contradicting",), "all": tuple(WRONG)}[plan.confirms]
    if last.label in meant and last.decided_by != "person":
        says = {"confirmed": last.caveat, "unproved": UNPROVED}.get(outcome, CONFIRMING_FAILED)
        assert last.caveat == says
        assert outcome not in (None, "refuted")
        assert plan.confirms == "contradictions" or outcome in ("confirmed", "unproved")
    if last.failure == "unconfirmed" or last.caveat == CONFIRMING_FAILED:
        assert plan.confirms != "nothing"
        assert outcome == "refuted" if last.failure == "unconfirmed" else outcome in (last.failure, outcome)
        off = plan.model_copy(update={"confirms": "nothing"})
        assert next_step(states[-1], off).label in meant


@given(plans(confirms="nothing"), st.data(), st.sampled_from(["contradictions", "all"]))
def test_confirming_changes_nothing_but_convictions(plan: Plan, data: st.DataObject, which: Any) -> None:
    _, states = followed(claim(), plan, data.draw)
    careful = plan.model_copy(update={"confirms": which})
    meant = WRONG if which == "all" else ("contradicting",)
    for state in states:
        step = next_step(state, plan)
        convicts = step.label in meant and step.decided_by != "person"
        assert next_step(state, careful) == (Step(do="confirm") if convicts else step)


def test_a_spent_budget_is_not_spent_again_on_a_wider_look() -> None:
    assert next_step(asked(["over_budget", "timeout"], "place"), OURS).do == "settle"
    assert next_step(asked(["too_long", "timeout"], "place"), OURS).do == "settle"
    assert next_step(asked(["timeout", "timeout"], "place"), OURS) == Step(do="search", look="search")


def test_what_is_not_borne_out_is_held_against_its_own_words_and_what_is_absent_looked_for_everywhere() -> (
    None
):
    for word in ("contradicting", "ambiguous", "not_found"):
        assert next_step(asked([word] * 3, "place"), OURS) == Step(do="show", look="words")
        assert next_step(asked([word] * 3, "window"), OURS) == Step(do="show", look="words")
    assert next_step(asked(["contradicting"] * 3, "words"), OURS).label == "contradicting"
    assert next_step(asked(["ambiguous"] * 3, "words"), OURS).label == "ambiguous"
    assert next_step(asked(["not_found"] * 3, "words"), OURS) == Step(do="search", look="search")
    assert next_step(asked(["not_found"] * 3, "search"), OURS) == Step(do="scan", look="scan")
    assert next_step(asked(["contradicting", "not_found", "timeout"], "search"), OURS).do == "arbitrate"
    assert next_step(asked(["not_found"] * 3, "scan"), OURS).do == "consult"
    near = OURS.model_copy(update={"looks": OURS.looks[:3]})
    assert next_step(asked(["not_found"] * 3, "words"), near) == Step(do="show", look="window")
    failed = asked(["timeout"] * 3, "window", appealed=True)
    ruling = judgement("q0", "arbiter", "contradicting", "window")
    assert next_step(failed, near).do == "arbitrate"
    assert next_step(failed.model_copy(update={"ruling": ruling}), near) == Step(do="show", look="words")


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
    assert route({"claims": claims}, run_with(plan)) == route({"claims": mixed}, run_with(plan))


@given(plans(), st.integers(1, 4), st.integers(1, 4), st.data(), st.booleans())
def test_a_group_only_takes_edges_that_the_graph_has(
    plan: Plan, count: int, size: int, data: st.DataObject, appeals: bool
) -> None:
    """Claims of one group wait for each other; whatever mixture of steps that makes, there is an edge, and an end."""
    sentences = [claim(n, unit="sentence", sure=data.draw(st.booleans())) for n in range(count)]
    claims, node = [appealing(n) for n in range(count)] if appeals else sentences, "__start__"
    run = run_with(plan, data.draw(st.integers(1, 2)))
    for _ in range(90):
        target = route({"claims": claims}, run)
        assert (node, target) in EDGES
        if target == "decompose":
            claims = list(asyncio.run(decompose({"claims": claims}, run))["claims"])
        else:
            claims = [worked(one, target, plan, data.draw, size) for one in claims]
        node = {"judge": "vote", "localise": "__start__"}.get(target, target)
        if all(next_step(one, plan).do in ("settle", "nothing") for one in claims):
            return
    raise AssertionError("the group never ends")


def appealing(n: int) -> ClaimState:
    """A sentence whose parts were cleared, before the arbiter."""
    state = claim(n, looks=("place",), appealed=True)
    return state.with_question(question(f"appeal{n}", "place"))


def worked(state: ClaimState, node: str, plan: Plan, draw: Any, size: int) -> ClaimState:
    """A claim after a node of its group, or after what is done for all groups once this one left."""
    step = next_step(state, plan)
    ended = step.do in ("settle", "nothing")
    return state if ended or NODES.get(step.do, "localise") != node else done(step, state, plan, draw, size)


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
