"""Readers: the laws of conversion, on small records of each format and on the data where they are."""

import gzip
import json
import os
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from longproof.agent.types import KINDS
from longproof.evaluation.datasets import BUNDLED, DATASETS, examples
from longproof.examples import LANGUAGES
from longproof.examples import example as story_of
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import BadInput

ABSENT = {"halueval_dialogue", "halueval_summary", "jsonl", "longnovel", "verigray"}
OUTCOMES: dict[str, dict[str | None, int]] = {
    "accuracy_rotowire": {"hallucinated": 30},
    "bamboo_hallu": {"hallucinated": 105, "faithful": 103},
    "begin_dialogue": {"faithful": 212, "hallucinated": 389, None: 35},
    "faithbench": {"hallucinated": 213, "faithful": 120, None: 37},
    "halluqa_zh": {"faithful": 80, "hallucinated": 80},
    "halueval_general": {"faithful": 411, "hallucinated": 89},
    "halueval_qa": {"faithful": 500, "hallucinated": 500},
    "longnovel_mini_zh": {"hallucinated": 90, "faithful": 90},
    "nocha_sample": {"faithful": 33, "hallucinated": 33},
    "ocnli_zh": {"hallucinated": 202, "faithful": 98},
    "quintd_data2text": {"hallucinated": 320, "faithful": 106, None: 25},
    "ragtruth": {"hallucinated": 150, "faithful": 150},
    "sanguo_pairs": {"faithful": 20, "hallucinated": 20},
    "small_audit": {"faithful": 2, "hallucinated": 2},
    "small_claims": {"faithful": 2, "hallucinated": 2},
    "small_dialogue": {"faithful": 3, "hallucinated": 3},
    "small_general": {"faithful": 3, "hallucinated": 3},
    "small_qa": {"faithful": 4, "hallucinated": 4},
    "small_record": {"faithful": 3, "hallucinated": 3},
    "small_summary": {"faithful": 3, "hallucinated": 3, None: 1},
    "stories": {"faithful": 24, "hallucinated": 24},
    "storysumm": {"hallucinated": 29, "faithful": 19},
    "summedits": {"hallucinated": 267, "faithful": 133},
    "uhgeval_zh": {"hallucinated": 200, "faithful": 200},
}
needs_data = pytest.mark.skipif(
    "LONGPROOF_DATA" not in os.environ, reason="LONGPROOF_DATA names no data folder"
)
CASE = {"id": 1, "task": "summary", "source_text": "a", "response": "r"}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@needs_data
@pytest.mark.parametrize("dataset", sorted(set(DATASETS) - ABSENT))
def test_the_data_read_as_their_law_says(dataset: str) -> None:
    found = examples(dataset)
    assert Counter(one.gold.outcome for one in found) == OUTCOMES[dataset]
    for one in found:
        assert one.response.strip()
        assert one.sources or one.task == "open"
        assert all(source.text.strip() for source in one.sources)
        if one.gold.errors and dataset not in ("quintd_data2text", "halueval_general"):
            assert one.gold.outcome == "hallucinated"


@needs_data
def test_rotowire_places_hold_the_gold_tokens() -> None:
    reports = examples("accuracy_rotowire")
    assert sum(len(report.gold.errors or ()) for report in reports) == 674
    assert [e.place.text for e in (reports[0].gold.errors or ())[:3]] == ["Wednesday", "30", "six"]
    record = json.loads(reports[0].sources[0].raw or "")
    (player,) = (one for one in record["players"] if one["PLAYER_NAME"] == "Isaiah Thomas")
    assert (record["date"], player["PTS"]) == ("2017-02-03", "38")


def test_longnovel_reads_the_answer_that_its_prompts_ask_for(tmp_path: Path) -> None:
    detail = {"hallucination_type": "虚构事件", "hallucinated_sentence": "他后来做了大官。"}
    wrong = json.dumps({"has_hallucination": "有幻觉", "details": [detail]})
    outputs = [wrong, {"has_hallucination": "无幻觉", "details": []}, {"score": 2}]
    row = {"language": "zh", "article": "文", "summary": "王冕七岁丧父。他后来做了大官。"}
    path = tmp_path / "test_64k.json"
    path.write_text(json.dumps([{"id": n, **row, "output": out} for n, out in enumerate(outputs)]), "utf-8")
    found = examples("longnovel", path)
    assert [example.gold.outcome for example in found] == ["hallucinated", "faithful", "hallucinated"]
    (error,) = found[0].gold.errors or ()
    assert (error.kind, error.place.start) == ("fabrication", 7)
    assert found[0].slices == {"language": "zh", "scale": "XL", "position": "middle", "kind": "fabrication"}


