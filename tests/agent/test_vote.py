"""The laws of the vote; and of the cascade: what its first judge clears is mostly his alone."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st
from seam import claims_of

from longproof.agent.report import cleared_alone, reported_claim
from longproof.agent.types import LABELS, Case, Claim, Decision, JudgeLabel, Judgement, Question, ReportClaim
from longproof.agent.vote import FAITHFULNESS, ONE_IN, SIDES, final_label, may_decide, read_again, vote
from longproof.graphs.panel import Cascade, ask_until_clear, needed_to_clear
from longproof.retrieval.types import Document
from longproof.testing import ScriptedJudge

LABEL = st.sampled_from(get_args(JudgeLabel))
OUTCOME = st.one_of(LABEL, st.none())


def judgement(label: str | None, judge: str = "j") -> Judgement:
    failure = None if label else "timeout"
    return Judgement(
        claim_id="c0", judge=judge, round="window", question_id="q", label=label, failure=failure
    )


def tally(labels: list[str | None], consensus: float = 2 / 3):
    return vote([judgement(label, f"j{i}") for i, label in enumerate(labels)], consensus=consensus)


@given(st.lists(OUTCOME, max_size=9).flatmap(lambda xs: st.tuples(st.just(xs), st.permutations(xs))))
def test_the_order_of_judges_is_irrelevant(lists):
    given_order, shuffled = lists
    assert tally(given_order) == tally(shuffled)


@given(st.lists(OUTCOME, max_size=9), st.floats(0.1, 1))
def test_one_more_voice_for_the_winner_keeps_the_winner(labels, consensus):
    before = tally(labels, consensus)
    if before.label is not None:
        after = tally([*labels, before.label], consensus)
        assert (after.side, after.label) == (before.side, before.label)


@given(st.integers(0, 9))
def test_all_failed_is_undecided(size):
    assert tally([None] * size) == (None, None)


@given(st.lists(OUTCOME, min_size=1, max_size=8))
def test_a_failure_is_no_voice_but_stays_in_the_denominator(labels):
    assert tally([*labels, None], 1.0).label is None


def test_the_side_comes_before_the_label_and_a_tie_inside_it_goes_to_the_less_faithful():
    two = ["contradicting", "contradicting", "explicitly_supported"]
    assert (tally(two).label, tally([*two, None]).label) == ("contradicting", None), (
        "two of three, two of four"
    )
    labels = ["explicitly_supported", *["implicitly_supported", "contradicting"] * 2]
    assert tally(labels, 0.6).label == "implicitly_supported"
    assert tally(["explicitly_supported", "implicitly_supported"]).label == "implicitly_supported"
    assert tally(["fabricated", "out_dependent"]).label == "fabricated"


def test_every_judge_label_has_a_side_and_a_place():
    assert set(SIDES) == set(FAITHFULNESS) == set(get_args(JudgeLabel))
    assert {final_label(label) for label in get_args(JudgeLabel)} == set(LABELS)


def test_nobody_says_nowhere_before_having_looked():
    sides = ("supported", "no_fact", "contradicted", "ambiguous", "not_found")
    may = {
        look: [side for side in sides if may_decide(side, look, last=False)] for look in ("place", "window")
    }
    assert may == {"place": [*sides[:2]], "window": [*sides[:4]]}
    assert may_decide("not_found", "source", last=True)


CASE = Case(id="case", response="Ada lit the lamp at ten.")


def claims(count: int) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims_of(*(f"claim {n}" for n in range(count)))}


def judge(name: str, says: Mapping[str, str], other: str = "explicitly_supported") -> ScriptedJudge:
    return ScriptedJudge(name, lambda question, claim: says.get(claim.id, other))


SAID = st.sampled_from(["explicitly_supported", "no_fact", "not_found", None])


def question(held: Iterable[str], **about: Any) -> Question:
    return Question(id="q", claim_ids=tuple(held), **{"look": "place", "prompt": "judge", **about})


def said_by(judges: list[ScriptedJudge], needed: int, held: dict[str, Claim], *how: Any) -> list[Judgement]:
    """The judgements of a panel that asks until it is clear about all these claims."""
    answers = asyncio.run(ask_until_clear(judges, needed, [question(held)], held, CASE, {}, *how))
    return [one for answer in answers for one in answer.judgements]


def asked_of(one: ScriptedJudge) -> list[str]:
    return [id_ for question in one.heard for id_ in question.claim_ids]


@given(st.integers(1, 60), st.integers(0, 5), st.integers(0, 2**20))
def test_the_others_read_what_isnt_cleared_and_a_part_of_what_is(count: int, wrong: int, seed: int) -> None:
    doubted, held = {f"c{n}" for n in range(wrong)}, claims(count)
    first, second = judge("a", dict.fromkeys(doubted, "contradicting")), judge("b", {})
    said = said_by([first, second], 1, held, Cascade(seed))
    again = {id_ for id_, claim in held.items() if read_again(claim, CASE, seed)}
    assert set(asked_of(first)) == set(held)
    assert set(asked_of(second)) == (doubted & set(held)) | again
    assert len({(one.claim_id, one.judge) for one in said}) == len(said)


def test_of_a_question_about_many_places_a_drawn_claim_is_shown_its_own() -> None:
    source = Document.of("Ada lit it. Tom saw it. Nobody spoke. ")
    shown = tuple(source.span(*bounds) for bounds in ((0, 11), (12, 23), (24, 37)))
    held = claims(ONE_IN * 3)
    (drawn, *_), doubted = [c.id for c in held.values() if read_again(c, CASE, 0)], "c0"
    near = dict.fromkeys(held, (5,))
    first, second = judge("a", {doubted: "contradicting"}), judge("b", {})
    for look in ("place", "window"):
        asked = question([drawn, doubted], shown=shown, look=look, lines=((4, 5, 6),))
        asyncio.run(ask_until_clear([first, second], 1, [asked], held, CASE, near, Cascade(0)))
    heard = [(q.claim_ids, q.numbers) for q in second.heard]
    assert heard[:2] == [((doubted,), (4, 5, 6)), ((drawn,), (5,))]
    assert second.heard[-1].shown == shown


def test_about_one_in_twenty_is_read_again_and_the_same_ones_each_time() -> None:
    held = claims(4000).values()
    drawn = [claim.id for claim in held if read_again(claim, CASE, 7)]
    assert drawn == [claim.id for claim in held if read_again(claim, CASE, 7)]
    assert drawn != [claim.id for claim in held if read_again(claim, CASE, 8)]
    assert 4000 / ONE_IN * 0.7 < len(drawn) < 4000 / ONE_IN * 1.3


def report_claim(label: Any, said: Mapping[str, Any]) -> ReportClaim:
    given = {"claim_id": "c0", "round": "place", "question_id": "q"}
    judged = [Judgement(judge=name, label=word, **given) for name, word in said.items()]
    return reported_claim(claims(1)["c0"], judged, Decision(label=label, decided_by="vote"), "q")


def test_what_was_cleared_alone_read_again_and_overturned_is_counted() -> None:
    good, bad = "explicitly_supported", "contradicting"
    alone = [report_claim(good, {"a": good})] * 190
    again = [report_claim(label, {"a": good, "b": bad, "c": bad}) for label in (bad, *[good] * 9)]
    found = cleared_alone([*alone, *again, report_claim(bad, {"a": bad, "b": bad})], "a")
    assert (found.cleared, found.again, found.overturned) == (190, 10, 1)


def test_a_sentence_that_the_first_judge_failed_to_judge_is_put_to_the_others_as_it_stands() -> None:
    held = claims(2)
    first, second = judge("a", {"c0": "unavailable", "c1": "contradicting"}), judge("b", {})
    said_by([first, second], 1, held, Cascade(0, held))
    assert asked_of(second) == ["c0"]


@given(st.integers(1, 7), st.floats(0.05, 1), st.lists(st.tuples(*[SAID] * 7), min_size=1, max_size=6))
def test_what_the_last_of_a_panel_are_not_asked_they_could_not_change(
    panel: int, consensus: float, said: list[list[JudgeLabel | None]]
) -> None:
    held = claims(len(said))
    rules = [{f"c{n}": words[seat] or "unavailable" for n, words in enumerate(said)} for seat in range(panel)]
    judges = [judge(f"j{seat}", rule) for seat, rule in enumerate(rules)]
    needed = needed_to_clear(panel, consensus)
    told = said_by(judges, needed, held)
    for n, words in enumerate(said):
        heard = [j for j in told if j.claim_id == f"c{n}"]
        sides = {SIDES[word] if word else None for word in words[:needed]}
        clear = sides in ({"supported"}, {"no_fact"})
        assert len(heard) == (needed if clear else panel)
        if clear:
            whatever = [j.model_copy(update={"label": None, "failure": "timeout"}) for j in heard]
            everybody = [*heard, *whatever[: panel - needed]]
            assert vote(heard, consensus=consensus).side == vote(everybody, consensus=consensus).side in sides
