"""Without a model: a source that has nothing to do with a claim changes nothing of what is said of it."""

from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longproof import Verifier

STORY = (
    "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds. The bridge fell in March, and nobody "
    "was hurt. The keeper wrote to the harbour master about it."
)
CUT = STORY.index("The bridge")
STORIES = [(STORY,), (STORY[:CUT], STORY[CUT:])]
RESPONSE = "Ada lit the lamp at nine. Tom sold the boat to Ada for ninety pounds. The bridge fell in May. What a day!"
OTHERS = (
    "Bread is baked from flour, water and salt; 40 loaves go into the oven at once.",
    "There are nine planets in old books and eight in new ones. Mars is red.",
    "春天到了，山里的桃花开了九十多株，没有人去看。",
    "In May the opera opened with ninety singers. Nobody wept.",
    "x",
)


@cache
def verdict_of(*sources: str) -> list[Any]:
    """The verdict, and what is said of each claim."""
    report = Verifier().verify(list(sources), RESPONSE)
    return [report.verdict, *((claim.text, claim.label, claim.failure) for claim in report.claims)]


FEW = st.lists(st.sampled_from(OTHERS), max_size=2, unique=True)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(STORIES), FEW, FEW)
def test_irrelevant_sources_change_no_verdict(
    parts: tuple[str, ...], among: list[str], after: list[str]
) -> None:
    first, *rest = parts
    after = [text for text in after if text not in among]
    assert (
        verdict_of(*after, first, *among, *rest)
        == verdict_of(first, *among, *rest, *after)
        == verdict_of(*parts)
    )
