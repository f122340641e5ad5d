"""Readers: the laws of conversion, on small records of each format and on the data where they are."""

import gzip
import json
import os
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from longproof.evaluation.datasets import DATASETS, examples
from longproof.retrieval.types import BadInput

ABSENT = {"data_to_text", "halueval_dialogue", "halueval_summary", "jsonl", "longnovel", "verigray"}
PRESENT = sorted(set(DATASETS) - ABSENT)
OUTCOMES = {
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
    "stories": {"faithful": 24, "hallucinated": 24},
    "storysumm": {"hallucinated": 29, "faithful": 19},
    "summedits": {"hallucinated": 267, "faithful": 133},
    "uhgeval_zh": {"hallucinated": 200, "faithful": 200},
}


def _write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.skipif("LONGPROOF_DATA" not in os.environ, reason="LONGPROOF_DATA names no data folder")
@pytest.mark.parametrize("dataset", PRESENT)
def test_the_data_read_as_their_law_says(dataset: str) -> None:
    found = examples(dataset)
    assert Counter(example.gold.outcome for example in found) == OUTCOMES[dataset]
    assert len({example.id for example in found}) == len(found)
    for example in found:
        assert example.response.strip()
        assert example.sources or example.task == "open"
        assert all(source.text.strip() for source in example.sources)
        assert all(
            example.response[e.place.start : e.place.end] == e.place.text for e in example.gold.errors or ()
        )
        if example.gold.errors and dataset != "quintd_data2text":
            assert example.gold.outcome == "hallucinated" or dataset == "halueval_general"


@pytest.mark.skipif("LONGPROOF_DATA" not in os.environ, reason="LONGPROOF_DATA names no data folder")
def test_rotowire_places_hold_the_gold_tokens() -> None:
    reports = examples("accuracy_rotowire")
    assert sum(len(report.gold.errors or ()) for report in reports) == 674
    assert [e.place.text for e in (reports[0].gold.errors or ())[:3]] == ["Wednesday", "30", "six"]
    record = json.loads(reports[0].sources[0].text)
    assert record["date"] == "2017-02-03"
    assert {"PLAYER_NAME": "Isaiah Thomas", "PTS": "38"}.items() <= next(
        player for player in record["players"] if player["PLAYER_NAME"] == "Isaiah Thomas"
    ).items()


@pytest.mark.skipif("LONGPROOF_DATA" not in os.environ, reason="LONGPROOF_DATA names no data folder")
def test_longnovel_mini_aligns_each_line_with_its_unit() -> None:
    case = next(e for e in examples("longnovel_mini_zh") if e.slices["scale"] == "M" and e.gold.errors)
    assert case.gold.alignment is not None
    assert case.gold.alignment[0].evidence.place.start == 0
    assert case.gold.alignment[-1].evidence.place.end == len(case.sources[0].text)
    assert Counter(part.outcome for part in case.gold.parts or ()) == {"faithful": 3, "hallucinated": 1}


def test_longnovel_reads_the_answer_that_its_prompts_ask_for(tmp_path: Path) -> None:
    summary = "王冕七岁丧父。他后来做了大官。"
    answer = {
        "has_hallucination": "有幻觉",
        "details": [
            {
                "hallucination_type": "虚构事件",
                "hallucinated_sentence": "他后来做了大官。",
                "corrected_content": "他没有做官。",
                "reason": "原文未提及",
            }
        ],
    }
    path = tmp_path / "test_64k.json"
    rows = [
        {"id": 1, "language": "zh", "article": "文", "summary": summary, "output": json.dumps(answer)},
        {
            "id": 2,
            "article": "文",
            "summary": summary,
            "output": {"has_hallucination": "无幻觉", "details": []},
        },
        {"id": 3, "article": "文", "summary": summary, "output": {"score": 2}},
    ]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    wrong, right, scored = examples("longnovel", path)
    assert (wrong.gold.outcome, right.gold.outcome, scored.gold.outcome) == (
        "hallucinated",
        "faithful",
        "hallucinated",
    )
    assert wrong.gold.errors is not None
    assert (wrong.gold.errors[0].kind, wrong.gold.errors[0].place.start) == ("fabrication", 7)
    assert wrong.slices == {"language": "zh", "scale": "XL", "position": "middle", "kind": "fabrication"}


