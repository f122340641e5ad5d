"""Checks of a made set: each finds what it is for, and is quiet where nothing is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import KINDS
from longproof.construction.run import Check, auc, checks
from longproof.construction.units import POSITIONS
from longproof.graphs.cases import GivenCase


def example(n: int, wrong: bool, response: str = "") -> GivenCase:
    text = response or f"Ann went to town number {n:04d}. She {'lost' if wrong else 'sold'} a cow."
    label, slices = ("hallucinated", {"kind": KINDS[n % 8]}) if wrong else ("faithful", {})
    slices["position"] = POSITIONS[n % 3]
    return GivenCase(id=f"{n}-{wrong}", response=text, label=label, group=str(n), slices=slices)


SET = [example(n, wrong) for n in range(24) for wrong in (True, False)]


def found(made: list[GivenCase], name: str) -> Check:
    return next(check for check in checks(made) if check.name == name)


def test_a_good_set_passes_all_checks_and_each_finds_what_it_is_for():
    assert [check for check in checks(SET) if not check.good] == []
    assert not found([*SET, example(99, True, response=SET[0].response.upper())], "duplicates").good
    assert not found(SET[1:], "balance of labels").good
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
