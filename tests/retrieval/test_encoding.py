"""Files of any common encoding are read as their text; everything else is refused in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.contents import decode
from longproof.retrieval.types import BadInput

BOTH = "那年冬天，村裡的人都說今年的收成完了。\nThe winter was long, and nobody spoke of the harvest.\n"


@pytest.mark.parametrize(
    ("text", "encoding", "guess"),
    [
        ("Élève très fatigué à l'école", "latin-1", "cp1252"),
        ("It was 25°C and Ärger", "latin-1", "cp1252"),
        ("naïve café “x”", "cp1252", "cp1252"),
        ("It’s over", "cp1252", "cp1252"),
        ("Привет, как дела", "cp1251", "cp1251"),
        ("これは日本語です。元気ですか", "shift_jis", "cp932"),
        ("안녕하세요 여러분 반갑습니다", "euc_kr", "cp949"),
        ("那年冬天，村里的人都说今年的收成完了。\n", "gb18030", "gb18030"),
        (BOTH, "gb18030", "gb18030"),
        (BOTH, "big5", "big5hkscs"),
        ("後來他走了", "big5hkscs", "big5hkscs"),
    ],
)
def test_an_encoding_that_was_guessed_is_named(text, encoding, guess):
    assert decode(text.encode(encoding)) == (text, guess)
    assert decode(text.encode(encoding), encoding) == (text, "")


def test_line_breaks_become_one_and_the_mark_goes():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc\n")[0] == "a\nb\nc\n"
    assert decode("\ufeffa\r\n".encode("utf-16-le"), "utf-16-le")[0] == "a\n"


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"", None, "empty"),
        (b" \n\t\xe3\x80\x80", None, "no text"),
        (b"\x7fELF\x00\x01\x02\x00", None, "not a text file"),
        (b"text\x00text", None, "not a text file"),
        ("他们说这里的人都不知道。".encode("utf-16-le"), None, "not a text file"),
        (b"text\x00text", "utf-8", "NUL"),
        (bytes(range(1, 32)), None, "not a text file"),
        (b"\xff\xfe\x00\xd8", None, "not in utf-16"),
        (b"caf\xe9", "utf-8", "not in utf-8"),
        (b"text", "klingon", "no known encoding"),
        (b"text", "hex", "no known encoding"),
        (b"text", "rot13", "no known encoding"),
        (b"text", "a\0b", "no known encoding"),
        (b"\\ud800", "unicode_escape", "not in unicode_escape"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(data, encoding, message):
    with pytest.raises(BadInput, match=message) as refusal:
        decode(data, encoding, "novel\n.txt")
    assert str(refusal.value).startswith("novel?.txt: ")
    assert "\n" not in str(refusal.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_text_or_bad_input(data):
    try:
        text = decode(data)[0]
    except BadInput:
        return
    assert text.strip()
    assert "\r" not in text
    assert not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


MARKED = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.sampled_from(MARKED))
def test_utf_8_and_what_has_a_mark_is_always_read(text, encoding):
    text = text.removeprefix("\ufeff") + "."
    assert decode(text.encode(encoding)) == (text, "")


@pytest.mark.parametrize("encoding", ["gb18030", "big5hkscs"])
def test_whole_novels_come_back_from_every_encoding(data, encoding):
    for novel in [*(data / "novels_zh").glob("*.txt"), *(data / "novels_en").glob("*.txt")]:
        text = novel.read_text(encoding="utf-8")
        raw = text.encode(encoding, "ignore")
        assert decode(raw)[0] == raw.decode(encoding).removeprefix("\ufeff")
