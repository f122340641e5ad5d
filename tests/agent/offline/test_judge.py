import time

import pytest
from asked import judgement

STORY = """Margaret Hale moved to the mill town of Milton in 1851 with her ageing father.
Mr. Thornton owned three cotton mills near the railway station. The strike did not reach his largest mill.
Everyone said that Mr. Thornton had lost his whole fortune at the exchange.
“Your brother Frederick sailed to Spain last winter,” whispered the old servant.
If the workers returned on Monday, the mill would open its gates again."""
故事 = """王冕在山东济南府住了半年，每日替人家卖卜卖画。知县带着八个红黑帽夜役军牢下乡来拜访王冕。
秦老并不知道王冕已经离开了诸暨县城。众人都说危素老先生要在城里买新房子居住。
如果黄河再决口一次，朝廷就要派大臣去山东赈济灾民。"""


@pytest.mark.parametrize(
    ("source", "response"),
    [
        (STORY, "Margaret Hale moved to the mill town of Milton in 1851."),
        (STORY, "Mr. Thornton owned 3 cotton mills near the railway station."),
        (STORY, "The strike did not reach his largest mill."),
        (故事, "知县带着八个红黑帽夜役军牢下乡来拜访王冕"),
        (故事, "王冕在山東濟南府住了半年"),
    ],
)
def test_what_is_told_nearly_word_for_word_stands_there(source, response):
    found = judgement(source, response)
    assert (found.label, found.failure) == ("explicitly_supported", None)
    quote = found.quotes[0]
    assert source[quote.start : quote.end] == quote.text


@pytest.mark.parametrize(
    ("source", "response", "said", "told", "kind"),
    [
        (
            STORY,
            "Mr. Thornton owned seven cotton mills near the railway station.",
            "seven",
            "three",
            "numerical",
        ),
        (STORY, "Margaret Hale moved to the mill town of Milton in 1861.", "1861", "1851", "numerical"),
        (STORY, "Margaret Hale moved to the mill town of Salford in 1851.", "Salford", "Milton", "entity"),
        (故事, "知县带着二十个红黑帽夜役军牢下乡来拜访王冕", "二十", "八", "numerical"),
    ],
)
def test_one_number_or_name_that_the_place_tells_otherwise_conflicts(source, response, said, told, kind):
    found = judgement(source, response)
    assert found.label == "contradicting"
    [error] = found.errors
    assert (error.span.text, error.correction, error.kind) == (said, told, kind)
    assert said in error.reason
    assert told in error.reason
    assert told in found.quotes[0].text


@pytest.mark.parametrize(
    ("source", "response"),
    [
        (STORY, "The strike did reach his largest mill."),
        (STORY, "Mr. Thornton never owned three cotton mills near the railway station."),
        (故事, "秦老并知道王冕已经离开了诸暨县城"),
    ],
)
def test_a_denial_conflicts_with_what_it_denies(source, response):
    found = judgement(source, response)
    assert found.label == "contradicting"
    assert (found.errors[0].kind, found.errors[0].correction) == ("inversion", None)


@pytest.mark.parametrize(
    ("source", "response"),
    [
        (STORY, "Mr. Thornton had lost his whole fortune at the exchange."),
        (STORY, "Your brother Frederick sailed to Spain last winter."),
        (STORY, "Your brother Frederick sailed to Italy last winter."),
        (STORY, "The workers returned on Monday."),
        (STORY, "The mill opened its gates again."),
        (故事, "危素老先生要在城里买新房子居住"),
        (故事, "黄河再决口一次"),
        (故事, "朝廷就要派大臣去山东赈济灾民"),
    ],
)
def test_what_is_only_said_or_only_a_condition_neither_stands_nor_conflicts(source, response):
    assert judgement(source, response).failure == "needs_model"


@pytest.mark.parametrize(
    "response",
    [
        "A rich young woman left the south for an industrial city.",  # other words
        "Her father aged.",  # too short
        "- Three cotton mills near the railway station",  # of whom?
        "Mr. Thornton owned about three cotton mills near the old canal and its warehouses.",
        "In 1851 Margaret married Mr. Thornton at the railway station.",
        "???",
        "",
    ],
)
def test_all_else_needs_a_model(response):
    found = judgement(STORY, f"{response} And more.", response or "And more.")
    assert (found.label, found.failure, found.quotes, found.errors) == (None, "needs_model", (), ())


def test_rounded_and_approximate_numbers_are_no_conflict():
    source = "The factory in Lowell produced 1,823,400 metres of cotton cloth during the year."
    for number in ("1.8 million", "about 1,900,000", "1,823,000"):
        assert judgement(source, source.replace("1,823,400", number)).label != "contradicting"
    assert judgement(source, source.replace("1,823,400", "2,823,400")).label == "contradicting"


def test_a_number_is_corrected_only_where_no_other_is_told_otherwise():
    source = "Adjusted earnings of the company rose to 127 million dollars or 4 dollars a diluted share."
    response = "Adjusted earnings of the company rose to 125 million dollars or 6 dollars a diluted share."
    found = judgement(source, response)
    assert found.label == "contradicting"
    assert found.errors[0].correction is None


def test_places_that_tell_several_things_are_no_conflict():
    row = "The branch office in {} reported a quarterly profit of {} million dollars to the board.\n\n"
    source = row.format("Leeds", 4) + row.format("York", 5)
    response = "The branch office reported a quarterly profit of 7 million dollars to the board."
    assert judgement(source, response).failure == "needs_model"


def test_where_it_stands_in_the_same_document_silences_a_conflict():
    told = "The old bridge over the river Irwell was {} metres long."
    source = told.format(80) + "\n\n" + told.format(90)
    assert judgement(source, told.format(90)).label == "explicitly_supported"
    assert judgement([told.format(80), told.format(90)], told.format(90)).label == "contradicting"


def test_a_sentence_without_end_takes_linear_time():
    long = "The mill, which had 1,111 looms, “never closed, " * 2000
    began = time.process_time()
    judgement(long, long)
    judgement(STORY, long, "which had 1,111 looms")
    judgement("1,111" * 20000, "1,111" * 20000)
    judgement(f"The{chr(10) * 100_000}great mill owned three cotton looms.", "mill owned three cotton looms.")
    assert time.process_time() - began < 5
