"""What all papers share: units that lose nothing, panels of language models, a table of names, what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from counted import assert_linear
from fakes import ChatServer
from hypothesis import given
from hypothesis import strategies as st
from papers import seats, verifier
from reader import PROSE, Asked, Reader
from scripted import ScriptedArbiter, ScriptedJudge

from longproof import Verifier
from longproof.agent.types import Case, Looked
from longproof.graphs.papers import PAPERS
from longproof.graphs.papers.data_to_text import Steps
from longproof.graphs.papers.paper import PaperRun, PaperState
from longproof.graphs.papers.runner import cut
from longproof.retrieval.loaders import record
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput

SOURCE = "The lamp was lit at nine. Ada sold the boat to Tom. The bridge fell in March. Nobody was hurt."
RESPONSE = "Ada sold the boat to Tom. The bridge fell in March."
NAMED = {one.name: one for one in PAPERS}
BY_UNIT = {"sentence": "verigray", "segment": "longnovel-rag", "response": "probe-direct"}


def cut_into(unit: str, text: str) -> PaperState:
    run: Any = PaperRun(NAMED[BY_UNIT[unit]], None, lambda event: None)  # type: ignore[arg-type]
    return asyncio.run(cut({"case": Case(id="x", response=text)}, run))


@given(st.text(alphabet="ab .!?。！\n我", min_size=1, max_size=80), st.sampled_from(sorted(BY_UNIT)))
def test_every_sentence_lies_in_exactly_one_unit(text: str, unit: str) -> None:
    made = cut_into(unit, text)
    claims = [one.claim for one in made["units"]]
    places = sentences(text)
    for start, end in places:
        assert sum(c.origin.start <= start and end <= c.origin.end for c in claims) == 1
    for claim in claims:
        assert text[claim.origin.start : claim.origin.end] == claim.text
        start, end = places[claim.sentence]
        assert start <= claim.origin.start < end


def test_the_time_grows_with_the_units_not_with_their_square() -> None:
    assert_linear(lambda size: cut_into("sentence", "Ada ran. " * size), 500)


def test_the_papers_numbers_are_theirs() -> None:
    assert NAMED["probe"].consensus == 0.75
    assert NAMED["longnovel-arbitration"].consensus == 1
    warm = {one.name: one.temperature for one in PAPERS if one.temperature}
    assert warm == {"verigray": 0.6, "verigray-rag": 0.6}
    assert [one.name for one in PAPERS if one.asks_again] == ["data-to-text"]
    assert [one.name for one in PAPERS if not one.coarse] == ["verigray", "verigray-rag"]


MODELS: list[Any] = ["openai:a@http://m/v1", "openai:b@http://m/v1"]
NO_PERSON, NO_MODELS = "verigray asks a whole panel and no person", "needs judges that are language models"
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("probe", {"judges": None}, {}, "probe needs judges that read: give --judge openai:MODEL"),
    ("verigray", {"arbiter": "person"}, {}, NO_PERSON),
    ("verigray", {"cascade": True}, {}, NO_PERSON),
    ("probe", {"judges": [ScriptedJudge("j", "fabricated")]}, {}, NO_MODELS),
    ("verigray", {"judges": [ScriptedJudge("j", "fabricated")]}, {}, NO_MODELS),
    ("verigray", {"arbiter": ScriptedArbiter("fabricated")}, {}, NO_MODELS),
    ("halueval-qa-contrast", {}, {}, "needs the right text beside the response"),
    ("data-to-text", {}, {}, "data-to-text needs a JSON record"),
    ("verigray-audit", {}, {}, "needs a label for each sentence"),
    ("verigray-audit", {}, {"labels": ["no_fact"]}, "1 labels are given for 2 sentences"),
]


@pytest.mark.parametrize(("name", "settings", "given", "says"), REFUSED)
def test_what_a_method_needs_is_named(
    name: str, settings: Any, given: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=says):
        Verifier(**{"judges": MODELS, "protocol": name, "home": str(tmp_path), **settings}).verify(
            SOURCE, RESPONSE, **given
        )


@pytest.mark.parametrize("name", sorted(NAMED.keys() - {"data-to-text", "verigray-rag"}))
def test_an_answer_that_cannot_be_read_is_a_failure_after_one_asking(name: str, tmp_path: Path) -> None:
    more = {"labels": {"labels": ["contradicting"] * 2}, "reference": {"reference": "Ada sold the boat."}}
    given = {key: value for need in NAMED[name].needs for key, value in more.get(need, {}).items()}
    with ChatServer(lambda asked: PROSE) as server:
        report = verifier(server, tmp_path, name).verify(SOURCE, RESPONSE, **given)
    assert {(claim.label, claim.failure) for claim in report.claims} == {(None, "unparsed")}
    assert {claim.looked for claim in report.claims} == {Looked()}, "what nobody answered for was not read"
    forms = [(asked.form, asked.user) for asked in server.asked if asked.form != "Sentences"]
    assert len(forms) == len(set(forms)), "nothing is asked twice"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("contradicting", "explicitly_supported", "contradicting"), ("contradicting", None, "arbiter")),
        (("contradicting", "fabricated", "fabricated"), ("fabricated", None, "arbiter")),
        (("contradicting", "explicitly_supported", "doubtful"), (None, "unparsed", "nobody")),
        (("no_fact", "no_fact", "contradicting"), ("no_fact", None, "vote")),
    ],
)
def test_a_split_panel_goes_to_the_arbiter(labels: tuple[str, ...], expected: Any, tmp_path: Path) -> None:
    def option(asked: Asked) -> dict[str, Any]:
        """Each model says its own label of the first sentence, and one of the second."""
        first = asked.part("passage") in RESPONSE[:30]
        return {"facts": [], "label": labels[int(asked.body["model"][1:])] if first else "no_fact"}

    with ChatServer(Reader(Option=option)) as server:
        *judges, arbiter = seats(server, 3)
        report = Verifier(judges, arbiter, protocol="verigray", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    decided = [(claim.label, claim.failure, claim.decided_by) for claim in report.claims]
    assert decided == [expected, ("no_fact", None, "vote")]
    assert len(server.asked) == 4 + (expected[2] != "vote")


def test_a_report_has_the_judgements_in_the_order_of_the_panel(tmp_path: Path) -> None:
    says = Reader(Option={"facts": [], "label": "no_fact"})
    with ChatServer(says) as here, ChatServer(says) as there:
        judges = [f"openai:m@{server.address}" for server in (here, there, here)]
        report = Verifier(judges, protocol="verigray", home=str(tmp_path)).verify(SOURCE, RESPONSE)
    names = [*judges[:2], f"{judges[2]}#2"]
    assert [[one.judge for one in claim.judgements] for claim in report.claims] == [names] * 2


def test_a_list_of_what_is_no_piece_is_asked_for_once_more_where_the_paper_asks_again(tmp_path: Path) -> None:
    article = "The lighthouse is 41 metres high. Prisoners built it."

    def listed(asked: Asked) -> dict[str, Any]:
        pieces = [article] if asked.number == 0 else ["41 metres high"]
        return {"reasoning": dict.fromkeys(Steps.model_fields, "done"), "hallucination_list": pieces}

    with ChatServer(Reader(Article=listed)) as server:
        report = verifier(server, tmp_path, "data-to-text").verify(record('{"height_m":  31}'), article)
    first, again = server.asked
    assert first.parts("evidence") == ['{"height_m":  31}'], "the record as it was given"
    assert "C1: ungrounded" in again.user
    assert [error.span.text for error in report.claims[0].errors] == ["41 metres high"]
