"""Paired marks find their partners, and short ranges between them are held together."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.marks import HELD, pairs


def matched(text):
    return {(text[opener : closer + 1]) for closer, opener in pairs(text).opener.items()}


def test_nested_marks():
    assert matched("他说：「看『书』（旧）」。") == {"「看『书』（旧）」", "『书』", "（旧）"}


def test_straight_quotes_alternate_and_inches_do_not_count():
    assert matched('"Go," he said, "now."') == {'"Go,"', '"now."'}
    assert matched('a 5" pipe and "so"') == {'"so"'}


def test_apostrophes_are_no_closing_marks():
    assert matched("‘I don’t know,’ he said") == {"‘I don’t know,’"}


def test_a_mark_without_partner_counts_as_nothing():
    assert matched("“one\n\n“two”") == {"“two”"}
    assert matched("one） （two") == set()


def test_only_short_ranges_are_held():
    short, long = "“" + "字" * (HELD - 2) + "”", "“" + "字" * (HELD - 1) + "”"
    assert pairs(short).holds(5)
    assert not pairs(long).holds(5)
    assert not pairs(short).holds(0)
    assert not pairs(short).holds(len(short))


@given(st.text(st.sampled_from('“”「」（）"‘’ 字.\n')))
def test_openers_precede_closers_and_held_ranges_do_not_overlap(text):
    found = pairs(text)
    assert all(opener < closer for closer, opener in found.opener.items())
    assert all(end <= start for end, start in zip(found.ends, found.starts[1:], strict=False))
