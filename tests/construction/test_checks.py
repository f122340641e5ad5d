"""Checks of a made set: each finds what it is for, and is quiet where nothing is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import KINDS
from longproof.construction.run import Check, auc, checks, data_card
from longproof.graphs.cases import GivenCase, GivenError


def example(n: int, wrong: bool, response: str = "", **slices: str) -> GivenCase:
    text = response or f"Ann went to town number {n:04d}. She {'lost' if wrong else 'sold'} a cow."
    error = GivenError(
        start=0, end=3, text=text[:3], kind=KINDS[n % 8], correction="Bob", reason="a <b> reason"
    )
    return GivenCase(
        id=f"{n}-{wrong}",
        task="summary",
        source_text=f"source {n}",
        response=text,
        label="hallucinated" if wrong else "faithful",
        errors=(error,) if wrong else (),
        group=str(n),
        slices={"scale": "S", "book": f"book {n}", "position": ("begin", "middle", "end")[n % 3]}
        | ({"kind": KINDS[n % 8]} if wrong else {})
        | slices,
    )


SET = [example(n, wrong) for n in range(24) for wrong in (True, False)]


def found(made: list[GivenCase], name: str) -> Check:
    return next(check for check in checks(made) if check.name == name)


def test_a_good_set_passes_all_checks_and_each_finds_what_it_is_for():
    assert [check for check in checks(SET) if not check.good] == []
    assert "| duplicates | 0 of 48 responses stand twice | good |" in data_card(checks(SET))
    assert not found([*SET, example(99, True, response=SET[0].response.upper())], "duplicates").good
    few = [example(8 * n, wrong) for n in range(10) for wrong in (True, False)]
    assert not found(few, "balance of kind").good
    told = [(n, w, "Ann " + "went on " * (9 if w else 2) + f"{n}.") for n in range(20) for w in (True, False)]
    length = found([example(n, w, response=text) for n, w, text in told], "AUC of length")
    assert (length.found, length.good) == ("1.00 overall, 1.00 within pairs", False)


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_auc_is_the_share_of_pairs_in_order(a, b):
    pairs = [(x > y) + (x == y) / 2 for x in a for y in b]
    assert auc(a, b) == pytest.approx(sum(pairs) / len(pairs))
    assert auc([], b) is None
