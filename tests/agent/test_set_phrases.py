"""What states no fact is a closed list; and exit 0 means that the source bears out every sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedJudge, WholeSentences

from longproof import Report, Verifier
from longproof.agent.report import _set_phrases, is_set_phrase, not_borne_out
from longproof.cli.verify import exit_code

SOURCE = "Thea lit the lamp. Thea sold the boat to her father."


@pytest.mark.parametrize(
    "sentence",
    ["I hope this helps!", "  HERE’S A SUMMARY: ", "希望對您有幫助。", "以上就是全部內容", "“Thank you.”"],
)
def test_a_set_phrase_is_known_in_any_case_script_and_marks(sentence: str) -> None:
    assert is_set_phrase(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I hope this shows how Thea poisoned her father.",
        "Thank you for reading how Thea died.",
        "In summary, Thea died.",
        "希望这说明了西娅毒死了父亲。",
        "Of course.",
        "当然。",
        "",
        "...",
    ],
)
def test_a_courtesy_that_tells_a_fact_is_none(sentence: str) -> None:
    assert not is_set_phrase(sentence)


@given(st.sampled_from(sorted(_set_phrases())), st.text(alphabet="abcxyz火水", min_size=1))
def test_no_phrase_with_a_word_more_is_one(phrase: str, more: str) -> None:
    longer = f"{phrase} {more}"
    assert not is_set_phrase(longer) or longer in _set_phrases()


def checked(response: str, label: str = "no_fact", **settings: bool) -> Report:
    judge = ScriptedJudge("scripted", label)
    return Verifier(judges=[judge], decomposer=WholeSentences(), **settings).verify(SOURCE, response)


@pytest.mark.parametrize(
    ("response", "label", "settings", "code", "says"),
    [
        ("I hope this shows how Thea poisoned her father.", "no_fact", {}, 3, "; 1 states no fact"),
        ("Thea is hope. Hope is Thea.", "no_fact", {}, 3, "; 2 state no fact"),
        ("Thea is hope.", "no_fact", {"may_state_no_fact": True}, 0, "in 1 sentences"),
        ("Thea lit the lamp. I hope this helps!", "explicitly_supported", {}, 0, "in 2 sentences"),
        ("Thea lit the lamp.", "explicitly_supported", {}, 0, "in 1 sentences"),
    ],
)
def test_exit_0_under_check_means_that_the_source_bears_it_out(
    response: str, label: str, settings: dict[str, bool], code: int, says: str
) -> None:
    report = checked(response, label, **settings)
    assert report.verdict == "faithful", "what the evaluation counts stays"
    assert exit_code(report) == code
    assert says in report.markdown()


def test_what_saved_pages_alone_bear_out_is_named_beside_a_source() -> None:
    report = checked("Thea lit the lamp.", "explicitly_supported")
    claim = report.claims[0].model_copy(update={"label": "out_dependent"})
    by_pages = report.model_copy(update={"claims": (claim,)})
    assert not_borne_out(by_pages).pages == (0,)
    assert exit_code(by_pages) == 3
    assert "1 rests on saved pages alone" in by_pages.markdown()
    sourceless = by_pages.model_copy(update={"documents": by_pages.documents[:1]})
    assert exit_code(sourceless) == 0
