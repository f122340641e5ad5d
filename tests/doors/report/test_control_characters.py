"""No character that acts gets through."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from longproof.report.pieces import visible


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_that_acts_is_left(text: str) -> None:
    shown = visible(text)
    assert not {unicodedata.category(c) for c in shown if c not in "\n\t"} & {"Cc", "Cs", "Zl", "Zp"}
    assert not any(
        unicodedata.bidirectional(c) in {"LRO", "RLO", "LRE", "RLE", "PDF", "LRI", "RLI", "FSI", "PDI"}
        for c in shown
    )


def test_plain_text_is_untouched() -> None:
    text = "天地玄黄, hello\n\t👩‍👩‍👧 é"
    assert visible(text) == text


def test_marks_name_what_they_stand_for() -> None:
    assert visible("a\x1b[31m\u202eb\x85") == "a␛[31m⟦RLO⟧b⟦U+0085⟧"