def test_verigray_keeps_repeated_sentences_in_order(tmp_path: Path) -> None:
    marked = [{"text": "Yes.", "label": "No-Fact"}, {"text": "Yes.", "label": "Generally-Supported"}]
    marked.append({"text": "It won.", "label": "Ambiguous (Explicitly-Supported / Fabricated)"})
    rows = (
        {"id": sentences[-1]["text"], "document": "d", "sentences": sentences}
        for sentences in (marked, marked[:2])
    )
    example, supported = examples("verigray", write(tmp_path / "verigray.jsonl", *rows))
    assert (supported.gold.label, supported.gold.outcome) == ("implicitly_supported", "faithful")
    parts = [(part.place.start, part.label) for part in example.gold.parts or ()]
    assert parts == [(0, "no_fact"), (5, "implicitly_supported"), (10, "ambiguous")]
    assert (example.gold.label, example.gold.outcome) == ("ambiguous", None)


def test_odd_rows_lose_their_marks_or_are_refused_with_what_is_odd(tmp_path: Path) -> None:
    row = {"id": "1", "story": "s", "summary": ["He won.", "She left."], "errors": [1], "label": 0}
    row |= {"story-id": 1, "model": "m", "difficulty": None}
    (example,) = examples("storysumm", write(tmp_path / "storysumm.jsonl", row))
    assert (example.gold.outcome, example.gold.parts) == ("hallucinated", ())
    with pytest.raises(BadInput, match="row 1: a value isn't of its field's kind"):
        examples("storysumm", write(tmp_path / "odd.jsonl", {**row, "errors": None}))


def test_halueval_pairs_become_two_examples_each(tmp_path: Path) -> None:
    dialogue = {"knowledge": "k", "dialogue_history": "[Human]: hi", "right_response": "a"}
    dialogue |= {"hallucinated_response": "b", "pattern": "extrinsic-soft"}
    summary = {"document": "d", "right_summary": "a", "hallucinated_summary": "b"}
    first = examples("halueval_dialogue", write(tmp_path / "dialogue.jsonl", dialogue, dialogue))
    assert [e.id for e in first[:3]] == ["dialogue-0-right", "dialogue-0-hallucinated", "dialogue-1-right"]
    assert (first[1].task, first[1].context, first[1].reference) == ("turn", "[Human]: hi", "a")
    assert (first[0].slices, first[1].slices) == ({}, {"pattern": "extrinsic-soft"})
    second = examples("halueval_summary", write(tmp_path / "summarization.jsonl", summary))
    assert [e.gold.outcome for e in second] == ["faithful", "hallucinated"]


def test_faithbench_sentences_have_the_worst_label_of_the_spans_that_meet_them(tmp_path: Path) -> None:
    def note(text: str, *names: str) -> dict[str, Any]:
        start = summary.index(text)
        place = {"summary_span": text, "summary_start": start, "summary_end": start + len(text)}
        return {"label": list(names), "note": "", **place}

    summary = "Ada sold it. Tom, a baker, bought it. It was blue. All wept."
    notes = [note("a baker", "Benign"), note("baker, bought it. It", "Unwanted.Extrinsic", "Unwanted")]
    notes.append(note("wept", "Questionable"))
    row = {"batch": 1, "sample_id": 2, "source": "s", "summary": summary, "annotations": notes}
    row["metadata"] = {"summarizer": "m"}
    (example,) = examples("faithbench", write(tmp_path / "samples.jsonl", row))
    labels = [(part.label, part.outcome) for part in example.gold.parts or ()]
    wrong = ("fabricated", "hallucinated")
    assert labels == [("explicitly_supported", "faithful"), wrong, wrong, ("ambiguous", None)]
    assert (example.gold.label, example.gold.outcome) == wrong


