"""What looks as if it stood in the source, and is not what the source says."""

import pytest
from asked import judgement

STORY = """The man who murdered Tom sold the boat to Ada's father for twenty pounds.
Ben's widow sold the old boat with all its nets to Mary for thirty pounds.
Tom refused to sell the big white house near the harbour to the mayor of York.
Yesterday evening he gave his mother the silver key of the old castle before he left for Leeds.
The strike of the weavers ended in May. Mr. Grey paid the strikers from his own purse.

‘The harbour master stole the silver chest,’ cried Ann.

'Your brother Frederick sailed to Spain last winter,' whispered the old servant.
"""
故事 = """知县的狗咬死了王冕的邻居，王冕在山东济南府住了半年，每日替人家卖卜卖画。
秦老的儿子娶了城里财主的女儿为妻。知县带着八个红黑帽夜役军牢下乡来拜访王冕。"""


@pytest.mark.parametrize(
    ("source", "response"),
    [
        (STORY, "Tom sold the boat to Ada's father for twenty pounds."),
        (STORY, "The man who murdered Tom sold the boat to Ada."),
        (STORY, "Ben sold the old boat with all its nets to Mary for thirty pounds."),
        (STORY, "Tom sell the big white house near the harbour to the mayor of York."),
        (
            STORY,
            "Yesterday evening she gave his mother the silver key of the old castle before he left for Leeds.",
        ),
        (STORY, "The harbour master stole the silver chest."),
        (STORY, "Your brother Frederick sailed to Spain last winter."),
        (故事, "知县的狗咬死了王冕"),
        (故事, "秦老娶了城里财主的女儿为妻"),
    ],
)
def test_words_taken_out_of_what_they_belong_to_do_not_stand_there(source, response):
    found = judgement(source, response)
    assert (found.label, found.failure) == (None, "needs_model")


def test_a_later_clause_stands_only_behind_what_it_follows():
    told = "王冕在山东济南府住了半年，每日替人家卖卜卖画。"
    another = "知县带着八个红黑帽夜役军牢下乡来拜访王冕，每日替人家卖卜卖画。"
    clause = "每日替人家卖卜卖画"
    assert judgement(故事, told, clause).label == "explicitly_supported"
    assert judgement(故事, another, clause).failure == "needs_model"
    assert judgement(故事, f"有人造谣说，{told}", "王冕在山东济南府住了半年").failure == "needs_model"


@pytest.mark.parametrize(
    "response",
    [
        "and the strike of the weavers ended in May.",
        "The strike of weavers had ended in May.",
        "Mr. Grey paid the strikers from his own purse.",
        "Mr. Grey paid the strikers.",
    ],
)
def test_a_clause_stands_there_without_its_end_and_with_other_auxiliaries(response):
    assert judgement(STORY, response).label == "explicitly_supported"


def test_a_name_told_twice_is_taken_from_its_own_sentence():
    source = "The Orla tower stands in Dunmore. The Orla tower was opened in 1889."
    assert judgement(source, "The Orla tower was opened in 1889.").label == "explicitly_supported"


def test_another_of_whom_the_same_is_told_is_no_conflict():
    told = "In spring {} owned three cotton mills near the railway station."
    thornton, grey = told.format("Thornton"), told.format("Grey")
    for sources in ([grey, thornton], [thornton, grey]):
        assert judgement(sources, thornton).label == "explicitly_supported"
    assert judgement(grey, thornton).failure == "needs_model"
