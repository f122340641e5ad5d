"""From results to what they say of their judges, and to when a label may be trusted."""

import ast
import random
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from evaluated import VOTED, Voting, line, scripted_report
from scripts import BENCHMARKS, benchmark

from longproof.agent.types import Place
from longproof.evaluation.folder import RunSettings
from longproof.evaluation.results import PredictedClaim, Result, prediction
from longproof.evaluation.run import evaluate_dataset
from longproof.evaluation.sections import sections
from longproof.evaluation.tables import Score
from longproof.evaluation.trust import (
    Deciding,
    confidences,
    in_first_half,
    report_deciding,
    run_deciding,
    selective_curve,
    trust_sections,
    voted_claims,
)
from longproof.evaluation.types import Example, Gold, GoldError
from longproof.retrieval.types import BadInput

SENSITIVITY, SPECIFICITY = (0.9, 0.8, 0.7), (0.999, 0.99, 0.97)
SENTENCE = "It was so. "


def response(number: int, draw: random.Random, judges: int = 3, claims: int = 20) -> Result:
    """A simulated response: every third has one wrong claim; two of three votes convict."""
    wrong = draw.randrange(claims) if number % 3 == 0 else -1
    made = []
    for n in range(claims):
        rates = SENSITIVITY if n == wrong else [1 - rate for rate in SPECIFICITY]
        votes = {f"j{judge}": draw.random() < rates[judge] for judge in range(judges)}
        origin = Place(start=n * len(SENTENCE), end=n * len(SENTENCE) + 10, text=SENTENCE[:10])
        convicted = 3 * sum(votes.values()) >= 2 * judges
        made.append(
            PredictedClaim(
                text=str(n),
                origin=origin,
                label="contradicting" if convicted else "explicitly_supported",
                failure=None,
                decided_by="vote",
                convicts=votes,
            )
        )
    said = "hallucinated" if any(claim.label == "contradicting" for claim in made) else "faithful"
    found = line(f"r{number}", "hallucinated" if wrong >= 0 else "faithful", said)
    errors = [GoldError(place=made[wrong].origin)] if wrong >= 0 else []
    return found.model_copy(
        update={
            "gold": Gold(outcome=found.gold.outcome, errors=tuple(errors)),
            "prediction": found.prediction.model_copy(update={"claims": tuple(made)}),
        }
    )


def simulated(responses: int, judges: int = 3) -> list[Result]:
    draw = random.Random(4)
    return [response(number, draw, judges) for number in range(responses)]


def scores(results: list[Result], **rule: Any) -> dict[str, Score]:
    return {score.name: score for section in sections(results, Deciding(**rule)) for score in section.scores}


def recorded(
    settings: dict[str, str], protocol: str = "longproof", judges: Sequence[str] = ("openai:a",)
) -> RunSettings:
    return RunSettings(
        version=2,
        dataset="d",
        protocol=protocol,
        judges=tuple(judges),
        settings=settings,
        sample=None,
        seed=0,
        repeat=1,
        data="",
    )


def test_the_tables_say_how_reliable_each_judge_is_and_what_gold_says_of_it() -> None:
    found = scores(simulated(240))
    for judge, (sensitivity, specificity) in enumerate(zip(SENSITIVITY, SPECIFICITY, strict=True)):
        for name, true in (("sensitivity", sensitivity), ("specificity", specificity)):
            score = found[f"j{judge}: {name}"]
            assert score.low is not None
            assert score.high is not None
            assert score.low <= true <= score.high
            by_gold = found[f"j{judge}: {name} by gold"]
            assert by_gold.value is not None
            assert score.value is not None
            assert abs(by_gold.value - score.value) < 0.1
    assert found["j0: sensitivity by gold"].n == 80
    assert found["j0: specificity by gold"].n == 240 * 20 - 80


def test_runs_of_different_panels_each_have_the_risk_of_their_own() -> None:
    """The votes of several runs tell rates together; but no panel of all their judges ever decided."""
    one, other = simulated(240), [one.model_copy(update={"id": f"o{one.id}"}) for one in simulated(240)]
    for result in other:
        for claim in result.prediction.claims:
            for judge in ("j0", "j1", "j2"):
                claim.convicts[f"o{judge}"] = claim.convicts.pop(judge)
    panels = [Deciding(judges=("j0", "j1", "j2")), Deciding(judges=("oj0", "oj1", "oj2"))]

    def risks(results: list[Result], *rules: Deciding) -> dict[str, list[float | None]]:
        found = trust_sections(voted_claims(results), rules)
        return {s.title: [score.value for score in s.scores] for s in found if s.title.startswith("The risk")}

    (alone,) = risks(one, panels[0]).values()
    both = risks([*one, *other], *panels, *panels)
    assert [title.rpartition("judges ")[2] for title in both] == ["j0, j1, j2)", "oj0, oj1, oj2)"]
    for found in both.values():
        assert found == pytest.approx(alone, rel=0.01)