@pytest.mark.parametrize(
    ("given", "outcome"),
    [({"label": "faithful"}, "faithful"), ({"label": "fabricated"}, "hallucinated"), ({}, None),
     ({"label": "out_dependent"}, None), ({"claims": [{"text": "r", "hallucinated": False}]}, "faithful"),
     ({"errors": [{"start": 0, "end": 1, "text": "r"}]}, "hallucinated")],
)  # fmt: skip
def test_marks_or_a_label_are_the_gold(tmp_path: Path, given: dict[str, Any], outcome: str | None) -> None:
    (example,) = examples("jsonl", write(tmp_path / "cases.jsonl", {**CASE, **given}))
    assert example.gold.outcome == outcome


def test_a_case_file_holds_records_labels_and_claims_with_their_evidence(tmp_path: Path) -> None:
    claims = [
        {"text": "Siam is in Asia.", "segment": "Siam is in Asia.", "evidence": ["Siam is in Asia"]},
        {"text": "Siam was French.", "segment": "It was French"},
    ]
    held = {"id": 1, "source_text": {"keepers": 2}, "response": "r.", "labels": ["fabricated"]}
    told = {"id": 2, "source_text": "Siam is in Asia.", "response": "Siam is in Asia. It was French."}
    marked = {"claims": [{**claim, "hallucinated": n == 1} for n, claim in enumerate(claims)]}
    record, annotated = examples("jsonl", write(tmp_path / "cases.jsonl", held, told | marked))
    assert (record.task, record.labels) == ("summary", ("fabricated",))
    assert (record.sources[0].kind, json.loads(record.sources[0].raw or "")) == ("record", {"keepers": 2})
    assert [claim.origin and claim.origin.start for claim in annotated.gold.claims or ()] == [0, 17]
    assert [len(claim.evidence) for claim in annotated.gold.claims or ()] == [1, 0]


BROKEN: list[tuple[str | bytes, str]] = [
    ('{"id": 1, "response": "r", "label": "wrong"}', r"cases\.jsonl row 1: label 'wrong'"),
    ('{"id": 1, "label": "faithful"}', r"row 1: a case has one of response and response_file"),
    ('{"id": 1, "task": "poem", "response": "r"}', r"row 1: task"),
    ('{"id": 1, "response": "a", "errors": [{"start": 0, "end": 1, "text": "c"}]}', "the text there is 'a'"),
    (f"{json.dumps(CASE)}\n{json.dumps(CASE)}", "two examples"),
    ('{"id": 1, "response": "r"}\n{"id": ', r"cases\.jsonl line 2: not JSON"),
    (b'{"id": 1}\n{"id": "\xff\xfe"}\n', r"cases\.jsonl line 2 is not UTF-8: save"),
    (
        f'{{"id": 1}}\n{{"id": {"[" * 200_000}}}',
        r"line 2: not JSON that can be read: maximum recursion depth",
    ),
    ("[" * 200_000, r"cases\.jsonl: not JSON that can be read"),
    ('{"id": ' + "7" * 6000 + "}", r"cases\.jsonl line 1: .*6000 digits"),
]