def test_verigray_keeps_repeated_sentences_in_order(tmp_path: Path) -> None:
    row = {
        "id": "a",
        "document": "d",
        "sentences": [
            {"text": "Yes.", "label": "No-Fact"},
            {"text": "Yes.", "label": "Generally-Supported"},
            {"text": "It won.", "label": "Ambiguous (Explicitly-Supported / Fabricated)"},
        ],
    }
    (example,) = examples("verigray", _write(tmp_path / "verigray.jsonl", row))
    parts = example.gold.parts or ()
    assert [part.place.start for part in parts] == [0, 5, 10]
    assert [part.label for part in parts] == ["no_fact", "implicitly_supported", "ambiguous"]
    assert (example.gold.label, example.gold.outcome) == ("ambiguous", None)


def test_a_case_file_holds_claims_with_their_evidence(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "task": "answer",
        "source_text": "Siam is in Asia. It was renamed.",
        "context": "Where?",
        "response": "Siam is in Asia. It was French and small.",
        "claims": [
            {
                "text": "Siam is in Asia.",
                "segment": "Siam is in Asia.",
                "hallucinated": False,
                "evidence": ["Siam is in Asia"],
            },
            {"text": "Siam was French.", "segment": "It was French", "hallucinated": True},
            {"text": "Siam was small.", "segment": " and small", "hallucinated": True, "evidence": []},
        ],
    }
    (example,) = examples("jsonl", _write(tmp_path / "cases.jsonl", row))
    assert (example.task, example.context, example.gold.outcome) == ("answer", "Where?", "hallucinated")
    assert [claim.origin.text for claim in example.gold.claims or () if claim.origin][1] == "It was French"
    assert [len(claim.evidence) for claim in example.gold.claims or ()] == [1, 0, 0]


def test_data_to_text_places_repeated_spans_one_after_another(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "reference": '{"growth": "10%"}',
        "response": "Growth was 15%, yes 15%.",
        "hallucination_list": ["15%", "15%"],
    }
    (example,) = examples("data_to_text", _write(tmp_path / "x.jsonl", row))
    assert [e.place.start for e in example.gold.errors or ()] == [11, 20]
    assert example.sources[0].kind == "record"


def test_odd_rows_lose_their_marks_or_are_refused_with_what_is_odd(tmp_path: Path) -> None:
    row = {"id": "1", "story": "s", "summary": ["He won.", "She left."], "errors": [1], "label": 0}
    row |= {"story-id": 1, "model": "m", "difficulty": None}
    (example,) = examples("storysumm", _write(tmp_path / "storysumm.jsonl", row))
    assert (example.gold.outcome, example.gold.parts) == ("hallucinated", ())
    with pytest.raises(BadInput, match="row 1: a value isn't of its field's kind"):
        examples("storysumm", _write(tmp_path / "odd.jsonl", {**row, "errors": None}))


def test_halueval_pairs_become_two_examples_each(tmp_path: Path) -> None:
    dialogue = {
        "knowledge": "k",
        "dialogue_history": "[Human]: hi",
        "right_response": "a",
        "hallucinated_response": "b",
        "pattern": "extrinsic-soft",
    }
    summary = {"document": "d", "right_summary": "a", "hallucinated_summary": "b"}
    first = examples("halueval_dialogue", _write(tmp_path / "dialogue.jsonl", dialogue, dialogue))
    assert [e.id for e in first[:3]] == ["dialogue-0-right", "dialogue-0-hallucinated", "dialogue-1-right"]
    assert (first[1].task, first[1].context, first[1].reference) == ("turn", "[Human]: hi", "a")
    assert (first[0].slices, first[1].slices) == ({}, {"pattern": "extrinsic-soft"})
    second = examples("halueval_summary", _write(tmp_path / "summarization.jsonl", summary))
    assert [e.gold.outcome for e in second] == ["faithful", "hallucinated"]


