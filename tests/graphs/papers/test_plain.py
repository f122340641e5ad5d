"""The plain question: one prompt with all of the source and all sentences; what isn't listed is supported."""

from pathlib import Path
from typing import Any

import pytest
from fakes import ChatServer
from papers import END, SPLIT, asked_for, traced, verifier
from reader import Reader

from longproof.agent.types import Report
from longproof.retrieval.types import BadInput

SOURCE = (
    "The lamp was lit at nine. Ada sold the boat to Tom. "
    + "Rain fell on the weir. " * 40
    + "Nobody was hurt."
)
SENTENCES = [
    "Ada sold the boat to Tom.",
    "The lamp was lit at ten.",
    "Tom bought a horse as well.",
    "It rained.",
]
RESPONSE = " ".join(SENTENCES)


def wrong(sentence: str, label: str, words: str) -> dict[str, str]:
    return {"sentence": sentence, "reason": "The source says so.", "label": label, "words": words}


def checked(
    home: Path, said: Any, response: str = RESPONSE, count: int = 1, **case: Any
) -> tuple[Report, int]:
    with ChatServer(Reader(WrongSentences={"wrong": said})) as server:
        report = verifier(server, home, "plain", count).verify(SOURCE, response, **case)
        return report, len(server.asked)


def test_all_sentences_and_all_of_the_source_stand_in_one_prompt(tmp_path: Path) -> None:
    said = [wrong("S2", "contradicting", "ten"), wrong("S3", "fabricated", "bought a horse")]
    with ChatServer(Reader(WrongSentences={"wrong": said})) as server:
        report, path, _ = traced(verifier(server, tmp_path, "plain"), SOURCE, RESPONSE, context="Summarise.")
        (asked,) = asked_for(server, "WrongSentences")
    assert path == [*SPLIT, *END]
    assert asked.parts("evidence") == [SOURCE]
    assert asked.parts("context") == ["Summarise."]
    assert [item["text"] for item in asked.items("sentences")] == SENTENCES
    labels = ["implicitly_supported", "contradicting", "fabricated", "implicitly_supported"]
    assert [claim.label for claim in report.claims] == labels
    assert [error.span.text for claim in report.claims for error in claim.errors] == ["ten", "bought a horse"]
    assert report.claims[1].judgements[0].reason == "The source says so."


def test_a_long_response_is_still_one_question(tmp_path: Path) -> None:
    response = " ".join(f"Boat {n} was sold to Tom." for n in range(60))
    report, calls = checked(tmp_path, [wrong("S60", "fabricated", "Boat 59")], response)
    assert calls == 1
    assert [claim.label for claim in report.claims] == ["implicitly_supported"] * 59 + ["fabricated"]


def test_nothing_listed_is_faithful_and_the_worst_of_two_entries_counts(tmp_path: Path) -> None:
    assert checked(tmp_path / "none", [])[0].verdict == "faithful"
    twice = [wrong("S3", "fabricated", "a horse"), wrong("S3", "contradicting", "as well")]
    claim = checked(tmp_path / "twice", twice)[0].claims[2]
    assert claim.label == "contradicting"
    assert [error.span.text for error in claim.errors] == ["a horse", "as well"]


def test_words_that_the_sentence_lacks_mark_all_of_it(tmp_path: Path) -> None:
    report, _ = checked(tmp_path, [wrong("S2", "contradicting", "at eleven")])
    assert [error.span.text for error in report.claims[1].errors] == [SENTENCES[1]]


@pytest.mark.parametrize(
    ("entry", "undecided"),
    [(wrong("S2", "doubtful", "ten"), [1]), (wrong("the second one", "contradicting", "ten"), [0, 1, 2, 3])],
)
def test_an_answer_off_the_menu_decides_nothing(entry: Any, undecided: list[int], tmp_path: Path) -> None:
    report, calls = checked(tmp_path, [entry])
    assert calls == 1
    assert [n for n, claim in enumerate(report.claims) if claim.failure == "unparsed"] == undecided
    assert report.verdict == "undecided"


def test_a_panel_votes_sentence_by_sentence(tmp_path: Path) -> None:
    report, calls = checked(tmp_path, [wrong("S2", "contradicting", "ten")], count=3)
    assert calls == 3
    assert [len(claim.judgements) for claim in report.claims] == [3] * 4


def test_without_a_model_it_says_so(tmp_path: Path) -> None:
    from longproof import Verifier

    with pytest.raises(BadInput, match="plain needs judges that"):
        Verifier(protocol="plain", home=str(tmp_path)).verify(SOURCE, RESPONSE)
