"""The offline check: what stands there, what conflicts, and that all else is left to a model, whatever the text:
statements that reverse what a source says, too."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longproof import Verifier
from longproof.agent.offline import OfflineDecomposer, OfflineJudge, tokens
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.retrieval.text.normalise import is_chinese
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

STORY = """Margaret Hale moved to the mill town of Milton in 1851.
Mr. Thornton owned three cotton mills near the railway station. The strike did not reach his largest mill.
Everyone said that Mr. Thornton had lost his whole fortune at the exchange.
“Your brother Frederick sailed to Spain last winter,” whispered the old servant.
“We leave for Leeds at dawn.”
He’s 6'2" tall. If the workers returned on Monday, the mill would open its gates again. Who came?
In those days it was now here, now there…"""
故事 = """王冕在山东济南府住了半年，每日替人家卖卜卖画。知县带着八个红黑帽夜役军牢下乡来拜访王冕。
秦老并不知道王冕已经离开了诸暨县城。众人都说危素老先生要在城里买新房子居住。
如果黄河再决口一次，朝廷就要派大臣去山东赈济灾民。他说 不行！"""
BOTH = f"{STORY}\n{故事}"


def judgement(sources: str | Sequence[str], response: str, claim: str = "") -> Judgement:
    """The judge's word on `claim`, which stands in the response (default: all of it), with all sources shown."""
    given, text = Document.of(response), claim or response
    start = response.index(text)
    origin = given.span(start, start + len(text))
    asked = Claim(id="c0", index=0, sentence=0, text=text, origin=origin)
    documents = [Document.of(text) for text in ([sources] if isinstance(sources, str) else sources)]
    shown = tuple(document.span(0, len(document.text)) for document in documents if document.text)
    question = Question(id="q0", claim_ids=("c0",), shown=shown, look="source", prompt="")
    answered = asyncio.run(OfflineJudge().judge(question, [asked], Case(id="case", response=response)))
    return answered.judgements[0]


@pytest.mark.parametrize(
    ("source", "response"),
    [
        (STORY, "Mr. Thornton owned three cotton mills near the railway station."),
        (STORY, "mr. thornton owned  three\ncotton mills near the railway station"),
        (STORY, "“The strike did not reach his largest mill!”"),
        (STORY, "'We leave for Leeds at dawn.'"),
        (STORY, "He's 6'2\" tall."),
        (故事, "知县带着八个红黑帽夜役军牢下乡来拜访王冕"),
        (故事, "“王冕在山东济南府住了半年，每日替人家卖卜卖画！”"),
    ],
)
def test_a_whole_sentence_stands_there(source: str, response: str):
    found = judgement(source, response)
    assert (found.label, found.failure) == ("explicitly_supported", None)
    quote = found.quotes[0]
    assert source[quote.start : quote.end] == quote.text


@pytest.mark.parametrize(
    ("source", "response"),
    [
        (STORY, "Mr. Thornton owned 3 cotton mills near the railway station."),
        (STORY, "Mr. Thornton had lost his whole fortune at the exchange."),
        (STORY, "Your brother Frederick sailed to Spain last winter."),
        (STORY, "He's 62 tall."),
        (STORY, "Who came."),
        (STORY, "In those days it was nowhere, now there…"),
        (STORY, "A rich young woman left the south for an industrial city."),
        (STORY, "- Mr. Thornton owned three cotton mills near the railway station."),
        (故事, "王冕在山东济南府住了半年"),
        (故事, "王冕在山東濟南府住了半年，每日替人家賣卜賣畫。"),
        # a denial: both may be right
        ("The strike did not reach his 3 mills near Milton.", "The strike reached his 2 mills near Milton."),
        ("知县没有带着八个红黑帽夜役军牢下乡来拜访王冕。", "知县带着二十个红黑帽夜役军牢下乡来拜访王冕。"),
        # two numbers, or numbers and names, that changed places
        ("Ada paid Tom 20 pounds for the boat in 1911.", "Ada paid Tom 1911 pounds for the boat in 20."),
        ("Old Ada gave young Tom the red boat.", "Old Tom gave young Ada the red boat."),
        # the number of an entry in a list
        ("2. Pour the wine over the roast meat.", "3. Pour the wine over the roast meat."),
        # two who did the same
        ("In spring Grey owned three cotton mills here.", "In spring Thornton owned three cotton mills here."),
        # told about, rounded
        ("Some 80 metres long was the old iron bridge.", "Some 90 metres long was the old iron bridge."),
        ("The factory produced 1,823,400 metres of cloth.", "The factory produced 1.8 million metres of cloth."),
        # another sentence tells it
        ("The board met 7 times in 1990 in Leeds.\nThe board met 8 times in 1990 in Leeds.",
         "The board met 8 times in 1990 in Leeds, too."),
        # the source's sentence ends first
        ("The old captain sold the little boat and the brass lamp. Tom went home.",
         "The old captain sold the little boat and the brass lamp in Paris."),
        ("The old captain sold the little boat in rainy Rome.",
         "The old captain sold the little boat in rainy Paris London."),
        # too little is alike
        ("Ada sold 3 boats.", "Ada sold 5 boats."),
        ("In spring old Ada sold 3 red boats near Leeds.", "In winter young Ada sold 5 red boats near Leeds."),
        ("Mr. Thornton owned three cotton mills.", "Mr. Thornton sold his seven woollen factories."),
    ],
)  # fmt: skip
def test_all_else_needs_a_model(source: str, response: str):
    found = judgement(source, response)
    assert (found.label, found.failure, found.quotes, found.errors) == (None, "needs_model", (), ())