def test_jsonl_reads_texts_paths_and_labels(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "cases.jsonl",
        {"id": 1, "task": "summary", "source_text": ["a", "b"], "response": "r", "label": "faithful"},
        {
            "id": 2,
            "task": "answer",
            "source_text": "a",
            "response": "r",
            "context": "q",
            "label": "out_dependent",
        },
        {
            "id": 3,
            "task": "turn",
            "source_text": "a",
            "response": "r",
            "errors": [{"start": 0, "end": 1, "text": "r"}],
        },
        {"id": 4, "task": "turn", "source_text": "a", "response": "r"},
    )
    found = examples("jsonl", path)
    assert [e.gold.outcome for e in found] == ["faithful", None, "hallucinated", None]
    assert [s.text for s in found[0].sources] == ["a", "b"]
    assert found[1].gold.label == "out_dependent"


def test_jsonl_reads_what_a_case_file_may_hold(tmp_path: Path) -> None:
    record = {"id": 1, "source_text": {"keepers": 2}, "response": "r.", "labels": ["fabricated"]}
    (example,) = examples("jsonl", _write(tmp_path / "cases.jsonl", record))
    assert (example.task, example.labels) == ("summary", ("fabricated",))
    assert (example.sources[0].kind, json.loads(example.sources[0].text)) == ("record", {"keepers": 2})


def test_faithbench_sentences_have_the_worst_label_of_the_spans_that_meet_them(tmp_path: Path) -> None:
    def note(text: str, *names: str) -> dict[str, Any]:
        start = summary.index(text)
        place = {"summary_span": text, "summary_start": start, "summary_end": start + len(text)}
        return {"label": list(names), "note": "", **place}

    summary = "Ada sold it. Tom, a baker, bought it. It was blue. All wept."
    notes = [note("a baker", "Benign"), note("baker, bought it. It", "Unwanted.Extrinsic", "Unwanted")]
    notes.append(note("wept", "Questionable"))
    meta = {"summarizer": "m"}
    row = {
        "batch": 1,
        "sample_id": 2,
        "source": "s",
        "summary": summary,
        "annotations": notes,
        "metadata": meta,
    }
    path = tmp_path / "samples.jsonl"
    (example,) = examples("faithbench", _write(path, row))
    said = [(part.label, part.outcome) for part in example.gold.parts or ()]
    wrong = ("fabricated", "hallucinated")
    assert said == [("explicitly_supported", "faithful"), wrong, wrong, ("ambiguous", None)]
    assert (example.gold.label, example.gold.outcome) == wrong


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": 1, "task": "summary", "response": "r", "label": "wrong"}, "label 'wrong'"),
        ({"id": 1, "task": "summary", "label": "faithful"}, "response: Field required"),
        ({"id": 1, "task": "poem", "response": "r"}, "task"),
        (
            {"id": 1, "task": "summary", "response": "abc", "errors": [{"start": 1, "end": 2, "text": "c"}]},
            "the text there is 'b'",
        ),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_their_number(
    tmp_path: Path, row: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=r"cases\.jsonl row 1: ") as caught:
        examples("jsonl", _write(tmp_path / "cases.jsonl", row))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_broken_json_and_missing_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(b'{"id": 1, "task": "open", "response": "r"}\n{"id": \n'))
    with pytest.raises(BadInput, match="line 2 is not JSON"):
        examples("jsonl", broken)
    with pytest.raises(BadInput, match="cannot read"):
        examples("verigray", tmp_path)
    with pytest.raises(BadInput, match="there is no data set"):
        examples("squad")
    monkeypatch.delenv("LONGPROOF_DATA", raising=False)
    with pytest.raises(BadInput, match="LONGPROOF_DATA"):
        examples("verigray")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"id": 1}\n{"id": "\xff\xfe"}\n', r"cases\.jsonl line 2 is not UTF-8: save"),
        (
            b'{"id": 1, "response": "r"}\n{"id": ' + b"[" * 200_000 + b"}",
            r"cases\.jsonl line 2: its JSON is nested too deeply",
        ),
        (b"[" * 200_000, r"cases\.jsonl: its JSON is nested too deeply"),
        (b'{"id": ' + b"7" * 6000 + b"}", r"cases\.jsonl line 1: it holds a number of too many digits"),
    ],
)
def test_hostile_bytes_are_refused_with_their_line(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "cases.jsonl").write_bytes(data)
    with pytest.raises(BadInput, match=says) as caught:
        examples("jsonl", tmp_path / "cases.jsonl")
    assert "\n" not in str(caught.value)


