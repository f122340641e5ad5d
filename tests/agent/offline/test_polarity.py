import pytest

from longproof.agent.offline import polarity


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "The agent is able to customize a plan for the client.",
            "The agent is unable to customize a plan for the client.",
        ),
        ("The method improves on large datasets of text.", "The method improves on small datasets of text."),
        (
            "The company offers a range of insurance products.",
            "The company does not offer a range of insurance products.",
        ),
    ],
)
def test_denials_and_opposites_contradict(see, source: str, claim: str):
    assert polarity.look(see(source, claim)).label == "contradicting"
    assert polarity.look(see(source, source)).label == "implicitly_supported"


def test_to_say_what_a_text_does_not_mention_is_no_denial(see):
    source = "The passage gives the population of the city and the size of the city."
    told = "The population of the city is not mentioned in the passage, nor the size."
    assert polarity.look(see(source, told, task="answer")).findings == ()


def test_a_stance_turned_round_about_the_same_thing_contradicts(see):
    source = "范学道是个老实人，也不晓得他说的是笑话，只愁著眉道：「查不著也罢了。」"
    assert polarity.look(see(source, "范学道听出他说的是笑话。")).label == "contradicting"
    assert polarity.look(see(source, "范学道不知道他说的是笑话。")).label == "implicitly_supported"


def test_words_without_exception_say_more_than_the_source(see):
    source = "The tool helps engineers find errors in long reports."
    found = polarity.look(
        see(source, "The tool always helps engineers find errors in long reports.")
    ).findings
    assert [f.kind for f in found] == ["fabrication"]
