"""The offline check: which sentences stand there, where a hint is given, and that all else is left to a model."""

import asyncio
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from longproof import Verifier
from longproof.adapters import brief_of
from longproof.agent.offline import OfflineDecomposer, OfflineJudge
from longproof.agent.types import Case, Claim, Judgement, Question
from longproof.cli.verify import exit_code
from longproof.report.terminal import print_report
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "data" / "offline_sentences.jsonl"
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
        (STORY, "Mr. Thornton owned  three\ncotton mills near the railway station."),
        (STORY, '"We leave for Leeds at dawn."'),
        (STORY, "He's 6'2” tall."),
        (故事, "知县带着八个红黑帽夜役军牢下乡来拜访王冕。"),
        (故事, "王冕在山东济南府住了 半年，每日替人家卖卜卖画。"),
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
        (STORY, "mr. Thornton owned three cotton mills near the railway station."),
        (STORY, "Mr. Thornton owned three cotton mills near the railway station"),
        (STORY, "“Mr. Thornton owned three cotton mills near the railway station.”"),
        (STORY, "We leave for Leeds at dawn."),
        (STORY, "He's 6’2' tall."),
        (STORY, "Who came!"),
    ],
)  # fmt: skip
def test_all_else_needs_a_model(source: str, response: str):
    found = judgement(source, response)
    assert found.failure == "needs_model"
    assert found.quotes == found.errors == ()


def test_a_part_of_a_sentence_and_other_words_for_it_are_never_judged():
    source = "王冕在山东济南府住了半年。"
    assert judgement(source, source).label == "explicitly_supported"
    assert judgement(source, f"有人造谣说，{source}", source).failure == "needs_model"


BRIDGE = "The old bridge over the river Irwell was {} metres long."


@pytest.mark.parametrize(
    ("sources", "response", "said", "told"),
    [
        ([BOTH], "Mr. Thornton owned seven cotton mills near the railway station.", "seven", "three"),
        ([BOTH], "Margaret Hale moved to the mill town of Milton in 1861.", "1861", "1851"),
        ([BOTH], "Margaret Hale moved to the mill town of Salford in 1851.", "Salford", "Milton"),
        ([BOTH], "知县带着二十个红黑帽夜役军牢下乡来拜访王冕。", "二十", "八"),
        (["A lamp stood there.", BRIDGE.format(80)], BRIDGE.format(90), "90", "80"),
        ([f"{BRIDGE.format(80)} Tom left. {BRIDGE.format(80)}"], BRIDGE.format(90), "90", "80"),
    ],
)
def test_another_number_or_name_in_the_very_same_sentence_is_a_hint(sources, response, said, told):
    found = judgement(sources, response)
    assert found.failure == "needs_model"
    assert found.hint.words.text == said
    assert found.hint.source.text == told
    assert response[found.hint.words.start : found.hint.words.end] == said
    assert found.hint.source.text in {
        source[found.hint.source.start : found.hint.source.end] for source in sources
    }


@pytest.mark.parametrize(
    ("sources", "response"),
    [
        # another word differs too
        (["The red box on the shelf holds 14 keys."], "The blue box on the shelf holds 12 keys."),
        (["Mr. Thornton owned three cotton mills here."], "Mr Thornton owned seven cotton mills here."),
        # the same amount
        ([BRIDGE.format("80")], BRIDGE.format("eighty")),
        ([BRIDGE.format("1.5 million")], BRIDGE.format("1,500,000")),
        # several tell it, each in its own way
        ([BRIDGE.format(80), BRIDGE.format(70)], BRIDGE.format(90)),
        ([BRIDGE.format(80), BRIDGE.format("ninety")], BRIDGE.format(90)),
        # two places that differ
        (["Ada paid Tom 20 pounds for the boat in 1911."], "Ada paid Tom 1911 pounds for the boat in 20."),
        # a word at the beginning may be no name
        (["Ada sold the boat."], "Tom sold the boat."),
        (["Nobody sold the boat."], "Ada sold the boat."),
        # it stands there
        ([BRIDGE.format(80), BRIDGE.format(90)], BRIDGE.format(90)),
        # a table in one line
        ([f"{'9 lamps, ' * 200} 80."], f"{'9 lamps, ' * 200} 90."),
    ],
)
def test_whatever_else_differs_is_no_hint(sources, response):
    assert judgement(sources, response).hint is None


def test_a_hint_is_shown_and_decides_nothing(tmp_path):
    report = Verifier(home=str(tmp_path)).verify(BRIDGE.format(80), BRIDGE.format(90))
    assert report.verdict == "undecided"
    assert report.wrong == []
    assert report.corrected() == BRIDGE.format(90)
    assert exit_code(report) == 3
    assert report.claims[0].failure == "needs_model"
    console = Console(file=StringIO(), width=100)
    print_report(report, {}, console)
    for shown in (
        report.markdown(),
        report.html(),
        console.file.getvalue(),
        brief_of(report).problems[0].reasons[0],
    ):
        assert "the source says 80 here, not 90" in shown


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
    return found.label, found.failure, found.hint, [quote.text for quote in found.quotes]


@settings(max_examples=30, deadline=None)
@given(claims, st.lists(irrelevant, max_size=3), st.lists(irrelevant, max_size=3))
def test_irrelevant_sources_before_and_after_change_nothing(claim, before, after):
    assert outcome([*before, BOTH, *after], claim) == outcome(BOTH, claim)


@settings(max_examples=30, deadline=None)
@given(claims, st.lists(st.one_of(irrelevant, claims), max_size=4))
def test_no_other_source_takes_away_that_a_sentence_stands_there(claim, others):
    if outcome(BOTH, claim)[0]:
        assert outcome([*others, BOTH], claim)[0] == "explicitly_supported"


@settings(max_examples=50, deadline=None)
@given(st.text(LETTERS, max_size=120), st.text(LETTERS, max_size=60))
def test_places_hold_what_they_say_and_nothing_is_called_wrong(source, extra):
    text = source + BOTH
    for claim in (*CLAIMS, extra):
        response = extra + claim
        found = judgement(text, response, claim)
        assert found.label in (None, "explicitly_supported")
        assert (found.label is None) == (found.failure == "needs_model")
        assert all(text[q.start : q.end] == q.text for q in found.quotes)
        if found.hint:
            assert text[found.hint.source.start : found.hint.source.end] == found.hint.source.text
            assert response[found.hint.words.start : found.hint.words.end] == found.hint.words.text


ROWS = [json.loads(line) for line in SENTENCES.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["source"][:20] for row in ROWS])
def test_of_reversed_sentences_none_stands_there_and_of_true_ones_none_is_called_wrong(row):
    for altered in row["reversed"]:
        assert judgement(row["source"], altered).label is None, altered
        assert Verifier().verify(row["source"], altered).verdict == "undecided", altered
    for true in row["true"]:
        assert judgement(row["source"], true).label in (None, "explicitly_supported"), true
        assert judgement(row["source"], true).hint is None, true


def test_even_where_every_sentence_stands_there_the_verdict_is_open() -> None:
    source = "The clerk lied on Monday. He said so. Ada did not steal the key. She was at home."
    report = Verifier().verify(source, "She was at home. Ada did not steal the key.")
    assert {sentence.label for sentence in report.sentences} == {"explicitly_supported"}
    assert report.verdict == "undecided"
    assert Verifier().verify(source, f" {source}\n").verdict == "faithful"