def test_what_cannot_be_told_is_a_dash_with_its_reason_and_one_judge_alone_is_not_told_of() -> None:
    two = scores(simulated(30, judges=2))
    assert two["the judges' rates can't be told: fewer than three judges voted"].value is None
    assert not any("sensitivity" in name or "but called" in name for name in two)
    assert trust_sections(voted_claims(simulated(30, judges=1)), [Deciding()]) == []


def test_the_risk_of_a_long_text_follows_from_how_the_run_decides() -> None:
    results, name = simulated(240), "faithful, but called hallucinated"
    by_two, by_all, alone = (
        scores(results, **rule)[name].value or 0
        for rule in ({}, {"consensus": 1.0}, {"consensus": 1.0, "arbiter": False})
    )
    assert 0 < alone < by_two < by_all, "the arbiter convicts some of what is split; else it is undecided"


@pytest.mark.parametrize(
    ("judges", "settings", "protocol", "rule"),
    [
        (["openai:a", "openai:b"], {}, "longproof", Deciding()),
        (["openai:a"], {"consensus": "0.9"}, "longproof", Deciding(0.9)),
        (["openai:a"], {"arbiter": "person"}, "longproof", Deciding(arbiter=False)),
        (["nli:a", "nli:b", "nli:c"], {}, "longproof", Deciding(arbiter=False)),
        (["nli:a", "nli:b", "nli:c"], {"arbiter": "openai:d"}, "longproof", Deciding()),
        (['{"kind":"openai","model":"a"}'], {}, "probe", Deciding(0.75)),
        (["openai:a"], {"confirm": "True"}, "longproof", Deciding(confirms=True)),
        (["openai:a"], {"max_risk": "0.05"}, "longproof", Deciding(confirms=True)),
    ],
)
def test_how_a_run_decides_stands_in_its_record(
    judges: list[str], settings: dict[str, str], protocol: str, rule: Deciding
) -> None:
    assert run_deciding(recorded(settings, protocol, judges)) == rule
    stamp = {"protocol": protocol, "arbiter": "a" if rule.arbiter else settings.get("arbiter")}
    kept = {"consensus": None, "confirm": False, "max_risk": None}
    stamp["settings"] = kept | {
        name: ast.literal_eval(settings[name]) for name in kept.keys() & settings.keys()
    }
    report = scripted_report("He won.", [None]).model_copy(update={"stamp": stamp})
    assert report_deciding(report) == rule


@pytest.mark.parametrize("share", ["abc", "", "nan", "0", "-1", "1e9"])
def test_a_record_whose_consensus_is_no_share_is_refused(share: str) -> None:
    with pytest.raises(BadInput, match="consensus"):
        run_deciding(recorded({"consensus": share}))


def test_an_evaluation_tells_the_risk_of_its_own_rule(tmp_path: Path) -> None:
    def titles(**settings: Any) -> list[str]:
        done = evaluate_dataset(
            "voted",
            judges=["nli:a", "nli:b", "nli:c"],
            out=tmp_path / "-".join(["run", *settings]),
            checker=lambda repeat: Voting(),
            chosen=[Example(id="a", task="summary", response=VOTED, gold=Gold())],
            **settings,
        )
        return [section.title for section in done.sections if section.title.startswith("The risk")]

    assert titles(confirm=True) == [
        "The risk of a long text before confirming (67% must agree, the rest is undecided)"
    ]
    assert titles() == ["The risk of a long text (67% must agree, the rest is undecided)"]
    assert titles(consensus=1.0) == ["The risk of a long text (100% must agree, the rest is undecided)"]


def test_a_response_is_as_sure_as_its_votes_and_no_gold_is_used() -> None:
    results = simulated(120)
    sure = confidences(results)
    assert sure is not None
    blind = [one.model_copy(update={"gold": Gold(outcome="faithful")}) for one in results]
    assert confidences(blind) == sure
    curve = selective_curve(results)
    assert curve is not None
    assert curve.area is not None
    assert curve.best is not None
    assert curve.area < curve.points[-1][2], "the surest labels are wrong less often than all"
    found = scores(results)
    assert found["area under risk and coverage"].value == curve.area
    chosen, other = (
        found[f"risk from there, {half}"] for half in ("the half it was chosen on", "the other half")
    )
    assert chosen.value is not None
    assert chosen.value <= 0.05
    assert other.value is not None
    assert selective_curve(simulated(30, judges=2)) is None


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return benchmark("trust_recorded")


