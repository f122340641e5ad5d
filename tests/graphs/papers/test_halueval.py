"""HaluEval (seed 003) through the graph: one call a response, yes or no, knowledge only where the row gives it."""

from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import END, SPLIT, traced, verifier
from reader import Asked, Reader

from longproof import Verifier
from longproof.graphs.papers import all_papers
from longproof.retrieval.types import BadInput

KNOWLEDGE = "The Orla bridge was opened in 1911. It is 340 metres long."
ASKED = "When was the Orla bridge opened?"
RIGHT, MADE_UP = "It was opened in 1911.", "It was opened in 1921. It was built by two brothers."
ROWS = [one.name for one in all_papers() if one.name.startswith("halueval-")]
PATTERNS = {
    "qa": ("Comprehension", "Factualness", "Specificity", "Inference"),
    "dialogue": ("Extrinsic, soft", "Extrinsic, hard", "Extrinsic, grouped"),
    "summary": ("Factual", "Non-factual", "Intrinsic"),
    "general": ("Unverifiable", "Non-factual", "Irrelevant"),
}


def word(asked: Asked) -> str:
    return "yes" if asked.parts("response") == [MADE_UP] else "no"


def contrasted(asked: Asked) -> dict[str, Any]:
    return {"hallucinated": "first" if asked.parts("first") == [MADE_UP] else "second"}


SCRIPT = Reader(
    Recognition=lambda asked: {"answer": word(asked).title()},
    ReasonedRecognition=lambda asked: {"reasoning": "Step by step.", "answer": word(asked)},
    Contrast=contrasted,
)


def checked(protocol: str, response: str, home: Path) -> tuple[Any, list[str], Asked]:
    source = "" if protocol.startswith("halueval-general") else KNOWLEDGE
    other = RIGHT if response == MADE_UP else MADE_UP
    with ChatServer(SCRIPT) as server:
        report, path, _ = traced(
            verifier(server, home, protocol), source, response, context=ASKED, task="answer", reference=other
        )
        (asked,) = server.asked
    return report, path, asked


@pytest.mark.parametrize(
    ("protocol", "response"),
    [*((row, MADE_UP) for row in ROWS if row.count("-") == 1), *((row, RIGHT) for row in ROWS[::3])],
)
def test_one_call_says_yes_or_no(protocol: str, response: str, tmp_path: Path) -> None:
    report, path, asked = checked(protocol, response, tmp_path)
    assert path == [*SPLIT, *END]
    expected = "fabricated" if response == MADE_UP else "implicitly_supported"
    assert [sentence.label for sentence in report.sentences] == [expected] * len(report.sentences)
    assert report.verdict == ("hallucinated" if response == MADE_UP else "faithful")
    assert asked.body["temperature"] == 0
    assert report.stamp["coarse"] is True


@pytest.mark.parametrize("protocol", ROWS)
def test_what_is_shown_is_what_the_row_says(protocol: str, tmp_path: Path) -> None:
    report, _, asked = checked(protocol, MADE_UP, tmp_path)
    assert report.verdict == "hallucinated"
    _, task, *variant = protocol.split("-")
    shows = task == "summary" or variant == ["knowledge"]
    assert asked.parts("evidence") == ([KNOWLEDGE] if shows else [])
    assert (KNOWLEDGE in asked.user) == shows
    assert asked.parts("context") == ([] if task == "summary" else [ASKED])
    assert {j.round for claim in report.claims for j in claim.judgements} == {
        "source" if shows else "nothing"
    }
    assert all(f"{pattern}:" in asked.system for pattern in PATTERNS[task])
    assert asked.system.count("hallucinated: yes") == len(PATTERNS[task]), "one demonstration a pattern"
    assert ("reasoning" in asked.user) == (variant == ["cot"])
    assert sorted(asked.parts("first") + asked.parts("second")) == (
        sorted([RIGHT, MADE_UP]) if variant == ["contrast"] else []
    )


def test_there_are_the_variants_of_table_9() -> None:
    assert sorted(ROWS) == sorted(
        [f"halueval-{task}" for task in PATTERNS]
        + [f"halueval-{task}-cot" for task in PATTERNS]
        + [f"halueval-{task}-knowledge" for task in ("qa", "dialogue")]
        + [f"halueval-{task}-contrast" for task in ("qa", "dialogue", "summary")]
    )


@pytest.mark.parametrize("answer", ["perhaps", "Yes and no", ""])
def test_another_word_is_a_failure_after_one_call(answer: str, tmp_path: Path) -> None:
    with ChatServer(Reader(Recognition={"answer": answer})) as server:
        report = verifier(server, tmp_path, "halueval-qa").verify(KNOWLEDGE, RIGHT, context=ASKED)
        assert len(server.asked) == 1
    assert (report.claims[0].label, report.claims[0].failure) == (None, "unparsed")


def test_what_is_missing_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="halueval-qa needs judges that read"):
        Verifier(protocol="halueval-qa", home=str(tmp_path)).verify(KNOWLEDGE, RIGHT)
    with (
        ChatServer(SCRIPT) as server,
        pytest.raises(BadInput, match="needs the right text beside the response"),
    ):
        verifier(server, tmp_path, "halueval-qa-contrast").verify(KNOWLEDGE, RIGHT)
