"""What people read of the judges' reliability, and of convictions that were held back."""

from typing import Any

import pytest
from evaluated import scripted_report

from longproof.agent.trust.risk import RiskTaken
from longproof.agent.types import Report
from longproof.report.html import index_page
from longproof.report.saved import refuse_damaged
from longproof.report.summary import total_lines
from longproof.report.trust import trust_lines
from longproof.report.words import Language, words
from longproof.retrieval.types import BadInput

CLAIMS = [{"j0": n < 4, "j1": n < 4, "<b>j2": n < 6} for n in range(30)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_index_says_how_reliable_each_judge_is(language: Language) -> None:
    say = words(language)
    told = trust_lines([CLAIMS, CLAIMS], say)
    assert len(told) == 4
    assert "60" in told[0]
    assert "<b>j2" in told[1]
    assert all("%" in line for line in told[1:])
    assert trust_lines([[{"j0": True, "j1": False}] * 40], say) == [say["trust_unknown"]]
    assert trust_lines([[{"j0": True}] * 40], say) == []
    assert trust_lines([], say) == []


def report(**risk: Any) -> Report:
    made = scripted_report("He won. She lost.", ["explicitly_supported", None])
    return made.model_copy(update={"stamp": {"judges": ["j0"], "risk": risk}})


def test_a_report_says_what_was_held_back_and_what_risk_is_left() -> None:
    taken = {"convicted": 3, "asked": 2, "held": 1, "max_risk": 0.05, "rates": "file"}
    chances = {"chance_before": 0.288, "chance": 0.0475}
    full = report(**RiskTaken(**taken, **chances).model_dump())
    refuse_damaged(full)
    (line,) = [line for line in total_lines(full, words("en")) if "held back" in line]
    assert "3 claims called wrong, 2 of them asked about once more, 1 held back" in line
    assert "28.8%" in line
    assert "4.8%" in line
    assert "from a file" in line
    assert "a faithful text of 2 claims would" in line
    plain = total_lines(report(convicted=3, asked=3, held=0), words("zh"))
    assert any("其中 3 条再问一次" in line and "概率" not in line for line in plain)
    assert not any("failed" in line for line in total_lines(full, words("en")))
    unknown = total_lines(report(convicted=3, asked=3, held=0, max_risk=0.05), words("en"))
    assert any("their votes can't tell how reliable the judges are" in line for line in unknown)


def test_failed_confirming_questions_were_asked_too_and_one_is_spoken_of_as_one() -> None:
    several = total_lines(report(convicted=3, asked=1, held=0, failed=2), words("en"))
    assert any("3 of them asked about once more" in line for line in several)
    assert any("; for 2 that question failed, and they are undecided" in line for line in several)
    one = total_lines(report(convicted=1, asked=0, held=0, failed=1), words("en"))
    assert any("1 claim called wrong, 1 asked about once more, 0 held back" in line for line in one)
    assert any("; for 1 that question failed, and it is undecided" in line for line in one)
    zh = total_lines(report(convicted=1, asked=0, held=0, failed=1), words("zh"))
    assert any("其中 1 条再问一次" in line and "1 条再问失败" in line for line in zh)


def test_a_report_whose_risk_is_none_is_refused_and_an_index_without_votes_stays_silent() -> None:
    with pytest.raises(BadInput, match=r"stamp.risk is no estimate"):
        refuse_damaged(report(convicted=-1, asked=0, held=0))
    assert '"trust":[]' in index_page([("a.html", report(convicted=0, asked=0, held=0))])
