"""Line breaks end something unless they only wrap prose."""

from longproof.retrieval.text.sentences import logical_lines


def parts(text):
    return [text[start:end] for start, end in logical_lines(text)]


def test_each_line_of_a_list_stands_alone():
    text = "Steps:\n1. preheat the oven\n2. bake\n- cool\n• serve\n（一）总则\n第二回 宝玉"
    assert parts(text) == text.split("\n")


def test_an_unfinished_line_goes_on_in_lower_case():
    assert parts("The quick brown\nfox jumps.\nThe end") == ["The quick brown\nfox jumps.", "The end"]


def test_verse_keeps_its_lines():
    verse = (
        "Tiger Tiger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye,\nCould frame"
    )
    assert parts(verse) == verse.split("\n")
    assert parts("床前明月光，\n疑是地上霜。\n举头望明月，\n低头思故乡。") == [
        "床前明月光，",
        "疑是地上霜。",
        "举头望明月，",
        "低头思故乡。",
    ]


def test_prose_set_to_a_width_is_one_unit():
    prose = (
        "It was the year in which the old harbour of the town of\n"
        "Marlow had been closed, and nobody who had known Captain\n"
        "Weatherby before that time would have said that he was\n"
        "Marlow's kindest man, or that his house stood open to\n"
        "anyone."
    )
    assert parts(prose) == [prose]
    assert len(parts(prose.replace("\n", "\n\n"))) == 5, "a blank line always ends a unit"


def test_paragraphs_longer_than_any_line_of_a_book_keep_their_breaks():
    paragraph = "word " * 40 + "end"
    assert len(parts(f"{paragraph}\nand so on\n{paragraph}")) == 3


def test_a_deeper_indent_begins_something_new():
    assert parts("he went\n    home at last") == ["he went", "    home at last"]
