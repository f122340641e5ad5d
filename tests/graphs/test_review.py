"""Disputes left to a person: asked once for all, answers checked, applied, and shown by name."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import ValidationError
from scripted import ScriptedArbiter, ScriptedJudge, WholeSentences

from longproof.agent.types import Report
from longproof.graphs.run import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.verify import verify_graph

SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. The bridge fell in March."
RESPONSE = "The lamp was lit at ten. Ada sold the boat to Ben. The bridge fell in March."
SEATS = ["j0", "j1", "j2"]
WORDS = ["contradicting", "explicitly_supported", "not_found"]
THREAD = {"configurable": {"thread_id": "1"}}


def judges(pages="not_found"):
    def seat(word):
        def script(question, claim):
            if question.look == "pages":
                return pages if isinstance(pages, str) else pages[word]
            return "explicitly_supported" if claim.sentence == 2 else word

        return script

    return [ScriptedJudge(name, seat(word)) for name, word in zip(SEATS, WORDS, strict=True)]


def word(claim_id, label, **more):
    return {"claim_id": claim_id, "label": label, **more}


class Desk:
    """A run that stopped where a person is needed, or ended where nobody is."""

    def __init__(self, panel=None, **settings):
        self.arbiter = ScriptedArbiter("explicitly_supported")
        pool = Pool(panel or judges(), self.arbiter, WholeSentences())
        self.graph = verify_graph(pool, checkpointer=InMemorySaver())
        self.settings = Settings(arbiter="person", **settings)
        self.state = self.go({"source": SOURCE, "response": RESPONSE})

    def go(self, given):
        return asyncio.run(self.graph.ainvoke(given, THREAD, context=self.settings))

    def answer(self, *decisions, name="Ines"):
        return self.go(Command(resume={"name": name, "decisions": list(decisions)}))

    def report(self, *decisions, name="Ines"):
        report = self.answer(*decisions, name=name)["report"]
        assert isinstance(report, Report)
        return report


@pytest.fixture
def pages(tmp_path):
    (tmp_path / "boat.md").write_text("# Boats\n\nAda sold the boat to Ben in the harbour.", "utf-8")
    return str(tmp_path)


def test_one_interrupt_asks_about_every_dispute_with_evidence_reasons_and_a_form():
    desk = Desk()
    (asked,) = desk.state["__interrupt__"]
    assert [dispute["claim_id"] for dispute in asked.value] == ["s1", "s2"]
    first = asked.value[0]
    assert first["passage"] == "The lamp was lit at ten."
    assert SOURCE[:20] in first["shown"][0]
    assert [(one["judge"], one["label"]) for one in first["said"]] == [*zip(SEATS, WORDS, strict=True)]
    assert desk.arbiter.heard == []
    form = str(asked.response_schema)
    assert "'enum': ['s1', 's2']" in form
    assert "'contradicting'" in form


def test_decisions_stand_in_the_report_by_name_with_places_and_time():
    places = {"wrong": "ten", "correction": "nine", "reason": "See."}
    report = Desk().report(word("s1", "contradicting", **places), word("s2", "implicitly_supported"))
    first, second, third = report.claims
    assert (first.label, first.decided_by) == ("contradicting", "person")
    assert [(error.span.text, error.correction) for error in first.errors] == [("ten", "nine")]
    assert first.errors[0].span.start == RESPONSE.index("ten")
    assert first.judgements[0].judge == "person:Ines"
    assert len(first.judgements) == 4
    assert (second.label, second.decided_by, third.decided_by) == ("implicitly_supported", "person", "vote")
    (review,) = report.stamp["reviews"]
    assert (review["name"], review["claims"]) == ("Ines", ["s1", "s2"])
    assert review["at"].endswith("Z")
    assert report.stamp["arbiter"] == "person"


def test_without_disputes_nobody_is_asked_and_what_a_person_leaves_open_stays_undecided():
    report = Desk([ScriptedJudge(f"j{i}", "explicitly_supported") for i in range(3)]).state["report"]
    assert (report.verdict, report.stamp["reviews"]) == ("faithful", [])
    report = Desk().report(word("s2", "explicitly_supported"))
    first = report.claims[0]
    assert (first.label, first.failure, len(first.judgements)) == (None, "split", 3)
    assert report.verdict == "undecided"


def test_a_person_who_does_not_find_it_sends_it_to_the_pages_which_are_asked_about_again(pages):
    desk = Desk(judges(pages="out_dependent"), pages=pages)
    report = desk.report(word("s1", "fabricated"), word("s2", "not_found"))
    decided = [(claim.label, claim.decided_by) for claim in report.claims[:2]]
    assert decided == [("fabricated", "person"), ("out_dependent", "vote")]


def test_judges_that_are_split_about_the_pages_bring_the_claim_back_once(pages):
    said = {word: word for word in WORDS} | {"not_found": "ambiguous"}
    desk = Desk(judges(pages=said), pages=pages)
    (asked,) = desk.answer(word("s2", "not_found"))["__interrupt__"]
    assert [dispute["claim_id"] for dispute in asked.value] == ["s2"]
    assert "harbour" in asked.value[0]["shown"][-1]
    report = desk.report(word("s2", "not_found"), name="Tom")
    assert (report.claims[1].label, report.claims[1].decided_by) == ("fabricated", "person")
    assert [review["name"] for review in report.stamp["reviews"]] == ["Ines", "Tom"]


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ([word("s3", "contradicting")], "s1"),
        ([word("s1", "wrong")], "label"),
        ([word("s1", "contradicting", wrong="eleven")], "doesn't stand in the passage"),
        ([word("s1", "contradicting", correction="nine")], "s1: give the wrong words, too"),
        ([word("s1", "contradicting", wrong="ten", correction="Ten")], "s1: .* the same"),
        ([word("s2", "ambiguous", colour="red")], "colour"),
        ([word("s1", "ambiguous")] * 2, "decided twice"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused_and_a_good_one_still_taken(decisions, message):
    desk = Desk()
    with pytest.raises(ValidationError, match=message):
        desk.answer(*decisions)
    with pytest.raises(ValidationError, match="name"):
        desk.answer(word("s1", "ambiguous"), name="")
    assert desk.report(word("s1", "ambiguous")).claims[0].decided_by == "person"


def test_a_run_that_goes_on_before_check_with_other_settings_follows_them():
    async def work() -> tuple[str, bool]:
        judges = [ScriptedJudge("a", "explicitly_supported"), ScriptedJudge("b", "not_found")]
        pool = Pool(judges, ScriptedArbiter("explicitly_supported"))
        graph = verify_graph(pool, InMemorySaver())
        thread = {"configurable": {"thread_id": "fork"}}
        given = {"source": "In May Ada sold the boat to Tom.", "response": "Ada sold the boat to Tom."}
        usual = Settings(decomposer="offline", cache=False)
        first = await graph.ainvoke(given, thread, context=usual)
        history = [step async for step in graph.aget_state_history(thread)]
        before = next(step for step in history if set(step.next) == {"check"})
        strict = Settings(decomposer="offline", cache=False, arbiter="person")
        stopped = await graph.ainvoke(None, before.config, context=strict)
        await pool.close()
        return first["report"].verdict, "__interrupt__" in stopped

    assert asyncio.run(work()) == ("faithful", True)