@pytest.mark.parametrize(("data", "says"), BROKEN)
def test_what_does_not_fit_is_refused_with_its_line(tmp_path: Path, data: str | bytes, says: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(BadInput, match=says) as caught:
        examples("jsonl", path)
    assert "\n" not in str(caught.value)


def test_missing_and_damaged_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(json.dumps({**CASE, "response": "r" * 999}).encode())
    for data in (packed[:-12], packed[:10] + b"\xff" * 9 + packed[19:]):
        (tmp_path / "cases.jsonl.gz").write_bytes(data)
        with pytest.raises(BadInput, match="cannot read"):
            examples("jsonl", tmp_path / "cases.jsonl.gz")
    (tmp_path / "books.jsonl.gz").write_bytes(gzip.compress(b'{"book_title": "b"}'))
    monkeypatch.delenv("LONGPROOF_DATA", raising=False)
    for dataset, path, says in (
        ("verigray", tmp_path, "cannot read"), ("squad", None, "there is no data set"),
        ("nocha_sample", tmp_path, r"books\.jsonl\.gz row 1: there is no 'text'"),
        ("verigray", None, "LONGPROOF_DATA"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=says):
            examples(dataset, path)


def test_half_characters_are_replaced(tmp_path: Path) -> None:
    row = {"id": "a\ud800", "source_text": "s\udc00", "response": "r\ud800"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(row), "utf-8")
    (found,) = examples("jsonl", tmp_path)
    assert (found.id, found.sources[0].text, found.response) == ("a\ufffd", "s\ufffd", "r\ufffd")


@pytest.mark.parametrize("inner", ['{"a": ', "[" * 200_000, "7" * 6000, r'"\ud800"'])
def test_json_within_a_row_is_held_to_the_same(tmp_path: Path, inner: str) -> None:
    row = {"id": 1, "instruction": "i", "input": "x", "output": inner}
    with pytest.raises(BadInput, match=r"test\.json row 1"):
        examples("longnovel", write(tmp_path / "test.json", row))


def test_the_sanguo_pairs_are_twenty_pairs_and_refuse_another_text(tmp_path: Path) -> None:
    text = (files("longproof.evaluation.datasets") / "sanguo_pairs.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    sides = Counter((row["index"], row["type"]) for row in rows)
    assert sides == {(n, side): 1 for n in range(1, 21) for side in (True, False)}
    assert all(row["why"] and row["places"] for row in rows)
    (tmp_path / "other.txt").write_text("话说天下大势。", encoding="utf-8")
    with pytest.raises(BadInput, match="as it was checked"):
        examples("sanguo_pairs", tmp_path / "other.txt")
    with pytest.raises(BadInput, match="give the data set's folder"):
        examples("sanguo_pairs", tmp_path)


def test_the_stories_are_pairs_of_all_kinds_that_differ_in_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGPROOF_DATA", raising=False)
    stories, kinds = examples("stories"), Counter[tuple[str, str]]()
    for right, wrong in list(pairwise(stories))[::2]:
        language = right.slices["language"]
        assert (right.pair, right.group, right.gold.errors) == (wrong.pair, wrong.pair, ())
        (error,) = wrong.gold.errors or ()
        before, after = wrong.response[: error.place.start], wrong.response[error.place.end :]
        assert right.response == before + error.correction + after
        assert error.place.text != error.correction
        assert (bool(error.reason), error.kind) == (True, wrong.slices["kind"])
        for source in (*right.sources, *wrong.sources):
            assert source.text == story_of(language)[0].text
        kinds[language, error.kind] += 1
    assert kinds.keys() == {(language, kind) for language in LANGUAGES for kind in KINDS}
    assert len({case.pair for case in stories}) == kinds.total() == 24


@pytest.mark.parametrize("dataset", [name for name in BUNDLED if name != "stories"])
def test_the_small_sets_have_what_papers_methods_need(dataset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGPROOF_DATA", raising=False)
    cases = examples(dataset)
    assert Counter(case.gold.outcome for case in cases) == OUTCOMES[dataset]
    for right, wrong in pairwise(case for case in cases if case.pair):
        if right.pair == wrong.pair:
            assert (right.gold.outcome, wrong.gold.outcome) == ("faithful", "hallucinated")
            assert (right.sources, right.context) == (wrong.sources, wrong.context)
            if dataset in ("small_qa", "small_dialogue", "small_summary"):
                assert (right.reference, wrong.reference) == (wrong.response, right.response)
    for case in cases:
        for error in case.gold.errors or ():
            assert error.correction not in case.response
        if dataset == "small_audit":
            assert len(case.labels or ()) == len(sentences(case.response)) == 2


def test_the_deciding_words_of_each_error_stand_in_its_story() -> None:
    """Only what is made up has none."""
    file = files("longproof.examples") / "stories.jsonl"
    for case in map(json.loads, file.read_text("utf-8").splitlines()):
        for error in case["errors"]:
            story = (files("longproof.examples") / case["source"]).read_text("utf-8")
            assert bool(error["evidence"]) == (error["kind"] != "fabrication")
            assert all(quote in story for quote in error["evidence"])
