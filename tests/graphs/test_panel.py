"""The order of asking: at one endpoint the first question of shared evidence is awaited, the rest follow."""

import asyncio

import pytest
from scripted import ScriptedJudge

from longproof.agent.types import Answered, Case, Claim, Judgement, Question
from longproof.graphs.panel import Cascade, ask_panel, ask_until_clear, complete
from longproof.retrieval.types import Document, Span

SOURCE = Document.of("One lamp. Two boats. Three bridges.")
RESPONSE = Document.of("a b c d")
CLAIMS = {
    f"c{i}": Claim(id=f"c{i}", index=i, sentence=0, text="x", origin=RESPONSE.span(2 * i, 2 * i + 1))
    for i in range(4)
}
CASE = Case(id="x", response=RESPONSE.text)


def question(number: int, start: int, end: int) -> Question:
    shown = (SOURCE.span(start, end),)
    return Question(id=f"q{number}", claim_ids=(f"c{number}",), shown=shown, look="window", prompt="judge")


class Served(ScriptedJudge):
    """A judge at an endpoint that notes when a question comes and when it is answered."""

    def __init__(self, name: str, endpoint: str, log: list[tuple[str, str, str]]) -> None:
        super().__init__(name, "not_found")
        self.endpoint = endpoint
        self._log = log

    async def judge(self, question, claims, case) -> Answered:
        self._log.append(("comes", self.endpoint, question.id))
        await asyncio.sleep(0.01)
        self._log.append(("goes", self.endpoint, question.id))
        return await super().judge(question, claims, case)


def asked(judges, questions):
    return asyncio.run(ask_panel(judges, questions, CLAIMS, CASE))


def test_of_shared_evidence_at_one_endpoint_the_first_is_awaited():
    log: list[tuple[str, str, str]] = []
    judges = [Served(f"j{i}", "here", log) for i in range(3)]
    answers = asked(judges, [question(0, 0, 9), question(1, 0, 9)])
    assert len(answers) == 6
    assert [word for word, _, _ in log] == ["comes", "goes"] + ["comes"] * 5 + ["goes"] * 5


def test_other_evidence_and_other_endpoints_wait_for_nobody():
    log: list[tuple[str, str, str]] = []
    judges = [Served("a", "here", log), Served("b", "there", log)]
    asked(judges, [question(0, 0, 9), question(1, 10, 20)])
    assert [word for word, _, _ in log] == ["comes"] * 4 + ["goes"] * 4


def test_the_last_of_a_panel_are_shown_the_places_of_what_is_left_and_what_was_cited():
    shown = tuple(SOURCE.span(*at) for at in ((0, 9), (10, 20), (21, 35)))
    about = {"claim_ids": ("c0", "c1"), "shown": shown, "lines": ((4, 5, 6),)}
    asking = Question(id="q", look="place", prompt="judge", **about)
    says = lambda question, claim: "contradicting" if claim.id == "c0" else "no_fact"  # noqa: E731
    judges = [ScriptedJudge(f"j{i}", says) for i in range(3)]
    answers = asyncio.run(ask_until_clear(judges, 2, [asking], CLAIMS, CASE, {"c0": (5,)}))
    assert all(answer.judgements for answer in answers)
    assert [(q.claim_ids, q.numbers) for q in judges[2].heard] == [(("c0",), (4, 5))]


@pytest.mark.parametrize("cascade", [None, Cascade(0)])
def test_what_a_spent_budget_kept_from_the_first_is_not_put_to_the_others(cascade):
    judges = [ScriptedJudge("a", "over_budget"), ScriptedJudge("b", "no_fact")]
    answers = asyncio.run(ask_until_clear(judges, 1, [question(0, 0, 9)], CLAIMS, CASE, {}, cascade))
    assert judges[1].heard == []
    assert all(answer.judgements for answer in answers), "nobody is asked about no claims"
    assert [j.failure for answer in answers for j in answer.judgements] == ["over_budget"] * 2


def said(question: Question, *labels: str, quotes: tuple[Span, ...] = ()) -> Answered:
    words = [
        Judgement(claim_id="c0", judge="j", round="window", question_id="q0", label=label, quotes=quotes)
        for label in labels
    ]
    return complete(Answered(words, []), "j", question)


def test_a_judge_that_says_the_same_four_times_has_one_vote():
    (word,) = said(question(0, 0, 9), *["no_fact"] * 4).judgements
    assert word.label == "no_fact"


def test_a_judge_that_says_two_things_of_one_claim_contradicts_itself():
    (word,) = said(question(0, 0, 9), "no_fact", "not_found").judgements
    assert word.failure == "self_contradicted"


@pytest.mark.parametrize(("start", "failure"), [(10, "ungrounded"), (8, None)])
def test_a_judge_that_quotes_only_what_was_not_shown_has_failed(start, failure):
    quotes = (SOURCE.span(start, 14),)
    (word,) = said(question(0, 0, 9), "explicitly_supported", quotes=quotes).judgements
    assert word.failure == failure


def test_words_on_other_questions_and_claims_are_left_out():
    answer = Answered(
        [Judgement(claim_id="c1", judge="j", round="window", question_id="q0", label="no_fact")], []
    )
    (word,) = complete(answer, "j", question(0, 0, 9)).judgements
    assert (word.claim_id, word.failure) == ("c0", "unavailable")
