"""`longproof.testing`: what passes, and what a failing test prints."""

import pytest
from embedded import RESPONSE, SOURCE
from scripted import ScriptedJudge, WholeSentences

from longproof import BadInput
from longproof.testing import assert_faithful


def judge(word: str) -> ScriptedJudge:
    return ScriptedJudge("scripted", word)


def check(word: str, **given: object) -> object:
    whole = {"source": SOURCE, "judge": judge(word), "decomposer": WholeSentences(), **given}
    return assert_faithful(RESPONSE, **whole)


def test_a_faithful_response_passes_and_its_report_is_at_hand(tmp_path):
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    assert check("explicitly_supported").verdict == "faithful"
    assert check("", source=tmp_path / "source.txt", judge=[judge("explicitly_supported")])


def test_a_failure_reads_as_claims_with_what_the_source_says_and_what_nobody_decided_fails():
    with pytest.raises(AssertionError) as failed:
        assert_faithful("Tom sold the boat to Ada for thirty pounds.", source=SOURCE, judge="offline")
    head, notice, *claim = str(failed.value).splitlines()
    says = (
        "0 of 1 claims stand there, 1 needs a model, 1 has a hint; every sentence must be at least ambiguous"
    )
    assert head == f"undecided: {says}"
    assert "No model has read this" in notice
    assert claim[:2] == [
        "? undecided (needs a model): Tom sold the boat to Ada for thirty pounds.",
        "    the source says twenty here, not thirty",
    ]
    with pytest.raises(AssertionError, match=r"undecided.*\n.*\n. undecided \(needs a model\): Ada"):
        assert_faithful("Ada was lonely.", source=SOURCE, judge="offline", at_least="contradicting")


def test_the_label_that_passes_can_be_chosen():
    assert check("implicitly_supported", at_least="implicitly_supported")
    with pytest.raises(AssertionError, match="must be at least explicitly_supported"):
        check("implicitly_supported", at_least="explicitly_supported")
    with pytest.raises(BadInput, match="no label 'true'"):
        check("implicitly_supported", at_least="true")