def test_an_archive_that_is_cut_off_or_damaged_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps({"id": 1, "response": "r" * 999}).encode())
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(packed[:-12])
    with pytest.raises(BadInput, match=r"cases\.jsonl\.gz is cut off"):
        examples("jsonl", path)
    path.write_bytes(packed[:10] + b"\xff" * 9 + packed[19:])
    with pytest.raises(BadInput, match="cannot read"):
        examples("jsonl", path)


def test_half_characters_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(r'{"id": "a\ud800", "source_text": "s\udc00", "response": "r\ud800"}', "utf-8")
    (found,) = examples("jsonl", path)
    assert (found.id, found.sources[0].text, found.response) == ("a\ufffd", "s\ufffd", "r\ufffd")


@pytest.mark.parametrize("inner", ['{"a": ', "[" * 200_000, "7" * 6000, r'"\ud800"'])
def test_json_within_a_row_is_held_to_the_same(tmp_path: Path, inner: str) -> None:
    row = {"id": 1, "instruction": "i", "input": "x", "output": inner}
    with pytest.raises(BadInput, match=r"test\.json row 1"):
        examples("longnovel", _write(tmp_path / "test.json", row))


def test_rows_that_others_refer_to_are_held_to_the_same(tmp_path: Path) -> None:
    _write(tmp_path / "books.jsonl", {"book_title": "b"})
    (tmp_path / "books.jsonl.gz").write_bytes(gzip.compress((tmp_path / "books.jsonl").read_bytes()))
    with pytest.raises(BadInput, match=r"books\.jsonl\.gz row 1: there is no 'text'"):
        examples("nocha_sample", tmp_path)
    (tmp_path / "novel.txt").write_bytes(b"\xff")
    with pytest.raises(BadInput, match=r"novel\.txt"):
        examples("longnovel_mini_zh", tmp_path)


def test_one_id_twice_is_refused(tmp_path: Path) -> None:
    row = {"id": 1, "task": "summary", "source_text": "a", "response": "r", "label": "faithful"}
    with pytest.raises(BadInput, match="two examples"):
        examples("jsonl", _write(tmp_path / "cases.jsonl", row, row))


def test_a_hub_name_without_the_library_says_how_to_mend_it() -> None:
    try:
        import datasets  # noqa: F401
    except ImportError:
        with pytest.raises(BadInput, match=r"longproof\[hub\]"):
            examples("jsonl", "hub:owner/name")
    else:
        pytest.skip("the datasets library is installed")


def test_a_hub_location_gives_rows_to_the_same_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[Any, ...]]()

    def load_dataset(*given: Any, **options: Any) -> list[dict[str, Any]]:
        asked.append((*given, options))
        return [{"id": 1, "task": "summary", "source_text": "a", "response": "r", "label": "faithful"}]

    stand_in = ModuleType("datasets")
    stand_in.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", stand_in)
    (example,) = examples("jsonl", "hub:owner/name@dev")
    assert example.gold.outcome == "faithful"
    assert asked == [("owner/name", {"split": "dev"})]


def test_a_hub_row_may_not_name_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("datasets")
    row = {"id": 1, "task": "summary", "source": "/etc/hostname", "response": "r"}
    stand_in.load_dataset = lambda *_, **__: [row]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", stand_in)
    with pytest.raises(BadInput, match="names a path"):
        examples("jsonl", "hub:owner/name")


def sanguo_rows() -> list[dict[str, Any]]:
    text = (files("longproof.evaluation.datasets") / "sanguo_pairs.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_the_sanguo_pairs_are_twenty_pairs_that_differ() -> None:
    rows = sanguo_rows()
    assert Counter((row["index"], row["type"]) for row in rows) == {
        (n, side): 1 for n in range(1, 21) for side in (True, False)
    }
    assert len({row["claim"] for row in rows}) == 40
    assert all(row["why"] and row["places"] for row in rows)
    lengths = Counter[bool]()
    for row in rows:
        lengths[row["type"]] += len(row["claim"])
    assert abs(lengths[True] - lengths[False]) < 0.03 * lengths[True]


def test_the_sanguo_pairs_refuse_another_text(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("话说天下大势。", encoding="utf-8")
    with pytest.raises(BadInput, match="as it was checked"):
        examples("sanguo_pairs", tmp_path / "other.txt")
    with pytest.raises(BadInput, match="give the data set's folder"):
        examples("sanguo_pairs", tmp_path)
