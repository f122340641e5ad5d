"""A recorded run and its replay: the same bytes, nobody asked; what is missing, changed or hostile is refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from disputing import disputing
from fakes import ChatServer
from reader import Asked, Reply
from terminal import run

from longproof.agent.models import ledger
from longproof.agent.models.ledger import Replay
from longproof.evaluation.run import evaluate_dataset, record_dataset, replay_dataset
from longproof.retrieval.types import BadInput

CASES = Path(__file__).parent / "cases.jsonl"
KEPT = ("run.json", "results.jsonl", "scores.json")
PANEL = {"judges": ("m0", "m1"), "arbiter": "m9", "only": "language=en", "sample": 4, "seed": 3}


def record(folder: Path, script: Callable[[Asked], Reply] = disputing, **options: Any) -> int:
    """Record a run into `folder/live` and `folder/kept.gz`; how often the server was asked."""
    with ChatServer(script) as server:
        options["judges"] = [f"openai:{name}@{server.address}" for name in options["judges"]]
        if "arbiter" in options:
            options["arbiter"] = f"openai:{options['arbiter']}@{server.address}"
        record_dataset(str(CASES), folder / "kept.gz", out=folder / "live", **options)
        return len(server.asked)


def replay(folder: Path) -> None:
    replay_dataset(str(CASES), folder / "kept.gz", out=folder / "again")


def same(folder: Path) -> bool:
    live, again = ([(folder / run / name).read_bytes() for name in KEPT] for run in ("live", "again"))
    return live == again


def slow(asked: Asked) -> Reply:
    hangs = len(asked.user) % 3 == 0 and asked.form != "Sentences"
    return Reply(hang=True) if hangs else disputing(asked)


@pytest.mark.parametrize(
    ("script", "options"),
    [
        (disputing, PANEL),
        (disputing, {"judges": ("m0",), "protocol": "plain", "sample": 6}),
        (disputing, {"judges": ("wordy",), "sample": 2, "repeat": 2, "reach": "place"}),
        (slow, {"judges": ("m0",), "sample": 4, "timeout_s": 0.2}),
    ],
    ids=["panel", "plain", "repeated", "unanswered"],
)
def test_a_replay_elsewhere_gives_the_same_bytes_and_asks_nobody(tmp_path, monkeypatch, script, options):
    assert record(tmp_path, script, **options) > 5
    lost = '"lost":' in gzip.decompress((tmp_path / "kept.gz").read_bytes()).decode()
    assert lost == (script is slow)
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for _ in range(2):  # a replay starts anew in its folder
        replay(tmp_path)
        assert same(tmp_path)


def test_a_run_that_is_in_the_ledger_is_recorded_for_nothing(tmp_path):
    with ChatServer(disputing) as server:
        options = {"out": tmp_path / "live", "judges": [f"openai:m0@{server.address}"], "sample": 6}
        evaluate_dataset(str(CASES), **options)
        asked = len(server.asked)
        for name in ("first", "second"):
            record_dataset(str(CASES), tmp_path / name, **options)
    assert len(server.asked) == asked
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_missing_answers_and_other_data_are_refused_and_leave_no_results(tmp_path):
    record(tmp_path, **PANEL)
    other = tmp_path / "other.jsonl"
    other.write_text(CASES.read_text("utf-8").replace('"faithful"', '"hallucinated"'), "utf-8")
    with pytest.raises(BadInput, match="made of other data"):
        replay_dataset(str(other), tmp_path / "kept.gz", out=tmp_path / "again")
    lines = gzip.decompress((tmp_path / "kept.gz").read_bytes()).split(b"\n")
    without = [line for line in lines if b'"purpose":"arbitrate"' not in line]
    (tmp_path / "kept.gz").write_bytes(gzip.compress(b"\n".join(without)))
    says = r"([1-9]\d*) answers are not in .*\(arbitrate \1\): prompts, .* changed"
    with pytest.raises(BadInput, match=says):
        replay(tmp_path)
    assert not (tmp_path / "again" / "results.jsonl").exists()


def test_the_command_records_and_replays_and_takes_no_option_that_the_recording_says(tmp_path, capsys):
    kept = tmp_path / "kept.gz"
    with ChatServer(disputing) as server:
        judge = ("--judge", f"openai:m0@{server.address}", "--sample", 2)
        assert run("evaluate", CASES, *judge, "--out", tmp_path / "live", "--record", kept) == 0
    again = ("evaluate", CASES, "--out", tmp_path / "again", "--replay", kept)
    assert run(*again) == 0
    assert same(tmp_path)
    assert run(*again, "--sample", 2) == 2
    assert "leave out --sample" in capsys.readouterr().err
    assert run("evaluate", CASES, "--out", tmp_path / "offline", "--record", tmp_path / "none.gz") == 2
    assert "no language model was asked" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"judges": ["nli:/tmp/model"]}, "leave out nli"),
        ({"settings": {"arbiter": "nli:/tmp/model"}}, "leave out nli"),
        ({"settings": {"embedder": "openai:m@http://127.0.0.1:9/v1"}}, "the setting 'embedder'"),
        ({"settings": {"home": "/tmp/elsewhere"}}, "the setting 'home'"),
        ({"settings": {"pages": "/etc"}}, "say with --pages"),
        ({"repeat": 1_000_000}, "more runs than answers"),
    ],
)
def test_a_file_loads_no_model_and_names_no_folder(tmp_path, change, refused):
    record(tmp_path, judges=("m0",), sample=2)
    first, rest = gzip.decompress((tmp_path / "kept.gz").read_bytes()).split(b"\n", 1)
    header = json.loads(first)
    header["run"].update(change)
    (tmp_path / "kept.gz").write_bytes(gzip.compress(json.dumps(header).encode() + b"\n" + rest))
    with pytest.raises(BadInput, match=refused):
        replay(tmp_path)


HEADER = '{"format": "longproof.recording", "version": 1, "made": "2026-01-01", "address": "", "run": {}}'
LINE = '{"key": "' + "0" * 64 + '", "purpose": "judge", "model": "m"'
WHOLE = gzip.compress(HEADER.encode())
NONE = ("", "[]", "{}", HEADER.replace("1,", "2,", 1), f"{HEADER}\n{LINE}}}", f"{HEADER}\n{'[' * 100_000}")


@pytest.mark.parametrize(
    "data",
    [
        *(gzip.compress(text.encode()) for text in (*NONE, f'{HEADER}\n{LINE}, "answer": {{"x": 1}}}}')),
        *(b"", b"PK\x03\x04", WHOLE[:-9], WHOLE[:12] + b"\xff" * 20),
    ],
    ids=lambda data: data[12:24].hex(),
)
def test_what_is_no_recording_is_refused(tmp_path, data):
    (tmp_path / "kept.gz").write_bytes(data)
    with pytest.raises(BadInput, match="recording"):
        Replay.open(tmp_path / "kept.gz")


def test_a_recording_is_as_large_as_it_may_be_and_no_larger(tmp_path, monkeypatch):
    (tmp_path / "kept.gz").write_bytes(WHOLE)
    monkeypatch.setattr(ledger, "MOST_BYTES", len(HEADER))
    assert Replay.open(tmp_path / "kept.gz").lines == {}
    monkeypatch.setattr(ledger, "MOST_BYTES", len(HEADER) - 1)
    with pytest.raises(BadInput, match="too large"):
        Replay.open(tmp_path / "kept.gz")
