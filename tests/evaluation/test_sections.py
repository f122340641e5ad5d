"""Reports reduced to what scores need; which scores a set is given follows from its gold."""

from typing import Any

import pytest
from evaluated import line, scripted_report

from longproof.agent.types import Place
from longproof.evaluation.results import Prediction, Result, flagged_places, label_at, prediction
from longproof.evaluation.scores import Score, Section, score_tables
from longproof.evaluation.sections import sections
from longproof.evaluation.types import Gold, GoldClaim, GoldError, GoldPart

TEXT = "He won twice in May. She lost."
THREE = f"{TEXT} They met."


def place(quote: str) -> Place:
    return Place(start=THREE.index(quote), end=THREE.index(quote) + len(quote), text=quote)


def predict(labels: list[Any], wrong: tuple[str, ...] = ()) -> Prediction:
    return prediction(scripted_report(THREE, labels, wrong=wrong))


@pytest.mark.parametrize(
    ("part", "label"),
    [("twice", "contradicting"), ("He won twice in May.", "contradicting"), ("May", "implicitly_supported"),
     ("She", "out_dependent"), ("They met.", None), ("She lost. They met.", None)],
)  # fmt: skip
def test_a_wrong_claim_speaks_only_for_its_marked_words(part: str, label: str | None) -> None:
    found = predict(["contradicting", "out_dependent", None], ("twice",))
    assert label_at(found, place(part)) == label
    assert flagged_places(found) == [(7, 12)]
    assert label_at(found.model_copy(update={"claims": found.claims[:1]}), place("She")) == "out_dependent"


def test_what_is_undecided_marks_nothing_and_a_wrong_claim_without_words_is_flagged_whole() -> None:
    assert flagged_places(predict(["no_fact", None, "no_fact"])) is None
    assert flagged_places(predict(["no_fact", "out_dependent", "no_fact"])) == []
    assert flagged_places(predict(["no_fact", "fabricated", None])) == [(21, 30)]


def test_votes_on_pieces_of_evidence_are_kept_apart() -> None:
    report = scripted_report(THREE, ["fabricated", "no_fact", "no_fact"])
    votes = (("q1", "explicitly_supported"), ("q2", "fabricated"), ("q1", None), ("q2", "fabricated"))
    (one,) = report.claims[0].judgements
    words = (
        {"question_id": q, "label": label, "failure": None if label else "unparsed"} for q, label in votes
    )
    judgements = tuple(one.model_copy(update=word) for word in words)
    first = report.claims[0].model_copy(update={"judgements": judgements})

    def votes_of(protocol: str) -> tuple[object, object]:
        changes = {"claims": (first, *report.claims[1:]), "stamp": {"protocol": protocol}}
        claim = prediction(report.model_copy(update=changes)).claims[0]
        return claim.votes, claim.pieces

    assert votes_of("probe") == ((), (("explicitly_supported", None), ("fabricated", "fabricated")))
    assert votes_of("longproof") == (("fabricated", "fabricated"), ())


def scores(*results: Result) -> dict[str, dict[str, float | None]]:
    return {s.title: {score.name: score.value for score in s.scores} for s in sections(results)}


def with_gold(gold: Gold, labels: list[Any], wrong: tuple[str, ...] = (), **changes: Any) -> Result:
    """A result of two sentences, so labelled."""
    reduced = prediction(scripted_report(TEXT, labels, wrong=wrong)).model_copy(update=changes)
    return line("a", gold.outcome, "hallucinated").model_copy(update={"gold": gold, "prediction": reduced})


def annotate(**gold: Any) -> Result:
    labels = ["contradicting", "explicitly_supported"]
    return with_gold(Gold(outcome="hallucinated", **gold), labels, ("twice",))


def with_hint(result: Result, words: str) -> Result:
    """The result with a hint on its first claim, about these words."""
    first, *others = result.prediction.claims
    claims = (first.model_copy(update={"hint": place(words)}), *others)
    return result.model_copy(update={"prediction": result.prediction.model_copy(update={"claims": claims})})


def test_without_a_model_hints_come_first_with_their_precision_and_coverage() -> None:
    marked = Gold(outcome="hallucinated", errors=(GoldError(place=place("twice")),))
    here = with_gold(marked, [None, "explicitly_supported"], triage=True)
    there = with_gold(marked, [None, None], triage=True)
    first = sections([with_hint(here, "twice"), with_hint(there, "May")])[0]
    assert first.title == "Without a model"
    assert {score.name: (score.value, score.n) for score in first.scores} == {
        "precision of hints": (0.5, 2),
        "precision of what stands there": (1.0, 1),
        "coverage of claims": (0.25, 4),
    }
    assert first.scores[0].coverage == 0.25


def in_parts(*sides: Any) -> Gold:
    """Gold of a wrong response, sentence by sentence."""
    told = zip(("He won twice in May.", "She lost."), sides, strict=True)
    parts = tuple(GoldPart(place=place(sentence), outcome=side) for sentence, side in told)
    return Gold(outcome="hallucinated", parts=parts)