def test_the_table_of_recordings_counts_every_conviction_and_only_takes_some_back(bench: ModuleType) -> None:
    """Judges who err independently: the rates that votes alone tell, and gold's of the other half, agree."""
    run = bench.Run("simulated", Deciding(), simulated(240))
    convicted = [c.label for r in run.results for c in r.prediction.claims].count("contradicting")
    for row in bench.risk([run]):
        cells = dict(zip(bench.RISK, row, strict=True))
        staged = [int(n) for name in bench.RISK[3:5] for n in cells[name].split(", ")]
        assert sum(staged) == convicted
        said = [tuple(map(int, cell.split(" of "))) for cell in row[-4:]]
        assert [n for _, n in said] == [160, 160, 80, 80]
        assert said[1][0] <= said[0][0]
        assert said[3][0] <= said[2][0]
        assert float(row[6].rstrip("%")) <= 5
        assert cells["claims of a text"] == "its own" or staged[1] + staged[4] > 0
    by_votes, by_gold = (row for row in bench.risk([run]) if row[2] == "its own")
    assert float(by_votes[5].rstrip("%")) == pytest.approx(float(by_gold[5].rstrip("%")), abs=1)


def test_confirming_is_told_beside_the_same_panel_without(bench: ModuleType) -> None:
    """Of two convictions that gold bears out one is lost, of two that it does not both are."""
    three = [response(number, random.Random(0), claims=2) for number in range(3)]

    def run(name: str, *convicted: tuple[int, int]) -> Any:
        made = []
        for number, one in enumerate(three):
            claims = [
                claim.model_copy(
                    update={"label": "contradicting" if (number, n) in convicted else "explicitly_supported"}
                )
                for n, claim in enumerate(one.prediction.claims)
            ]
            wrong = {"outcome": "hallucinated", "errors": (GoldError(place=claims[0].origin),)}
            gold = Gold.model_validate({"outcome": "faithful"} if number == 2 else wrong)
            made.append(
                one.model_copy(
                    update={
                        "gold": gold,
                        "prediction": one.prediction.model_copy(update={"claims": tuple(claims)}),
                    }
                )
            )
        return bench.Run(name, Deciding(), made)

    before = run("s-panel", (0, 0), (1, 0), (1, 1), (2, 0))
    after = run("s-confirm", (0, 0))
    (row,) = bench.confirmed([after], {"s-panel": before})
    assert row == ("s-confirm", "2", "1", "2", "0", "1 of 1", "0 of 1", "2 of 2", "1 of 2")
    with pytest.raises(BadInput, match="without confirming questions"):
        list(bench.confirmed([after], {}))


def test_where_gold_is_missing_in_one_half_its_rates_have_no_row(bench: ModuleType) -> None:
    half = [one for one in simulated(60) if in_first_half(one)]
    blank = [one.model_copy(update={"gold": Gold()}) for one in simulated(60) if not in_first_half(one)]
    rows = list(bench.risk([bench.Run("half", Deciding(), [*half, *blank])]))
    assert [row[1] for row in rows] == ["votes alone"] * 2


def test_a_single_judge_is_as_sure_as_its_verdict_is_plain(bench: ModuleType) -> None:
    told = [
        bench.plainness(
            line("a", "faithful", "hallucinated").model_copy(update={"prediction": prediction(one)})
        )
        for one in (
            scripted_report("He won. She lost.", ["contradicting", "explicitly_supported"], wrong=["won"]),
            scripted_report("He won. She lost.", ["fabricated", "explicitly_supported"]),
            scripted_report("He won. She lost.", ["implicitly_supported", "explicitly_supported"]),
            scripted_report("He won. She lost.", [None, "explicitly_supported"]),
        )
    ]
    assert told == [1.0, 0.0, 0.5, None]
    alike = bench.Run("alike", Deciding(), [line(str(n), "faithful", "faithful") for n in range(4)])
    assert not bench.is_panel(alike)


def test_texts_are_written_between_the_marks_that_a_file_has(bench: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("a\n<!-- x -->\nold\n<!-- /x -->\nb\n", "utf-8")
    for _ in range(2):
        bench.write(path, {"x": "new\n", "y": "of another file\n"})
    assert path.read_text("utf-8") == "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n"
    with pytest.raises(BadInput, match="has no marks"):
        bench.write(path, {"y": ""})