def test_a_part_of_a_sentence_and_other_words_for_it_are_never_judged():
    source = "王冕在山东济南府住了半年。"
    assert judgement(source, source).label == "explicitly_supported"
    assert judgement(source, f"有人造谣说，{source}", source).failure == "needs_model"


@pytest.mark.parametrize(
    ("response", "said", "told", "kind"),
    [
        ("Mr Thornton owned seven cotton mills near the railway station.", "seven", "three", "numerical"),
        ("Margaret Hale moved to the mill town of Milton in 1861.", "1861", "1851", "numerical"),
        ("Margaret Hale moved to the mill town of Salford in 1851.", "Salford", "Milton", "entity"),
        ("知县带着二十个红黑帽夜役军牢下乡来拜访王冕", "二十", "八", "numerical"),
    ],
)
def test_one_number_or_name_that_the_place_tells_otherwise_conflicts(response, said, told, kind):
    found = judgement(BOTH, response)
    assert found.label == "contradicting"
    [error] = found.errors
    assert (error.span.text, error.correction, error.kind) == (said, told, kind)
    reasons = (f"“{said}” here, “{told}” in the source", f"此处“{said}”，原文“{told}”")
    assert error.reason == reasons[is_chinese(response)]
    assert told in found.quotes[0].text


def test_where_it_stands_in_the_same_document_silences_a_conflict():
    told = "The old bridge over the river Irwell was {} metres long."
    source = told.format(80) + "\n\n" + told.format(90)
    assert judgement(source, told.format(90)).label == "explicitly_supported"
    assert judgement([told.format(80), told.format(90)], told.format(90)).label == "contradicting"


def test_tokens_lie_where_they_stand_even_where_folding_adds_as_many_characters_as_it_drops():
    text = "Straße Cafe\u0301 boat 12"
    places = [(token.start, token.end) for token in tokens(text)]
    assert [text[start:end] for start, end in places] == ["Straße", "Cafe\u0301", "boat", "12"]


def test_set_phrases_and_what_has_no_word_state_no_fact():
    empty = ("你好！", "# Summary", "……")
    facts = ("他走了。", "Rain fell.", "他问：“你好吗？”说完走了。", "他为什么走了？", "# The keeper drowned")
    spans = [Document.of(text).span(0, len(text)) for text in (*empty, *facts)]
    made = asyncio.run(OfflineDecomposer().decompose(Case(id="x", response=""), spans))
    assert [claim.text for claim in made.claims] == list(facts)


@given(st.text(alphabet="他走了，。；“”、 abcAND,;.but which 1了\n", max_size=120))
def test_each_sentence_that_states_a_fact_is_one_claim_word_for_word(text: str):
    response = Document.of(text)
    spans = [response.span(start, end) for start, end in sentences(text)]
    made = asyncio.run(OfflineDecomposer().decompose(Case(id="x", response=text), spans))
    assert [claim.id for claim in made.claims] == [f"s{claim.sentence + 1}" for claim in made.claims]
    assert {claim.origin for claim in made.claims} <= set(spans)
    assert all(claim.text == claim.origin.text for claim in made.claims)


