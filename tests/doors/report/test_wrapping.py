"""Folding: no line is wider than asked, and nothing but spaces at breaks is lost."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from longproof.report.terminal import wrap_text

TEXTS = st.text(st.sampled_from("ab  cd中文，。（）《》“”«»éＡ\n,."), max_size=120)


@given(TEXTS, st.integers(2, 40))
def test_no_line_is_wider_than_asked(text: str, width: int) -> None:
    assert all(cell_len(line) <= width for line in wrap_text(Text(text), width).plain.split("\n"))


@given(TEXTS, st.integers(2, 40))
def test_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    assert "".join(wrap_text(Text(text), width).plain.split()) == "".join(text.split())


def test_styles_stay_on_their_words() -> None:
    text = Text("one two ")
    text.append("three four", style="red")
    folded = wrap_text(text, 9)
    marked = "".join(folded.plain[s.start : s.end] for s in folded.spans if s.style == "red")
    assert folded.plain == "one two\nthree\nfour"
    assert marked == "threefour"


def test_chinese_breaks_between_characters_but_not_before_a_full_stop() -> None:
    assert wrap_text(Text("春眠不觉晓。"), 10).plain == "春眠不觉\n晓。"


def test_no_opening_mark_ends_a_line() -> None:
    assert wrap_text(Text("他说《红楼梦》"), 6).plain == "他说\n《红楼\n梦》"


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert wrap_text(Text("a" * 7), 3).plain == "aaa\naaa\na"
