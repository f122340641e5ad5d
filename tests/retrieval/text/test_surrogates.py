"""Lone surrogates go, offsets and everything else stay."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.retrieval.text.surrogates import without_surrogates

TEXT = st.text(st.characters() | st.characters(categories=["Cs"]))


@given(TEXT)
def test_what_is_left_can_be_written_and_keeps_its_offsets(text: str) -> None:
    clean = without_surrogates(text)
    clean.encode("utf-8")
    assert len(clean) == len(text)
    assert all(
        a == b or (b == "\ufffd" and "\ud800" <= a <= "\udfff") for a, b in zip(text, clean, strict=True)
    )


def test_texts_inside_json_values_are_cleaned_keys_too() -> None:
    row = {"a\ud800": ["b\udc00", 1, None, {"c": "😀"}]}
    assert without_surrogates(row) == {"a\ufffd": ["b\ufffd", 1, None, {"c": "😀"}]}
    assert without_surrogates("sky \ud800", "?") == "sky ?"