CLAIMS = (
    "Margaret Hale moved to the mill town of Milton in 1851.",
    "The strike did not reach his largest mill.",
    "知县带着八个红黑帽夜役军牢下乡来拜访王冕。",
    "Mr. Thornton owned seven cotton mills near the railway station.",
    "Margaret Hale moved to the mill town of Salford in 1851.",
    "The strike did reach his largest mill.",
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


def outcome(sources, claim):
    found = judgement(sources, claim)
    return found.label, found.failure, [q.text for q in found.quotes], [e.model_dump() for e in found.errors]


@settings(max_examples=30, deadline=None)
@given(claims, st.lists(irrelevant, max_size=3), st.lists(irrelevant, max_size=3))
def test_irrelevant_sources_before_and_after_change_nothing(claim, before, after):
    assert outcome([*before, BOTH, *after], claim) == outcome(BOTH, claim)


@settings(max_examples=30, deadline=None)
@given(claims, st.lists(st.one_of(irrelevant, st.sampled_from(CLAIMS)), max_size=4))
def test_no_source_turns_a_conflict_with_another_into_silence(claim, others):
    if outcome(BOTH, claim)[0] == "contradicting":
        assert outcome([*others, BOTH], claim)[0] == "contradicting"


@settings(max_examples=50, deadline=None)
@given(st.text(LETTERS, max_size=120), st.text(LETTERS, max_size=60))
def test_places_hold_what_they_say(source, extra):
    text = source + BOTH
    for claim in (*CLAIMS, extra):
        response = extra + claim
        found = judgement(text, response, claim)
        assert (found.label is None) == (found.failure == "needs_model")
        assert all(text[q.start : q.end] == q.text for q in found.quotes)
        assert all(response[e.span.start : e.span.end] == e.span.text for e in found.errors)


REVERSED = {
    "Cain was killed by Abel in the field.": [
        "Cain killed Abel in the field.", "Abel was killed by Cain in the field.",
        "Cain was not killed by Abel in the field.", "Cain was killed by Abel.",
    ],
    "The temperature on the summit was −5 degrees at noon.": [
        "The temperature on the summit was 5 degrees at noon.",
        "The temperature on the summit was -5 degrees at noon.",
        "The temperature on the summit was +5 degrees at noon.", "The temperature on the summit was −5 degrees.",
    ],
    "If the rent is paid by May, Ada may keep the house.": [
        "Ada may keep the house.", "The rent is paid by May, Ada may keep the house.",
        "The rent is paid by May.", "Ada may keep the house if the rent is paid by May.",
    ],
    "Tom owes Ben twenty pounds, and Ben owes Ada nothing.": [
        "Ben owes Tom twenty pounds, and Ben owes Ada nothing.",
        "Tom owes Ben twenty pounds, and Ada owes Ben nothing.",
        "Tom owes Ben twenty pounds and Ben owes Ada, nothing.", "Tom owes Ben twenty pounds.",
    ],
    "The vote was 7:3 against the bill, which then failed.": [
        "The vote was 3:7 against the bill, which then failed.",
        "The vote was 73 against the bill, which then failed.",
        "The vote was 7:3 for the bill, which then failed.", "The vote was 7:3 against the bill.",
    ],
    "袁绍败于曹操。": [
        "袁绍败曹操。", "曹操败于袁绍。",
        "袁绍未败于曹操。", "袁绍败于曹操？",
    ],
    "如果黄河再决口，朝廷就派大臣赈济灾民。": [
        "朝廷就派大臣赈济灾民。", "黄河再决口，朝廷就派大臣赈济灾民。",
        "如果黄河再决口，朝廷就不派大臣赈济灾民。", "黄河再决口。",
    ],
    "范进被丈人打了一巴掌，没有还手。": [
        "范进打了丈人一巴掌，没有还手。", "丈人被范进打了一巴掌，没有还手。",
        "范进被丈人打了一巴掌，还手。", "范进被丈人打了一巴掌。",
    ],
}  # fmt: skip


@pytest.mark.parametrize("source", REVERSED)
def test_only_the_sentence_itself_stands_there_and_no_other_is_called_faithful(source: str) -> None:
    for text in (source, f"Nothing else was known. {source}\n\n后来没有人再提起。 Nobody asked again."):
        assert judgement(text, source).label == "explicitly_supported"
        for altered in REVERSED[source]:
            assert judgement(text, altered).label in (None, "contradicting"), altered
            assert Verifier().verify(text, altered).verdict != "faithful", altered


def test_even_where_every_sentence_stands_there_the_verdict_is_open() -> None:
    source = "The clerk lied on Monday. He said so. Ada did not steal the key. She was at home."
    report = Verifier().verify(source, "She was at home. Ada did not steal the key.")
    assert {sentence.label for sentence in report.sentences} == {"explicitly_supported"}
    assert report.verdict == "undecided"
    assert Verifier().verify(source, f" {source}\n").verdict == "faithful"
