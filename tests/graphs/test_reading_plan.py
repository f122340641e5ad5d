"""How much of a source is shown first follows from sizes alone, and the dearer way is never chosen."""

from hypothesis import given
from hypothesis import strategies as st

from longproof.graphs.evidence.places import (
    CLAIMS,
    DENSE,
    OVERLAP,
    PLACE,
    SPARSE,
    WHOLE,
    WHOLE_IF_DENSE,
    evidence_shown,
)
from longproof.prompts import Language


@given(st.integers(1, 10**7), st.integers(1, 10**5), st.sampled_from(["en", "zh"]))
def test_a_short_source_is_shown_whole_and_a_long_one_the_cheaper_way(
    source: int, sentences: int, language: Language
) -> None:
    along, places = OVERLAP * source, PLACE * sentences
    shown = evidence_shown(source, sentences, language)
    if source <= WHOLE or (along <= places and sentences <= CLAIMS and source <= WHOLE_IF_DENSE[language]):
        assert shown == source
    else:
        assert shown == (DENSE if along <= places else SPARSE)