@pytest.mark.parametrize(
    ("gold", "hints", "standing"),
    [(Gold(outcome="hallucinated"), 1.0, None), (Gold(outcome="hallucinated", errors=()), 1.0, None),
     (Gold(outcome="faithful"), 0.0, 1.0), (Gold(outcome=None), None, None),
     (in_parts("faithful", "hallucinated"), 0.0, 0.0), (in_parts(None, "faithful"), None, 1.0)],
)  # fmt: skip
def test_gold_is_taken_at_its_word(gold: Gold, hints: float | None, standing: float | None) -> None:
    result = with_hint(with_gold(gold, [None, "explicitly_supported"], triage=True), "twice")
    found = scores(result)["Without a model"]
    assert found["precision of hints"] == hints
    assert found["precision of what stands there"] == standing


def test_outcomes_alone_give_responses_and_cost_and_gray_gold_is_in_no_score() -> None:
    found = scores(line("a", "faithful", "faithful"), line("b", None, "hallucinated"))
    assert set(found) == {"Responses", "Cost"}
    assert found["Responses"]["gray gold, in no score above"] == 0.5
    assert found["Responses"]["accuracy"] == 1.0


def test_marked_places_give_characters_and_places_and_labelled_parts_verigrays_scores() -> None:
    found = scores(annotate(errors=(GoldError(place=place("twice in"), name="NUMBER"),)))["Places"]
    assert (found["characters: precision"], found["characters: recall"]) == (1.0, 5 / 8)
    assert found["places: recall of NUMBER"] == 1.0
    parts = (
        GoldPart(place=place("He won twice in May."), outcome="hallucinated", label="fabricated"),
        GoldPart(place=place("She lost."), outcome="faithful", label="implicitly_supported"),
    )
    found = scores(annotate(parts=parts))
    assert found["Parts"]["parts: mean accuracy"] == 1.0
    ranked = found["Parts, seven labels"]
    assert (ranked["ranking loss"], ranked["risk at explicitly_supported or above"]) == (0.0, 0.0)


CLAIMS = (
    GoldClaim(text="He won twice.", origin=place("He won twice in May."), hallucinated=True),
    GoldClaim(text="She lost.", origin=place("She lost."), hallucinated=False),
)


def test_annotated_claims_give_probes_steps() -> None:
    rain = GoldClaim(text="It rained.", origin=None, hallucinated=False)
    found = scores(annotate(claims=(*CLAIMS, rain)))["Claims (PROBE)"]
    assert found["decomposition: precision"] == 1.0
    assert found["decomposition: recall"] == pytest.approx(2 / 3)
    assert (found["localisation: precision"], found["localisation: recall"]) == (1.0, 1.0)
    assert found["evidence: partial"] is None


def test_votes_on_pieces_give_probes_third_step_and_agreement_by_piece() -> None:
    no, yes = "fabricated", "explicitly_supported"
    pieces = [((no, no, yes), (no, no, no)), ((yes, yes, None),)]
    result = annotate(claims=CLAIMS)
    told = zip(result.prediction.claims, pieces, strict=True)
    voted = [claim.model_copy(update={"pieces": own, "votes": ()}) for claim, own in told]
    voted_on = result.prediction.model_copy(update={"claims": tuple(voted)})
    result = result.model_copy(update={"prediction": voted_on})
    assert scores(result)["Claims (PROBE)"]["evaluation: accuracy"] == pytest.approx(7 / 9)
    (kappa,) = (s for section in sections([result]) for s in section.scores if s.name == "Fleiss' kappa")
    assert (kappa.over, kappa.n) == ("pieces with a panel", 3)
    assert kappa.value == pytest.approx(((1 / 3 + 1 + 1) / 3 - 34 / 64) / (1 - 34 / 64))


def test_slices_give_recall_or_accuracy() -> None:
    found = scores(
        line("a", "hallucinated", "faithful", kind="event", position="begin", scale="S"),
        line("b", "hallucinated", "hallucinated", kind="temporal", position="begin", scale="S"),
        line("c", "faithful", "faithful", position="begin", scale="S"),
    )
    assert found["By kind"] == {"recall of event": 0.0, "recall of temporal": 1.0}
    assert found["By scale"]["S: mean accuracy"] == 0.75
    assert found["By position"]["begin: recall"] == 0.5
    assert found["By position, the paper's four kinds"] == {"recall of begin": 0.0}


SECTION = Section(
    title="By model",
    scores=(
        Score(name="a|b <img>\n[red]x: recall", value=None, over="hallucinated", n=0),
        Score(name="MCC", value=0.12345, over="responses", n=1200, coverage=0.5, low=-0.1, high=0.3),
    ),
)


def test_markdown_keeps_one_row_a_score() -> None:
    text = score_tables("title", [SECTION], "footer")
    assert "| a\\|b &lt;img> [red]x: recall | – |  | hallucinated | 0 |  |" in text
    assert "| MCC | 0.123 | -0.100 to 0.300 | responses | 1,200 | 0.500 |" in text
