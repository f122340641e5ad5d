"""The plain question: one prompt with all of the source and all sentences; what isn't listed is supported."""

from pathlib import Path

from fakes import ChatServer
from papers import END, SPLIT, asked_for, traced, verifier
from reader import Reader

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
