"""Checks of a made set: each finds what it is for, and is quiet where nothing is wrong."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.agent.types import KINDS
from longproof.construction.run import auc, checks, data_card, duplicates
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


def test_a_good_set_passes_all_checks():
    assert [check for check in checks(SET) if not check.good] == []


def test_twins_are_found():
    assert not duplicates([*SET, example(99, True, response=SET[0].response.upper())]).good


def test_length_that_tells_is_found():
    longer = [
        example(n, w, response="Ann " + "went on " * (9 if w else 2) + f"{n}.")
        for n in range(20)
        for w in (1, 0)
    ]
    (found,) = [check for check in checks(longer) if check.name == "AUC of length"]
    assert not found.good
    assert "1.00 overall, 1.00 within pairs" in found.found


def test_missing_kinds_are_found():
    few = [example(8 * n, wrong) for n in range(10) for wrong in (True, False)]
    (found,) = [check for check in checks(few) if check.name == "balance of kind"]
    assert not found.good


@given(st.lists(st.integers(0, 9), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_auc_is_the_share_of_pairs_in_order(a, b):
    pairs = [(x > y) + (x == y) / 2 for x in a for y in b]
    found = auc(a, b)
    assert found is not None
    assert abs(found - sum(pairs) / len(pairs)) < 1e-9
    assert auc([], b) is None


def test_the_data_card_has_a_row_a_check():
    page = data_card(checks(SET))
    assert "| duplicates | 0 of 48 responses stand twice | good |" in page
