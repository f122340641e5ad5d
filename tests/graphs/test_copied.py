"""A response that is its source, word for word: nobody has to be asked, whatever stands in it."""

import pytest
from fakes import ChatServer
from reader import well
from scripted import ScriptedJudge

from longproof import Verifier
from longproof.agent.offline import OfflineJudge
from longproof.report.saved import refuse_damaged

TEXT = """# The Lamp on the Hill

Chapter 2

Ada lit the lamp at nine. "Who is there?" she said. Tom sold these things:

* The boat.
* Ha.

Yes. Nobody went to the mill after that."""
TEXT_ZH = "山上的灯\n\n阿达在九点点亮了灯。“谁在那里？”她问。\n\n第二章\n\n好的。后来没有人去磨坊。"


@pytest.mark.parametrize("text", [TEXT, TEXT_ZH, "Yes.", "# Title"])
def test_a_text_is_faithful_to_itself_and_nobody_is_asked_even_for_claims(text: str) -> None:
    with ChatServer(well) as server:
        for judges in (["offline"], [f"openai:m@{server.address}"], [ScriptedJudge("j", "contradicting")]):
            report = Verifier(judges).verify("\n\n" + text, text + "\n")
            assert (report.verdict, report.stamp["decomposer"]) == ("faithful", "offline")
            assert {sentence.label for sentence in report.sentences} == {"explicitly_supported"}
            assert (len(report.claims) > 1) == (text in (TEXT, TEXT_ZH))
            for claim in report.claims:
                assert (claim.label, claim.decided_by) == ("explicitly_supported", "rule")
                assert [span.text for span in claim.evidence] == [claim.origin.text]
            refuse_damaged(report)
    assert server.asked == []


def test_one_other_word_and_the_judges_are_asked() -> None:
    judge = ScriptedJudge("j", "explicitly_supported")
    Verifier([judge]).verify(TEXT, TEXT.replace("nine", "ten"))
    assert judge.heard
    for checks in (Verifier(), Verifier([OfflineJudge()])):
        report = checks.verify(TEXT, TEXT.replace("nine", "ten"))
        assert (report.triage, report.verdict) == (True, "undecided")
