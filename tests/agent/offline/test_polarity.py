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


def test_what_the_source_denies_elsewhere_may_be_denied(see):
    claim = "The guests gave the cook no reward for supper."
    source = (
        "The guests gave the cook a coin for supper. " + "They talked of the war until late at night. " * 8
    )
    assert polarity.look(see(source, claim)).label == "contradicting"
    told = source + "Months later he complained that he was never promised any reward."
    assert polarity.look(see(told, claim)).label == "implicitly_supported"


def test_an_opposite_beside_the_same_word_contradicts(see):
    source = "Finally, we show in an online experiment that the models can be used in a writing system."
    claim = "We evaluated a writing system in an offline experiment with students."
    found = polarity.look(see(source, claim)).findings
    assert [f.correction for f in found] == ["online"]
