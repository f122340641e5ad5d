"""A response that is its source, word for word: nobody has to be asked, whatever stands in it."""

import pytest
from fakes import ChatServer
from reader import well
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.report.saved import refuse_damaged

TEXT = """# The Lamp on the Hill

Chapter 2

Ada lit the lamp at nine. "Who is there?" she said. Tom sold these things:

* The boat.
* Ha.

Yes. Nobody went to the mill after that."""
TEXT_ZH = "山上的灯\n\n阿达在九点点亮了灯。“谁在那里？”她问。\n\n第二章\n\n好的。后来没有人去磨坊。"
SAID = ["no_fact", "explicitly_supported", "contradicting"]


@pytest.mark.parametrize("text", [TEXT, TEXT_ZH])
@pytest.mark.parametrize(
    "judges", [["offline"], [ScriptedJudge(f"j{n}", said) for n, said in enumerate(SAID)]]
)
def test_identical_texts_are_faithful_to_each_other(text: str, judges: list[object]) -> None:
    report = Verifier(judges).verify("\n\n" + text, text + "\n")
    assert report.verdict == "faithful"
    assert {(claim.label, claim.decided_by) for claim in report.claims} == {("explicitly_supported", "rule")}
    for claim in report.claims:
        assert [span.text for span in claim.evidence] == [claim.origin.text]


@pytest.mark.parametrize("text", [TEXT, TEXT_ZH, "Yes.", "# Title"])
def test_no_model_is_asked_even_for_claims_and_a_text_without_any_is_faithful_to_itself(text: str) -> None:
    with ChatServer(well) as server:
        for judges in (["offline"], [f"openai:m@{server.address}"]):
            report = Verifier(judges).verify(text, text)
            assert report.verdict == "faithful"
            assert {sentence.label for sentence in report.sentences} == {"explicitly_supported"}
            assert report.stamp["decomposer"] == "offline"
            refuse_damaged(report)
    assert server.asked == []


def test_one_other_word_and_the_judges_are_asked() -> None:
    judge = ScriptedJudge("j", "explicitly_supported")
    Verifier([judge]).verify(TEXT, TEXT.replace("nine", "ten"))
    assert judge.heard
    assert Verifier().verify(TEXT, TEXT.replace("nine", "ten")).verdict == "undecided"
