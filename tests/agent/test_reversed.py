"""Statements that reverse or alter what a source says: none of them stands there, none is called faithful."""

from collections.abc import Iterator

import pytest
from asked import judgement

from longproof import Verifier

TOLD = {
    "Cain was killed by Abel in the field.": [
        "Cain killed Abel in the field.",
        "Abel was killed by Cain in the field.",
        "Cain was not killed by Abel in the field.",
        "Cain was killed by Abel.",
    ],
    "The temperature on the summit was −5 degrees at noon.": [
        "The temperature on the summit was 5 degrees at noon.",
        "The temperature on the summit was -5 degrees at noon.",
        "The temperature on the summit was +5 degrees at noon.",
        "The temperature on the summit was −5 degrees.",
    ],
    "If the rent is paid by May, Ada may keep the house.": [
        "Ada may keep the house.",
        "The rent is paid by May, Ada may keep the house.",
        "The rent is paid by May.",
        "Ada may keep the house if the rent is paid by May.",
    ],
    "Tom owes Ben twenty pounds, and Ben owes Ada nothing.": [
        "Ben owes Tom twenty pounds, and Ben owes Ada nothing.",
        "Tom owes Ben twenty pounds, and Ada owes Ben nothing.",
        "Tom owes Ben twenty pounds and Ben owes Ada, nothing.",
        "Tom owes Ben twenty pounds.",
    ],
    "The vote was 7:3 against the bill, which then failed.": [
        "The vote was 3:7 against the bill, which then failed.",
        "The vote was 73 against the bill, which then failed.",
        "The vote was 7:3 for the bill, which then failed.",
        "The vote was 7:3 against the bill.",
    ],
    "袁绍败于曹操。": [
        "袁绍败曹操。",
        "曹操败于袁绍。",
        "袁绍未败于曹操。",
        "袁绍败于曹操？",
    ],
    "如果黄河再决口，朝廷就派大臣赈济灾民。": [
        "朝廷就派大臣赈济灾民。",
        "黄河再决口，朝廷就派大臣赈济灾民。",
        "如果黄河再决口，朝廷就不派大臣赈济灾民。",
        "黄河再决口。",
    ],
    "范进被丈人打了一巴掌，没有还手。": [
        "范进打了丈人一巴掌，没有还手。",
        "丈人被范进打了一巴掌，没有还手。",
        "范进被丈人打了一巴掌，还手。",
        "范进被丈人打了一巴掌。",
    ],
}  # fmt: skip
PAIRS = [(source, altered) for source, several in TOLD.items() for altered in several]


def around(source: str) -> Iterator[str]:
    """The source alone, and among other sentences."""
    yield source
    yield f"Nothing else was known. {source}\n\n后来没有人再提起。 Nobody asked again."


@pytest.mark.parametrize("source", TOLD)
def test_only_the_sentence_itself_stands_there(source: str) -> None:
    for text in around(source):
        assert judgement(text, source).label == "explicitly_supported"
        for altered in TOLD[source]:
            assert judgement(text, altered).label in (None, "contradicting"), altered


def test_none_is_called_faithful() -> None:
    verifier = Verifier()
    told = {altered: verifier.verify(source, altered).verdict for source, altered in PAIRS}
    assert [altered for altered, verdict in told.items() if verdict == "faithful"] == []


def test_even_where_every_sentence_stands_there_the_verdict_is_open() -> None:
    source = "The clerk lied on Monday. He said so. Ada did not steal the key. She was at home."
    report = Verifier().verify(source, "She was at home. Ada did not steal the key.")
    assert {sentence.label for sentence in report.sentences} == {"explicitly_supported"}
    assert report.verdict == "undecided"
    assert Verifier().verify(source, f" {source}\n").verdict == "faithful"
