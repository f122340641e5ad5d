"""Runs: the same bytes again, after a kill too; nothing checked twice; nothing dropped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from batches import write
from evaluated import FakeChecker
from fakes import ChatServer
from reader import Asked, Reply, well

from longproof.agent.models.ledger import LedgerFailed
from longproof.agent.types import Case, Report
from longproof.evaluation.datasets import examples
from longproof.evaluation.run import Evaluation, draw_sample, evaluate_dataset, planned_examples
from longproof.evaluation.types import Example
from longproof.graphs.runner import RunProgress, plan_groups
from longproof.retrieval.types import BadInput, Document

CASES = Path(__file__).with_name("cases.jsonl")
KEPT = ("run.json", "results.jsonl", "scores.json")


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    rows = []
    for i in range(12):
        said = "He won. It is wrong." if i % 3 == 0 else "He is unsure." if i == 7 else "He won\u2028."
        gold = "faithful" if i % 3 else "hallucinated"
        rows.append({"id": f"case-{i}", "source_text": "A source.", "response": said, "label": gold})
    return write(tmp_path, rows)


def run(cases: Path, out: Path, checker: FakeChecker, **options: Any) -> Evaluation:
    return evaluate_dataset("jsonl", path=cases, out=out, checker=lambda repeat: checker, **options)


def files_of(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in KEPT}


def test_scores_stand_with_denominators_and_coverage(cases: Path, tmp_path: Path) -> None:
    finished = run(cases, tmp_path / "out", FakeChecker())
    first = {score.name: score for score in finished.sections[0].scores}
    assert (first["accuracy of hallucinated"].value, first["accuracy of faithful"].value) == (1.0, 7 / 8)
    assert (first["mean accuracy"].n, first["mean accuracy"].coverage) == (12, pytest.approx(11 / 12))
    table = finished.to_markdown()
    assert "| accuracy of faithful | 0.875 |" in table
    assert (tmp_path / "out" / "table.md").read_text(encoding="utf-8") == table


def test_two_runs_give_the_same_bytes_whatever_the_concurrency(cases: Path, tmp_path: Path) -> None:
    heard = list[RunProgress]()
    run(cases, tmp_path / "a", FakeChecker(), parallel=1, progress=heard.append)
    assert [(word.done, word.total) for word in heard] == [(n, 12) for n in range(13)]
    run(cases, tmp_path / "b", FakeChecker(), parallel=5)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), LedgerFailed("disk is full")])
def test_a_stopped_run_checks_nothing_twice(cases: Path, tmp_path: Path, error: BaseException) -> None:
    out, stopped, resumed = tmp_path / "out", FakeChecker(answers=5, error=error), FakeChecker()
    with pytest.raises(type(error)):
        run(cases, out, stopped, parallel=1)
    with (out / "results.jsonl").open("ab") as file:
        file.write(b'{"id": "case-9", "rep')
    (out / ".part-1").write_text("half a report")
    run(cases, out, resumed)
    assert not (out / ".part-1").exists()
    assert (len(stopped.asked), stopped.closed) == (5, 1)
    assert not set(stopped.asked) & set(resumed.asked)
    assert len(stopped.asked) + len(resumed.asked) == 12
    run(cases, tmp_path / "whole", FakeChecker())
    assert files_of(out) == files_of(tmp_path / "whole")


def test_a_defect_fails_one_example_and_is_named(cases: Path, tmp_path: Path) -> None:
    class Broken(FakeChecker):
        async def check(self, documents: Sequence[Document], case: Case) -> Report:
            if case.id == "case-4":
                raise KeyError("lamp")
            return await super().check(documents, case)

    finished = run(cases, tmp_path / "out", Broken())
    assert finished.unchecked_reasons() == ["1 of 12 examples could not be checked", "KeyError: 'lamp' (1)"]
    again = FakeChecker()
    assert run(cases, tmp_path / "out", again).unchecked_reasons() == []
    assert again.asked == ["case-4"]


def test_whole_reports_are_kept_where_they_are_asked_for(cases: Path, tmp_path: Path) -> None:
    run(cases, tmp_path / "out", FakeChecker())
    checker = FakeChecker()
    run(cases, tmp_path / "out", checker, reports=True)
    assert len(checker.asked) == len(list((tmp_path / "out" / "reports").iterdir())) == 12


def test_a_folder_of_another_run_is_refused(cases: Path, tmp_path: Path) -> None:
    run(cases, tmp_path / "out", FakeChecker(), sample=4)
    with pytest.raises(BadInput, match="holds another run"):
        run(cases, tmp_path / "out", FakeChecker(), sample=4, seed=1)
    cases.write_text(cases.read_text(encoding="utf-8").replace("A source.", "Another."), encoding="utf-8")
    with pytest.raises(BadInput, match="holds another run"):
        run(cases, tmp_path / "out", FakeChecker(), sample=4)


def test_what_cannot_be_checked_is_undecided_and_wrong(tmp_path: Path) -> None:
    row = {"id": 1, "source_text": "s", "response": " ", "label": "faithful"}
    finished = run(write(tmp_path, [row]), tmp_path / "out", FakeChecker())
    assert finished.results[0].prediction.failure == "the response is empty; give a text"
    assert finished.unchecked_reasons()[1:] == ["the response is empty; give a text (1)"]
    scores = {score.name: score.value for section in finished.sections for score in section.scores}
    assert scores["accuracy of faithful"] == 0.0
    assert scores["responses that could not be checked"] == 1.0


def test_repeats_are_counted_and_flips_reported(cases: Path, tmp_path: Path) -> None:
    class Moody(FakeChecker):
        async def check(self, documents: Sequence[Document], case: Case) -> Report:
            wrong = case.response.replace("unsure", "wrong")
            return await super().check(documents, case.model_copy(update={"response": wrong}))

    checkers = [FakeChecker(), Moody()]
    finished = evaluate_dataset(
        "jsonl", path=cases, out=tmp_path / "out", repeat=2, checker=checkers.__getitem__
    )
    scores = {score.name: score for section in finished.sections for score in section.scores}
    assert len(finished.results) == 24
    assert scores["flip rate of 2 runs"].value == pytest.approx(1 / 12)


def test_a_sample_is_seeded_and_keeps_order_and_pairs(cases: Path) -> None:
    found = examples("jsonl", cases)
    drawn = draw_sample(found, 5, seed=3)
    assert len(drawn) == 5
    assert drawn == draw_sample(found, 5, seed=3) != draw_sample(found, 5, seed=4)
    assert [e.id for e in drawn] == [e.id for e in found if e in drawn]
    paired = [e.model_copy(update={"pair": str(i // 2)}) for i, e in enumerate(found)]
    pairs = [e.pair for e in draw_sample(paired, 5, seed=0)]
    assert len(pairs) == 6
    assert all(pairs.count(pair) == 2 for pair in pairs)
    with pytest.raises(BadInput):
        draw_sample(found, 0, seed=0)


def test_examples_of_a_long_source_are_planned_together_without_pairs(tmp_path: Path) -> None:
    """Groups are checked in tests/doors/batch."""
    long = "Ada lit the lamp and Tom wrote it down.\n\n" * 600
    row = {"source_text": long, "response": "Ada lit the lamp."}
    rows = [{**row, "id": f"{n} {side}", "pair": f"p{n}"} for n in range(6) for side in "ab"]
    found = examples("jsonl", write(tmp_path, rows))

    def groups(**changes: Any) -> list[list[Example]]:
        drawn = [example.model_copy(update=changes) for example in found]
        once, again = (planned_examples(drawn, joined=True, repeat=repeat) for repeat in range(2))
        planned = plan_groups([*once, *again])
        assert all(len({one.place[1] for one in group}) == 1 for group in planned)
        return [[drawn[one.place[0]] for one in group] for group in planned if group[0].place[1] == 0]

    assert [len({example.pair for example in group}) for group in groups()] == [6, 6]
    assert len(groups(sources=())) == 12
    assert len(groups(pair=None, group="book")) == 12, "a set that groups by source says that they are alike"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"protocol": "bogus"}, "there is no protocol 'bogus'"),
        ({"protocol": "probe"}, "probe needs judges that read"),
        ({"judges": ["nobody"]}, "there is no judge 'nobody'"),
        ({"pages": "/nowhere/at/all"}, "there is no folder"),
        ({"only": "scale=XXL"}, "there is no example of scale=XXL"),
    ],
)
def test_runs_that_can_check_nothing_are_refused_before_anything_is_written(
    settings: dict[str, Any], says: str, cases: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=says):
        evaluate_dataset("jsonl", path=cases, out=tmp_path / "out", home=str(tmp_path / "home"), **settings)
    assert not (tmp_path / "out").exists()


def test_calls_are_counted_as_they_are_answered_not_as_their_case_ends(tmp_path):
    counts: list[int] = []
    at: list[RunProgress] = []

    def watching(asked: Asked) -> Reply | str:
        counts.append(at[-1].traffic().calls)
        return well(asked)

    with ChatServer(watching) as server:
        judges = [f"openai:m@{server.address}"]
        options = {"out": tmp_path / "out", "judges": judges, "sample": 1, "concurrency": 1, "repeat": 2}
        evaluate_dataset(str(CASES), **options, progress=at.append)
        assert at[0].done == 0
        assert max(counts) == len(server.asked) - 1
        assert at[-1].traffic().calls == len(server.asked)
