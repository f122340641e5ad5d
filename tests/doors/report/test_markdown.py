"""Markdown: hostile text is shown literally. What it shows is stored: see test_goldens."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from longproof.report.markdown import escape_markup
from longproof.report.words import flat


def plain(text: str) -> str:
    return escape_markup(flat(text))


LIVE = re.compile(r"[<>`*_\[\]!@#|~\\$]|https?:/|www\.\w|^(?:[-+]|\d{1,9}[.)])(?:\s|$)|&(?!#\d+;)|:\w+:")


@given(st.text(max_size=80))
def test_no_markup_is_left_alive(text: str) -> None:
    shown = plain(text)
    assert not LIVE.search(re.sub(r"&#\d+;", "·", shown))
    assert "\n" not in shown


def test_numbers_stand_as_they_are_and_addresses_stay_dead() -> None:
    for text in ("0.9 s", "Ada's lamp (the old one), half-lit: at 12:30.", "built in 1820."):
        assert plain(text) == text
    assert unescape(plain("a  [x](y)\n王冕 #1 @all <b>")) == "a [x](y) 王冕 #1 @all <b>"
    assert plain("1) a") == "1&#41; a"
    assert plain(":100: :tada: http://a") == "&#58;100: &#58;tada: http&#58;//a"
    assert plain("1. www.a.b") == "1&#46; www&#46;a&#46;b"
    assert plain("1984. a") == "1984&#46; a"
