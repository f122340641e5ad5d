import pytest

from longproof.agent.offline import facts

SOURCE = "学道问他年纪。范进道：「童生二十岁应考，到今考过二十余次。」学道把他取为第一。"


def test_a_number_that_the_place_has_otherwise_contradicts(see):
    view = see(SOURCE, "范进自称应考，考过三十余次。")
    opinion = facts.look(view)
    assert opinion.label == "contradicting"
    assert [(f.kind, f.correction) for f in opinion.findings] == [("numerical", "二十余次")]
    assert view.in_response(opinion.findings[0].start, opinion.findings[0].end).text == "三十余次"


@pytest.mark.parametrize("said", ["二十多次", "二十余次", "20多次"])
def test_the_same_number_in_another_form_is_supported(see, said: str):
    assert facts.look(see(SOURCE, f"范进自称应考，考过{said}。")).label == "implicitly_supported"


def test_kin_of_another_kind_contradicts(see):
    source = "小二的哥子王大走到严家讨猪。王大被严家打折了腿。"
    opinion = facts.look(see(source, "父亲王大去严家讨猪时被打折了腿。"))
    assert [(f.kind, f.correction) for f in opinion.findings] == [("relation", "哥子")]
    assert facts.look(see(source, "哥哥王大去严家讨猪时被打折了腿。")).label == "implicitly_supported"


def test_numbers_and_names_that_the_source_does_not_have(see):
    source = "Revenue rose to $441 million in the quarter, the company in Denver said."
    assert facts.look(see(source, "Revenue rose to $441 million in the quarter.")).findings == ()
    wrong = facts.look(see(source, "Revenue rose to $443 million in the quarter."))
    assert (wrong.label, wrong.findings[0].kind) == ("contradicting", "numerical")
    assert wrong.findings[0].correction == "$441 million"
    other = facts.look(see(source, "The company in Oslo said revenue rose in the quarter."))
    assert (other.label, [f.kind for f in other.findings]) == ("fabricated", ["entity"])


def test_a_list_mark_states_no_number(see):
    source = "Soak your hands in warm water, then scrub the nails gently."
    assert facts.look(see(source, "7. Soak your hands in warm water.")).findings == ()


def test_too_little_of_the_sentence_is_not_found(see):
    source = "Crayola makes crayons."
    assert (
        facts.look(see(source, "Giraffes wander across the wide savannah grassland.", task="turn")).label
        == "not_found"
    )
