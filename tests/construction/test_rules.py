"""A set made by rule: exact places, true rewordings, files that the readers take as they are."""

import json
from pathlib import Path
from random import Random

import pytest
from scripted_writer import NAMES, novel

from longproof.construction.case_files import fresh, write_summary_cases
from longproof.construction.rules import cast_of, made_by_rules, reword_by_rule
from longproof.construction.versions import sentence_difference
from longproof.evaluation.datasets import examples
from longproof.retrieval.types import BadInput, Document


@pytest.fixture(scope="module")
def made():
    return made_by_rules([novel(1), novel(2)], 60, seed=3, test_share=0.5)


def test_half_of_the_cases_are_wrong_and_places_are_exact(made):
    assert 40 <= len(made.cases) <= 60
    assert sum(case.error is not None for case in made.cases) == len(made.cases) / 2
    for case in made.cases:
        if case.error:
            at = case.error.wrong
            assert case.response[at.start : at.end] == at.text


def test_splits_share_no_book(made):
    splits = {(case.book, case.split) for case in made.cases}
    assert len(splits) == 2
    assert {split for _, split in splits} == {"train", "test"}


def test_the_readers_take_the_files_as_they_are(made, tmp_path: Path):
    write_summary_cases(tmp_path, made.cases, made.books)
    read = examples("jsonl", tmp_path) + examples("jsonl", tmp_path / "train.jsonl")
    assert {e.id for e in read} == {case.id for case in made.cases if case.split == "test"} | {
        case.id for case in made.cases if case.split == "train"
    }
    texts = {book.title: book.text for book in made.books}
    by_id = {case.id: case for case in made.cases}
    for example in read:
        case = by_id[example.id] if example.id in by_id else pytest.fail(example.id)
        if example.slices["book"] == case.book:
            assert example.sources[0].text == texts[case.book][slice(*case.source)]
    for file in sorted((tmp_path / "longnovel").glob("*.jsonl")):
        for example in examples("longnovel", file):
            assert example.slices["scale"]
            if example.gold.outcome == "hallucinated":
                (error,) = example.gold.errors or ()
                assert error.kind
                assert error.place.text in example.response


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path):
    for name in ("a", "b"):
        again = made_by_rules([novel(5, 200)], 20, seed=1)
        write_summary_cases(tmp_path / name, again.cases, again.books)
    files = [sorted(p.relative_to(tmp_path / n) for p in (tmp_path / n).rglob("*.*")) for n in ("a", "b")]
    assert files[0] == files[1]
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files[0])


def test_errors_are_not_in_the_source(made):
    texts = {book.title: book.text for book in made.books}
    wrong = [case for case in made.cases if case.error]
    held = [case for case in wrong if case.error and case.error.sentences.text in texts[case.book]]
    assert held == []


def test_rewordings_differ_and_keep_their_sentences():
    text = "张飞慌忙出城。众将皆到帐前商议。次日曹操大怒。"
    for seed in range(20):
        other = reword_by_rule(text, "zh", Random(seed))
        differs = sentence_difference(text, other)
        assert differs is not None
        assert len(differs.come) <= 2


@pytest.mark.parametrize(
    ("text", "names", "language"),
    [
        ("曹操奉天子赴许都。", ["许都"], "zh"),
        ("周瑜做了大都督。成都与武都的百姓都来投奔。", ["大都督", "成都", "武都"], "zh"),
        ("韩遂引军往汉中去了。太守遂开城门。", ["韩遂", "汉中"], "zh"),
        ("亦喜大怒。孔明同亦喜连忙出迎。", ["亦喜"], "zh"),
        ("他同匡超人到秦老家去。", ["秦老家去"], "zh"),
        ("They came to Stratford-upon-Avon and to Newcastle upon Tyne.", ["upon-Avon", "upon Tyne"], "en"),
    ],
)
def test_no_rewording_stands_inside_a_name(text, names, language):
    for seed in range(60):
        other = reword_by_rule(text, language, Random(seed), ["韩遂", "亦喜"])
        assert [name for name in names if name not in other] == []


def test_the_cast_are_those_who_speak():
    assert cast_of(novel(1).text, "zh")[:5]
    assert set(cast_of(novel(1).text, "zh")) <= set(NAMES)
    told = 'Then Mary said no. And Mary looked away. Mr. Hargrave rose. "So," cried Mary. Mary took it. Mary came. '
    assert cast_of(told * 3, "en") == ["Mary"]


def test_what_cannot_be_used_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="too short"):
        made_by_rules([Document.of("他走了。")], 20)
    with pytest.raises(BadInput, match="same text"):
        made_by_rules([novel(1), novel(1)], 20)
    with pytest.raises(BadInput, match="at least one source"):
        made_by_rules([], 20)
    with pytest.raises(BadInput, match="share"):
        made_by_rules([novel(1)], 20, test_share=0)
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(BadInput, match="other files"):
        fresh(tmp_path)


def test_rows_say_how_they_were_made(made, tmp_path: Path):
    write_summary_cases(tmp_path, made.cases, made.books)
    rows = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()]
    assert all(row["made"]["how"] for row in rows)
