"""What judges are called, and that each and every step is explained."""

from typing import get_args

import pytest

from longproof.agent.types import DecidedBy, Round
from longproof.report.judges import judge_names, judge_told
from longproof.report.words import words

LONG = "openai:deepseek-ai/DeepSeek-R1@http://127.0.0.1:8000/v1"


def test_a_model_is_called_by_its_own_name():
    given = ["openai:gpt-4.1", LONG, "nli:org/model", "offline", "person:Ines"]
    assert list(judge_names(given).values()) == [
        "gpt-4.1",
        "DeepSeek-R1",
        "nli:org/model",
        "offline",
        "person:Ines",
    ]


def test_two_judges_are_never_called_the_same():
    other = LONG.replace("8000", "9000")
    assert judge_names([LONG, other]) == {LONG: LONG, other: other}
    assert set(judge_names([LONG, f"arbiter:{LONG}"]).values()) == {"DeepSeek-R1"}
    assert judge_names(["openai:a", "a", "", "openai:"]) == {
        "openai:a": "openai:a",
        "a": "a",
        "": "",
        "openai:": "openai:",
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_judge_and_step_is_explained(language):
    say = words(language)
    assert all(say[f"{step}_is"] for step in (*get_args(Round), *get_args(DecidedBy)))
    kinds = {judge_told(name, say) for name in (LONG, "nli:m", "offline", "person:Ines", "mine")}
    assert len({told.partition(say["colon"])[0] for told in kinds}) == 5
    assert judge_told(f"arbiter:{LONG}", say).endswith(LONG)
