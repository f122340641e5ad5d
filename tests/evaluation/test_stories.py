"""The bundled set `stories`: read without a data folder, and every pair is what it says it is."""

import json
from collections import Counter
from importlib.resources import files
from itertools import pairwise

import pytest

from longproof.agent.types import KINDS
from longproof.evaluation.datasets import examples
from longproof.evaluation.types import Example
from longproof.examples import LANGUAGES, example

FILE = files("longproof.examples") / "stories.jsonl"


@pytest.fixture
def stories(monkeypatch: pytest.MonkeyPatch) -> list[Example]:
    monkeypatch.delenv("LONGPROOF_DATA", raising=False)
    return examples("stories")


def test_twelve_pairs_a_language_hold_all_eight_kinds_in_each(stories: list[Example]) -> None:
    sides = Counter((case.slices["language"], case.gold.outcome) for case in stories)
    assert sides == {(name, side): 12 for name in LANGUAGES for side in ("faithful", "hallucinated")}
    kinds = Counter(error.kind for case in stories for error in case.gold.errors or ())
    assert kinds == dict.fromkeys(KINDS, 3)
    for name in LANGUAGES:
        assert {c.slices["kind"] for c in stories if c.slices["language"] == name and c.gold.errors} == {
            *KINDS
        }


def test_the_two_of_a_pair_differ_in_the_planted_error_alone(stories: list[Example]) -> None:
    for right, wrong in list(pairwise(stories))[::2]:
        assert (right.pair, right.group, right.gold.errors) == (wrong.pair, wrong.pair, ())
        (error,) = wrong.gold.errors or ()
        before, after = wrong.response[: error.place.start], wrong.response[error.place.end :]
        assert right.response == before + error.correction + after
        assert error.place.text != error.correction
        assert error.kind == wrong.slices["kind"]
        assert error.reason
    assert len({case.pair for case in stories}) == 24


def test_the_sources_are_the_bundled_stories(stories: list[Example]) -> None:
    for case in stories:
        assert [source.text for source in case.sources] == [example(case.slices["language"])[0].text]


def test_the_deciding_words_of_each_error_stand_in_its_story() -> None:
    """Only what is made up has none."""
    for case in map(json.loads, FILE.read_text("utf-8").splitlines()):
        for error in case["errors"]:
            story = (FILE.parent / case["source"]).read_text("utf-8")
            assert bool(error["evidence"]) == (error["kind"] != "fabrication")
            assert all(quote in story for quote in error["evidence"])
