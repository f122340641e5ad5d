from asked import judgement, judgements
from hypothesis import given, settings
from hypothesis import strategies as st

SENTENCES = (
    "Margaret Hale moved to the mill town of Milton in 1851.",
    "Mr. Thornton owned three cotton mills near the railway station.",
    "The strike did not reach his largest mill.",
    "Everyone said that the old banker had lost his whole fortune.",
    "王冕在山东济南府住了半年，每日替人家卖卜卖画。",
    "知县带着八个红黑帽夜役军牢下乡来拜访王冕。",
)
STORY = "\n".join(SENTENCES)
CLAIMS = (
    *SENTENCES,
    "Mr. Thornton owned seven cotton mills near the railway station.",
    "Margaret Hale moved to the mill town of Salford in 1851.",
    "The strike did reach his largest mill.",
    "The old banker had lost his whole fortune.",
    "知县带着二十个红黑帽夜役军牢下乡来拜访王冕。",
    "A dragon ate the moon above the harbour.",
)
LETTERS = st.characters(exclude_characters="\0七", exclude_categories=["Cs", "Nd", "Nl", "No"])
"""No digits: a lone 7 is not irrelevant to a claim of seven mills."""
WORDS = ["zinc", "quartz", "12", "7%", "lava", "岩石", "火山", "Etna", "not", "if", "said", "“", "”", "."]
irrelevant = st.one_of(
    st.text(LETTERS, max_size=200), st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
)
claims = st.sampled_from(CLAIMS)


def said(sources, claim):
    found = judgement(sources, claim)
    return found.label, found.failure, [q.text for q in found.quotes], [e.model_dump() for e in found.errors]


@settings(max_examples=30, deadline=None)
@given(claims, st.lists(irrelevant, max_size=3), st.lists(irrelevant, max_size=3))
def test_irrelevant_sources_before_and_after_change_nothing(claim, before, after):
    assert said([*before, STORY, *after], claim) == said(STORY, claim)


@settings(max_examples=30, deadline=None)
@given(claims, irrelevant, irrelevant)
def test_irrelevant_text_around_a_conflict_does_not_silence_it(claim, before, after):
    alone = said(STORY, claim)
    plain = [
        text.replace('"', "").translate(dict.fromkeys(map(ord, "“”「」『』«»"))) for text in (before, after)
    ]
    assert said("\n\n".join([plain[0], STORY, plain[1]]), claim)[:2] == alone[:2]


@settings(max_examples=30, deadline=None)
@given(claims, st.lists(st.one_of(irrelevant, st.sampled_from(CLAIMS)), max_size=4))
def test_no_source_turns_a_conflict_with_another_into_silence(claim, others):
    if said(STORY, claim)[0] == "contradicting":
        assert said([*others, STORY], claim)[0] == "contradicting"


@settings(max_examples=15, deadline=None)
@given(st.permutations(CLAIMS[:8]))
def test_the_order_of_claims_is_of_no_matter(order):
    response = " ".join(CLAIMS)
    told = {
        claim: found.label for claim, found in zip(order, judgements(STORY, response, order), strict=True)
    }
    alone = {claim: judgement(STORY, response, claim).label for claim in order}
    assert told == alone


@settings(max_examples=50, deadline=None)
@given(st.text(LETTERS, max_size=120), st.text(LETTERS, max_size=60))
def test_places_hold_what_they_say(source, extra):
    text = source + STORY
    for claim in CLAIMS:
        response = extra + claim
        found = judgement(text, response, claim)
        assert (found.label is None) == (found.failure == "needs_model")
        assert all(text[q.start : q.end] == q.text for q in found.quotes)
        assert all(response[e.span.start : e.span.end] == e.span.text for e in found.errors)


@settings(max_examples=50, deadline=None)
@given(st.text(LETTERS, max_size=200), st.text(LETTERS, min_size=1, max_size=200))
def test_any_text_gets_an_answer(source, claim):
    assert judgement(source, claim).label in (None, "explicitly_supported", "contradicting")
